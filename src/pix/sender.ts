import type { Logger } from 'pino'
import { crashPoint } from '../core/crash-point.ts'
import { money } from '../core/money.ts'
import { retryAfter, takeDue } from '../db/due.ts'
import { openWorker } from '../db/worker.ts'
import type { PixOrder, PixOutcome, PixStatus } from '../rails/pix/rail.ts'
import type { World } from '../world.ts'
import { type FinalOutcome, type Settled, settlePayout, type Watch } from './settle.ts'
import type { Payout } from './store.ts'

/**
 * Brings accepted payouts to their end. The first try is made by whoever accepted the payout, at once. Whatever is not
 * final when its lease ends is taken up by any node, which asks before it does anything: only what the rail is sure it
 * never got is sent again, under the same id.
 */
export type Sender = {
  /** The first try. Resolves to the end if it came at once, to undefined if the outcome is not known yet. */
  send(payout: Payout): Promise<Settled | undefined>
  /** Tells when a payout is settled by this process, until it is told to stop. */
  watch(payout_id: string): Watch
  stop(): Promise<void>
}

const POLL_MS = 500
/** A rail may need this long until what it was sent can be found there. */
const VISIBLE_AFTER_MS = 2000
const RETRY_MS = [500, 1000, 2000, 3000, 5000, 5000, 10_000, 30_000, 60_000]

export function openSender(world: World, log: Logger): Sender {
  const waiting = new Map<string, Set<(settled: Settled) => void>>()

  async function settle(payout: Payout, outcome: FinalOutcome): Promise<Settled> {
    crashPoint('before_settle')
    const settled = await world.commit(settlePayout(world, payout, outcome))
    if (!settled.changed && disagrees(settled.payout, outcome)) {
      log.error(
        { payout_id: payout.id, outcome },
        'the rail contradicts a final payout: money may have moved twice',
      )
    }
    for (const tell of waiting.get(payout.id) ?? []) tell(settled)
    return settled
  }

  /** What is not known stays as it is, and is asked again later. */
  async function follow(payout: Payout, outcome: PixOutcome): Promise<Settled | undefined> {
    if (outcome.kind !== 'unknown') return settle(payout, outcome)
    await retryAfter(
      world.db,
      'payouts',
      payout.id,
      RETRY_MS[Math.min(payout.attempts, RETRY_MS.length) - 1]!,
    )
    return undefined
  }

  async function send(payout: Payout): Promise<Settled | undefined> {
    crashPoint('before_send')
    const outcome = await world.pix.send(orderOf(payout)).catch(unknown(log))
    crashPoint('after_send')
    return follow(payout, outcome)
  }

  /** Ask first. Sending first could pay a second time. */
  async function lookAfter(payout: Payout): Promise<void> {
    const status: PixStatus = await world.pix.status(orderOf(payout)).catch(unknown(log))
    if (status.kind !== 'absent') return void (await follow(payout, status))
    const age = world.clock.now() - payout.created_at.getTime()
    if (age < VISIBLE_AFTER_MS) return retryAfter(world.db, 'payouts', payout.id, VISIBLE_AFTER_MS - age)
    await send(payout)
  }

  const worker = openWorker({
    name: 'payouts',
    log,
    poll_ms: POLL_MS,
    take: (limit) => takeDue<Payout>(world.db, 'payouts', world.lease_ms, limit),
    work: lookAfter,
  })

  return {
    send,
    watch(payout_id) {
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
    stop: worker.stop,
  }
}

const unknown =
  (log: Logger) =>
  (error: unknown): { kind: 'unknown' } => {
    log.warn({ err: error }, 'pix: no answer that can be understood')
    return { kind: 'unknown' }
  }

function disagrees(payout: Payout, outcome: FinalOutcome): boolean {
  return (payout.status === 'completed') !== (outcome.kind === 'settled')
}

function orderOf(payout: Payout): PixOrder {
  const { name, document } = payout.counterparty
  const to = payout.counterparty
  return {
    send_id: payout.send_id,
    amount: money('BRL', payout.amount),
    to:
      to.type === 'pix_key'
        ? { name, document, pix_key: to.pix_key }
        : {
            name,
            document,
            bank_account: {
              ispb: to.ispb,
              branch: to.branch,
              account_number: to.account_number,
              account_type: to.account_type,
            },
          },
    description: payout.description,
    sent_at: payout.created_at,
    attempt: payout.attempts,
  }
}
