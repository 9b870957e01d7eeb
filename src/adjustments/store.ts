import type { Asset } from '../core/money.ts'
import type { Db } from '../db/pool.ts'
import type { Check } from '../ledger/audit.ts'
import { insertInto, rowSource } from '../ledger/command.ts'

export type Adjustment = {
  readonly id: string
  readonly kind: 'debit' | 'reversal'
  readonly partner_id: string
  readonly customer_id: string
  readonly asset: Asset
  readonly amount: bigint
  /** What is reversed; null for a debit. */
  readonly deposit_id: string | null
  /** The outside account that the other side of the entry is booked to. */
  readonly rail: string
  readonly reason: string
  readonly reference: string
  readonly created_at: Date
}

export const insertAdjustments = insertInto('adjustments', {
  id: 'text',
  kind: 'text',
  partner_id: 'text',
  customer_id: 'text',
  asset: 'text',
  amount: 'bigint',
  deposit_id: 'text',
  rail: 'text',
  reason: 'text',
  reference: 'text',
  created_at: 'timestamptz',
})

/** By the deposit: whether it was reversed. Whoever reverses it holds the same account, so this sees all that came before. */
export const reversalRows = rowSource<{ id: string; adjustment_id: string }>(
  'reversals',
  'SELECT deposit_id AS id, id AS adjustment_id FROM adjustments WHERE deposit_id = ANY($1::text[])',
)

export async function reversalOf(db: Db, deposit_id: string): Promise<string | undefined> {
  const { rows } = await db.query('SELECT id FROM adjustments WHERE deposit_id = $1', [deposit_id])
  return rows[0]?.id
}

export const adjustmentChecks: readonly Check[] = [
  {
    name: 'every adjustment is booked once and in full, and nothing is booked without one',
    sql: `SELECT cause_id AS adjustment_id, movement, account, owner, asset, amount,
        CASE WHEN is_booked THEN 'not expected' ELSE 'not booked' END AS wrong
      FROM (
        SELECT id AS cause_id, CASE kind WHEN 'debit' THEN 'debited' ELSE 'reversed' END AS movement, partner_id,
          account, owner, asset, side.amount, true AS is_expected
        FROM adjustments CROSS JOIN LATERAL (VALUES
          ('customer', customer_id, -amount), ('external:' || rail, '', amount)) AS side (account, owner, amount)
      ) AS expected
      FULL JOIN (
        SELECT cause_id, movement, partner_id, account, owner, asset, amount, true AS is_booked FROM entries
        WHERE cause_id LIKE 'adj\\_%' OR movement IN ('debited', 'reversed')
      ) AS booked USING (cause_id, movement, partner_id, account, owner, asset, amount)
      WHERE is_expected IS NULL OR is_booked IS NULL`,
  },
  {
    name: 'every reversal is the exact inverse of its deposit',
    sql: `SELECT a.id AS adjustment_id, a.deposit_id FROM adjustments a LEFT JOIN deposits d ON d.id = a.deposit_id
      WHERE a.kind = 'reversal'
        AND (d.id IS NULL OR (d.partner_id, d.customer_id, d.asset, d.amount, d.rail) IS DISTINCT FROM
          (a.partner_id, a.customer_id, a.asset, a.amount, a.rail))`,
  },
  {
    name: 'every adjustment was made under its reference',
    sql: `SELECT coalesce(a.id, c.resource_id) AS adjustment_id, a.reference, c.key
      FROM adjustments a FULL JOIN (SELECT key, resource_id FROM claims WHERE scope = 'operator' AND operation = 'adjustment') AS c
        ON c.key = a.reference AND c.resource_id = a.id
      WHERE a.id IS NULL OR c.key IS NULL`,
  },
]
