import type { Logger } from 'pino'
import { crashPoint } from '../core/crash-point.ts'
import { type Due, retryAfter, takeDue } from '../db/due.ts'
import { openWorker } from '../db/worker.ts'
import { endFollowUp, type FollowUp, takeFollowUps } from '../desk/resolutions.ts'
import type { PixOutcome, PixStatus } from '../rails/pix/rail.ts'
import type { World } from '../world.ts'
import type { Watch } from './answers.ts'
import { orderOf } from './order.ts'
import { askAgainAfter } from './pace.ts'
import { intendSend } from './sends.ts'
import { type FinalOutcome, type Settled, settlePayout } from './settle.ts'
import { isFinal, type Payout, payoutById, payoutColumns } from './store.ts'

/**
 * Brings accepted payouts to their end. The first try is made by whoever accepted the payout, at once. Whatever is not
 * final when its lease ends is taken up by any node, which asks before it does anything: only what the rail is sure it
 * never got is sent again, under the same id, and only after it was said that it will be.
 */
export type Sender = {
  /**
   * The first try, by whoever accepted it. `since` is when accepting began, by this process's own steady clock: the lease
   * has run since then at most. Resolves to the end if it came at once, to undefined if the outcome is not known yet.
   */
  send(payout: Payout, since: number): Promise<Settled | undefined>
  /** Tells when a payout is settled by this process, until it is told to stop. */
  watch(payout_id: string): Watch
  stop(): Promise<void>
}

const POLL_MS = 500
const FOLLOW_UP_POLL_MS = 2000
const AT_ONCE = 32
/** Held by an open proposal: asked about, and nothing else. */
const HELD_MS = 5000

const OPEN = `status IN ('pending', 'processing')`
const payouts = { table: 'payouts', columns: payoutColumns } as const
/** Nobody has looked at it since it was accepted. */
const left: Due = { ...payouts, name: 'payouts left', where: `${OPEN} AND attempts <= 1` }
const asked: Due = { ...payouts, name: 'payouts asked', where: `${OPEN} AND attempts > 1` }

/** Whoever took a payout has it until `ends`, by its own steady clock. */
type Taken = { readonly payout: Payout; readonly ends: number }

export function openSender(world: World, log: Logger): Sender {
  const watches = openWatches()

  async function settle(payout: Payout, outcome: FinalOutcome): Promise<Settled> {
    crashPoint('before_settle')
    const settled = await world.commit(
      settlePayout(world, payout, outcome, { by: 'rail', attempt: payout.attempts }),
    )
    if (isFinal(settled.payout)) watches.tell(settled)
    return settled
  }

  const later = (payout: Payout, ms: number) => retryAfter(world.db, 'payouts', payout, ms)

  /** What is not known stays as it is, and is asked again later. */
  async function hear(payout: Payout, outcome: PixOutcome): Promise<Settled | undefined> {
    if (outcome.kind !== 'unknown') return settle(payout, outcome)
    const now = world.clock.now()
    const ask_in = outcome.ask_at && outcome.ask_at.getTime() - now
    await later(payout, askAgainAfter(now - payout.created_at.getTime(), ask_in))
    return undefined
  }

  /** Never beyond the lease: whoever comes after must be able to count on that nobody sends any more. */
  async function send({ payout, ends }: Taken): Promise<Settled | undefined> {
    crashPoint('before_send')
    if (performance.now() + world.rail_timeout_ms > ends) return undefined
    const outcome = await world.pix.send(orderOf(payout)).catch(unknown(log))
    crashPoint('after_send')
    return hear(payout, outcome)
  }

  /** Ask first. Sending first could pay a second time. */
  async function lookAfter(payout: Payout): Promise<void> {
    const status: PixStatus = await world.pix.status(orderOf(payout)).catch(unknown(log))
    if (status.kind !== 'absent') return void (await hear(payout, status))
    const since = performance.now()
    const intent = await world.commit(intendSend(world, payout))
    switch (intent.kind) {
      case 'send':
        return void (await send({ payout, ends: since + intent.left_ms }))
      case 'wait':
        return later(payout, intent.ms)
      case 'held':
        return later(payout, HELD_MS)
    }
  }

  /** Decided by an operator: whether the rail tells the same. */
  async function compare({ resource_id }: FollowUp): Promise<void> {
    const payout = await payoutById(world.db, resource_id)
    if (!payout) return
    const status: PixStatus = await world.pix.status(orderOf(payout)).catch(unknown(log))
    if (status.kind === 'unknown' || status.kind === 'absent') return
    await settle(payout, status)
    await endFollowUp(world.db, resource_id)
  }

  const common = { log, at_once: AT_ONCE, stop_ms: world.rail_timeout_ms }
  const follow = (due: Due) =>
    openWorker({
      ...common,
      name: due.name,
      poll_ms: POLL_MS,
      take: (limit) => takeDue<Payout>(world.db, due, world.lease_ms, limit),
      work: lookAfter,
    })
  const workers = [
    follow(left),
    follow(asked),
    openWorker({
      ...common,
      name: 'resolved payouts',
      poll_ms: FOLLOW_UP_POLL_MS,
      take: (limit) => takeFollowUps(world.db, 'payout', limit),
      work: compare,
    }),
  ]

  return {
    send: (payout, since) => send({ payout, ends: since + world.lease_ms }),
    watch: watches.watch,
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()))
    },
  }
}

/** Who in this process waits for which payout. */
function openWatches() {
  const waiting = new Map<string, Set<(settled: Settled) => void>>()
  return {
    tell(settled: Settled): void {
      for (const tell of waiting.get(settled.payout.id) ?? []) tell(settled)
    },
    watch(payout_id: string): Watch {
      let tell: (settled: Settled) => void = () => {}
      const settled = new Promise<Settled>((resolve) => {
        tell = resolve
      })
      const watchers = waiting.get(payout_id) ?? new Set()
      waiting.set(payout_id, watchers.add(tell))
      const stop = () => {
        watchers.delete(tell)
        if (watchers.size === 0) waiting.delete(payout_id)
      }
      return { settled, stop }
    },
  }
}

const unknown =
  (log: Logger) =>
  (error: unknown): { kind: 'unknown'; ask_at?: Date } => {
    log.warn({ err: error }, 'pix: no answer that can be understood')
    return { kind: 'unknown' }
  }
