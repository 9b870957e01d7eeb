import { type Asset, assetNames } from '../../core/money.ts'
import { columnsOf } from '../../db/columns.ts'
import { type ListSource, ofCustomer } from '../../db/newest.ts'
import type { Db } from '../../db/pool.ts'
import { type Check, IN_PRODUCTION, type Template } from '../../ledger/audit.ts'
import { referenceChecks } from '../../ledger/claims-audit.ts'
import { insertInto } from '../../ledger/command.ts'
import { isoTime, missingEventCheck } from '../../records/events/store.ts'

export type Deposit = {
  readonly id: string
  readonly partner_id: string
  readonly customer_id: string
  readonly asset: Asset
  readonly amount: bigint
  /** The outside account that the money came from: the other side of the entry. */
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
  reason: 'text?',
  reference: 'text?',
  created_at: 'timestamptz',
})

export async function depositById(db: Db, id: string): Promise<Deposit | undefined> {
  const { rows } = await db.query(`SELECT ${columnsOf('deposits')} FROM deposits WHERE id = $1`, [id])
  return rows[0]
}

/** Both indexes begin with the owner and the asset, so a list of all assets merges three ranges. */
export const depositList: ListSource = {
  table: 'deposits',
  columns: columnsOf('deposits'),
  walks: [
    {
      by: ['customer_id', 'asset'],
      stretches: ({ customer_id, asset }, param) => [
        `${ofCustomer(customer_id, param)} AND asset = ${param(asset)}`,
      ],
    },
    {
      by: ['customer_id'],
      stretches: ({ customer_id }, param) =>
        assetNames.map((asset) => `${ofCustomer(customer_id, param)} AND asset = ${param(asset)}`),
    },
    { by: ['asset'] },
    {
      by: [],
      stretches: (_, param) => assetNames.map((asset) => `partner_id = $1 AND asset = ${param(asset)}`),
    },
  ],
}

export const depositTemplate: Template = {
  name: 'every deposit is booked once and in full, and nothing is booked without one',
  prefix: 'dep',
  entries: (
    within,
  ) => `SELECT d.id AS cause_id, 'credited' AS movement, l.line, d.partner_id, l.account, l.owner, d.asset, l.amount, d.created_at
    FROM deposits d CROSS JOIN LATERAL (VALUES
      (0, 'external:' || d.rail, '', -d.amount::numeric),
      (1, 'customer', d.customer_id, d.amount)) AS l (line, account, owner, amount)
    WHERE ${within('d.id')}`,
}

export const depositChecks: readonly Check[] = [
  {
    name: 'every deposit is of a known kind, to a customer of its partner',
    walk: 'causes',
    prefix: 'dep',
    sql: (within) => `SELECT d.id AS object_id, d.partner_id, d.customer_id, d.rail FROM deposits d
      LEFT JOIN customers c ON c.id = d.customer_id
      WHERE ${within('d.id')} AND (c.partner_id IS DISTINCT FROM d.partner_id OR d.rail NOT IN ('sandbox', 'operator')
        OR (d.rail = 'sandbox' AND ${IN_PRODUCTION})
        OR (d.rail = 'operator') <> (d.reference IS NOT NULL) OR (d.rail = 'operator') <> (d.reason IS NOT NULL))`,
  },
  {
    name: 'no reference credits twice',
    walk: 'causes',
    prefix: 'dep',
    sql: (
      within,
    ) => `SELECT d.id AS object_id, d.partner_id, d.reference, other.id AS other_id FROM deposits d
      JOIN deposits other ON other.rail = d.rail AND other.reference = d.reference AND other.id <> d.id
      WHERE ${within('d.id')}`,
  },
  ...referenceChecks({
    table: 'deposits',
    prefix: 'dep',
    operation: 'credit',
    only: `r.rail = 'operator'`,
    names: ['r.customer_id', 'r.asset', 'r.amount', 'r.reason'],
  }),
  missingEventCheck({
    name: 'every deposit was told once, as it is',
    prefix: 'dep',
    table: 'deposits',
    expected: (
      within,
    ) => `SELECT id AS object_id, 1 AS sequence, 'deposit.completed' AS type, partner_id, created_at, created_at AS since,
        ARRAY[id, customer_id, asset, amount::text, 'completed', ${isoTime('created_at')}] AS facts
      FROM deposits WHERE ${within('id')}`,
    fields: 'id text, customer_id text, asset text, amount text, status text, created_at text',
    facts: 'ARRAY[d.id, d.customer_id, d.asset, d.amount, d.status, d.created_at]',
  }),
]
