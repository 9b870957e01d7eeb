import { batched } from './batched.ts'
import { columnsOf } from './columns.ts'
import type { Db } from './pool.ts'
import type { FreeSlots } from './slots.ts'

/**
 * Rows that workers take: open until their status is final, due at `next_attempt_at`. A worker that takes a row has a lease
 * on it; until the lease ends, other workers pass over the row. `attempts` counts how often the row was taken, and is the
 * fencing token: a write with an older count comes from a worker whose lease has ended.
 */
type DueTable = 'payouts' | 'transfers'

const OPEN = `status IN ('pending', 'processing')`

/** The queues of open rows, kept by triggers. `followed`: a worker has taken the row since its first send could begin. */
export const queueOf = { payouts: 'open_payouts', transfers: 'open_transfers' } as const

/** A kind of work: rows that no worker has taken yet (`followed` false), or rows whose outcome is still open. */
export type Due = {
  readonly name: string
  readonly table: DueTable
  readonly columns: string
  readonly followed: boolean
}

/**
 * How each queue is read. `group` selects a rail and a partner that have open rows, `behind` the groups after one group,
 * `within` the rows of one group: each is a step in an index.
 */
type Reading = {
  readonly group: string
  readonly behind: string
  readonly within: string
  readonly order: string
}

/**
 * Pix is one rail. A new payout becomes `followed` as soon as it is taken, or, if it was left to a worker, when it is taken again: so the
 * order of creation is fair.
 */
const payoutReading = (followed: boolean): Reading => ({
  group: `'pix' AS rail, partner_id FROM open_payouts`,
  behind: 'partner_id > groups.partner_id',
  within: followed ? 'followed' : 'NOT followed',
  order: followed ? 'next_attempt_at' : 'created_at, id',
})

/**
 * A transfer stays not `followed` while its network does not answer. Ordered by creation time, it would be taken before all
 * newer transfers again and again.
 */
const transferReading = (followed: boolean): Reading => {
  const kind = followed ? 'followed' : 'NOT followed'
  return {
    group: `network AS rail, partner_id FROM open_transfers WHERE ${kind}`,
    behind: '(network, partner_id) > (groups.rail, groups.partner_id)',
    within: `${kind} AND network = groups.rail`,
    order: 'next_attempt_at',
  }
}

const readings = { payouts: payoutReading, transfers: transferReading }

/**
 * Takes rows that are due, for each rail as many as it has free slots. Within a rail partners take turns: the partner with
 * the fewest rows under way on this node goes first, so no partner waits behind another one's thousands of rows.
 */
const takeSql = ({ table, columns, followed }: Due) => {
  const queue = queueOf[table]
  const { group, behind, within, order } = readings[table](followed)
  const and = group.includes(' WHERE ') ? 'AND' : 'WHERE'
  const byGroup = table === 'payouts' ? 'partner_id' : 'network, partner_id'
  return `
  WITH RECURSIVE rails AS MATERIALIZED (
    SELECT rail, free FROM unnest($2::text[], $3::integer[]) AS r (rail, free)
  ), running AS MATERIALIZED (
    SELECT rail, partner_id, count FROM unnest($4::text[], $5::text[], $6::integer[]) AS r (rail, partner_id, count)
  ), groups AS (
    (SELECT ${group} ORDER BY ${byGroup} LIMIT 1)
    UNION ALL
    SELECT next.rail, next.partner_id FROM groups CROSS JOIN LATERAL (
      SELECT ${group} ${and} ${behind} ORDER BY ${byGroup} LIMIT 1) AS next
  ), candidates AS MATERIALIZED (
    SELECT due.id, due.next_attempt_at, groups.rail, rails.free, coalesce(running.count, 0)
      + row_number() OVER (PARTITION BY groups.rail, groups.partner_id ORDER BY due.next_attempt_at) AS turn
    FROM groups JOIN rails ON rails.rail = groups.rail
    LEFT JOIN running ON running.rail = groups.rail AND running.partner_id = groups.partner_id
    CROSS JOIN LATERAL (
      SELECT id, next_attempt_at FROM ${queue}
      WHERE ${within} AND partner_id = groups.partner_id AND next_attempt_at <= now()
      ORDER BY ${order} LIMIT 2 * rails.free) AS due
  ), first AS MATERIALIZED (
    SELECT id, rail, place FROM (
      SELECT id, rail, free, row_number() OVER (PARTITION BY rail ORDER BY turn, next_attempt_at) AS place
      FROM candidates WHERE turn <= $7) AS placed
    WHERE place <= 2 * free
  ), taken AS MATERIALIZED (
    SELECT mine.id FROM rails CROSS JOIN LATERAL (
      SELECT r.id FROM first JOIN ${table} AS r USING (id)
      WHERE first.rail = rails.rail AND r.${OPEN} AND r.next_attempt_at <= now()
      ORDER BY place LIMIT rails.free FOR NO KEY UPDATE OF r SKIP LOCKED) AS mine
  )
  UPDATE ${table} SET attempts = attempts + 1, next_attempt_at = clock_timestamp() + make_interval(secs => $1::float8 / 1000)
  WHERE id IN (SELECT id FROM taken) RETURNING ${columns}`
}

export async function takeDue<Row>(db: Db, due: Due, lease_ms: number, slots: FreeSlots): Promise<Row[]> {
  const { rails, running, per_partner } = slots
  const { rows } = await db.query({
    name: `take due ${due.name}`,
    text: takeSql(due),
    values: [
      lease_ms,
      rails.map(({ rail }) => rail),
      rails.map(({ free }) => free),
      running.map(({ rail }) => rail),
      running.map(({ partner_id }) => partner_id),
      running.map(({ count }) => count),
      per_partner,
    ],
  })
  return rows
}

type Retry = { readonly id: string; readonly attempts: number; readonly delay_ms: number }

const retrying = (table: DueTable) =>
  batched<Retry, never>(async (db, retries) => {
    await db.query({
      name: `retry ${table} later`,
      // Locked in id order, like everywhere else, so that there is no deadlock.
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

/** Sets the time of the next attempt, unless another worker has taken the row since. */
export async function retryAfter(
  db: Db,
  table: DueTable,
  taken: { readonly id: string; readonly attempts: number },
  delay_ms: number,
): Promise<void> {
  await retriers[table](db, { id: taken.id, attempts: taken.attempts, delay_ms: Math.max(0, delay_ms) })
}

/** Lets a worker take the row at once. A worker that still holds the lease goes on too: every step is safe to repeat. */
export async function makeDue(db: Db, table: DueTable, id: string): Promise<void> {
  await db.query(
    `UPDATE ${table} SET next_attempt_at = clock_timestamp() WHERE id = $1 AND ${OPEN} AND next_attempt_at > clock_timestamp()`,
    [id],
  )
}

type OpenCount = {
  readonly rail: string
  readonly status: string
  readonly count: number
  readonly oldest_seconds: number
}

const COUNTED = 100_000

/** For the metrics: open rows per state, counted up to COUNTED, and the age of the oldest. `rail` is SQL. */
export async function countOpen(db: Db, table: DueTable, rail: string): Promise<OpenCount[]> {
  const { rows } = await db.query({
    name: `count open ${table}`,
    text: `SELECT rail, status, count(*)::integer AS count,
        greatest(0, extract(epoch FROM clock_timestamp() - min(created_at)))::float8 AS oldest_seconds
      FROM (SELECT ${rail} AS rail, r.status, r.created_at FROM (SELECT id FROM ${queueOf[table]} LIMIT ${COUNTED}) AS q JOIN ${table} r USING (id)) AS open
      GROUP BY rail, status`,
  })
  return rows
}

type OpenSum = {
  readonly rail: string
  readonly asset: string
  readonly count: number
  readonly amount: bigint
}

/** What is in transit per rail and asset, over up to COUNTED open rows. `rail`, `asset` and `amount` are SQL. */
export async function sumOpen(
  db: Db,
  table: DueTable,
  { rail, asset, amount }: { readonly rail: string; readonly asset: string; readonly amount: string },
): Promise<OpenSum[]> {
  const { rows } = await db.query({
    name: `sum open ${table}`,
    text: `SELECT ${rail} AS rail, ${asset} AS asset, count(*)::integer AS count, sum(${amount})::numeric(40, 0) AS amount
      FROM (SELECT id FROM ${queueOf[table]} LIMIT ${COUNTED}) AS q JOIN ${table} r USING (id) GROUP BY 1, 2`,
  })
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }))
}

export type OldestOpen = {
  readonly rail: string
  readonly id: string
  readonly partner_id: string
  readonly created_at: Date
}

/** The row of each rail that is open for the longest time. `rail` is SQL. */
export async function oldestOpen(db: Db, table: DueTable, rail: string): Promise<OldestOpen[]> {
  const { rows } = await db.query(
    `SELECT DISTINCT ON (1) ${rail} AS rail, id, partner_id, created_at FROM ${queueOf[table]} ORDER BY 1, created_at`,
  )
  return rows
}

/** Rows that are open for longer than they should be, for the operator's desk. */
export async function overdue<Row>(db: Db, table: DueTable, older_than_ms: number): Promise<Row[]> {
  const { rows } = await db.query(
    `SELECT ${columnsOf(table)} FROM ${table} WHERE id = ANY(ARRAY(
       SELECT id FROM ${queueOf[table]} WHERE created_at < clock_timestamp() - make_interval(secs => $1::float8 / 1000)
       ORDER BY created_at LIMIT 100)) ORDER BY created_at`,
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

/** Rows that are open for longer than `older_than_ms`, without a `stuck` exception that is open or was closed within a day. */
export async function openBefore(
  db: Db,
  { table, older_than_ms, network }: { table: DueTable; older_than_ms: number; network?: string },
): Promise<Open[]> {
  const { rows } = await db.query(
    `SELECT r.id, r.partner_id, r.status, r.attempts, r.created_at FROM ${queueOf[table]} AS q JOIN ${table} AS r USING (id)
     WHERE q.created_at < now() - make_interval(secs => $1::float8 / 1000) ${network ? 'AND r.network = $2' : ''}
       AND NOT EXISTS (SELECT FROM exceptions WHERE object_id = r.id AND kind = 'stuck'
         AND (closed_at IS NULL OR closed_at > now() - ${A_DAY}))
     ORDER BY q.created_at LIMIT 100`,
    network ? [older_than_ms, network] : [older_than_ms],
  )
  return rows
}
