import { type Asset, assetNames, assets } from '../../core/money.ts'
import { rowsById } from '../../db/batched.ts'
import type { ShouldContinue } from '../../db/chore.ts'
import { columnsOf } from '../../db/columns.ts'
import { type IndexWalk, type ListSource, narrowly, ofCustomer } from '../../db/newest.ts'
import type { Db } from '../../db/pool.ts'
import type { Check, Template } from '../../ledger/audit.ts'
import { insertInto, rowSource, updateOf } from '../../ledger/command.ts'
import { isoTime, metadataText, missingEventCheck } from '../../records/events/store.ts'
import type { Side } from './arithmetic.ts'

/** The terms of a quote, which its trade repeats. */
type Terms = {
  readonly partner_id: string
  readonly customer_id: string
  readonly api_key_id: string
  readonly from_asset: Asset
  readonly to_asset: Asset
  readonly side: Side
  readonly market_price: bigint
  readonly from_amount: bigint
  readonly to_amount: bigint
  readonly partner_fee: bigint
  readonly partner_bps: number
  readonly service_fee: bigint
  readonly service_bps: number
  readonly worth_brl: bigint
  readonly metadata: Readonly<Record<string, string>>
}

export type Quote = Terms & {
  readonly id: string
  readonly price_source: string
  readonly created_at: Date
  readonly expires_at: Date
  readonly trade_id: string | null
  /** The request that created it; null if unknown. */
  readonly request_id: string | null
}

export type Trade = Terms & {
  readonly id: string
  readonly quote_id: string
  readonly status: 'completed' | 'failed'
  readonly failure_code: string | null
  readonly quote_expires_at: Date
  readonly created_at: Date
  readonly request_id: string | null
}

const terms = {
  partner_id: 'text',
  customer_id: 'text',
  api_key_id: 'text',
  from_asset: 'text',
  to_asset: 'text',
  side: 'text',
  market_price: 'numeric',
  from_amount: 'bigint',
  to_amount: 'bigint',
  partner_fee: 'bigint',
  partner_bps: 'integer',
  service_fee: 'bigint',
  service_bps: 'integer',
  worth_brl: 'numeric',
} as const

export const insertQuotes = insertInto('quotes', {
  id: 'text',
  ...terms,
  price_source: 'text',
  created_at: 'timestamptz',
  expires_at: 'timestamptz',
  request_id: 'text?',
  metadata: 'json',
})

export const insertTrades = insertInto('trades', {
  id: 'text',
  quote_id: 'text',
  ...terms,
  status: 'text',
  failure_code: 'text?',
  quote_expires_at: 'timestamptz',
  created_at: 'timestamptz',
  request_id: 'text?',
  metadata: 'json',
})

/** A quote or a trade as it is inserted. */
export const conversionRow = <Row extends Terms>(row: Row) => ({
  ...row,
  metadata: JSON.stringify(row.metadata),
})

export const quoteRows = rowSource<Quote>(
  'quotes',
  `SELECT ${columnsOf('quotes')} FROM quotes WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE`,
)

export const markExecuted = updateOf(quoteRows, 'quotes', { id: 'text', trade_id: 'text' })

export const quoteById = rowsById<Quote>('quotes')

export const tradeById = rowsById<Trade>('trades')

/** A pair is one range of the index; a single asset is one range per other asset. */
const pairWalks: readonly IndexWalk[] = [
  { by: ['from_asset', 'to_asset'] },
  {
    by: ['from_asset'],
    stretches: ({ from_asset }, param) =>
      othersThan(from_asset).map((to) => pairIs(param(from_asset), param(to))),
  },
  {
    by: ['to_asset'],
    stretches: ({ to_asset }, param) =>
      othersThan(to_asset).map((from) => pairIs(param(from), param(to_asset))),
  },
]
const othersThan = (asset: string | undefined) => assetNames.filter((name) => name !== asset)
const pairIs = (from: string, to: string) =>
  `partner_id = $1 AND ${narrowly('from_asset', from)} AND ${narrowly('to_asset', to)}`

const customerWalk: IndexWalk = {
  by: ['customer_id'],
  stretches: ({ customer_id }, param) => [ofCustomer(customer_id, param)],
}

/** The status of a quote depends on the clock: a filter must give the status that each quote shows. */
export const quoteList = (now: Date): ListSource => ({
  table: 'quotes',
  columns: columnsOf('quotes'),
  walks: [
    customerWalk,
    {
      by: ['status'],
      stretches: ({ status }) =>
        status === 'executed' ? ['partner_id = $1 AND trade_id IS NOT NULL'] : undefined,
    },
    ...pairWalks,
    { by: [] },
  ],
  conditions: {
    status: (status, param) =>
      status === 'executed'
        ? 'trade_id IS NOT NULL'
        : `trade_id IS NULL AND expires_at ${status === 'expired' ? '<=' : '>'} ${param(now)}`,
  },
})

/** The trades among these ids, for the daily sums. A trade ends at the moment it is made. */
export const endedTrades = (
  ids: string,
): string => `SELECT partner_id, 'conversions' AS kind, from_asset AS asset, to_asset, status = 'completed' AS completed,
  from_amount AS amount, partner_fee + service_fee AS fee, NULL::timestamptz AS created_at, created_at AS ended_at
  FROM trades WHERE id = ANY(${ids})`

/** Completed trades have no index of their own: they are nearly all trades. */
export const tradeList: ListSource = {
  table: 'trades',
  columns: columnsOf('trades'),
  walks: [
    { by: ['quote_id'] },
    {
      by: ['status'],
      stretches: ({ status }) =>
        status === 'failed' ? ['partner_id = $1 AND failure_code IS NOT NULL'] : undefined,
    },
    customerWalk,
    ...pairWalks,
    { by: [] },
  ],
}

const STEP = 1000

/** Deletes quotes that ended before that time and were never executed. */
export async function forgetQuotes(
  db: Db,
  older_than: Date,
  shouldContinue: ShouldContinue = () => true,
): Promise<void> {
  for (let judged = STEP; judged === STEP && shouldContinue(); ) {
    const { rows } = await db.query('SELECT forget_quotes($1, $2) AS judged', [older_than, STEP])
    judged = rows[0].judged
  }
}

/** Movements of a trade: both assets in one movement; a failed trade moves nothing. */
export const tradeTemplate: Template = {
  name: 'every completed trade is booked once and as quoted, a failed one not at all',
  prefix: 'td',
  entries: (
    within,
  ) => `SELECT t.id AS cause_id, 'traded' AS movement, l.line, t.partner_id, l.account, l.owner, l.asset, l.amount, t.created_at
    FROM trades t
    CROSS JOIN LATERAL (SELECT (t.partner_fee <> 0)::integer AS partner, (t.service_fee <> 0)::integer AS service) AS fees
    CROSS JOIN LATERAL (VALUES
      (0, 'customer', t.customer_id, t.from_asset, -t.from_amount::numeric),
      (1, 'treasury', '', t.from_asset, t.from_amount::numeric - t.partner_fee - t.service_fee),
      (2, 'partner_fees', t.partner_id, t.from_asset, t.partner_fee),
      (2 + partner, 'service_fees', '', t.from_asset, t.service_fee),
      (2 + partner + service, 'treasury', '', t.to_asset, -t.to_amount::numeric),
      (3 + partner + service, 'customer', t.customer_id, t.to_asset, t.to_amount)) AS l (line, account, owner, asset, amount)
    WHERE ${within('t.id')} AND t.status = 'completed' AND l.amount <> 0`,
}

const termNames = Object.keys(terms).filter((name) => name !== 'api_key_id')
const differ = termNames.map((name) => `q.${name} IS DISTINCT FROM t.${name}`).join(' OR ')

const powerOf = (asset: string) =>
  `CASE ${asset} ${assetNames.map((name) => `WHEN '${name}' THEN ${10 ** assets[name].decimals}`).join(' ')} END::numeric`

/**
 * The four rules of arithmetic.ts, checked on their results: the fees are shares of the gross or of the net amount, and the rest
 * converts to the other side at the price, which is in 10^-8.
 */
const notAsQuoted = (t: string) => {
  const net = `(${t}.from_amount::numeric - ${t}.partner_fee - ${t}.service_fee)`
  const share = (base: string, bps: string) => `div(${base}::numeric * ${t}.${bps} + 9999, 10000)`
  const sharesOf = (base: string) =>
    `(${t}.partner_fee = ${share(base, 'partner_bps')} AND ${t}.service_fee = ${share(base, 'service_bps')})`
  const from = powerOf(`${t}.from_asset`)
  const to = powerOf(`${t}.to_asset`)
  const num = `(CASE ${t}.side WHEN 'buy' THEN ${to} * 100000000 ELSE ${t}.market_price * ${to} END)`
  const den = `(CASE ${t}.side WHEN 'buy' THEN ${t}.market_price * ${from} ELSE 100000000 * ${from} END)`
  return `(${t}.market_price <= 0 OR ${net} <= 0 OR coalesce(NOT (
      (${sharesOf(`${t}.from_amount`)} AND ${t}.to_amount = div(${net} * ${num}, nullif(${den}, 0)))
      OR (${sharesOf(net)} AND (${t}.to_amount = div(${net} * ${num}, nullif(${den}, 0))
        OR ${net} = div(${t}.to_amount * ${den} + ${num} - 1, nullif(${num}, 0))))), true)
    OR (${t}.from_asset = 'BRL' AND ${t}.worth_brl <> ${net}) OR (${t}.to_asset = 'BRL' AND ${t}.worth_brl <> ${t}.to_amount))`
}

export const tradeChecks: readonly Check[] = [
  {
    name: 'every trade has its quote, with the same terms, and every executed quote its trade',
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT t.id AS object_id, t.partner_id, t.quote_id FROM trades t LEFT JOIN quotes q ON q.id = t.quote_id
      WHERE ${within('t.id')} AND (q.trade_id IS DISTINCT FROM t.id OR ${differ} OR q.expires_at IS DISTINCT FROM t.quote_expires_at
        OR t.created_at >= t.quote_expires_at OR q.expires_at <> q.created_at + interval '30 seconds'
        -- The clocks of two servers, of which one took over from the other in between, may differ.
        OR t.created_at < q.created_at - interval '5 minutes')
      UNION ALL
      SELECT q.id, q.partner_id, q.trade_id FROM quotes q LEFT JOIN trades t ON t.id = q.trade_id
      WHERE ${within('q.id')} AND q.trade_id IS NOT NULL AND t.quote_id IS DISTINCT FROM q.id`,
  },
  {
    name: 'no quote was executed twice',
    sql: () =>
      'SELECT quote_id AS object_id, count(*) AS trades FROM trades GROUP BY quote_id HAVING count(*) > 1',
  },
  {
    name: 'every trade comes to what its price and its fees make of it',
    walk: 'causes',
    prefix: 'td',
    sql: (
      within,
    ) => `SELECT t.id AS object_id, t.partner_id, t.side, t.market_price, t.from_amount, t.to_amount, t.partner_fee, t.service_fee
      FROM trades t LEFT JOIN customers c ON c.id = t.customer_id LEFT JOIN api_keys k ON k.id = t.api_key_id
      WHERE ${within('t.id')} AND (${notAsQuoted('t')} OR (t.status = 'failed') <> (t.failure_code IS NOT NULL)
        OR t.status NOT IN ('completed', 'failed') OR t.from_asset = t.to_asset
        OR c.partner_id IS DISTINCT FROM t.partner_id OR k.partner_id IS DISTINCT FROM t.partner_id)`,
  },
  missingEventCheck({
    name: 'every trade was told once, as it is',
    prefix: 'td',
    table: 'trades',
    expected: (
      within,
    ) => `SELECT id AS object_id, 1 AS sequence, 'trade.' || status AS type, partner_id, created_at, created_at AS since,
        ARRAY[id, quote_id, customer_id, status, from_asset, to_asset, from_amount::text, to_amount::text, partner_fee::text,
          partner_bps::text, service_fee::text, service_bps::text, failure_code, ${isoTime('created_at')}] AS facts, ${metadataText('metadata')} AS metadata
      FROM trades WHERE ${within('id')}`,
    fields: `id text, quote_id text, customer_id text, status text, from_asset text, to_asset text, from_amount text, to_amount text,
      fees json, failure json, created_at text, metadata json`,
    facts: `ARRAY[d.id, d.quote_id, d.customer_id, d.status, d.from_asset, d.to_asset, d.from_amount, d.to_amount, d.fees ->> 'partner',
      d.fees ->> 'partner_bps', d.fees ->> 'service', d.fees ->> 'service_bps', d.failure ->> 'code', d.created_at]`,
  }),
]
