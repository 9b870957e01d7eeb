import { batched } from './batched.ts'
import { columnsOf } from './columns.ts'
import type { Db } from './pool.ts'

/**
 * Rows that are work: open until their status is final, due at `next_attempt_at`. Whoever takes one has it until its
 * lease ends; whoever else looks meanwhile passes over it. `attempts` counts the takings: it is the token by which a
 * taker knows, and shows, that nobody took the row after it.
 */
type DueTable = 'payouts' | 'transfers'

const OPEN = `status IN ('pending', 'processing')`

/** Some of the open rows of a table, by a condition that has an index of its own on (partner_id, next_attempt_at). */
export type Due = {
  readonly name: string
  readonly table: DueTable
  readonly columns: string
  readonly where: string
}

/**
 * Partners take turns: the first that is due of each, then the second of each, so that nobody waits behind a partner who
 * has thousands. The index leads from one partner that has open rows to the next.
 */
const takeSql = ({ table, columns, where }: Due) => `
  WITH RECURSIVE partners AS (
    (SELECT partner_id FROM ${table} WHERE ${where} ORDER BY partner_id LIMIT 1)
    UNION ALL
    SELECT (SELECT partner_id FROM ${table} WHERE ${where} AND partner_id > partners.partner_id ORDER BY partner_id LIMIT 1)
    FROM partners WHERE partner_id IS NOT NULL
  ), candidates AS MATERIALIZED (
    SELECT due.id, due.next_attempt_at, row_number() OVER (PARTITION BY partner_id ORDER BY due.next_attempt_at) AS turn
    FROM partners CROSS JOIN LATERAL (
      SELECT id, next_attempt_at FROM ${table}
      WHERE ${where} AND partner_id = partners.partner_id AND next_attempt_at <= now()
      ORDER BY next_attempt_at LIMIT 2 * $2) AS due
  ), taken AS MATERIALIZED (
    SELECT r.id FROM candidates JOIN ${table} AS r USING (id)
    WHERE r.${OPEN} AND r.next_attempt_at <= now()
    ORDER BY turn, candidates.next_attempt_at LIMIT $2 FOR NO KEY UPDATE OF r SKIP LOCKED
  )
  UPDATE ${table} SET attempts = attempts + 1, next_attempt_at = clock_timestamp() + make_interval(secs => $1::float8 / 1000)
  WHERE id IN (SELECT id FROM taken) RETURNING ${columns}`

export async function takeDue<Row>(db: Db, due: Due, lease_ms: number, limit: number): Promise<Row[]> {
  const { rows } = await db.query({
    name: `take due ${due.name}`,
    text: takeSql(due),
    values: [lease_ms, limit],
  })
  return rows
}

type Retry = { readonly id: string; readonly attempts: number; readonly delay_ms: number }

const retrying = (table: DueTable) =>
  batched<Retry, never>(async (db, retries) => {
    await db.query({
      name: `retry ${table} later`,
      // Locked in the order in which everybody else locks them.
      text: `WITH held AS MATERIALIZED (
          SELECT id FROM ${table} WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE)
        UPDATE ${table} AS r SET next_attempt_at = clock_timestamp() + make_interval(secs => new.delay_ms / 1000)
        FROM unnest($1::text[], $2::integer[], $3::float8[]) AS new (id, attempts, delay_ms)
        WHERE r.id = new.id AND r.id IN (SELECT id FROM held) AND r.attempts = new.attempts AND r.${OPEN}`,
      values: [retries.map((r) => r.id), retries.map((r) => r.attempts), retries.map((r) => r.delay_ms)],
    })
    return retries.map(() => undefined)
  })

const retriers = { payouts: retrying('payouts'), transfers: retrying('transfers') }

/** Only by whoever took it last: somebody whose lease has ended leaves the times of its successor alone. */
export async function retryAfter(
  db: Db,
  table: DueTable,
  taken: { readonly id: string; readonly attempts: number },
  delay_ms: number,
): Promise<void> {
  await retriers[table](db, { id: taken.id, attempts: taken.attempts, delay_ms: Math.max(0, delay_ms) })
}

export type OpenCount = {
  readonly rail: string
  readonly status: string
  readonly count: number
  readonly oldest_seconds: number
}

const COUNTED = 100_000

/** For the metrics: how many are open in each state, counted up to a point, and since when. `rail` is SQL. */
export async function countOpen(db: Db, table: DueTable, rail: string): Promise<OpenCount[]> {
  const { rows } = await db.query({
    name: `count open ${table}`,
    text: `SELECT rail, status, count(*)::integer AS count,
        greatest(0, extract(epoch FROM clock_timestamp() - min(created_at)))::float8 AS oldest_seconds
      FROM (SELECT ${rail} AS rail, status, created_at FROM ${table} WHERE ${OPEN} ORDER BY next_attempt_at LIMIT ${COUNTED}) AS open
      GROUP BY rail, status`,
  })
  return rows
}

/** On their way for longer than they should be: the operator's desk. */
export async function overdue<Row>(db: Db, table: DueTable, older_than_ms: number): Promise<Row[]> {
  const { rows } = await db.query(
    `SELECT ${columnsOf(table)} FROM ${table} WHERE ${OPEN} AND created_at < clock_timestamp() - make_interval(secs => $1::float8 / 1000)
     ORDER BY created_at LIMIT 100`,
    [older_than_ms],
  )
  return rows
}

export type Open = {
  readonly id: string
  readonly partner_id: string
  readonly status: string
  readonly attempts: number
  readonly created_at: Date
}

const A_DAY = `interval '1 day'`

/** Open for so long, and not told of today: the ones that somebody should hear about. */
export async function openBefore(
  db: Db,
  { table, older_than_ms, network }: { table: DueTable; older_than_ms: number; network?: string },
): Promise<Open[]> {
  const { rows } = await db.query(
    `SELECT id, partner_id, status, attempts, created_at FROM ${table} AS r
     WHERE ${OPEN} AND created_at < now() - make_interval(secs => $1::float8 / 1000) ${network ? 'AND network = $2' : ''}
       AND NOT EXISTS (SELECT FROM exceptions WHERE object_id = r.id AND kind = 'stuck'
         AND (closed_at IS NULL OR closed_at > now() - ${A_DAY}))
     ORDER BY created_at LIMIT 100`,
    network ? [older_than_ms, network] : [older_than_ms],
  )
  return rows
}
