import { columnsOf } from '../../db/columns.ts'
import type { Db } from '../../db/pool.ts'
import type { Check, Template } from '../../ledger/audit.ts'
import { insertInto, rowSource, updateOf } from '../../ledger/command.ts'

/** Money of a Pix payment that went back: of a payout to its customer, or of a deposit from its customer. */
export type StoredReturn = {
  readonly id: string
  /** The return's own id in the Pix network. */
  readonly return_id: string
  readonly payout_id: string | null
  readonly deposit_id: string | null
  readonly partner_id: string
  readonly customer_id: string
  readonly amount: bigint
  /** `uncovered`: the customer's balance does not cover the debit yet. */
  readonly state: 'uncovered' | 'booked'
  /** Of the event that told it; null until it is booked. */
  readonly sequence: number | null
  readonly created_at: Date
  readonly booked_at: Date | null
}

const returnColumns = columnsOf('pix_returns')

export const insertReturns = insertInto('pix_returns', {
  id: 'text',
  return_id: 'text',
  payout_id: 'text?',
  deposit_id: 'text?',
  partner_id: 'text',
  customer_id: 'text',
  amount: 'bigint',
  state: 'text',
  sequence: 'integer?',
  created_at: 'timestamptz',
  booked_at: 'timestamptz?',
})

/** A return by its id in the network. Read under the lock of the payout or deposit that it belongs to. */
type KnownReturn = {
  readonly id: string
  readonly payout_id: string | null
  readonly deposit_id: string | null
  readonly amount: bigint
}

export const knownReturns = rowSource<KnownReturn>(
  'returns by their network id',
  `SELECT return_id AS id, payout_id, deposit_id, amount FROM pix_returns WHERE return_id = ANY($1::text[])`,
)

/** How many returns of a payout or deposit are booked, each with an event of its own; and the sum of all. */
type ReturnCount = { readonly id: string; readonly count: number; readonly sum: bigint }

export const returnCounts = rowSource<ReturnCount>(
  'booked returns',
  `SELECT payout_id AS id, count(booked_at)::integer AS count, sum(amount)::bigint AS sum FROM pix_returns
     WHERE payout_id = ANY($1::text[]) GROUP BY payout_id
   UNION ALL SELECT deposit_id, count(booked_at)::integer, sum(amount)::bigint FROM pix_returns
     WHERE deposit_id = ANY($1::text[]) GROUP BY deposit_id`,
)

export const returnRows = rowSource<StoredReturn>(
  'returns',
  `SELECT ${returnColumns} FROM pix_returns WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE`,
)

export const bookReturns = updateOf(returnRows, 'pix_returns', {
  id: 'text',
  state: 'text',
  sequence: 'integer?',
  booked_at: 'timestamptz?',
})

/** Which of these ids of the network are stored. */
export async function storedReturns(db: Db, return_ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ return_id: string }>({
    name: 'stored returns',
    text: 'SELECT return_id FROM pix_returns WHERE return_id = ANY($1::text[])',
    values: [return_ids],
  })
  return new Set(rows.map(({ return_id }) => return_id))
}

/** The deposit of a received payment, as far as a command needs it. */
export async function depositIdOfPayment(
  db: Db,
  end_to_end_id: string,
): Promise<Pick<StoredReturn, 'id' | 'partner_id' | 'customer_id'> | undefined> {
  const { rows } = await db.query({
    name: 'deposit of pix payment',
    text: 'SELECT id, partner_id, customer_id FROM deposits WHERE end_to_end_id = $1',
    values: [end_to_end_id],
  })
  return rows[0]
}

/** A payment that the service did not credit. `by_hand`: the credit of an operator under its end_to_end_id. */
export type UncreditedPayment = {
  readonly amount: bigint
  readonly amount_returned: bigint
  readonly charge_id: string | null
  readonly by_hand: { readonly id: string; readonly partner_id: string } | null
}

/** Of a payment that the service did not credit only the sum is stored, for the comparison with the account. Undefined: nothing is new. */
export async function noteReturnedUncredited(
  tx: Db,
  end_to_end_id: string,
  sum: bigint,
): Promise<UncreditedPayment | undefined> {
  const { rows } = await tx.query<UncreditedPayment>({
    name: 'note returned uncredited',
    text: `UPDATE pix_received SET amount_returned = $2
      WHERE end_to_end_id = $1 AND deposit_id IS NULL AND amount_returned < $2 AND amount >= $2
      RETURNING amount, amount_returned, charge_id, (SELECT json_build_object('id', d.id, 'partner_id', d.partner_id) FROM deposits d
        WHERE d.rail = 'operator' AND d.reference = $1 AND NOT EXISTS (SELECT FROM adjustments a WHERE a.deposit_id = d.id)) AS by_hand`,
    values: [end_to_end_id, sum],
  })
  return rows[0]
}

const COVERED_AT_ONCE = 100

/** Returns that waited and that the balance covers by now, oldest first. */
export async function coverableReturns(db: Db): Promise<StoredReturn[]> {
  const { rows } = await db.query({
    name: 'coverable returns',
    text: `SELECT ${returnColumns
      .split(', ')
      .map((column) => `r.${column}`)
      .join(', ')} FROM pix_returns r JOIN balances b ON b.customer_id = r.customer_id AND b.asset = 'BRL'
      WHERE r.state = 'uncovered' AND b.balance >= r.amount ORDER BY r.created_at, r.id LIMIT ${COVERED_AT_ONCE}`,
  })
  return rows
}

export async function uncoveredOf(db: Db, deposit_id: string): Promise<number> {
  const { rows } = await db.query({
    name: 'uncovered returns of deposit',
    text: `SELECT count(*)::integer AS count FROM pix_returns WHERE deposit_id = $1 AND state = 'uncovered'`,
    values: [deposit_id],
  })
  return rows[0].count
}

/** The sum of all returns of a deposit, also of those that wait. */
export async function storedSumOf(db: Db, deposit_id: string): Promise<bigint> {
  const { rows } = await db.query({
    name: 'sum of returns of deposit',
    text: 'SELECT coalesce(sum(amount), 0)::bigint AS sum FROM pix_returns WHERE deposit_id = $1',
    values: [deposit_id],
  })
  return rows[0].sum
}

/** A payment whose returns the provider is asked about. */
export type ReturnCheck = { readonly end_to_end_id: string; readonly tries: number }

/** How long a worker has for a payment that it took. */
const CHECK_LEASE_S = 60

/** A notice named the payments. One that waits for its time already is asked about now. */
export async function addReturnChecks(db: Db, end_to_end_ids: readonly string[]): Promise<number> {
  if (end_to_end_ids.length === 0) return 0
  const { rowCount } = await db.query({
    name: 'add return checks',
    // Only of payments that this database has: a notice with other ids stores nothing. The column rounds to milliseconds: rounded up,
    // the check would not be due yet.
    text: `INSERT INTO pix_return_checks (end_to_end_id, due_at)
      SELECT end_to_end_id, date_trunc('milliseconds', clock_timestamp()) FROM (
        SELECT end_to_end_id FROM end_to_end_ids WHERE end_to_end_id = ANY($1::text[])
        UNION SELECT end_to_end_id FROM pix_received WHERE end_to_end_id = ANY($1::text[])) AS known ORDER BY end_to_end_id
      ON CONFLICT (end_to_end_id) DO UPDATE SET due_at = EXCLUDED.due_at, tries = 0`,
    values: [end_to_end_ids],
  })
  return rowCount ?? 0
}

export async function takeReturnChecks(db: Db, most: number): Promise<ReturnCheck[]> {
  const { rows } = await db.query<ReturnCheck>({
    name: 'take return checks',
    text: `UPDATE pix_return_checks SET due_at = clock_timestamp() + make_interval(secs => ${CHECK_LEASE_S}), tries = tries + 1
      WHERE end_to_end_id = ANY(ARRAY(SELECT end_to_end_id FROM pix_return_checks WHERE due_at <= clock_timestamp()
        ORDER BY due_at LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED)) RETURNING end_to_end_id, tries`,
    values: [most],
  })
  return rows
}

export async function checkReturnsAgain(db: Db, { end_to_end_id, tries }: ReturnCheck, ms: number) {
  await db.query({
    name: 'check returns again',
    text: `UPDATE pix_return_checks SET due_at = clock_timestamp() + make_interval(secs => $3::float8 / 1000)
      WHERE end_to_end_id = $1 AND tries = $2`,
    values: [end_to_end_id, tries, ms],
  })
}

/** A notice that came meanwhile has set the tries back: its check stays. */
export async function endReturnCheck(db: Db, { end_to_end_id, tries }: ReturnCheck): Promise<void> {
  await db.query({
    name: 'end return check',
    text: 'DELETE FROM pix_return_checks WHERE end_to_end_id = $1 AND tries = $2',
    values: [end_to_end_id, tries],
  })
}

/** How far the pass over a list is. */
export type ReturnScan = { readonly began_at: Date; readonly read_until: Date }

export async function returnScanOf(db: Db, list: string): Promise<ReturnScan | undefined> {
  const { rows } = await db.query({
    name: 'return scan',
    text: 'SELECT began_at, read_until FROM pix_return_scans WHERE list = $1',
    values: [list],
  })
  return rows[0]
}

export async function storeReturnScan(db: Db, list: string, scan: ReturnScan): Promise<void> {
  await db.query({
    name: 'store return scan',
    text: `INSERT INTO pix_return_scans (list, began_at, read_until) VALUES ($1, $2, $3)
      ON CONFLICT (list) DO UPDATE SET began_at = excluded.began_at, read_until = excluded.read_until`,
    values: [list, scan.began_at, scan.read_until],
  })
}

/** Of a payout: from outside to the customer. Of a deposit: from the customer to the outside. */
export const returnTemplate: Template = {
  name: 'every Pix return is booked once and in full, and nothing is booked without one',
  prefix: 'ret',
  entries: (
    within,
  ) => `SELECT r.id AS cause_id, l.movement, l.line, r.partner_id, l.account, l.owner, 'BRL' AS asset, l.amount, r.booked_at AS created_at
    FROM pix_returns r CROSS JOIN LATERAL (VALUES
      (r.payout_id IS NOT NULL, 'reversed', 0, 'external:pix', '', -r.amount::numeric),
      (r.payout_id IS NOT NULL, 'reversed', 1, 'customer', r.customer_id, r.amount::numeric),
      (r.deposit_id IS NOT NULL, 'reversed', 0, 'customer', r.customer_id, -r.amount::numeric),
      (r.deposit_id IS NOT NULL, 'reversed', 1, 'external:pix', '', r.amount::numeric)
    ) AS l (happened, movement, line, account, owner, amount)
    WHERE ${within('r.id')} AND r.state = 'booked' AND l.happened`,
}

export const returnChecks: readonly Check[] = [
  {
    name: 'every Pix return is of a payment that was made, to or from its customer, and was booked after it',
    walk: 'causes',
    prefix: 'ret',
    sql: (
      within,
    ) => `SELECT r.id AS object_id, r.partner_id, r.return_id, r.payout_id, r.deposit_id, r.state FROM pix_returns r
      LEFT JOIN payouts p ON p.id = r.payout_id LEFT JOIN deposits d ON d.id = r.deposit_id
      WHERE ${within('r.id')} AND ((r.payout_id IS NULL) = (r.deposit_id IS NULL) OR r.state NOT IN ('uncovered', 'booked')
        OR (r.state = 'booked') <> (r.booked_at IS NOT NULL) OR (r.state = 'booked') <> (r.sequence IS NOT NULL) OR r.amount <= 0
        OR r.created_at > r.booked_at
        OR (r.payout_id IS NOT NULL AND (p.id IS NULL OR p.status <> 'completed' OR r.state <> 'booked'
          OR (p.partner_id, p.customer_id) IS DISTINCT FROM (r.partner_id, r.customer_id) OR r.created_at < p.completed_at))
        OR (r.deposit_id IS NOT NULL AND (d.id IS NULL OR d.rail <> 'pix'
          OR (d.partner_id, d.customer_id) IS DISTINCT FROM (r.partner_id, r.customer_id) OR r.created_at < d.created_at)))`,
  },
  {
    name: 'no return of the Pix network is booked twice',
    walk: 'causes',
    prefix: 'ret',
    sql: (
      within,
    ) => `SELECT r.id AS object_id, r.partner_id, r.return_id, other.id AS other_id FROM pix_returns r
      JOIN pix_returns other ON other.return_id = r.return_id AND other.id <> r.id WHERE ${within('r.id')}`,
  },
  {
    name: 'what came back of a payout is the sum of its returns, and no more than was paid',
    walk: 'causes',
    prefix: 'po',
    sql: (
      within,
    ) => `SELECT p.id AS object_id, p.partner_id, p.amount, p.amount_returned, r.sum, r.count FROM payouts p
      LEFT JOIN LATERAL (SELECT sum(amount) AS sum, count(*) AS count, min(sequence) AS first, max(sequence) AS last FROM pix_returns
        WHERE payout_id = p.id) AS r ON true
      WHERE ${within('p.id')} AND (p.amount_returned <> coalesce(r.sum, 0) OR p.amount_returned > p.amount
        OR (r.count > 0 AND (r.first <> p.sequence + 1 OR r.last <> p.sequence + r.count)))`,
  },
  {
    name: 'what was given back of a deposit is the sum of its booked returns, and all returns are no more than was received',
    walk: 'causes',
    prefix: 'dep',
    sql: (
      within,
    ) => `SELECT d.id AS object_id, d.partner_id, d.amount, d.amount_returned, r.booked, r.count FROM deposits d
      LEFT JOIN LATERAL (SELECT sum(amount) AS sum, sum(amount) FILTER (WHERE state = 'booked') AS booked, count(booked_at) AS count,
        min(sequence) AS first, max(sequence) AS last FROM pix_returns WHERE deposit_id = d.id) AS r ON true
      WHERE ${within('d.id')} AND (d.amount_returned <> coalesce(r.booked, 0) OR coalesce(r.sum, 0) > d.amount
        OR (r.count > 0 AND (r.first <> d.sequence + 1 OR r.last <> d.sequence + r.count)))`,
  },
]
