import { type IdKind, idPrefixes } from '../core/ids.ts'
import type { GoOn } from '../db/chore.ts'
import type { LookoutSource } from '../db/lookout.ts'
import { type ListSource, lookedAt } from '../db/newest.ts'
import type { Db } from '../db/pool.ts'
import { type Check, IN_PRODUCTION, ofKind, type RangeCheck, type Within } from '../ledger/audit.ts'
import { insertInto } from '../ledger/command.ts'

export const insertEvents = insertInto(
  'events',
  {
    id: 'text',
    partner_id: 'text',
    type: 'text',
    object_id: 'text',
    sequence: 'integer',
    data: 'json',
    created_at: 'timestamptz',
  },
  { last: true },
)

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

const names = ['id', 'partner_id', 'type', 'object_id', 'sequence', 'created_at', 'data']

export const eventFields = (table: string) =>
  names.map((name) => (name === 'data' ? `${table}.data::text AS data` : `${table}.${name}`)).join(', ')

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

export async function partnerOfEvent(db: Db, id: string): Promise<string | undefined> {
  const { rows } = await db.query('SELECT partner_id FROM events WHERE id = $1', [id])
  return rows[0]?.partner_id
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

/** With `stopped_at` there may be more, from right behind that position. */
export type LogPage = { readonly rows: readonly PlacedEvent[]; readonly stopped_at?: bigint }

/** What every payout tells. They are most of the log anyway, and have no place in the index by type. */
const COMMON_TYPES = ['pix.payout.created', 'pix.payout.processing', 'pix.payout.completed']
const uncommon = `type NOT IN (${COMMON_TYPES.map((type) => `'${type}'`).join(', ')})`

/** In the order of the log. A common type is looked for among so many events, and the page says where that ended. */
export async function selectEvents(db: Db, filter: LogFilter): Promise<LogPage> {
  const { type, object_id, limit } = filter
  if (object_id !== undefined) return { rows: await selectOfObject(db, { ...filter, object_id }) }
  const values: unknown[] = []
  const param = (value: unknown) => `$${values.push(value)}`
  const by_type = type !== undefined && !COMMON_TYPES.includes(type)
  const walked = (most: number) => walkSql(filter, by_type, param, most)
  const found = (places: string) =>
    `SELECT ${eventFields('e')}, p.position FROM (${places}) AS p JOIN events e ON e.id = p.event_id ${orderOf(filter)}`
  if (type === undefined || by_type) return { rows: (await db.query(found(walked(limit)), values)).rows }
  const most = lookedAt(limit)
  const places = `SELECT event_id, position FROM (${walked(most)}) AS looked WHERE type = ${param(type)} LIMIT ${limit}`
  const { rows } = await db.query(
    `WITH found AS MATERIALIZED (${found(places)})
     SELECT ${names.join(', ')}, position FROM found
     UNION ALL SELECT ${names.map(() => 'NULL').join(', ')}, position
     FROM (SELECT position FROM (${walked(most)}) AS looked OFFSET ${most - 1}) AS last WHERE (SELECT count(*) FROM found) < ${limit}`,
    values,
  )
  const stop = rows.at(-1)?.id === null ? rows.pop() : undefined
  return stop ? { rows, stopped_at: stop.position } : { rows }
}

const orderOf = ({ from }: LogFilter, ...before: string[]) =>
  `ORDER BY ${[...before, 'position'].map((column) => ('after' in from ? column : `${column} DESC`)).join(', ')}`

/**
 * Along the index of the partner, or of the partner and the type. Said as a range of that index and in its order, for with a
 * plain equality the log of all partners, which is in the order of positions too, would look as good to the planner.
 */
function walkSql(
  filter: LogFilter,
  by_type: boolean,
  param: (value: unknown) => string,
  most: number,
): string {
  const { partner_id, type, from } = filter
  const columns = by_type ? ['partner_id', 'type'] : ['partner_id']
  const [index, places] = [
    columns.join(', '),
    [partner_id, type].slice(0, columns.length).map(param).join(', '),
  ]
  const start = 'after' in from ? from.after : from.before
  const range =
    start === undefined
      ? `(${index}) >= (${places}) AND (${index}) <= (${places})`
      : 'after' in from
        ? `(${index}, position) > (${places}, ${param(start)}) AND (${index}) <= (${places})`
        : `(${index}, position) < (${places}, ${param(start)}) AND (${index}) >= (${places})`
  return `SELECT event_id, type, position FROM event_positions WHERE ${range} ${by_type ? `AND ${uncommon}` : ''}
    ${orderOf(filter, ...columns)} LIMIT ${most}`
}

/** An object has few events, and an index of its own. */
async function selectOfObject(db: Db, filter: LogFilter & { object_id: string }): Promise<PlacedEvent[]> {
  const values: unknown[] = []
  const param = (value: unknown) => `$${values.push(value)}`
  const { partner_id, type, object_id, from, limit } = filter
  const conditions = [`e.object_id = ${param(object_id)} AND e.partner_id = ${param(partner_id)}`]
  if (type !== undefined) conditions.push(`e.type = ${param(type)}`)
  if ('after' in from) conditions.push(`p.position > ${param(from.after)}`)
  else if (from.before !== undefined) conditions.push(`p.position < ${param(from.before)}`)
  const { rows } = await db.query(
    `SELECT ${eventFields('e')}, p.position FROM events e JOIN event_positions p ON p.event_id = e.id
     WHERE ${conditions.join(' AND ')} ${orderOf(filter)} LIMIT ${limit}`,
    values,
  )
  return rows
}

/** By time, for a range of it. The log's own order is that of its positions, which a range of time cannot lead to. */
export const eventList: ListSource = {
  table: 'events',
  columns: `${names.filter((name) => name !== 'data').join(', ')}, data::text AS data`,
  walks: [{ by: ['object_id'] }, { by: [] }],
}

/** Of a partner's last event, or of the world's; 0 when there is none. */
export async function lastPosition(db: Db, partner_id?: string): Promise<bigint> {
  const { rows } = await db.query(
    partner_id === undefined
      ? { name: 'last position', text: 'SELECT max(position) AS last FROM event_positions' }
      : {
          name: 'last position of partner',
          text: 'SELECT max(position) AS last FROM event_positions WHERE partner_id = $1',
          values: [partner_id],
        },
  )
  return rows[0].last ?? 0n
}

const LOOK_MAX = 5000

/** For whoever waits for events. */
export const eventLookout = (db: Db): LookoutSource => ({
  last: () => lastPosition(db),
  async since(position) {
    const { rows } = await db.query({
      name: 'events since position',
      text: `SELECT max(position) AS last, array_agg(DISTINCT partner_id) AS partners, count(*)::integer AS looked_at
        FROM (SELECT partner_id, position FROM event_positions WHERE position > $1 ORDER BY position LIMIT $2) AS news`,
      values: [position, LOOK_MAX],
    })
    const { last, partners, looked_at } = rows[0]
    return { last, partners: new Set(partners ?? []), more: looked_at === LOOK_MAX }
  },
})

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

/** How JSON.stringify writes a time. */
export const isoTime = (column: string) =>
  `to_char((${column}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** When an object came to this end. Events of before it was told have no such field: their own time is the same. */
export const endTime = (field: string, status: string) =>
  `CASE d.status WHEN '${status}' THEN coalesce(d.${field}, ${isoTime('v.created_at')}) ELSE d.${field} END`

/**
 * That each object has told exactly what happened to it. `told` yields, for every event that must be there, object_id,
 * sequence, type, partner_id, created_at (null: not kept elsewhere), since (when it cannot have been earlier) and `facts`,
 * texts that the stored object must repeat; `facts` picks the same texts out of it, as `d`, whose fields are `fields`.
 * What was forgotten may be missing. Events of objects that do not exist are samples, which only the sandbox has.
 */
export function toldCheck(options: {
  readonly name: string
  readonly prefix: string
  readonly table: string
  readonly told: (within: Within) => string
  readonly fields: string
  readonly facts: string
}): RangeCheck {
  const { name, prefix, table, told, fields, facts } = options
  return {
    name,
    walk: 'causes',
    prefix,
    sql: (
      within,
    ) => `SELECT coalesce(x.object_id, e.object_id) AS object_id, coalesce(x.partner_id, e.partner_id) AS partner_id,
        coalesce(x.sequence, e.sequence) AS sequence, x.type AS expected, e.type AS found, x.facts, e.facts AS told
      FROM (${told(within)}) AS x
      FULL JOIN (
        SELECT v.object_id, v.sequence, v.type, v.partner_id, v.created_at, ${facts} AS facts
        FROM events v, json_to_record(CASE json_typeof(v.data) WHEN 'object' THEN v.data ELSE '{}' END) AS d (${fields})
        WHERE ${within('v.object_id')} AND ${ofKind('v.object_id', prefix)}) AS e
        ON e.object_id = x.object_id AND e.sequence = x.sequence
      WHERE CASE
        WHEN e.object_id IS NULL THEN x.since > (SELECT forgotten_until FROM event_horizon)
        WHEN x.object_id IS NULL THEN ${IN_PRODUCTION} OR EXISTS (SELECT FROM ${table} WHERE id = e.object_id)
        ELSE e.type <> x.type OR e.partner_id <> x.partner_id OR e.created_at <> x.created_at OR e.facts IS DISTINCT FROM x.facts
      END`,
  }
}

/** What an event's type says that it is about. */
const subjects: Readonly<Record<string, IdKind>> = {
  customer: 'customer',
  deposit: 'deposit',
  'pix.payout': 'payout',
  'onchain.transfer': 'transfer',
  trade: 'trade',
  fee_payout: 'fee_payout',
  api_key: 'key',
  webhook_endpoint: 'webhook_endpoint',
}

const ofItsKind = Object.entries(subjects)
  .map(([about, kind]) => `(starts_with(e.type, '${about}.') AND ${ofKind('e.object_id', idPrefixes[kind])})`)
  .join(' OR ')

const missing = (table: string, prefix: string) =>
  `(${ofKind('e.object_id', prefix)} AND NOT EXISTS (SELECT FROM ${table} o WHERE o.id = e.object_id AND o.partner_id = e.partner_id))`

export const eventChecks: readonly Check[] = [
  {
    name: 'every event has its place in the log, or waits for one',
    sql: () => `SELECT coalesce(e.id, p.event_id, f.event_id) AS object_id, p.position, f.n AS waiting FROM events e
      FULL JOIN event_positions p ON p.event_id = e.id FULL JOIN fresh_events f ON f.event_id = coalesce(e.id, p.event_id)
      WHERE e.id IS NULL OR (p.event_id IS NULL) = (f.event_id IS NULL) OR (p.partner_id, p.type) <> (e.partner_id, e.type)`,
  },
  {
    name: 'every event that is kept has its place in the log, or waits for one',
    walk: 'causes',
    pieces_only: true,
    sql: (
      within,
    ) => `SELECT e.object_id, e.partner_id, e.id AS event_id, p.position, f.n AS waiting FROM events e
      LEFT JOIN event_positions p ON p.event_id = e.id LEFT JOIN fresh_events f ON f.event_id = e.id
      WHERE ${within('e.object_id')} AND ((p.event_id IS NULL) = (f.event_id IS NULL) OR (p.partner_id, p.type) <> (e.partner_id, e.type))`,
  },
  {
    // Whether there is such an object of money is for its own slice to say, which goes by the same kinds.
    name: 'every event is about an object of the kind that its type names',
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT e.object_id, e.partner_id, e.id AS event_id, e.type FROM events e WHERE ${within('e.object_id')} AND (NOT (${ofItsKind})
      OR (${IN_PRODUCTION} AND (${missing('customers', 'cus')} OR ${missing('api_keys', 'key')})))`,
  },
]
