import { columnsOf } from './columns.ts'
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
        ORDER BY next_attempt_at LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING ${columnsOf(table)}`,
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

/** On their way for longer than they should be: the operator's desk. */
export async function overdue<Row>(db: Db, table: DueTable, older_than_ms: number): Promise<Row[]> {
  const { rows } = await db.query(
    `SELECT ${columnsOf(table)} FROM ${table} WHERE ${OPEN} AND created_at < clock_timestamp() - make_interval(secs => $1::float8 / 1000)
     ORDER BY created_at LIMIT 100`,
    [older_than_ms],
  )
  return rows
}
