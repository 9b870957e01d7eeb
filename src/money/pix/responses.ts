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

/**
 * Decides the response to the create call of a payout, and to every repeat of the call, once `pix_wait_ms` have passed: the
 * payout's state at that moment. Before that, returns the stored response if there is one, otherwise how much of the wait is
 * left.
 */
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
      // The response of a final payout is its last event, so nothing is stored (decision 0008). Nor is anything stored if the
      // idempotency key belongs to another payout by now.
      const stored = record && !isFinalPayout(row) ? { record: { ...record, response } } : {}
      return { ...stored, result: { response } }
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
 * Waits until the payout is final, at most until `pix_wait_ms` after its creation, and returns the response that every repeat
 * of the request gets. The polling finds a final state or a response that another node stored. The database's clock decides
 * when the wait is over; this node's clock only estimates it, and a wrong estimate costs one more query.
 */
export async function awaitResponse(
  world: World,
  payout: Payout,
  watch: PayoutWatch,
): Promise<StoredResponse> {
  const estimated_ms = payout.created_at.getTime() + world.pix_wait_ms - world.clock.now()
  let wait_ends_at = performance.now() + Math.min(estimated_ms, world.pix_wait_ms)
  let settled: Promise<Settled | undefined> | undefined = watch.settled
  try {
    for (;;) {
      const left_ms = wait_ends_at - performance.now()
      const poll = sleep(Math.max(1, Math.min(left_ms, POLL_MS)))
      const outcome: Settled | undefined = await (settled ? Promise.race([settled, poll]) : poll)
      if (outcome?.response) return outcome.response
      // No response is stored yet: `fixResponse` decides the response when the wait is over.
      if (outcome) settled = undefined
      if (wait_ends_at <= performance.now()) {
        const fixed = await world.commit(fixResponse(world, payout))
        if ('response' in fixed) return withStoredBody(world, payout, fixed.response)
        wait_ends_at = performance.now() + fixed.left_ms
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

/**
 * Repeats of the request get the body that the event of the final state stores. A node of another version may have rendered
 * that event, so the first caller gets the stored body too, not one rendered here.
 */
async function withStoredBody(world: World, payout: Payout, fixed: StoredResponse): Promise<StoredResponse> {
  if (fixed.sequence === undefined) return fixed
  const record = await world.commit(recall(payout.partner_id, claimOfPayout(payout)))
  return (record?.resource_id === payout.id && record.response) || fixed
}

const sleep = (ms: number) => new Promise<undefined>((resolve) => setTimeout(resolve, ms, undefined))
