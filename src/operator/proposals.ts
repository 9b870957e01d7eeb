import type { Db } from '../db/pool.ts'
import type { World } from '../world.ts'
import { type Action, type ActionName, perform } from './actions.ts'

/**
 * What an operator does by hand. In production one operator proposes it and another one approves it, and only then does
 * it happen; in the sandbox it happens at once. Each action can happen once, so approving again only completes what a
 * crash left half done.
 */
export type Proposal = {
  readonly id: string
  readonly action: ActionName
  readonly details: Action['details']
  readonly proposed_by: string
  readonly proposed_at: Date
  readonly approved_by: string | null
  readonly approved_at: Date | null
  readonly resource_id: string | null
}

export async function propose(
  world: World,
  { name, details }: Action,
  proposed_by: string,
): Promise<Proposal> {
  const { rows } = await world.db.query(
    'INSERT INTO proposals (id, action, details, proposed_by) VALUES ($1, $2, $3, $4) RETURNING *',
    [world.newId('proposal'), name, JSON.stringify(details), proposed_by],
  )
  return rows[0]
}

export async function approve(world: World, id: string, approved_by: string): Promise<Proposal> {
  const proposal = await proposalById(world.db, id)
  if (!proposal) throw new Error(`No proposal ${id} in ${world.environment}. See: trilho proposals list`)
  if (proposal.resource_id) return proposal
  if (proposal.proposed_by === approved_by) {
    throw new Error('A proposal must be approved by another operator than the one who made it.')
  }
  const { id: resource_id } = await perform(world, {
    name: proposal.action,
    details: proposal.details,
  } as Action)
  const { rows } = await world.db.query(
    `UPDATE proposals SET approved_by = $2, approved_at = clock_timestamp(), resource_id = $3
     WHERE id = $1 AND resource_id IS NULL RETURNING *`,
    [id, approved_by, resource_id],
  )
  return rows[0] ?? (await proposalById(world.db, id))!
}

export async function listProposals(world: World): Promise<Proposal[]> {
  const { rows } = await world.db.query(
    'SELECT * FROM proposals ORDER BY proposed_at DESC, id DESC LIMIT 100',
  )
  return rows
}

async function proposalById(db: Db, id: string): Promise<Proposal | undefined> {
  const { rows } = await db.query('SELECT * FROM proposals WHERE id = $1', [id])
  return rows[0]
}
