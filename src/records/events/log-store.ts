import type { LogSource } from '../../db/log-poller.ts'
import { mostRowsRead } from '../../db/newest.ts'
import type { Db } from '../../db/pool.ts'
import { eventColumns, eventFields, type StoredEvent } from './store.ts'

/** Reads the event log of a partner in the order of positions. */
export type LogFilter = {
  readonly partner_id: string
  readonly type: string | undefined
  readonly object_id: string | undefined
  /** `after`: oldest first after this position. `before`: newest first before it. */
  readonly from: { readonly after: bigint } | { readonly before: bigint | undefined }
  /** Lower bound inclusive, upper bound exclusive. */
  readonly time?: TimeRange
  readonly limit: number
}

type TimeRange = { readonly after: Date | undefined; readonly before: Date | undefined }

type PlacedEvent = StoredEvent & { readonly position: bigint }

/** With `stopped_at` there may be more events after that position. */
export type LogPage = { readonly rows: readonly PlacedEvent[]; readonly stopped_at?: bigint }

/** Types that every payout has. They are most of the log, so the index by type leaves them out. */
const COMMON_TYPES = ['pix.payout.created', 'pix.payout.processing', 'pix.payout.completed']
const uncommon = `type NOT IN (${COMMON_TYPES.map((type) => `'${type}'`).join(', ')})`

type Param = (value: unknown) => string

const COLUMNS = `${eventColumns.join(', ')}, position`
const NOTHING = [...eventColumns, 'position'].map(() => 'NULL').join(', ')

/** A common type is searched among a limited number of events; `stopped_at` says where the search ended. */
export async function selectEvents(db: Db, filter: LogFilter): Promise<LogPage> {
  const { type, object_id, limit } = filter
  const values: unknown[] = []
  const param: Param = (value) => `$${values.push(value)}`
  const shown = `SELECT ${eventFields('e')}, e.position FROM`
  if (object_id !== undefined) {
    const ofObject = objectSql({ ...filter, object_id }, param)
    return { rows: (await db.query(`${shown} (${ofObject}) AS e ${orderOf(filter)}`, values)).rows }
  }
  const by_type = type !== undefined && !COMMON_TYPES.includes(type)
  const walked = (most: number) => walkSql(filter, { by_type, param, most: `${most}` })
  if (type === undefined || by_type)
    return { rows: (await db.query(`${shown} (${walked(limit)}) AS e ${orderOf(filter)}`, values)).rows }
  const most = mostRowsRead(limit)
  const { rows } = await db.query(
    `WITH found AS MATERIALIZED (${shown} (
       SELECT ${COLUMNS} FROM (${walked(most)}) AS looked WHERE type = ${param(type)} LIMIT ${limit}) AS e ${orderOf(filter)})
     SELECT ${COLUMNS}, NULL::bigint AS stopped_at FROM found
     UNION ALL SELECT ${NOTHING}, position
     FROM (SELECT position FROM (${walked(most)}) AS looked OFFSET ${most - 1}) AS last
     WHERE (SELECT count(*) FROM found) < ${limit}`,
    values,
  )
  const stop = rows.at(-1)?.id === null ? rows.pop() : undefined
  return stop ? { rows, stopped_at: stop.stopped_at } : { rows }
}

/** How many events a filter matches, among the newest `most` of the walk; `complete`: the walk ended before. */
export async function countEvents(
  db: Db,
  filter: Omit<LogFilter, 'from' | 'limit'>,
  most: number,
): Promise<{ readonly count: number; readonly complete: boolean }> {
  const { type, object_id } = filter
  const values: unknown[] = []
  const param: Param = (value) => `$${values.push(value)}`
  const newest = { ...filter, from: { before: undefined }, limit: most }
  const by_type = type !== undefined && !COMMON_TYPES.includes(type)
  const walked =
    object_id === undefined
      ? walkSql(newest, { by_type, param, most: param(most) })
      : objectSql({ ...newest, object_id }, param)
  const matches = type === undefined || by_type || object_id !== undefined ? 'true' : `type = ${param(type)}`
  const { rows } = await db.query(
    `SELECT count(*)::integer AS read, (count(*) FILTER (WHERE ${matches}))::integer AS count FROM (${walked}) AS walked`,
    values,
  )
  return { count: rows[0].count, complete: rows[0].read < most }
}

/** Ids of events that begin and end like this, among the newest `most` events of a period. */
export async function findEventIds(
  db: Db,
  search: Required<TimeRange> & {
    readonly partner_id: string
    readonly begins: string
    readonly ends: string
    readonly limit: number
  },
  most: number,
): Promise<string[]> {
  const { partner_id, after, before, begins, ends, limit } = search
  const values: unknown[] = []
  const param: Param = (value) => `$${values.push(value)}`
  const filter = { partner_id, type: undefined, object_id: undefined, from: { before: undefined }, limit }
  const walked = walkSql({ ...filter, time: { after, before } }, { by_type: false, param, most: param(most) })
  const { rows } = await db.query(
    `SELECT id FROM (${walked}) AS walked WHERE starts_with(id, ${param(begins)})
       AND right(id, ${param(ends.length)}) = ${param(ends)} LIMIT ${limit}`,
    values,
  )
  return rows.map(({ id }) => id)
}

const orderOf = (filter: Pick<LogFilter, 'from'>, ...before: string[]) =>
  `ORDER BY ${[...before, 'position'].map((column) => ('after' in filter.from ? column : `${column} DESC`)).join(', ')}`

const HIGHEST = 2n ** 63n - 1n

/**
 * Walks the index of the partner, or of partner and type. The condition is a range in the index's own order: with a plain equality
 * the planner might choose another index. A time range is a range of positions; events that entered the log late have their
 * own index. `most` is SQL: thousands of rows are given as a parameter, because the planner sorts the whole period when it knows that
 * so many are wanted.
 */
function walkSql(
  filter: LogFilter,
  { by_type, param, most }: { by_type: boolean; param: Param; most: string },
): string {
  const { partner_id, type, from, time } = filter
  const columns = by_type ? ['partner_id', 'type'] : ['partner_id']
  const index = [...columns, 'position'].join(', ')
  const places = [partner_id, type].slice(0, columns.length).map(param).join(', ')
  const [after, before] = 'after' in from ? [from.after, undefined] : [0n, from.before]
  const lowest = `${param(after)}::bigint`
  const low = time?.after ? `greatest(${lowest}, log_start(${param(time.after)}))` : lowest
  const highest = before === undefined ? `${HIGHEST}` : `${param(before)}::bigint - 1`
  const high = time?.before ? `least(${highest}, log_end(${param(time.before)}))` : highest
  const kind = by_type ? `AND ${uncommon}` : ''
  const walk = (
    more: string,
  ) => `SELECT ${COLUMNS} FROM events WHERE position IS NOT NULL AND (${index}) > (${places}, ${low})
    AND (${index}) <= (${places}, ${high}) ${kind} ${more} ${orderOf(filter, ...columns)} LIMIT ${most}`
  if (!time?.after && !time?.before) return walk('')
  const within = timeSql(time, param)
  return `SELECT ${COLUMNS} FROM (
      (${walk(`AND late IS NULL AND ${within}`)}) UNION ALL
      (SELECT ${COLUMNS} FROM events WHERE late AND position IS NOT NULL AND partner_id = ${param(partner_id)} AND ${within}
        AND position > ${lowest} AND position <= ${highest} ${by_type ? `AND type = ${param(type)}` : ''} ${orderOf(filter)} LIMIT ${most})) AS merged
    ${orderOf(filter)} LIMIT ${most}`
}

const timeSql = ({ after, before }: TimeRange, param: Param): string =>
  [
    ...(after ? [`created_at >= ${param(after)}`] : []),
    ...(before ? [`created_at < ${param(before)}`] : []),
  ].join(' AND ')

/** Events of one object: they are few, and have their own index. */
function objectSql(filter: LogFilter & { object_id: string }, param: Param): string {
  const { partner_id, type, object_id, from, time, limit } = filter
  const conditions = [
    `object_id = ${param(object_id)} AND partner_id = ${param(partner_id)} AND position IS NOT NULL`,
  ]
  if (type !== undefined) conditions.push(`type = ${param(type)}`)
  if (time?.after || time?.before) conditions.push(timeSql(time, param))
  if ('after' in from) conditions.push(`position > ${param(from.after)}`)
  else if (from.before !== undefined) conditions.push(`position < ${param(from.before)}`)
  return `SELECT ${COLUMNS} FROM events WHERE ${conditions.join(' AND ')} ${orderOf(filter)} LIMIT ${limit}`
}

/** Position of the partner's last event; 0 if there is none. */
export async function lastPosition(db: Db, partner_id: string): Promise<bigint> {
  const { rows } = await db.query({
    name: 'last position of partner',
    text: 'SELECT max(position) AS last FROM events WHERE partner_id = $1 AND position IS NOT NULL',
    values: [partner_id],
  })
  return rows[0].last ?? 0n
}

/** For callers that wait for events: one query for all partners that have waiting callers. */
export const eventLogSource = (db: Db): LogSource => {
  const newestSince = async (position: bigint, partners: readonly string[]) => {
    const { rows } = await db.query({
      name: 'events since position',
      text: `SELECT p.id, (SELECT max(position) FROM events WHERE partner_id = p.id AND position > $2) AS last
        FROM unnest($1::text[]) AS p (id)`,
      values: [partners, position],
    })
    const found = rows.filter(({ last }) => last !== null)
    const last = found.reduce<bigint | null>(
      (most, one) => (most !== null && most > one.last ? most : one.last),
      null,
    )
    return { last, partners: new Set<string>(found.map(({ id }) => id)), more: false }
  }
  return { last: async (partners) => (await newestSince(0n, partners)).last ?? 0n, since: newestSince }
}
