import { type Resolution, resolutionWrites } from '../desk/resolutions.ts'
import type { Command, Decision } from '../ledger/command.ts'
import type { World } from '../world.ts'
import { mayBeSentUntil, sendRows } from './sends.ts'
import {
  endPayout,
  type FinalOutcome,
  heldPayout,
  locksOfEnd,
  recordOfPayout,
  type Settled,
} from './settle.ts'
import { isFinal, type Payout } from './store.ts'

/** What an operator established outside. That it was paid may be said at any time. */
export type Established =
  | { readonly outcome: 'completed'; readonly end_to_end_id: string }
  | { readonly outcome: 'failed'; readonly despite_acceptance: boolean }

export type Resolved = Settled | { readonly sending_until: Date } | { readonly accepted_at: Date }

/**
 * Giving the money back is refused while somebody may be sending: «never received» is exactly the state in which a worker
 * sends again. So it is where the network accepted the payout, unless the operators state that. Both are judged under the
 * payout's lock, which whoever sends, or stores the acceptance, must have held before.
 */
export function resolvePayout(
  world: World,
  payout: Payout,
  established: Established,
  by: Omit<Resolution, 'outcome'>,
): Command<Resolved> {
  const { id } = payout
  const outcome: FinalOutcome =
    established.outcome === 'completed'
      ? { kind: 'settled', end_to_end_id: established.end_to_end_id }
      : { kind: 'refused', rail_code: 'resolved_by_operator' }
  return {
    partner_id: payout.partner_id,
    locks: { ...locksOfEnd(payout), reads: [{ source: sendRows, id }] },
    decide(held): Decision<Resolved> {
      const before = heldPayout(held, payout)
      if (isFinal(before)) {
        const response = recordOfPayout(held, before)?.response ?? null
        return { result: { payout: before, response, changed: false } }
      }
      const until = mayBeSentUntil(world, before, held.row(sendRows, id))
      if (established.outcome === 'failed' && until > held.now) return { result: { sending_until: until } }
      if (established.outcome === 'failed' && before.accepted_at !== null && !established.despite_acceptance)
        return { result: { accepted_at: before.accepted_at } }
      const resolution = { ...by, outcome: established.outcome }
      const writes = resolutionWrites({ kind: 'payout', id, ask: true }, resolution, held.now)
      return endPayout(world, held, before, outcome, writes)
    },
  }
}
