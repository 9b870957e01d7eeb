import type { Asset } from '../../core/money.ts'
import type { Db } from '../../db/pool.ts'
import type { Check, Template } from '../../ledger/audit.ts'
import { referenceChecks } from '../../ledger/claims-audit.ts'
import { insertInto, rowSource } from '../../ledger/command.ts'

export type Adjustment = {
  readonly id: string
  readonly kind: 'debit' | 'reversal'
  readonly partner_id: string
  readonly customer_id: string
  readonly asset: Asset
  readonly amount: bigint
  /** The deposit that is reversed; null for a debit. */
  readonly deposit_id: string | null
  /** The outside account: the other side of the entry. */
  readonly rail: string
  readonly reason: string
  readonly reference: string
  readonly created_at: Date
}

/** A deposit as it was booked. */
export type Reversible = Pick<Adjustment, 'id' | 'partner_id' | 'customer_id' | 'asset' | 'amount' | 'rail'>

export const insertAdjustments = insertInto('adjustments', {
  id: 'text',
  kind: 'text',
  partner_id: 'text',
  customer_id: 'text',
  asset: 'text',
  amount: 'bigint',
  deposit_id: 'text?',
  rail: 'text',
  reason: 'text',
  reference: 'text',
  created_at: 'timestamptz',
})

/** The reversal of a deposit, if any. Every reversal locks the same account, so this sees all earlier ones. */
export const reversalRows = rowSource<{ id: string; adjustment_id: string }>(
  'reversals',
  'SELECT deposit_id AS id, id AS adjustment_id FROM adjustments WHERE deposit_id = ANY($1::text[])',
)

/** The deposit as the server that books the reversal has it. */
export const depositRows = rowSource<Reversible>(
  'deposits to reverse',
  'SELECT id, partner_id, customer_id, asset, amount, rail FROM deposits WHERE id = ANY($1::text[])',
)

export async function reversalOf(db: Db, deposit_id: string): Promise<string | undefined> {
  const { rows } = await db.query('SELECT id FROM adjustments WHERE deposit_id = $1', [deposit_id])
  return rows[0]?.id
}

export const adjustmentTemplate: Template = {
  name: 'every adjustment is booked once and in full, and nothing is booked without one',
  prefix: 'adj',
  entries: (
    within,
  ) => `SELECT a.id AS cause_id, CASE a.kind WHEN 'debit' THEN 'debited' ELSE 'reversed' END AS movement, l.line, a.partner_id,
      l.account, l.owner, a.asset, l.amount, a.created_at
    FROM adjustments a CROSS JOIN LATERAL (VALUES
      (0, 'customer', a.customer_id, -a.amount::numeric),
      (1, 'external:' || a.rail, '', a.amount)) AS l (line, account, owner, amount)
    WHERE ${within('a.id')}`,
}

export const adjustmentChecks: readonly Check[] = [
  {
    name: 'every adjustment is to a customer of its partner, and every reversal the exact inverse of its deposit',
    walk: 'causes',
    prefix: 'adj',
    sql: (within) => `SELECT a.id AS object_id, a.partner_id, a.customer_id, a.deposit_id FROM adjustments a
      LEFT JOIN customers c ON c.id = a.customer_id LEFT JOIN deposits d ON d.id = a.deposit_id
      WHERE ${within('a.id')} AND (c.partner_id IS DISTINCT FROM a.partner_id OR CASE a.kind
        WHEN 'debit' THEN a.deposit_id IS NOT NULL OR a.rail <> 'operator'
        WHEN 'reversal' THEN (d.partner_id, d.customer_id, d.asset, d.amount, d.rail) IS DISTINCT FROM
          (a.partner_id, a.customer_id, a.asset, a.amount, a.rail)
        ELSE true END)`,
  },
  {
    name: 'no deposit is reversed twice',
    walk: 'causes',
    prefix: 'adj',
    sql: (
      within,
    ) => `SELECT a.id AS object_id, a.partner_id, a.deposit_id, other.id AS other_id FROM adjustments a
      JOIN adjustments other ON other.deposit_id = a.deposit_id AND other.id <> a.id WHERE ${within('a.id')}`,
  },
  ...referenceChecks({
    table: 'adjustments',
    prefix: 'adj',
    operation: 'adjustment',
    names: ['r.kind', 'r.customer_id', 'r.asset', 'r.amount', 'r.deposit_id', 'r.reason'],
  }),
]
