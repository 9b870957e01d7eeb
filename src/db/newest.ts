import { columnsOf, type TableName } from './columns.ts'
import type { Db } from './pool.ts'

/** What a list may be narrowed by. Columns come from the code, values from the caller. */
export type NewestFilter = {
  /** Column by column; undefined: any. */
  readonly equal: Readonly<Record<string, string | undefined>>
  /** One more condition of the code's own, and the time it speaks of as `$at`. */
  readonly also?: { readonly sql: string; readonly at: Date }
  readonly after: Date | undefined
  readonly before: Date | undefined
  /** Where the page before ended. */
  readonly position: { readonly at: Date; readonly id: string } | undefined
  readonly limit: number
}

/** Rows newest first. The position is one in the list's own order, so pages stay right while rows are added. */
export async function selectNewest<Row>(db: Db, table: TableName, filter: NewestFilter): Promise<Row[]> {
  const values: unknown[] = []
  const param = (value: unknown) => `$${values.push(value)}`
  const conditions = Object.entries(filter.equal).flatMap(([column, value]) =>
    value === undefined ? [] : [`${column} = ${param(value)}`],
  )
  if (filter.also) {
    const { sql, at } = filter.also
    conditions.push(sql.replaceAll('$at', () => param(at)))
  }
  if (filter.after) conditions.push(`created_at >= ${param(filter.after)}`)
  if (filter.before) conditions.push(`created_at < ${param(filter.before)}`)
  if (filter.position)
    conditions.push(`(created_at, id) < (${param(filter.position.at)}, ${param(filter.position.id)})`)
  const { rows } = await db.query(
    `SELECT ${columnsOf(table)} FROM ${table} WHERE ${conditions.join(' AND ')} ORDER BY created_at DESC, id DESC LIMIT ${param(filter.limit)}`,
    values,
  )
  return rows
}
