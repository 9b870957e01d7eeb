import type { Asset } from '../core/money.ts'
import { rowsById } from '../db/batched.ts'
import type { GoOn } from '../db/chore.ts'
import { columnsOf } from '../db/columns.ts'
import type { Db } from '../db/pool.ts'
import type { Check } from '../ledger/audit.ts'
import { insertInto, rowSource, updateOf } from '../ledger/command.ts'
import { type FedPair, fedPairs } from '../rails/prices/feed.ts'
import type { Side } from './arithmetic.ts'

/** What was priced, and is executed as it was. */
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
}

export type Quote = Terms & {
  readonly id: string
  readonly price_source: string
  readonly created_at: Date
  readonly expires_at: Date
  readonly trade_id: string | null
}

export type Trade = Terms & {
  readonly id: string
  readonly quote_id: string
  readonly status: 'completed' | 'failed'
  readonly failure_code: string | null
  readonly quote_expires_at: Date
  readonly created_at: Date
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
})

export const insertTrades = insertInto('trades', {
  id: 'text',
  quote_id: 'text',
  ...terms,
  status: 'text',
  failure_code: 'text',
  quote_expires_at: 'timestamptz',
  created_at: 'timestamptz',
})

export const quoteRows = rowSource<Quote>(
  'quotes',
  `SELECT ${columnsOf('quotes')} FROM quotes WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE`,
)

export const markExecuted = updateOf(quoteRows, 'quotes', { id: 'text', trade_id: 'text' })
export const markExpired = updateOf(quoteRows, 'quotes', { id: 'text', expires_at: 'timestamptz' })

export const quoteById = rowsById<Quote>('quotes')

export const tradeById = rowsById<Trade>('trades')

export type SetPrice = { readonly id: string; readonly price: bigint; readonly observed_at: Date | null }

/** One row for each pair that the partner has set. */
export const setPriceId = (partner_id: string, pair: FedPair): string => `${partner_id} ${pair}`

export const setPriceRows = rowSource<SetPrice>(
  'sandbox prices',
  `SELECT ${columnsOf('sandbox_prices')} FROM sandbox_prices WHERE id = ANY($1::text[])`,
)

export async function setPricesOf(db: Db, partner_id: string): Promise<Map<string, SetPrice>> {
  const ids = fedPairs.map((pair) => setPriceId(partner_id, pair))
  const { rows } = await db.query({ name: 'set prices', text: setPriceRows.sql, values: [ids] })
  return new Map(rows.map((row: SetPrice) => [row.id, row]))
}

export async function savePrice(db: Db, { id, price, observed_at }: SetPrice): Promise<void> {
  await db.query(
    `INSERT INTO sandbox_prices (id, price, observed_at) VALUES ($1, $2, $3)
     ON CONFLICT (id) DO UPDATE SET price = excluded.price, observed_at = excluded.observed_at`,
    [id, price, observed_at],
  )
}

const STEP = 1000

/** Forgets quotes that ended before that time and were never executed. */
export async function forgetQuotes(db: Db, older_than: Date, goOn: GoOn = () => true): Promise<void> {
  for (let judged = STEP; judged === STEP && goOn(); ) {
    const { rows } = await db.query('SELECT forget_quotes($1, $2) AS judged', [older_than, STEP])
    judged = rows[0].judged
  }
}

export const tradeChecks: readonly Check[] = [
  {
    name: 'every completed trade is booked once and as quoted, a failed one not at all',
    sql: `SELECT coalesce(t.id, e.cause_id) AS trade_id, t.status, e.paid, e.got, e.partner, e.service
      FROM trades t FULL JOIN (
        SELECT cause_id,
          sum(amount) FILTER (WHERE account = 'customer' AND amount < 0) AS paid,
          sum(amount) FILTER (WHERE account = 'customer' AND amount > 0) AS got,
          coalesce(sum(amount) FILTER (WHERE account = 'partner_fees'), 0) AS partner,
          coalesce(sum(amount) FILTER (WHERE account = 'service_fees'), 0) AS service
        FROM entries WHERE movement = 'traded' GROUP BY cause_id) e ON e.cause_id = t.id
      WHERE t.id IS NULL OR CASE WHEN t.status = 'completed'
        THEN (-t.from_amount, t.to_amount, t.partner_fee, t.service_fee) IS DISTINCT FROM (e.paid, e.got, e.partner, e.service)
        ELSE e.cause_id IS NOT NULL END`,
  },
  {
    name: 'every trade has its quote, with the same terms, and every executed quote its trade',
    sql: `SELECT q.id AS quote_id, t.id AS trade_id FROM quotes q FULL JOIN trades t ON t.quote_id = q.id
      WHERE (q.trade_id IS NOT NULL OR t.id IS NOT NULL) AND (q.trade_id IS DISTINCT FROM t.id
        OR (q.customer_id, q.from_asset, q.to_asset, q.from_amount, q.to_amount, q.partner_fee, q.service_fee, q.market_price)
          IS DISTINCT FROM (t.customer_id, t.from_asset, t.to_asset, t.from_amount, t.to_amount, t.partner_fee, t.service_fee, t.market_price))`,
  },
]
