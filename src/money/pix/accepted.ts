import { type Command, type Decision, writeTo } from '../../ledger/command.ts'
import { recordExceptionDaily } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { RAIL } from './settle.ts'
import { acceptedPayouts, isFinalPayout, type Payout, payoutRows } from './store.ts'

/**
 * Stores that the rail has the payout. From then on the rail's answer `absent` is an alarm: the payout is neither sent again
 * nor failed by a machine, because the rail may still pay it.
 */
export const noteAccepted = ({ id, partner_id }: Payout): Command<void> => ({
  partner_id,
  locks: { rows: [{ source: payoutRows, id }] },
  decide(held): Decision<void> {
    const row = held.row(payoutRows, id)
    if (!row || isFinalPayout(row) || row.accepted_at !== null) return { result: undefined }
    return { writes: [writeTo(acceptedPayouts, { id, accepted_at: held.now })], result: undefined }
  },
})

/** For the desk: the rail accepted the payout, and later does not know it. */
export function reportAbsent(world: World, { id, partner_id, send_id, accepted_at }: Payout): Promise<void> {
  return recordExceptionDaily(world.db, world.clock, {
    kind: 'accepted_then_absent',
    rail: RAIL,
    object_id: id,
    partner_id,
    details: {
      problem: `The rail accepted payout ${id} and now answers that it does not know it.`,
      check: `Ask the provider what became of ${send_id}, and look for it on the account's statement. Then resolve the payout.`,
      send_id,
      ...(accepted_at === null ? {} : { accepted_at: accepted_at.toISOString() }),
    },
  })
}
