import { columnsOf } from '../db/columns.ts'
import type { Db } from '../db/pool.ts'
import type { Action, ActionName } from './actions.ts'

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

export async function insertProposal(
  db: Db,
  proposal: Pick<Proposal, 'id' | 'action' | 'details' | 'proposed_by'>,
): Promise<Proposal> {
  const { rows } = await db.query(
    `INSERT INTO proposals (id, action, details, proposed_by) VALUES ($1, $2, $3, $4) RETURNING ${columnsOf('proposals')}`,
    [proposal.id, proposal.action, JSON.stringify(proposal.details), proposal.proposed_by],
  )
  return rows[0]
}

export async function proposalById(db: Db, id: string): Promise<Proposal | undefined> {
  const { rows } = await db.query(`SELECT ${columnsOf('proposals')} FROM proposals WHERE id = $1`, [id])
  return rows[0]
}

/** Who approves is written before anything happens: the database itself refuses the one who proposed. */
export async function markApproved(db: Db, id: string, approved_by: string): Promise<void> {
  await db.query(
    'UPDATE proposals SET approved_by = $2, approved_at = clock_timestamp() WHERE id = $1 AND approved_by IS NULL',
    [id, approved_by],
  )
}

export async function markDone(db: Db, id: string, resource_id: string): Promise<Proposal> {
  const { rows } = await db.query(
    `UPDATE proposals SET resource_id = $2 WHERE id = $1 RETURNING ${columnsOf('proposals')}`,
    [id, resource_id],
  )
  return rows[0]
}

export async function newestProposals(db: Db): Promise<Proposal[]> {
  const { rows } = await db.query(
    `SELECT ${columnsOf('proposals')} FROM proposals ORDER BY proposed_at DESC, id DESC LIMIT 100`,
  )
  return rows
}
