import type { Db } from '../../db/pool.ts'
import { rowSource } from '../../ledger/command.ts'

export const moneyLimitNames = [
  'payout_order',
  'payout_day',
  'payout_night',
  'transfer_order_usdt',
  'transfer_order_btc',
  'transfer_day_usdt',
  'transfer_day_btc',
] as const

export type MoneyLimitName = (typeof moneyLimitNames)[number]
/** Limits in smallest units, without fees; null: no limit. */
export type MoneyLimits = Readonly<Record<MoneyLimitName, bigint | null>>

/** Sets limits of a partner or a customer, the subject. Limits that are absent from `change` stay. */
export async function saveMoneyLimits(
  db: Db,
  subject_id: string,
  change: Partial<MoneyLimits>,
): Promise<MoneyLimits> {
  const names = moneyLimitNames.filter((name) => change[name] !== undefined)
  const sets = names.map((name) => `${name} = excluded.${name}`)
  const { rows } = await db.query(
    `INSERT INTO money_limits (subject_id, ${names.join(', ')}) VALUES ($1, ${names.map((_, i) => `$${i + 2}`).join(', ')})
     ON CONFLICT (subject_id) DO UPDATE SET ${sets.join(', ')}, changed_at = clock_timestamp()
     RETURNING ${moneyLimitNames.join(', ')}`,
    [subject_id, ...names.map((name) => change[name])],
  )
  return rows[0]
}

export async function moneyLimitsOf(db: Db, subject_id: string): Promise<MoneyLimits | undefined> {
  const { rows } = await db.query(
    `SELECT ${moneyLimitNames.join(', ')} FROM money_limits WHERE subject_id = $1`,
    [subject_id],
  )
  return rows[0]
}

/** The limits in force for a customer (its own, otherwise its partner's), and the sums used. A sum without a limit is null. */
export type MoneyLimitUsage = MoneyLimits & {
  /** The id of the customer. */
  readonly id: string
  readonly is_night: boolean
  readonly day_ends_at: Date
  /** Of the current night, or of the next one. */
  readonly night_starts_at: Date
  readonly night_ends_at: Date
  readonly payout_day_used: bigint | null
  readonly payout_night_used: bigint | null
  readonly transfer_day_usdt_used: bigint | null
  readonly transfer_day_btc_used: bigint | null
}

const SAO_PAULO = `'America/Sao_Paulo'`

/** SQL: the sum of the customer's orders in a window. Failed orders do not count. */
const used = (table: 'payouts' | 'transfers', amount: string, window: 'day' | 'night', where = '') =>
  `(SELECT coalesce(sum(${amount}), 0) FROM ${table} WHERE customer_id = subject.id AND status <> 'failed'
      AND created_at >= ${window}_starts_at AND created_at < ${window}_ends_at${where})`

/**
 * Selects a `MoneyLimitUsage` for each customer that has limits; `now` is SQL. A day is a calendar day in São Paulo. A night
 * lasts from 20:00 to 06:00 and does not end at midnight: it is the last ten hours of a day that begins at 06:00.
 */
export const usageSql = (now: string) => `
  WITH moment AS MATERIALIZED (SELECT ${now} AT TIME ZONE ${SAO_PAULO} AS local),
  days AS MATERIALIZED (
    SELECT local, date_trunc('day', local) AS day, date_trunc('day', local - interval '6 hours') AS day_from_six FROM moment),
  windows AS MATERIALIZED (
    SELECT day AT TIME ZONE ${SAO_PAULO} AS day_starts_at,
      (day + interval '1 day') AT TIME ZONE ${SAO_PAULO} AS day_ends_at,
      (day_from_six + interval '20 hours') AT TIME ZONE ${SAO_PAULO} AS night_starts_at,
      (day_from_six + interval '30 hours') AT TIME ZONE ${SAO_PAULO} AS night_ends_at,
      local >= day_from_six + interval '20 hours' AS is_night
    FROM days),
  subject AS (
    SELECT customers.id, ${moneyLimitNames.map((name) => `coalesce(own.${name}, partners.${name}) AS ${name}`).join(', ')}
    FROM customers
    LEFT JOIN money_limits AS own ON own.subject_id = customers.id
    LEFT JOIN money_limits AS partners ON partners.subject_id = customers.partner_id
    WHERE customers.id = ANY($1::text[]) AND coalesce(own.subject_id, partners.subject_id) IS NOT NULL)
  SELECT subject.id, ${moneyLimitNames.join(', ')}, is_night, day_ends_at, night_starts_at, night_ends_at,
    CASE WHEN payout_day IS NOT NULL THEN ${used('payouts', 'amount', 'day')} END AS payout_day_used,
    CASE WHEN payout_night IS NOT NULL THEN ${used('payouts', 'amount', 'night')} END AS payout_night_used,
    CASE WHEN transfer_day_usdt IS NOT NULL THEN ${used('transfers', 'amount_net', 'day', ` AND asset = 'USDT'`)} END AS transfer_day_usdt_used,
    CASE WHEN transfer_day_btc IS NOT NULL THEN ${used('transfers', 'amount_net', 'day', ` AND asset = 'BTC'`)} END AS transfer_day_btc_used
  FROM subject CROSS JOIN windows`

/**
 * A command reads this row while it holds the lock on the customer's account: all earlier orders have committed, so the sums are
 * complete. The command reads its own time a moment later. If the night begins in between, the row has the sum of that night
 * already. If the day ends in between, the sum of the ended day is used, which is the larger one, so no limit is exceeded.
 */
export const usageRows = rowSource<MoneyLimitUsage>('money limits', usageSql('clock_timestamp()'))

/** For display. By day `payout_night_used` is null: the row has the sum of the next night, in which no order was made yet. */
export async function moneyLimitUsageOf(db: Db, customer_id: string): Promise<MoneyLimitUsage | undefined> {
  const { rows } = await db.query<MoneyLimitUsage>({
    name: 'money limits of a customer',
    text: usageRows.sql,
    values: [[customer_id]],
  })
  const [usage] = rows
  return usage && (usage.is_night ? usage : { ...usage, payout_night_used: null })
}

/** Of each partner, per kind of order. */
const NEWEST_ORDERS = 2000

export type CustomerOfPartner = { readonly customer_id: string; readonly partner_id: string }

/**
 * Customers with a limit for which an order was made since a time, from the newest orders of each partner, in the order of
 * partners and customers. The cost does not grow with the number of customers or limits.
 */
export async function limitedAndActive(
  db: Db,
  {
    since,
    after,
    limit,
  }: { readonly since: Date; readonly after: CustomerOfPartner; readonly limit: number },
): Promise<CustomerOfPartner[]> {
  const newest = (table: 'payouts' | 'transfers') => `(SELECT customer_id FROM ${table}
      WHERE partner_id = p.id AND created_at > $1 ORDER BY created_at DESC LIMIT ${NEWEST_ORDERS})`
  const { rows } = await db.query({
    name: 'customers with limits and new orders',
    text: `SELECT o.customer_id, p.id AS partner_id FROM shared.partners p
      CROSS JOIN LATERAL (${newest('payouts')} UNION ${newest('transfers')}) AS o
      WHERE EXISTS (SELECT FROM money_limits) AND p.id >= $3 AND (p.id, o.customer_id) > ($3, $4)
        AND EXISTS (SELECT FROM money_limits WHERE subject_id IN (o.customer_id, p.id))
      ORDER BY p.id, o.customer_id LIMIT $2`,
    values: [since, limit, after.partner_id, after.customer_id],
  })
  return rows
}

export async function moneyLimitUsages(db: Db, customer_ids: readonly string[]): Promise<MoneyLimitUsage[]> {
  const { rows } = await db.query<MoneyLimitUsage>({
    name: 'money limits of customers',
    text: usageRows.sql,
    values: [customer_ids],
  })
  return rows
}
