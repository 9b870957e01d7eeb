import type { Command, Decision } from '../../ledger/command.ts'
import { followUpWrite } from '../../records/desk/resolutions.ts'
import type { World } from '../../world.ts'
import { absenceOf, sendRows } from './sends.ts'
import { endPayout, heldPayout, locksOfEnd, recordOfPayout, type Settled } from './settle.ts'
import { isFinalPayout, type Payout } from './store.ts'

/**
 * Fails a payout that the provider never received, and returns the money: the time for sending is over, and the provider has said twice
 * that it does not know the payout. Everything is judged again under the payout's lock, and by the worker that holds the lease: nobody
 * else can have sent meanwhile. The provider is asked again for a day, in case it finds the payment after all.
 */
export function failNeverSent(world: World, payout: Payout): Command<Settled> {
  const { id } = payout
  return {
    partner_id: payout.partner_id,
    locks: { ...locksOfEnd(payout), reads: [{ source: sendRows, id }] },
    decide(held): Decision<Settled> {
      const before = heldPayout(held, payout)
      const is_mine =
        !isFinalPayout(before) && before.attempts === payout.attempts && before.accepted_at === null
      if (!is_mine || absenceOf(world, before, held.row(sendRows, id), held.now).kind !== 'never_sent') {
        const response = recordOfPayout(held, before)?.response ?? null
        return { result: { payout: before, response, changed: false } }
      }
      const outcome = { kind: 'refused', rail_code: 'never_sent' } as const
      return endPayout(world, held, before, outcome, [followUpWrite({ kind: 'payout', id }, held.now)])
    },
  }
}
