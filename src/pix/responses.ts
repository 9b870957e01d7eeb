import { refuse } from '../core/errors.ts'
import type { Command, Decision, IdempotencyRecord, StoredResponse } from '../ledger/command.ts'
import { readRecord, recall } from '../ledger/once.ts'
import type { World } from '../world.ts'
import { claimOfPayout, recordOfPayout, responseWith, type Settled } from './settle.ts'
import { isFinal, type Payout, payoutById, payoutRows } from './store.ts'
import type { PayoutWorker } from './worker.ts'

/** Tells when a payout is settled by this process, until it is told to stop. */
export type Watch = { readonly settled: Promise<Settled>; stop(): void }

export type Fixed = { readonly response: StoredResponse } | { readonly left_ms: number }

/** Fixes what every equal request is told, once the wait is over: the state of that moment. Before, it says how long to go. */
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
      // An end is told by whoever asks, for it stays. The name may also stand for another payout by now, whose answer is not
      // ours to give.
      const kept = record && !isFinal(row) ? { record: { ...record, response } } : {}
      return { ...kept, result: { response } }
    },
  }
}

/** What the claim's first caller was, or will be, told. */
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
 * Waits for the end of a payout, as long as its create call may wait, and answers with what every equal request gets.
 * An end that another node brings about is found by looking. How long is left is the database's to say: this machine's
 * clock is only the first guess, and a wrong one costs one question.
 */
export async function awaitResponse(world: World, payout: Payout, watch: Watch): Promise<StoredResponse> {
  const guess = payout.created_at.getTime() + world.pix_wait_ms - world.clock.now()
  let ends = performance.now() + Math.min(guess, world.pix_wait_ms)
  let settled: Promise<Settled | undefined> | undefined = watch.settled
  try {
    for (;;) {
      const left = ends - performance.now()
      const poll = sleep(Math.max(1, Math.min(left, POLL_MS)))
      const ended: Settled | undefined = await (settled ? Promise.race([settled, poll]) : poll)
      if (ended?.response) return ended.response
      // It ended without an answer to give: only the end of the wait can make one.
      if (ended) settled = undefined
      if (ends <= performance.now()) {
        const fixed = await world.commit(fixResponse(world, payout))
        if ('response' in fixed) return asKept(world, payout, fixed.response)
        ends = performance.now() + fixed.left_ms
      } else {
        const told = (record: IdempotencyRecord | undefined) =>
          record?.response && record.resource_id === payout.id
        const claim = claimOfPayout(payout)
        if (!told(await readRecord(world.db, claim))) continue
        const record = await world.commit(recall(payout.partner_id, claim))
        if (record?.response && told(record)) return record.response
      }
    }
  } finally {
    watch.stop()
  }
}

/** An end is kept in its event, which a node of another version may have written in other bytes. */
async function asKept(world: World, payout: Payout, fixed: StoredResponse): Promise<StoredResponse> {
  if (fixed.sequence === undefined) return fixed
  const record = await world.commit(recall(payout.partner_id, claimOfPayout(payout)))
  return (record?.resource_id === payout.id && record.response) || fixed
}

const sleep = (ms: number) => new Promise<undefined>((resolve) => setTimeout(resolve, ms, undefined))
