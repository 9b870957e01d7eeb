import type { Asset } from '../../core/money.ts'
import { columnsOf } from '../../db/columns.ts'
import type { ListSource } from '../../db/newest.ts'
import type { Db } from '../../db/pool.ts'
import type { Check, Template } from '../../ledger/audit.ts'
import { referenceChecks } from '../../ledger/claims-audit.ts'
import { insertInto, rowSource, updateOf } from '../../ledger/command.ts'
import { isoTime, missingEventCheck } from '../../records/events/store.ts'
import type { Holding } from './average-cost.ts'

/** The sum of an account of the house, up to the last trade that was folded into it. */
export type Position = Holding & {
  readonly id: string
  readonly account: 'treasury' | 'partner_fees'
  /** The partner; empty for the treasury. */
  readonly owner: string
  readonly asset: Asset
}

export const positionId = ({
  account,
  owner,
  asset,
}: Pick<Position, 'account' | 'owner' | 'asset'>): string => `${account} ${owner} ${asset}`

/** Written with a trade; deleted when the trade is folded into the positions. */
export const insertUnfolded = insertInto('unfolded', { trade_id: 'text' })

export const positionRows = rowSource<Position>(
  'positions',
  `SELECT ${columnsOf('positions')} FROM positions WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE`,
)
export const changePositions = updateOf(positionRows, 'positions', { id: 'text', amount: 'numeric' })

export type UnfoldedTrade = {
  readonly id: string
  readonly partner_id: string
  readonly from_asset: Asset
  readonly to_asset: Asset
  readonly from_amount: bigint
  readonly to_amount: bigint
  readonly partner_fee: bigint
  readonly service_fee: bigint
  readonly worth_brl: bigint
}

const FOLD = `hashtextextended('fold ' || current_schema(), 0)`

/**
 * Held until the transaction ends, so that one transaction folds at a time, in the order of the trades. The lock time-out is
 * longer than the database takes to drop a node that vanished during a fold.
 */
export async function lockFold(db: Db): Promise<void> {
  await db.query(`SELECT set_config('lock_timeout', '3s', true), pg_advisory_xact_lock(${FOLD})`)
}

/** The same without waiting. False if another transaction folds. */
export async function tryLockFold(db: Db): Promise<boolean> {
  const { rows } = await db.query(`SELECT pg_try_advisory_xact_lock(${FOLD}) AS won`)
  return rows[0].won
}

export async function hasUnfolded(db: Db): Promise<boolean> {
  const { rows } = await db.query({
    name: 'has unfolded trades',
    text: 'SELECT EXISTS (SELECT FROM unfolded) AS waiting',
  })
  return rows[0].waiting
}

export async function takeUnfolded(db: Db, limit: number): Promise<UnfoldedTrade[]> {
  const { rows } = await db.query(
    `WITH taken AS (
       DELETE FROM unfolded WHERE trade_id IN (SELECT trade_id FROM unfolded ORDER BY trade_id LIMIT $1) RETURNING trade_id)
     SELECT id, partner_id, from_asset, to_asset, from_amount, to_amount, partner_fee, service_fee, worth_brl
     FROM trades JOIN taken ON taken.trade_id = trades.id ORDER BY id`,
    [limit],
  )
  return rows
}

/** For the metrics: seconds that the oldest unfolded trade has waited; 0 if there is none. */
export async function oldestUnfolded(db: Db): Promise<number> {
  const { rows } = await db.query({
    name: 'oldest unfolded trade',
    text: `SELECT greatest(0, extract(epoch FROM clock_timestamp() - created_at))::float8 AS seconds
      FROM (SELECT trade_id FROM unfolded ORDER BY trade_id LIMIT 1) AS oldest JOIN trades ON trades.id = oldest.trade_id`,
  })
  return rows[0]?.seconds ?? 0
}

export async function lockPositions(db: Db, ids: readonly string[]): Promise<Position[]> {
  const { rows } = await db.query(positionRows.sql, [ids])
  return rows
}

export async function savePositions(db: Db, positions: readonly Position[]): Promise<void> {
  const column = (name: keyof Position) => positions.map((position) => position[name])
  await db.query(
    `INSERT INTO positions (id, account, owner, asset, amount, cost, realised)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::numeric[], $6::numeric[], $7::numeric[])
     ON CONFLICT (id) DO UPDATE SET amount = excluded.amount, cost = excluded.cost, realised = excluded.realised`,
    [
      column('id'),
      column('account'),
      column('owner'),
      column('asset'),
      column('amount'),
      column('cost'),
      column('realised'),
    ],
  )
}

export async function treasuryPositions(db: Db): Promise<Position[]> {
  const { rows } = await db.query(
    `SELECT ${columnsOf('positions')} FROM positions WHERE account = 'treasury'`,
  )
  return rows
}

/** Accrued fees of a partner, exact now: folded and unfolded trades together. */
export async function accruedFees(db: Db, partner_id: string): Promise<{ asset: Asset; amount: bigint }[]> {
  const { rows } = await db.query({
    name: 'accrued partner fees',
    text: `SELECT asset, sum(amount) AS amount FROM (
        SELECT asset, amount FROM positions WHERE account = 'partner_fees' AND owner = $1
        UNION ALL
        SELECT from_asset, partner_fee FROM unfolded JOIN trades ON trades.id = unfolded.trade_id WHERE partner_id = $1
      ) AS parts GROUP BY asset`,
    values: [partner_id],
  })
  return rows
}

/** The same for every partner. */
export async function allAccruedFees(
  db: Db,
): Promise<{ partner_id: string; asset: Asset; amount: bigint }[]> {
  const { rows } = await db.query(
    `SELECT partner_id, asset, sum(amount) AS amount FROM (
       SELECT owner AS partner_id, asset, amount FROM positions WHERE account = 'partner_fees'
       UNION ALL
       SELECT partner_id, from_asset, partner_fee FROM unfolded JOIN trades ON trades.id = unfolded.trade_id
     ) AS parts GROUP BY partner_id, asset ORDER BY partner_id, asset`,
  )
  return rows
}

export type TreasuryLimit = {
  readonly asset: Asset
  readonly lowest: bigint | null
  readonly highest: bigint | null
}

export async function treasuryLimits(db: Db): Promise<TreasuryLimit[]> {
  const { rows } = await db.query(
    `SELECT ${columnsOf('treasury_limits')} FROM treasury_limits ORDER BY asset`,
  )
  return rows
}

export async function saveTreasuryLimit(db: Db, limit: TreasuryLimit): Promise<void> {
  await db.query(
    `INSERT INTO treasury_limits (asset, lowest, highest) VALUES ($1, $2, $3)
     ON CONFLICT (asset) DO UPDATE SET lowest = excluded.lowest, highest = excluded.highest`,
    [limit.asset, limit.lowest, limit.highest],
  )
}

export type FeePayout = {
  readonly id: string
  readonly partner_id: string
  readonly asset: Asset
  readonly amount: bigint
  readonly customer_id: string | null
  readonly reason: string
  readonly reference: string
  /** Sequence number of the last event about the payment; 0 if it is older than these events. */
  readonly sequence: number
  readonly created_at: Date
}

export const insertFeePayouts = insertInto('fee_payouts', {
  id: 'text',
  partner_id: 'text',
  asset: 'text',
  amount: 'bigint',
  customer_id: 'text?',
  reason: 'text',
  reference: 'text',
  sequence: 'integer',
  created_at: 'timestamptz',
})

export const feePayoutList: ListSource = {
  table: 'fee_payouts',
  columns: columnsOf('fee_payouts'),
  walks: [{ by: [] }],
}

/** Newest fee payouts of all partners. */
export async function newestFeePayouts(db: Db, limit: number): Promise<FeePayout[]> {
  const { rows } = await db.query(
    `SELECT ${columnsOf('fee_payouts')} FROM fee_payouts ORDER BY id DESC LIMIT $1`,
    [limit],
  )
  return rows
}

export const feePayoutTemplate: Template = {
  name: 'every payment of fees is booked once and in full',
  prefix: 'fp',
  entries: (
    within,
  ) => `SELECT f.id AS cause_id, 'paid' AS movement, l.line, f.partner_id, l.account, l.owner, f.asset, l.amount, f.created_at
    FROM fee_payouts f CROSS JOIN LATERAL (VALUES
      (0, 'partner_fees', f.partner_id, -f.amount::numeric),
      (1, CASE WHEN f.customer_id IS NULL THEN 'external:operator' ELSE 'customer' END, coalesce(f.customer_id, ''), f.amount)
    ) AS l (line, account, owner, amount)
    WHERE ${within('f.id')}`,
}

export const treasuryChecks: readonly Check[] = [
  {
    name: 'the sums of the treasury and of the partners’ fees are those of their entries',
    sql: () => `SELECT account || ' ' || owner || ' ' || asset AS object_id, sum(amount) AS difference FROM (
        SELECT account, owner, asset, amount FROM positions
        UNION ALL SELECT account, owner, asset, -amount FROM entries WHERE account IN ('treasury', 'partner_fees')
        UNION ALL SELECT account, owner, entries.asset, amount FROM unfolded
          JOIN entries ON cause_id = trade_id AND movement = 'traded' AND account IN ('treasury', 'partner_fees')
      ) AS parts GROUP BY account, owner, asset HAVING sum(amount) <> 0`,
  },
  {
    // For the piecewise audit only: the whole audit checks the same faster with the sums above.
    name: 'every completed trade was folded, or waits to be',
    walk: 'causes',
    prefix: 'td',
    pieces_only: true,
    sql: (within) => `SELECT t.id AS object_id, t.partner_id, t.created_at FROM trades t
      WHERE ${within('t.id')} AND t.status = 'completed'
        AND NOT EXISTS (SELECT FROM unfolded u WHERE u.trade_id = t.id)
        AND NOT EXISTS (SELECT FROM folds f WHERE f.trade_ids @> ARRAY[t.id])`,
  },
  {
    name: 'only completed trades wait to be folded',
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT u.trade_id AS object_id, t.status FROM unfolded u LEFT JOIN trades t ON t.id = u.trade_id
      WHERE ${within('u.trade_id')} AND t.status IS DISTINCT FROM 'completed'`,
  },
  {
    name: 'every payment of fees is to a partner, or a customer of it',
    walk: 'causes',
    prefix: 'fp',
    sql: (within) => `SELECT f.id AS object_id, f.partner_id, f.customer_id FROM fee_payouts f
      LEFT JOIN customers c ON c.id = f.customer_id LEFT JOIN shared.partners s ON s.id = f.partner_id
      WHERE ${within('f.id')} AND (s.id IS NULL OR (f.customer_id IS NOT NULL AND c.partner_id IS DISTINCT FROM f.partner_id))`,
  },
  {
    name: 'every payment of fees was told',
    walk: 'causes',
    prefix: 'fp',
    sql: (within) =>
      `SELECT f.id AS object_id, f.partner_id, f.sequence, f.created_at FROM fee_payouts f WHERE ${within('f.id')} AND f.sequence <> 1`,
  },
  {
    name: 'no reference pays fees twice',
    walk: 'causes',
    prefix: 'fp',
    sql: (
      within,
    ) => `SELECT f.id AS object_id, f.partner_id, f.reference, other.id AS other_id FROM fee_payouts f
      JOIN fee_payouts other ON other.reference = f.reference AND other.id <> f.id WHERE ${within('f.id')}`,
  },
  ...referenceChecks({
    table: 'fee_payouts',
    prefix: 'fp',
    operation: 'payment of fees',
    names: ['r.partner_id', 'r.customer_id', 'r.asset', 'r.amount', 'r.reason'],
  }),
  missingEventCheck({
    name: 'every payment of fees was told once, as it is',
    prefix: 'fp',
    table: 'fee_payouts',
    expected: (
      within,
    ) => `SELECT f.id AS object_id, n AS sequence, 'fee_payout.completed' AS type, f.partner_id, f.created_at, f.created_at AS since,
        ARRAY[f.id, f.customer_id, f.asset, f.amount::text, f.reference, ${isoTime('f.created_at')}] AS facts
      FROM fee_payouts f, generate_series(1, f.sequence) AS n WHERE ${within('f.id')}`,
    fields: 'id text, customer_id text, asset text, amount text, reference text, created_at text',
    facts: 'ARRAY[d.id, d.customer_id, d.asset, d.amount, d.reference, d.created_at]',
  }),
]
