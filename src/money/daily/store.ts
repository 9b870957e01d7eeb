import type { Db } from '../../db/pool.ts'
import { endedTransfers } from '../onchain/store.ts'
import { endedPayouts } from '../pix/store.ts'
import { endedTrades } from '../quotes/store.ts'
import { type EndedCounts, scale } from './tally.ts'

/** Whether the log has events that are not in the sums yet. Takes no lock. */
export async function isBehind(db: Db): Promise<boolean> {
  const { rows } = await db.query({
    name: 'daily behind',
    text: `SELECT log_last() > (SELECT position FROM daily_progress) AS behind`,
  })
  return rows[0].behind
}

/** Event types of an end, and the query for the ended objects. The event alone proves nothing: the sandbox makes samples. */
const sources = [
  { types: ['pix.payout.completed', 'pix.payout.failed'], ended: endedPayouts },
  { types: ['onchain.transfer.confirmed', 'onchain.transfer.failed'], ended: endedTransfers },
  { types: ['trade.completed', 'trade.failed'], ended: endedTrades },
] as const

const listed = (types: readonly string[]) => types.map((type) => `'${type}'`).join(', ')

/** ids as arrays, so that the planner uses the index on the id whatever the sizes of the tables. */
const ended = sources.map(({ types, ended }) =>
  ended(`ARRAY(SELECT object_id FROM taken WHERE type IN (${listed(types)}))`),
)

const places = ['kind', 'asset', 'to_asset'] as const
const countNames = ['completed', 'failed', 'completed_sum', 'failed_sum', 'fee_sum'] as const

const tables = {
  daily: { start: 'day', type: 'date' },
  hourly: { start: 'hour', type: 'timestamptz' },
} as const

/** Adds to the existing sums. Sorted, so that concurrent transactions lock rows in the same order. */
function addTo(table: keyof typeof tables): string {
  const { start } = tables[table]
  const key = ['partner_id', start, ...places].join(', ')
  const sums = countNames.map((name) => `${name} = t.${name} + excluded.${name}`)
  return `INSERT INTO ${table} AS t (${key}, ${countNames.join(', ')}, times)
    SELECT ${key}, ${countNames.map((name) => `sum(${name})`).join(', ')}, ARRAY(
      SELECT coalesce(sum(n), 0)::bigint FROM generate_series(0, max(step) FILTER (WHERE timed > 0)) AS s
        LEFT JOIN unnest(array_agg(step), array_agg(timed)) AS u (step, n) ON u.step = s GROUP BY s ORDER BY s)
    FROM counted GROUP BY ${key} ORDER BY ${key}
    ON CONFLICT (${key}) DO UPDATE SET ${sums.join(', ')}, times = ARRAY(SELECT coalesce(a, 0) + coalesce(b, 0)
      FROM unnest(t.times, excluded.times) WITH ORDINALITY AS u (a, b, i) ORDER BY i)`
}

/** Locks and returns the log position of the sums; undefined if another node is adding. */
async function takeProgress(tx: Db): Promise<bigint | undefined> {
  const { rows } = await tx.query('SELECT position FROM daily_progress FOR UPDATE SKIP LOCKED')
  return rows[0]?.position
}

/** Adds the next events of the log to the sums and moves the position, in one statement. Only completed objects earn a fee. */
const FOLD = `WITH taken AS MATERIALIZED (
    SELECT place AS position, object_id, type FROM events_behind($1, $3)),
  counted AS MATERIALIZED (
    SELECT partner_id, date_trunc('hour', ended_at) AS hour, (ended_at AT TIME ZONE 'America/Sao_Paulo')::date AS day,
      kind, asset, to_asset,
      width_bucket(extract(epoch FROM ended_at - created_at)::float8 * 1000, $2::float8[]) AS step,
      count(*) FILTER (WHERE completed) AS completed, count(*) FILTER (WHERE NOT completed) AS failed,
      coalesce(sum(amount) FILTER (WHERE completed), 0) AS completed_sum,
      coalesce(sum(amount) FILTER (WHERE NOT completed), 0) AS failed_sum,
      coalesce(sum(fee) FILTER (WHERE completed), 0) AS fee_sum,
      count(created_at) FILTER (WHERE completed) AS timed
    FROM (${ended.join(' UNION ALL ')}) AS ended GROUP BY 1, 2, 3, 4, 5, 6, 7),
  days AS (${addTo('daily')}),
  hours AS (${addTo('hourly')}),
  moved AS (UPDATE daily_progress SET position = (SELECT max(position) FROM taken) WHERE EXISTS (SELECT FROM taken))
  SELECT count(*)::integer AS taken FROM taken`

/** Returns how many events were added. Sums and position change in the caller's transaction, so both or neither. */
export async function foldNext(tx: Db, most: number): Promise<number> {
  const position = await takeProgress(tx)
  if (position === undefined) return 0
  const { rows } = await tx.query({ name: 'daily fold', text: FOLD, values: [position, scale, most] })
  return rows[0].taken
}

const SUMS = `sum(balance) AS available, sum(in_transit) AS in_transit,
  count(*) FILTER (WHERE balance > 0 OR in_transit > 0) AS customers`

/** The current day by the database's clock. */
const TODAY = `(clock_timestamp() AT TIME ZONE 'America/Sao_Paulo')::date`

/** Stores what customers hold as the sum of today. Returns the number of balances read; 0 if another node is doing it. */
export async function addUpBalances(tx: Db): Promise<number> {
  const lock = await tx.query(
    `SELECT pg_try_advisory_xact_lock(hashtextextended('daily balances ' || current_schema(), 0)) AS won`,
  )
  if (!lock.rows[0].won) return 0
  await tx.query(`SET LOCAL enable_seqscan = on; SET LOCAL statement_timeout = '30s'`)
  // Unchanged rows are not written: an idle system writes nothing.
  const { rows } = await tx.query(
    `WITH held AS MATERIALIZED (
       SELECT partner_id, asset, ${SUMS}, count(*) AS read FROM balances GROUP BY partner_id, asset),
     today AS MATERIALIZED (SELECT ${TODAY} AS day),
     written AS (
       INSERT INTO daily_balances (partner_id, day, asset, available, in_transit, customers)
       SELECT partner_id, day, asset, available, in_transit, customers FROM held, today
       WHERE NOT EXISTS (SELECT FROM daily_balances d WHERE (d.partner_id, d.day, d.asset) = (held.partner_id, today.day, held.asset)
         AND (d.available, d.in_transit, d.customers) = (held.available, held.in_transit, held.customers))
       ORDER BY partner_id, asset
       ON CONFLICT (partner_id, day, asset) DO UPDATE
         SET available = excluded.available, in_transit = excluded.in_transit, customers = excluded.customers)
     SELECT coalesce(sum(read), 0)::integer AS read FROM held`,
  )
  return rows[0].read
}

type Sums = EndedCounts & {
  readonly kind: string
  readonly asset: string
  readonly to_asset: string
  /** Start of the day or the hour. */
  readonly start: string
}

/** Sums of a partner from this day or hour on, oldest first. */
export async function sumsSince(
  db: Db,
  table: keyof typeof tables,
  { partner_id, start }: { partner_id: string; start: string },
): Promise<Sums[]> {
  const { start: column, type } = tables[table]
  const start_text =
    table === 'daily' ? 'day::text' : `to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS".000Z"')`
  const { rows } = await db.query<Sums>({
    name: `sums ${table}`,
    text: `SELECT ${start_text} AS start, kind, asset, to_asset, ${countNames.join(', ')}, times FROM ${table}
      WHERE partner_id = $1 AND ${column} >= $2::${type} ORDER BY ${column}`,
    values: [partner_id, start],
  })
  return rows.map((row) => ({ ...row, times: row.times.map(BigInt) }))
}

type DaySum = {
  readonly day: string
  readonly kind: string
  readonly asset: string
  readonly completed: bigint
  readonly failed: bigint
  readonly completed_sum: bigint
}

/** Sums per day, rail and asset over these partners, from this day on, oldest first. One index range per partner. */
export async function daysOfPartners(
  db: Db,
  of: { readonly partner_ids: readonly string[]; readonly kinds: readonly string[]; readonly day: string },
): Promise<DaySum[]> {
  const { rows } = await db.query({
    name: 'days of partners',
    text: `SELECT day::text AS day, kind, asset, sum(completed)::bigint AS completed, sum(failed)::bigint AS failed,
        sum(completed_sum)::numeric(40, 0) AS completed_sum
      FROM daily WHERE partner_id = ANY($1::text[]) AND day BETWEEN $2::date AND ${TODAY} AND kind = ANY($3::text[])
      GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    values: [of.partner_ids, of.day, of.kinds],
  })
  return rows.map((row) => ({ ...row, completed_sum: BigInt(row.completed_sum) }))
}

export type HeldInAsset = {
  readonly asset: string
  readonly available: bigint
  readonly in_transit: bigint
  readonly customers: bigint
}

/**
 * What a partner's customers hold now, from the balances themselves: about five microseconds per customer. Undefined if there
 * are more than `most` customers.
 */
export async function heldNow(
  db: Db,
  { partner_id, most }: { partner_id: string; most: number },
): Promise<HeldInAsset[] | undefined> {
  const { rows } = await db.query<HeldInAsset & { asset: string | null }>({
    name: 'held now',
    text: `WITH own AS MATERIALIZED (SELECT id FROM customers WHERE partner_id = $1 LIMIT $2::bigint + 1),
      few AS MATERIALIZED (SELECT count(*) <= $2 AS few FROM own)
      SELECT asset, ${SUMS} FROM own JOIN balances ON customer_id = own.id WHERE (SELECT few FROM few) GROUP BY asset
      UNION ALL SELECT NULL, NULL, NULL, NULL FROM few WHERE NOT few`,
    values: [partner_id, most],
  })
  return rows.some(({ asset }) => asset === null) ? undefined : rows
}

export type DayBalance = HeldInAsset & { readonly day: string }

/**
 * Stored sums of a partner from this day on, oldest first. Ignores days in the future, which a clock that ran ahead may have
 * left.
 */
export async function balancesSince(
  db: Db,
  { partner_id, day }: { partner_id: string; day: string },
): Promise<DayBalance[]> {
  const { rows } = await db.query<DayBalance>({
    name: 'balances of days',
    text: `SELECT day::text AS day, asset, available, in_transit, customers FROM daily_balances
      WHERE partner_id = $1 AND day BETWEEN $2::date AND ${TODAY} ORDER BY day`,
    values: [partner_id, day],
  })
  return rows
}

const A_DAY_MS = 24 * 3_600_000
const DAYS = 400
const HOURLY_DAYS = 3

export async function forgetSums(db: Db, now: number): Promise<void> {
  const ago = (days: number) => new Date(now - days * A_DAY_MS)
  await db.query('SELECT forget_sums($1, $2)', [ago(DAYS), ago(HOURLY_DAYS)])
}
