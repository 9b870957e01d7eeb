import { refuse } from '../../core/errors.ts'
import { batched } from '../../db/batched.ts'
import type { Db } from '../../db/pool.ts'
import { rowSource } from '../../ledger/command.ts'

/**
 * An open proposal holds its payout or transfer: until the decision workers poll its status and may settle it by the
 * rail's answer, but they do not send, sign or broadcast. Otherwise the evidence of the proposer could be outdated
 * when the approver reads it.
 */
export type Hold = { readonly id: string; readonly proposal_id: string }

export const holdRows = rowSource<Hold>(
  'holds',
  'SELECT resource_id AS id, proposal_id FROM holds WHERE resource_id = ANY($1::text[])',
)

const tableOf = (resource_id: string) => (resource_id.startsWith('po_') ? 'payouts' : 'transfers')

/** Runs in the transaction that inserts the proposal. The row lock waits for a worker that is about to record a send. */
export async function holdResource(tx: Db, resource_id: string, proposal_id: string): Promise<void> {
  await tx.query(`SELECT id FROM ${tableOf(resource_id)} WHERE id = $1 FOR NO KEY UPDATE`, [resource_id])
  const { rowCount } = await tx.query(
    'INSERT INTO holds (resource_id, proposal_id) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [resource_id, proposal_id],
  )
  if (rowCount === 1) return
  const { rows } = await tx.query('SELECT proposal_id FROM holds WHERE resource_id = $1', [resource_id])
  refuse('not_possible', {
    message: `${resource_id} has an open proposal already: ${rows[0]?.proposal_id ?? 'one just decided'}. Reject or withdraw it first.`,
  })
}

/** Runs in the transaction that ends the proposal. */
export async function releaseHold(tx: Db, proposal_id: string): Promise<void> {
  await tx.query('DELETE FROM holds WHERE proposal_id = $1', [proposal_id])
}

const readHold = batched<string, Hold>(async (db, ids) => {
  const { rows } = await db.query({ name: 'read holds', text: holdRows.sql, values: [ids] })
  const found = new Map<string, Hold>(rows.map((row) => [row.id, row]))
  return ids.map((id) => found.get(id))
})

/** A read without a lock, so that a worker does not start in vain. */
export const isHeld = async (db: Db, resource_id: string): Promise<boolean> =>
  (await readHold(db, resource_id)) !== undefined
