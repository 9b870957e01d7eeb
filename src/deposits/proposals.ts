import { type Asset, money } from '../core/money.ts'
import type { Db } from '../db/pool.ts'
import type { World } from '../world.ts'
import { type Credit, operatorCredit } from './deposits.ts'

/** In production a credit needs two operators: one proposes it, another one approves it (contract §16). */
export type Proposal = {
  readonly id: string
  readonly details: {
    partner_id: string
    customer_id: string
    asset: Asset
    amount: string
    reason: string
    reference: string
  }
  readonly proposed_by: string
  readonly approved_by: string | null
  readonly resource_id: string | null
}

export async function proposeCredit(world: World, credit: Credit, proposed_by: string): Promise<Proposal> {
  const { money, ...rest } = credit
  const details = { ...rest, asset: money.asset, amount: money.units.toString() }
  const { rows } = await world.db.query(
    `INSERT INTO proposals (id, action, details, proposed_by) VALUES ($1, 'credit', $2, $3) RETURNING *`,
    [world.newId('proposal'), JSON.stringify(details), proposed_by],
  )
  return rows[0]
}

/** The reference makes the credit happen once, so approving again after a crash only completes what was begun. */
export async function approveCredit(world: World, id: string, approved_by: string): Promise<Proposal> {
  const proposal = await proposalById(world.db, id)
  if (!proposal) throw new Error(`No proposal ${id} in ${world.environment}.`)
  if (proposal.resource_id) return proposal
  if (proposal.proposed_by === approved_by)
    throw new Error('A proposal must be approved by another operator than the one who made it.')
  const { asset, amount, ...credit } = proposal.details
  const { id: resource_id } = await world.commit(
    operatorCredit(world, { ...credit, money: money(asset, BigInt(amount)) }),
  )
  const { rows } = await world.db.query(
    `UPDATE proposals SET approved_by = $2, approved_at = clock_timestamp(), resource_id = $3 WHERE id = $1 AND resource_id IS NULL RETURNING *`,
    [id, approved_by, resource_id],
  )
  return rows[0] ?? (await proposalById(world.db, id))!
}

async function proposalById(db: Db, id: string): Promise<Proposal | undefined> {
  const { rows } = await db.query('SELECT * FROM proposals WHERE id = $1', [id])
  return rows[0]
}
