import type { Command, Decision } from '../../ledger/command.ts'
import { type Resolution, resolutionWrites } from '../../records/desk/resolutions.ts'
import type { World } from '../../world.ts'
import { mayBeSentUntil, sendRows } from './sends.ts'
import {
  endPayout,
  type FinalOutcome,
  heldPayout,
  locksOfEnd,
  recordOfPayout,
  type Settled,
} from './settle.ts'
import { isFinalPayout, type Payout } from './store.ts'

/** What an operator established outside the service. `completed` is allowed at any time. */
type Established =
  | { readonly outcome: 'completed'; readonly end_to_end_id: string }
  | { readonly outcome: 'failed'; readonly despite_acceptance: boolean }

type ResolvedPayout = Settled | { readonly sending_until: Date } | { readonly accepted_at: Date }

/**
 * Resolves a payout by hand. Returning the money (`failed`) is refused while a worker may be sending, because a worker sends
 * again exactly when the rail never received the payout. It is also refused if the rail accepted the payout, unless
 * `despite_acceptance` is set. Both are judged under the payout's lock, which a worker must hold before it sends or stores an
 * acceptance.
 */
export function payoutResolution(
  world: World,
  payout: Payout,
  established: Established,
  by: Omit<Resolution, 'outcome'>,
): Command<ResolvedPayout> {
  const { id } = payout
  const outcome: FinalOutcome =
    established.outcome === 'completed'
      ? { kind: 'settled', end_to_end_id: established.end_to_end_id }
      : { kind: 'refused', rail_code: 'resolved_by_operator' }
  return {
    partner_id: payout.partner_id,
    locks: { ...locksOfEnd(payout), reads: [{ source: sendRows, id }] },
    decide(held): Decision<ResolvedPayout> {
      const before = heldPayout(held, payout)
      if (isFinalPayout(before)) {
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
