import type { GoOn } from '../db/chore.ts'
import type { Db } from '../db/pool.ts'
import type { Check } from '../ledger/audit.ts'
import { insertInto } from '../ledger/command.ts'

export const eventColumns = {
  id: 'text',
  partner_id: 'text',
  type: 'text',
  object_id: 'text',
  sequence: 'integer',
  data: 'json',
  created_at: 'timestamptz',
} as const

export const insertEvents = insertInto('events', eventColumns)

/** An event as it is stored. `data` is the text that was written, so that what is sent never differs from it. */
export type StoredEvent = {
  readonly id: string
  readonly partner_id: string
  readonly type: string
  readonly object_id: string
  readonly sequence: number
  readonly data: string
  readonly created_at: Date
}

export const eventFields = (table: string) =>
  ['id', 'partner_id', 'type', 'object_id', 'sequence', 'created_at']
    .map((column) => `${table}.${column}`)
    .concat(`${table}.data::text AS data`)
    .join(', ')

export async function eventById(
  db: Db,
  where: { id: string; partner_id: string },
): Promise<(StoredEvent & { readonly position: bigint | null }) | undefined> {
  const { rows } = await db.query({
    name: 'event by id',
    text: `SELECT ${eventFields('e')}, (SELECT position FROM event_positions WHERE event_id = e.id) AS position
      FROM events e WHERE e.id = $1 AND e.partner_id = $2`,
    values: [where.id, where.partner_id],
  })
  return rows[0]
}

export type LogFilter = {
  readonly partner_id: string
  readonly type: string | undefined
  readonly object_id: string | undefined
  /** Oldest first after this position, or newest first before it. */
  readonly from: { readonly after: bigint } | { readonly before: bigint | undefined }
  readonly limit: number
}

export type PlacedEvent = StoredEvent & { readonly position: bigint }

export async function selectEvents(db: Db, filter: LogFilter): Promise<PlacedEvent[]> {
  const values: unknown[] = []
  const param = (value: unknown) => `$${values.push(value)}`
  const conditions = [`p.partner_id = ${param(filter.partner_id)}`]
  if (filter.type !== undefined) conditions.push(`p.type = ${param(filter.type)}`)
  // An object has few events, and an index of its own.
  if (filter.object_id !== undefined)
    conditions.push(
      `p.event_id IN (SELECT id FROM events WHERE object_id = ${param(filter.object_id)} AND partner_id = $1)`,
    )
  const oldest_first = 'after' in filter.from
  if ('after' in filter.from) conditions.push(`p.position > ${param(filter.from.after)}`)
  else if (filter.from.before !== undefined) conditions.push(`p.position < ${param(filter.from.before)}`)
  const { rows } = await db.query(
    `SELECT ${eventFields('e')}, p.position FROM event_positions p JOIN events e ON e.id = p.event_id
     WHERE ${conditions.join(' AND ')} ORDER BY p.position ${oldest_first ? '' : 'DESC'} LIMIT ${param(filter.limit)}`,
    values,
  )
  return rows
}

/** Forgets events that nobody waits for, as many as there are. */
export async function forgetEvents(db: Db, older_than: Date, goOn: GoOn = () => true): Promise<void> {
  let after: bigint | null = 0n
  while (after !== null && goOn()) {
    const answer: { rows: { seen: bigint | null }[] } = await db.query(
      'SELECT forget_events($1, $2, 1000) AS seen',
      [older_than, after],
    )
    after = answer.rows[0]!.seen
  }
}

export const eventChecks: readonly Check[] = [
  {
    name: 'every event has its place in the log, or waits for one',
    sql: `SELECT coalesce(e.id, p.event_id, f.event_id) AS event_id, p.position, f.n AS waiting FROM events e
      FULL JOIN event_positions p ON p.event_id = e.id FULL JOIN fresh_events f ON f.event_id = coalesce(e.id, p.event_id)
      WHERE e.id IS NULL OR (p.event_id IS NULL) = (f.event_id IS NULL)`,
  },
]
