import { Type as T } from 'typebox'
import { assets } from '../../core/money.ts'
import { formatPrice } from '../../core/price.ts'
import { DryRun, dryRunQuery } from '../../http/dry-run.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import {
  Amount,
  AssetName,
  Fields,
  Id,
  Metadata,
  OrderMetadata,
  Page,
  pageQuery,
  Timestamp,
  TimestampOf,
  timeQuery,
  Units,
} from '../../http/schema.ts'
import { displayPrice, pairNames, rateOf } from './arithmetic.ts'
import type { CurrentPrice } from './prices.ts'
import type { Quote, Trade } from './store.ts'

const Positive = (description: string, example: string) =>
  T.String({ pattern: '^[1-9][0-9]{0,17}$', description, examples: [example] })
const Bps = (description: string, example: number) =>
  T.Integer({ minimum: 0, description, examples: [example] })
const Side = T.Enum(['buy', 'sell'], {
  description: 'What the customer does with the base asset of the pair',
})
const Decimal = (description: string, example: string) =>
  T.String({ pattern: '^[0-9]+(\\.[0-9]{1,8})?$', description, examples: [example] })

/** Interface §2.7. */
const Fees = T.Object(
  {
    total: Units,
    total_bps: Bps('partner_bps + service_bps', 150),
    partner: Units,
    partner_bps: Bps('The partner’s part, in basis points', 100),
    service: Units,
    service_bps: Bps('The service’s part, in basis points', 50),
  },
  {
    $id: 'Fees',
    description: 'In smallest units of from_asset; total is partner plus service',
    examples: [
      {
        total: '1500',
        total_bps: 150,
        partner: '1000',
        partner_bps: 100,
        service: '500',
        service_bps: 50,
      },
    ],
  },
)

const sides = {
  from_asset: T.Enum(['BRL', 'USDT', 'BTC'], { description: 'What is paid' }),
  to_asset: T.Enum(['BRL', 'USDT', 'BTC'], { description: 'What is received', examples: ['USDT'] }),
  from_amount: Positive('What leaves the balance, fees included', '100000'),
  to_amount: Positive('What is added to the balance', '182407407'),
  from_decimals: T.Integer({ examples: [2] }),
  to_decimals: T.Integer({ examples: [6] }),
}

const rates = {
  price_decimals: T.Integer({ description: 'Shown price = price / 10^price_decimals', examples: [2] }),
  market_price: Decimal('Quote asset per base asset, exact: what the amounts were computed with', '5.4'),
  side: Side,
}

const QuoteStatus = T.Enum(['pending', 'expired', 'executed'], {
  description: 'expired once 30 seconds have passed without execution',
})

/** Interface §2.5, with the two extra fields of contract §10. */
export const QuoteObject = T.Object(
  {
    id: Id('quote'),
    customer_id: Id('customer'),
    ...sides,
    price: T.String({
      pattern: '^(0|[1-9][0-9]*)$',
      description: 'What 1 to_asset costs, in smallest units of from_asset; for display',
      examples: ['540'],
    }),
    ...rates,
    fees: Fees,
    status: QuoteStatus,
    trade_id: T.Optional({ ...Id('trade'), description: 'The trade it became, once it was executed' }),
    metadata: OrderMetadata,
    expires_at: TimestampOf('30 seconds after created_at', '2026-11-15T12:00:30.000Z'),
    created_at: Timestamp,
  },
  { $id: 'Quote' },
)

/** Failure codes of trades, with their messages for partners. */
const tradeFailureMessages = {
  treasury_limit: 'The operator cannot take this position right now. Nothing moved; ask for a smaller quote.',
} as const

const failureCodes = Object.keys(tradeFailureMessages) as (keyof typeof tradeFailureMessages)[]

const TradeStatus = T.Enum(['completed', 'failed'], { description: 'A failed trade moved nothing' })

/** Interface §2.6. */
export const TradeObject = T.Object(
  {
    id: Id('trade'),
    quote_id: Id('quote'),
    customer_id: Id('customer'),
    status: TradeStatus,
    ...sides,
    executed_price: T.String({
      pattern: '^(0|[1-9][0-9]*)$',
      description: 'The quote’s price',
      examples: ['540'],
    }),
    ...rates,
    fees: Fees,
    failure: T.Union(
      [
        T.Object(
          { code: T.Enum(failureCodes), message: T.String() },
          { examples: [{ code: 'treasury_limit', message: tradeFailureMessages.treasury_limit }] },
        ),
        T.Null(),
      ],
      { description: 'Why it failed; null otherwise' },
    ),
    metadata: OrderMetadata,
    created_at: Timestamp,
    completed_at: Timestamp,
  },
  { $id: 'Trade' },
)

const renderSides = (terms: Quote | Trade) => ({
  from_asset: terms.from_asset,
  to_asset: terms.to_asset,
  from_amount: terms.from_amount.toString(),
  to_amount: terms.to_amount.toString(),
  from_decimals: assets[terms.from_asset].decimals,
  to_decimals: assets[terms.to_asset].decimals,
})

const renderFees = ({ partner_fee, partner_bps, service_fee, service_bps }: Quote | Trade) => ({
  total: (partner_fee + service_fee).toString(),
  total_bps: partner_bps + service_bps,
  partner: partner_fee.toString(),
  partner_bps,
  service: service_fee.toString(),
  service_bps,
})

const renderPrice = ({ from_asset: from, to_asset: to, side, market_price }: Quote | Trade) =>
  displayPrice(to, rateOf({ from, to, side, market_price })).toString()

const renderRates = ({ from_asset, market_price, side }: Quote | Trade) => ({
  price_decimals: assets[from_asset].decimals,
  market_price: formatPrice(market_price),
  side,
})

export const statusOf = ({ trade_id, expires_at }: Quote, now: number): 'pending' | 'expired' | 'executed' =>
  trade_id !== null ? 'executed' : now >= expires_at.getTime() ? 'expired' : 'pending'

export const renderQuote = (quote: Quote, now: number) => ({
  id: quote.id,
  customer_id: quote.customer_id,
  ...renderSides(quote),
  price: renderPrice(quote),
  ...renderRates(quote),
  fees: renderFees(quote),
  status: statusOf(quote, now),
  ...(quote.trade_id === null ? {} : { trade_id: quote.trade_id }),
  metadata: quote.metadata,
  expires_at: quote.expires_at.toISOString(),
  created_at: quote.created_at.toISOString(),
})

export const renderTradeFailure = ({ failure_code }: Trade) => {
  if (failure_code === null) return null
  const code = failure_code as keyof typeof tradeFailureMessages
  return { code, message: tradeFailureMessages[code] }
}

export const renderTrade = (trade: Trade) => ({
  id: trade.id,
  quote_id: trade.quote_id,
  customer_id: trade.customer_id,
  status: trade.status,
  ...renderSides(trade),
  executed_price: renderPrice(trade),
  ...renderRates(trade),
  fees: renderFees(trade),
  failure: renderTradeFailure(trade),
  metadata: trade.metadata,
  created_at: trade.created_at.toISOString(),
  completed_at: trade.created_at.toISOString(),
})

/** Interface §4.3. */
export const createQuote = endpoint({
  name: 'quotes.create',
  route: 'POST /v1/quotes',
  summary: 'Lock a price for 30 seconds',
  description:
    'Prices a conversion between two of BRL, USDT and BTC, and holds that price for 30 seconds. `amount` is of `amount_asset`: what is paid, or what is received. With `gross` the fees come out of it, with `net` they come on top: the customer receives, or converts, exactly that much. A quote reserves nothing: the balance is needed when it is executed.',
  scopes: { all: ['quotes'] },
  body: Fields({
    customer_id: Id('customer'),
    from_asset: AssetName,
    to_asset: T.Enum(['BRL', 'USDT', 'BTC'], { description: 'BRL, USDT or BTC', examples: ['USDT'] }),
    amount: Amount,
    amount_asset: T.Optional(
      T.Enum(['BRL', 'USDT', 'BTC'], { description: 'from_asset or to_asset; from_asset when absent' }),
    ),
    amount_type: T.Optional(
      T.Enum(['gross', 'net'], { description: 'gross: fees included, when absent; net: fees on top' }),
    ),
    partner_fee_bps: T.Optional(
      T.Integer({
        minimum: 0,
        maximum: 10_000,
        description: 'Your own fee, in basis points; at most 1000 unless agreed otherwise',
        examples: [100],
      }),
    ),
    metadata: T.Optional(Metadata),
  }),
  reply: { status: 201, schema: QuoteObject },
  repeat: 'harmless',
  errors: [
    'invalid_amount',
    'customer_blocked',
    'customer_not_found',
    'unsupported_pair',
    'amount_too_small',
    'amount_too_large',
    'price_unavailable',
  ],
  limit_per_minute: 30,
  example: {
    customer_id: 'cus_01kc3v4x9zq8rj5m2t7w6y0ahb',
    from_asset: 'BRL',
    to_asset: 'USDT',
    amount: '100000',
    amount_asset: 'BRL',
    amount_type: 'gross',
    partner_fee_bps: 100,
  },
})

const quoteParams = T.Object({ quote_id: Id('quote') })

/** Interface §4.4. */
export const executeQuote = endpoint({
  name: 'quotes.execute',
  route: 'POST /v1/quotes/{quote_id}/execute',
  summary: 'Execute a quote',
  description:
    'Debits `from_amount` and credits `to_amount`, at once and exactly as quoted. The quote is its own idempotency key: executed again, also after its 30 seconds, it returns the same trade. Not enough balance leaves the quote as it is, so it can be tried again in time. `?dry_run=true` runs every check and moves nothing.',
  scopes: { all: ['quotes'] },
  params: quoteParams,
  query: dryRunQuery,
  reply: { status: 201, schema: TradeObject },
  repeat: 'idempotent',
  dry_run: DryRun('TradeDryRun', {
    would_fail: T.Optional(
      T.Object(
        { code: T.String({ examples: ['treasury_limit'] }), message: T.String() },
        { description: 'Present when the trade would be, or was, made as `failed`: nothing would move' },
      ),
    ),
  }),
  errors: [
    'customer_blocked',
    'quote_not_found',
    'quote_expired',
    'insufficient_balance',
    'amount_too_large',
  ],
})

const listQuery = {
  ...pageQuery,
  ...timeQuery,
  customer_id: T.Optional(Id('customer')),
  from_asset: T.Optional(T.Enum(['BRL', 'USDT', 'BTC'], { description: 'What is paid' })),
  to_asset: T.Optional(T.Enum(['BRL', 'USDT', 'BTC'], { description: 'What is received' })),
}

export const listQuotes = endpoint({
  name: 'quotes.list',
  route: 'GET /v1/quotes',
  summary: 'List quotes, newest first',
  scopes: { any: ['read', 'quotes'] },
  query: Fields({ ...listQuery, status: T.Optional(QuoteStatus) }),
  reply: { status: 200, schema: Page(QuoteObject) },
})

export const getQuote = endpoint({
  name: 'quotes.get',
  route: 'GET /v1/quotes/{quote_id}',
  summary: 'Read a quote',
  scopes: { any: ['read', 'quotes'] },
  params: quoteParams,
  reply: { status: 200, schema: QuoteObject },
  errors: ['quote_not_found'],
})

export const listTrades = endpoint({
  name: 'trades.list',
  route: 'GET /v1/trades',
  summary: 'List trades, newest first',
  scopes: { any: ['read', 'quotes'] },
  query: Fields({ ...listQuery, status: T.Optional(TradeStatus), quote_id: T.Optional(Id('quote')) }),
  reply: { status: 200, schema: Page(TradeObject) },
})

export const getTrade = endpoint({
  name: 'trades.get',
  route: 'GET /v1/trades/{trade_id}',
  summary: 'Read a trade',
  scopes: { any: ['read', 'quotes'] },
  params: T.Object({ trade_id: Id('trade') }),
  reply: { status: 200, schema: TradeObject },
  errors: ['trade_not_found'],
})

export const PriceObject = T.Object(
  {
    pair: T.Enum(pairNames, { description: 'Base asset / quote asset' }),
    price: Decimal('Quote asset for one base asset, as the market has it', '5.4'),
    buy_price: Decimal('What a quote that buys the base asset would lock', '5.4'),
    sell_price: Decimal('What a quote that sells the base asset would lock', '5.4'),
    source: T.String({ description: 'Where the price was seen', examples: ['fixed'] }),
    observed_at: Timestamp,
    age_ms: T.Integer({ description: 'How long ago that was', examples: [0] }),
    fresh: T.Boolean({ description: 'false: too old to quote from, a quote gets price_unavailable' }),
  },
  { $id: 'Price' },
)

export const renderMarketPrice = (current: CurrentPrice) => ({
  ...current,
  price: formatPrice(current.price),
  buy_price: formatPrice(current.buy_price),
  sell_price: formatPrice(current.sell_price),
  observed_at: current.observed_at.toISOString(),
})

/** Contract §3. */
export const listPrices = endpoint({
  name: 'prices.list',
  route: 'GET /v1/prices',
  summary: 'What each pair is worth right now',
  description: 'A pair whose price is not known is left out. To act on a price, create a quote.',
  scopes: { any: ['read', 'quotes'] },
  reply: { status: 200, schema: T.Object({ data: T.Array(PriceObject) }) },
})

export const quoteEndpoints: readonly Endpoint[] = [
  createQuote,
  executeQuote,
  listQuotes,
  getQuote,
  listTrades,
  getTrade,
  listPrices,
]
