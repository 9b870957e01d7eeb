import type { Db } from './pool.ts'

/**
 * Rows that are work: open until their status is final, due at `next_attempt_at`. Whoever takes one has it until its
 * lease ends; whoever else looks meanwhile passes over it.
 */
type DueTable = 'payouts' | 'transfers'

const OPEN = `status IN ('pending', 'processing')`

export async function takeDue<Row>(db: Db, table: DueTable, lease_ms: number, limit: number): Promise<Row[]> {
  const { rows } = await db.query({
    name: `take due ${table}`,
    text: `UPDATE ${table} SET attempts = attempts + 1, next_attempt_at = clock_timestamp() + make_interval(secs => $1::float8 / 1000)
      WHERE id IN (SELECT id FROM ${table} WHERE ${OPEN} AND next_attempt_at <= clock_timestamp()
        ORDER BY next_attempt_at LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING *`,
    values: [lease_ms, limit],
  })
  return rows
}

export async function retryAfter(db: Db, table: DueTable, id: string, delay_ms: number): Promise<void> {
  await db.query({
    name: `retry ${table} later`,
    text: `UPDATE ${table} SET next_attempt_at = clock_timestamp() + make_interval(secs => $2::float8 / 1000) WHERE id = $1 AND ${OPEN}`,
    values: [id, delay_ms],
  })
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
    `SELECT * FROM ${table} WHERE ${OPEN} AND created_at < clock_timestamp() - make_interval(secs => $1::float8 / 1000)
     ORDER BY created_at LIMIT 100`,
    [older_than_ms],
  )
  return rows
}
