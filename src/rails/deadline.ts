import type { Environment } from '../core/environment.ts'
import { refuse } from '../core/errors.ts'
import type { Block, ChainOrder, ChainRail } from './chain/rail.ts'
import type { ChargeOrder, PixRail } from './pix/rail.ts'

/**
 * Every call to a rail has a deadline. After it the caller treats the outcome as unknown, and a later answer is ignored: another
 * worker may have acted meanwhile.
 */
export class RailTimeout extends Error {
  constructor(ms: number) {
    super(`the rail did not answer within ${ms} ms`)
  }
}

/** Shared by all calls: creating an error is expensive, and nothing reads this one. */
const OVER = new Error('the call has ended')

/** When the call of a signal ends. The monotonic clock may stand still while a machine is suspended, so the wall clock counts, too. */
const ends = new WeakMap<AbortSignal, { readonly monotonic: number; readonly wall: number }>()

/**
 * Whether the call may send nothing any more. A process that stood still may handle an answer before the timer that aborts the signal, so
 * a call of several requests asks this before each of them.
 */
export function isOver(signal: AbortSignal): boolean {
  const end = ends.get(signal)
  return signal.aborted || (end !== undefined && (performance.now() > end.monotonic || Date.now() > end.wall))
}

/** Aborts the signal at the deadline: the rail must send nothing after that. */
export async function within<T>(ms: number, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const given_up = new AbortController()
  ends.set(given_up.signal, { monotonic: performance.now() + ms, wall: Date.now() + ms })
  try {
    return await inTime(ms, () => ask(given_up.signal))
  } finally {
    given_up.abort(OVER)
  }
}

async function inTime<T>(ms: number, ask: () => Promise<T>): Promise<T> {
  const ends = performance.now() + ms
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new RailTimeout(ms)), ms)
  })
  try {
    const answer = await Promise.race([ask(), late])
    // A process that was blocked may find the answer only after the deadline.
    if (performance.now() > ends) throw new RailTimeout(ms)
    return answer
  } finally {
    clearTimeout(timer)
  }
}

/** Before an order is accepted, a silent rail is a reason to refuse it. */
const orUnavailable =
  (ms: number) =>
  <T>(ask: () => Promise<T>): Promise<T> =>
    inTime(ms, ask).catch((error: unknown) => {
      if (error instanceof RailTimeout) return refuse('rail_unavailable', { retry_after_seconds: 5 })
      throw error
    })

export function withDeadline<E extends Environment>(rail: PixRail<E>, ms: number): PixRail<E> {
  const available = orUnavailable(ms)
  const { charges } = rail
  return {
    ...rail,
    ...(charges && {
      charges: {
        ...charges,
        register: (order: ChargeOrder) => within(ms, (signal) => charges.register(order, signal)),
        payment: (end_to_end_id: string) => within(ms, (signal) => charges.payment(end_to_end_id, signal)),
      },
    }),
    ready: () => available(() => rail.ready()),
    holder: (pix_key, asking) => available(() => rail.holder(pix_key, asking)),
    send: (order) => within(ms, (signal) => rail.send(order, signal)),
    status: (order) => within(ms, (signal) => rail.status(order, signal)),
  }
}

/** Extra time for each deposit address, of which twenty are asked about at once. */
const ADDRESS_MS = 20

export function withChainDeadline<E extends Environment>(rail: ChainRail<E>, ms: number): ChainRail<E> {
  const available = orUnavailable(ms)
  const { finality, chooseCoins } = rail
  return {
    ...rail,
    ...(finality && { finality: (block: Block) => within(ms, (signal) => finality(block, signal)) }),
    ...(chooseCoins && {
      chooseCoins: (order: ChainOrder) => within(ms, (signal) => chooseCoins(order, signal)),
    }),
    feeInputs: () => available(() => rail.feeInputs()),
    wallet: () => within(ms, () => rail.wallet()),
    // Each address adds a question, and all answers must be about one block.
    holdings: (addresses = []) => within(ms + addresses.length * ADDRESS_MS, () => rail.holdings(addresses)),
    screen: (order) => within(ms, (signal) => rail.screen(order, signal)),
    attempt: (order, reservation, made, purpose) =>
      within(ms, (signal) => rail.attempt(order, reservation, made, purpose, signal)),
    broadcast: (order, attempt) => within(ms, (signal) => rail.broadcast(order, attempt, signal)),
    look: (order, reservation, made) => within(ms, (signal) => rail.look(order, reservation, made, signal)),
  }
}
