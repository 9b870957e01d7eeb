import { refuse } from '../../core/errors.ts'
import type { Command, Decision, IdempotencyRecord, StoredResponse } from '../../ledger/command.ts'
import { readRecord, recall } from '../../ledger/once.ts'
import type { World } from '../../world.ts'
import { claimOfPayout, recordOfPayout, responseWith, type Settled } from './settle.ts'
import { isFinalPayout, type Payout, payoutById, payoutRows } from './store.ts'
import type { PayoutWorker } from './worker.ts'

/** `settled` resolves when this process settles the payout. */
export type PayoutWatch = { readonly settled: Promise<Settled>; stop(): void }

type Fixed = { readonly response: StoredResponse } | { readonly left_ms: number }

/** After the wait, stores the payout's state as the response to every repeat of the request. Before that, returns the time left. */
export function fixResponse(world: World, payout: Payout): Command<Fixed> {
  return {
    partner_id: payout.partner_id,
    locks: { claim: claimOfPayout(payout), rows: [{ source: payoutRows, id: payout.id }] },
    decide(held): Decision<Fixed> {
      const row = held.row(payoutRows, payout.id) ?? refuse('service_unavailable')
      const record = recordOfPayout(held, row)
      if (record?.response) return { result: { response: record.response } }
      const left_ms = row.created_at.getTime() + world.pix_wait_ms - held.now.getTime()
      if (left_ms > 0) return { result: { left_ms } }
      const response = responseWith(row)
      // A final state is not stored: it never changes. Nor is a state if the idempotency key belongs to another payout by now.
      const kept = record && !isFinalPayout(row) ? { record: { ...record, response } } : {}
      return { ...kept, result: { response } }
    },
  }
}

/** The response that the first request under this idempotency key got, or will get. */
export async function responseUnder(
  world: World,
  { watch }: Pick<PayoutWorker, 'watch'>,
  { response, resource_id }: IdempotencyRecord,
): Promise<StoredResponse> {
  if (response) return response
  const payout = (resource_id && (await payoutById(world.db, resource_id))) || refuse('service_unavailable')
  return awaitResponse(world, payout, watch(payout.id))
}

const POLL_MS = 100

/**
 * Waits for the end of a payout, as long as its create call may wait, and returns the response that every repeat of the request
 * gets. Polling finds an end that another node recorded. The database decides how much time is left: this machine's clock
 * gives the first estimate, and a wrong one costs one more query.
 */
export async function awaitResponse(
  world: World,
  payout: Payout,
  watch: PayoutWatch,
): Promise<StoredResponse> {
  const guess = payout.created_at.getTime() + world.pix_wait_ms - world.clock.now()
  let ends = performance.now() + Math.min(guess, world.pix_wait_ms)
  let settled: Promise<Settled | undefined> | undefined = watch.settled
  try {
    for (;;) {
      const left = ends - performance.now()
      const poll = sleep(Math.max(1, Math.min(left, POLL_MS)))
      const ended: Settled | undefined = await (settled ? Promise.race([settled, poll]) : poll)
      if (ended?.response) return ended.response
      // Settled without a stored response: `fixResponse` makes one when the wait is over.
      if (ended) settled = undefined
      if (ends <= performance.now()) {
        const fixed = await world.commit(fixResponse(world, payout))
        if ('response' in fixed) return asKept(world, payout, fixed.response)
        ends = performance.now() + fixed.left_ms
      } else {
        const hasResponse = (record: IdempotencyRecord | undefined) =>
          record?.response && record.resource_id === payout.id
        const claim = claimOfPayout(payout)
        if (!hasResponse(await readRecord(world.db, claim))) continue
        const record = await world.commit(recall(payout.partner_id, claim))
        if (record?.response && hasResponse(record)) return record.response
      }
    }
  } finally {
    watch.stop()
  }
}

/** The stored body of a final state is that of its event, which another version may have rendered differently. */
async function asKept(world: World, payout: Payout, fixed: StoredResponse): Promise<StoredResponse> {
  if (fixed.sequence === undefined) return fixed
  const record = await world.commit(recall(payout.partner_id, claimOfPayout(payout)))
  return (record?.resource_id === payout.id && record.response) || fixed
}

const sleep = (ms: number) => new Promise<undefined>((resolve) => setTimeout(resolve, ms, undefined))
