import type { Environment } from '../core/environment.ts'
import { refuse } from '../core/errors.ts'
import type { ChainRail } from './chain/rail.ts'
import type { PixRail } from './pix/rail.ts'

/**
 * No call to the outside lasts for ever. When its time is over the caller goes on as if nothing had been heard, and an
 * answer that comes later is not looked at: by then somebody else may have acted on the silence.
 */
export class RailTimeout extends Error {
  constructor(ms: number) {
    super(`the rail did not answer within ${ms} ms`)
  }
}

/** One for all: to make an error is dear, and nobody reads this one. */
const OVER = new Error('the call has ended')

/** The signal tells the rail to let go: what was not handed over by then must not be handed over any more. */
export async function within<T>(ms: number, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const given_up = new AbortController()
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
    // A process that stood still finds the answer and the end of its time at once.
    if (performance.now() > ends) throw new RailTimeout(ms)
    return answer
  } finally {
    clearTimeout(timer)
  }
}

/** For whoever is about to accept an order: silence of the rail is a reason not to. */
const orUnavailable =
  (ms: number) =>
  <T>(ask: () => Promise<T>): Promise<T> =>
    inTime(ms, ask).catch((error: unknown) => {
      if (error instanceof RailTimeout) return refuse('rail_unavailable', { retry_after_seconds: 5 })
      throw error
    })

export function withDeadline<E extends Environment>(rail: PixRail<E>, ms: number): PixRail<E> {
  const available = orUnavailable(ms)
  return {
    environment: rail.environment,
    ready: () => available(() => rail.ready()),
    holder: (pix_key, asking) => available(() => rail.holder(pix_key, asking)),
    send: (order) => within(ms, (signal) => rail.send(order, signal)),
    status: (order) => within(ms, (signal) => rail.status(order, signal)),
  }
}

export function withChainDeadline<E extends Environment>(rail: ChainRail<E>, ms: number): ChainRail<E> {
  const available = orUnavailable(ms)
  return {
    environment: rail.environment,
    feeInputs: (network) => available(() => rail.feeInputs(network)),
    prepare: (order) => within(ms, (signal) => rail.prepare(order, signal)),
    broadcast: (order, transaction) => within(ms, (signal) => rail.broadcast(order, transaction, signal)),
    status: (order, transaction) => within(ms, (signal) => rail.status(order, transaction, signal)),
  }
}
