import { transaction } from '../db/pool.ts'
import { holdResource, releaseHold } from '../desk/holds.ts'
import type { World } from '../world.ts'
import { type Action, perform } from './actions.ts'
import {
  insertProposal,
  markApproved,
  markDone,
  newestProposals,
  type Proposal,
  proposalById,
} from './store.ts'

/**
 * What an operator does by hand. In production one operator proposes it and another one approves it, and only then does
 * it happen; in the sandbox it happens at once. Each action can happen once, so approving again only completes what a
 * crash left half done.
 */
export function propose(world: World, action: Action, proposed_by: string): Promise<Proposal> {
  const { name, details } = action
  const id = world.newId('proposal')
  return transaction(world.db, async (tx) => {
    const proposal = await insertProposal(tx, { id, action: name, details, proposed_by })
    const held = resourceOf(action)
    if (held) await holdResource(tx, held, id)
    return proposal
  })
}

/** What workers leave alone until the proposal is decided. */
function resourceOf({ name, details }: Action): string | undefined {
  if (name === 'resolve_payout') return details.payout_id
  return name === 'resolve_transfer' ? details.transfer_id : undefined
}

export async function approve(world: World, id: string, approved_by: string): Promise<Proposal> {
  const proposal = await proposalById(world.db, id)
  if (!proposal) throw new Error(`No proposal ${id} in ${world.environment}. See: trilho proposals list`)
  if (proposal.resource_id) return proposal
  if (proposal.proposed_by === approved_by) {
    throw new Error('A proposal must be approved by another operator than the one who made it.')
  }
  await markApproved(world.db, id, approved_by)
  const action = { name: proposal.action, details: proposal.details } as Action
  const done = await perform(world, action, { operator: approved_by, proposal_id: id })
  return transaction(world.db, async (tx) => {
    await releaseHold(tx, id)
    return markDone(tx, id, done.id)
  })
}

export const listProposals = (world: World): Promise<Proposal[]> => newestProposals(world.db)
