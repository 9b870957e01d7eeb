import type { Asset } from '../core/money.ts'
import type { Db } from '../db/pool.ts'
import type { Check } from '../ledger/audit.ts'
import { insertInto } from '../ledger/command.ts'

export type Deposit = {
  readonly id: string
  readonly partner_id: string
  readonly customer_id: string
  readonly asset: Asset
  readonly amount: bigint
  /** Where the money came from: the outside account that the other side of the entry is booked to. */
  readonly rail: 'sandbox' | 'operator'
  readonly reason: string | null
  readonly reference: string | null
  readonly created_at: Date
}

export const insertDeposits = insertInto('deposits', {
  id: 'text',
  partner_id: 'text',
  customer_id: 'text',
  asset: 'text',
  amount: 'bigint',
  rail: 'text',
  reason: 'text',
  reference: 'text',
  created_at: 'timestamptz',
})

export async function depositById(db: Db, id: string): Promise<Deposit | undefined> {
  const { rows } = await db.query(
    'SELECT id, partner_id, customer_id, asset, amount, rail, reason, reference, created_at FROM deposits WHERE id = $1',
    [id],
  )
  return rows[0]
}

export const depositChecks: readonly Check[] = [
  {
    name: 'every deposit is booked once and in full, and nothing is booked without one',
    sql: `SELECT coalesce(d.id, e.cause_id) AS deposit_id, d.amount, e.amount AS booked
      FROM deposits d
      FULL JOIN (SELECT cause_id, owner, asset, amount FROM entries WHERE account = 'customer' AND movement = 'credited') e
        ON e.cause_id = d.id
      WHERE d.id IS NULL OR e.cause_id IS NULL OR (d.customer_id, d.asset, d.amount) IS DISTINCT FROM (e.owner, e.asset, e.amount)`,
  },
]
