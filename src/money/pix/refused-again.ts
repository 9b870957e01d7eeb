import { type Command, type Decision, writeTo } from '../../ledger/command.ts'
import type { World } from '../../world.ts'
import type { FinalOutcome } from './settle.ts'
import {
  absentPayouts,
  isFinalPayout,
  type Payout,
  payoutRows,
  refusedPayouts,
  type StoredRefusal,
} from './store.ts'

type Refused = Extract<FinalOutcome, { kind: 'refused' }>

/**
 * Stores that the rail refused a repeated send. An earlier send may have reached the rail late, and may be paid: the refusal says nothing of
 * it. So it is believed only when two status queries, after the time that the rail needs to show a send, find nothing of the payout.
 */
export const noteRefusal = (
  { id, partner_id, attempts }: Payout,
  { rail_code, reason }: Refused,
): Command<void> => ({
  partner_id,
  locks: { rows: [{ source: payoutRows, id }] },
  decide(held): Decision<void> {
    const row = held.row(payoutRows, id)
    if (!row || isFinalPayout(row) || row.attempts !== attempts) return { result: undefined }
    const refusal: StoredRefusal = { rail_code, ...(reason === undefined ? {} : { reason }) }
    return { writes: [writeTo(refusedPayouts, { id, refusal: JSON.stringify(refusal) })], result: undefined }
  },
})

/** Stores that the first of the two status queries found nothing. */
export const noteAbsent = ({ id, partner_id, attempts }: Payout): Command<void> => ({
  partner_id,
  locks: { rows: [{ source: payoutRows, id }] },
  decide(held): Decision<void> {
    const row = held.row(payoutRows, id)
    if (!row || isFinalPayout(row) || row.attempts !== attempts) return { result: undefined }
    return { writes: [writeTo(absentPayouts, { id, absent_at: held.now })], result: undefined }
  },
})

/** How long to wait before the rail is asked what became of the sends. */
export const askAfterRefusal = ({ pix }: World): number => Math.max(500, pix.sending.visible_after_ms)
