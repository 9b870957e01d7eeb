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
export function propose(world: World, { name, details }: Action, proposed_by: string): Promise<Proposal> {
  return insertProposal(world.db, { id: world.newId('proposal'), action: name, details, proposed_by })
}

export async function approve(world: World, id: string, approved_by: string): Promise<Proposal> {
  const proposal = await proposalById(world.db, id)
  if (!proposal) throw new Error(`No proposal ${id} in ${world.environment}. See: trilho proposals list`)
  if (proposal.resource_id) return proposal
  if (proposal.proposed_by === approved_by) {
    throw new Error('A proposal must be approved by another operator than the one who made it.')
  }
  await markApproved(world.db, id, approved_by)
  const done = await perform(world, { name: proposal.action, details: proposal.details } as Action)
  return markDone(world.db, id, done.id)
}

export const listProposals = (world: World): Promise<Proposal[]> => newestProposals(world.db)
