import { type IdKind, idPrefixes } from '../../core/ids.ts'
import type { ShouldContinue } from '../../db/chore.ts'
import { EVENTS_REMOVED_UNTIL } from '../../db/event-horizon.ts'
import type { Db } from '../../db/pool.ts'
import { type Check, IN_PRODUCTION, ofKind, type RangeCheck, type Within } from '../../ledger/audit.ts'
import { insertInto, targetOf } from '../../ledger/command.ts'

const columns = {
  id: 'text',
  partner_id: 'text',
  type: 'text',
  object_id: 'text',
  sequence: 'integer',
  data: 'json',
  created_at: 'timestamptz',
} as const

const written = Object.keys(columns).join(', ')

/**
 * Inserts events with their log positions. Taking positions blocks all other transactions from taking any until COMMIT, so this
 * is the last statement of a batch (decision 0015).
 */
export const insertEvents = targetOf(
  'insert events',
  columns,
  (rows, count) => `WITH log AS MATERIALIZED (SELECT take_positions(${count}) AS last)
    INSERT INTO events (${written}, position, late)
    SELECT ${written}, position, is_late(position, created_at) FROM (
      SELECT ${written}, log.last + row_number() OVER () AS position FROM log, ${rows}) AS placed`,
  { last: true },
)

/** Without positions: a trigger sets them inside COMMIT, because a transaction of several round trips must not block the log. */
export const insertUnplacedEvents = insertInto('events', columns)

/** An event as it is stored. `data` is the stored text, which is sent unchanged. */
export type StoredEvent = {
  readonly id: string
  readonly partner_id: string
  readonly type: string
  readonly object_id: string
  readonly sequence: number
  readonly data: string
  readonly created_at: Date
}

export const eventColumns = ['id', 'partner_id', 'type', 'object_id', 'sequence', 'created_at', 'data']

export const eventFields = (table: string) =>
  eventColumns
    .map((name) => (name === 'data' ? `${table}.data::text AS data` : `${table}.${name}`))
    .join(', ')

export async function eventById(
  db: Db,
  where: { id: string; partner_id: string },
): Promise<(StoredEvent & { readonly position: bigint | null }) | undefined> {
  const { rows } = await db.query({
    name: 'event by id',
    text: `SELECT ${eventFields('e')}, e.position FROM events e WHERE e.id = $1 AND e.partner_id = $2`,
    values: [where.id, where.partner_id],
  })
  return rows[0]
}

export async function partnerOfEvent(db: Db, id: string): Promise<string | undefined> {
  const { rows } = await db.query('SELECT partner_id FROM events WHERE id = $1', [id])
  return rows[0]?.partner_id
}

/** Deletes all old events that no delivery needs any more. */
export async function forgetEvents(
  db: Db,
  older_than: Date,
  shouldContinue: ShouldContinue = () => true,
): Promise<void> {
  let after: string | null = ''
  while (after !== null && shouldContinue()) {
    const answer: { rows: { seen: string | null }[] } = await db.query(
      'SELECT forget_old_events($1, $2, 1000) AS seen',
      [older_than, after],
    )
    after = answer.rows[0]!.seen
  }
}

/** A time as JSON.stringify writes it. */
export const isoTime = (column: string) =>
  `to_char((${column}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** SQL: when the object ended. Events from before the field existed lack it; their own time is equal. */
export const endTime = (field: string, status: string) =>
  `CASE d.status WHEN '${status}' THEN coalesce(d.${field}, ${isoTime('v.created_at')}) ELSE d.${field} END`

/** SQL: the metadata of an order, in a form that can be compared. */
export const metadataText = (column: string) => `${column}::jsonb::text`

/**
 * Checks that each object has exactly the events that its history requires. `expected` yields one row per required event: object_id,
 * sequence, type, partner_id, created_at (null: stored nowhere else), since (earliest possible time), `facts` (texts that the
 * event's object must repeat), and for orders their `metadata`. The option `facts` picks the same texts out of the event's object,
 * which is the record `d` with the columns `fields`. The last `personal` texts are compared, but a finding only says whether they
 * differ: findings are stored and logged. Events that were deleted by age may be missing. Events of objects that do not exist are
 * samples, which only the sandbox has.
 */
export function missingEventCheck(options: {
  readonly name: string
  readonly prefix: string
  readonly table: string
  readonly expected: (within: Within) => string
  readonly fields: string
  readonly facts: string
  readonly personal?: number
}): RangeCheck {
  const { name, prefix, table, expected, fields, facts, personal = 0 } = options
  const shown = (texts: string) => `trim_array(${texts}, ${personal})`
  const hidden = (texts: string) => `${texts}[cardinality(${texts}) - ${personal - 1} :]`
  const personalDiffer =
    personal === 0 ? '' : `, ${hidden('x.facts')} IS DISTINCT FROM ${hidden('e.facts')} AS personal_differ`
  const has_metadata = fields.includes('metadata json')
  // Events from before the field `metadata` existed lack it, and their orders have no metadata.
  const otherMetadata = `coalesce(e.metadata <> x.metadata, x.metadata <> '{}' AND e.sequence = 1)`
  return {
    name,
    walk: 'causes',
    prefix,
    sql: (
      within,
    ) => `SELECT coalesce(x.object_id, e.object_id) AS object_id, coalesce(x.partner_id, e.partner_id) AS partner_id,
        coalesce(x.sequence, e.sequence) AS sequence, x.type AS expected, e.type AS found, ${shown('x.facts')} AS facts, ${shown('e.facts')} AS told${personalDiffer}
      FROM (${expected(within)}) AS x
      FULL JOIN (
        SELECT v.object_id, v.sequence, v.type, v.partner_id, v.created_at, ${facts} AS facts${has_metadata ? `, ${metadataText('d.metadata')} AS metadata` : ''}
        FROM events v, json_to_record(CASE json_typeof(v.data) WHEN 'object' THEN v.data ELSE '{}' END) AS d (${fields})
        WHERE ${within('v.object_id')} AND ${ofKind('v.object_id', prefix)}) AS e
        ON e.object_id = x.object_id AND e.sequence = x.sequence
      WHERE CASE
        WHEN e.object_id IS NULL THEN x.since > ${EVENTS_REMOVED_UNTIL}
        WHEN x.object_id IS NULL THEN ${IN_PRODUCTION} OR EXISTS (SELECT FROM ${table} WHERE id = e.object_id)
        ELSE e.type <> x.type OR e.partner_id <> x.partner_id OR e.created_at <> x.created_at OR e.facts IS DISTINCT FROM x.facts${has_metadata ? ` OR ${otherMetadata}` : ''}
      END`,
  }
}

/** The kind of object that an event type names. */
const subjects: Readonly<Record<string, IdKind>> = {
  customer: 'customer',
  deposit: 'deposit',
  'pix.payout': 'payout',
  'pix.charge': 'charge',
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
    name: 'every event has its place in the log soon after it was written',
    sql: () => `SELECT object_id, partner_id, id AS event_id, created_at FROM events
      WHERE position IS NULL AND created_at < clock_timestamp() - interval '1 hour'`,
  },
  {
    // Whether the object exists is checked by its own slice, with the same kinds.
    name: 'every event is about an object of the kind that its type names',
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT e.object_id, e.partner_id, e.id AS event_id, e.type FROM events e WHERE ${within('e.object_id')} AND (NOT (${ofItsKind})
      OR (${IN_PRODUCTION} AND (${missing('customers', 'cus')} OR ${missing('api_keys', 'key')})))`,
  },
]
