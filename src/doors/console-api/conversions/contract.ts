import { Type as T } from 'typebox'
import { Fields, Id, Page, pageQuery, timeQuery } from '../../../http/schema.ts'
import {
  listQuotes,
  listTrades,
  PriceObject,
  QuoteObject,
  TradeObject,
} from '../../../money/quotes/contract.ts'
import { CustomerObject } from '../../../parties/customers/contract.ts'
import { setPrice } from '../../sandbox/contract.ts'
import { csvQuery } from '../csv.ts'
import { type ConsoleEndpoint, consoleEndpoint } from '../endpoint.ts'
import { orderQuery, TotalsObject } from '../list-schema.ts'
import { ApiRequest, MovementObject, PublishedEvent } from '../object-page.ts'

const environment = T.Enum(['production', 'sandbox'])
const inWorld = T.Object({ environment })
const csv = { status: 200, type: 'text/csv' } as const
const totals = { status: 200, schema: TotalsObject } as const

const { customer_id, from_asset, to_asset } = listQuotes.query.properties
const filters = { ...timeQuery, customer_id, from_asset, to_asset }
const quoteFilters = { ...filters, status: listQuotes.query.properties.status }
const tradeFilters = { ...filters, status: listTrades.query.properties.status }

const Left = T.Integer({ description: 'How long it still holds, by the clock of the service' })

const CustomerName = T.Object({ id: Id('customer'), name: T.String() })

export const listQuotesInConsole = consoleEndpoint({
  name: 'console.quotes.list',
  route: 'GET /console/api/{environment}/quotes',
  summary: 'Quotes by time',
  permit: 'read',
  heavy: ['status'],
  params: inWorld,
  query: Fields({ ...pageQuery, ...orderQuery, ...quoteFilters }),
  reply: {
    status: 200,
    schema: Page(T.Object({ quote: QuoteObject, left_ms: Left, customer: CustomerName })),
  },
})

export const exportQuotes = consoleEndpoint({
  name: 'console.quotes.csv',
  route: 'GET /console/api/{environment}/quotes.csv',
  summary: 'The same as a table for spreadsheets',
  permit: 'export',
  params: inWorld,
  query: Fields({ ...orderQuery, ...quoteFilters, ...csvQuery }),
  reply: csv,
})

export const totalQuotes = consoleEndpoint({
  name: 'console.quotes.totals',
  route: 'GET /console/api/{environment}/quotes/totals',
  summary: 'How many quotes a filter matches, and their sums, by pair',
  permit: 'read',
  heavy: true,
  params: inWorld,
  query: Fields(quoteFilters),
  reply: totals,
})

/** How the price of the quote was made. */
const Pricing = T.Object({
  pair: T.String({ description: 'Base asset / quote asset' }),
  /** The source of the price; null if it was not stored. */
  source: T.Union([T.String(), T.Null()]),
  spread_bps: T.Integer({
    description: 'By which every price is moved against the customer, as it is set now',
  }),
})

const conversionPage = {
  customer: CustomerObject,
  pricing: Pricing,
  movements: T.Array(MovementObject),
  events: T.Array(PublishedEvent),
  request: ApiRequest,
}

const quoteParams = T.Object({ environment, quote_id: Id('quote') })

export const getQuoteInConsole = consoleEndpoint({
  name: 'console.quotes.get',
  route: 'GET /console/api/{environment}/quotes/{quote_id}',
  summary: 'A quote and all that is known of it',
  permit: 'read',
  params: quoteParams,
  reply: {
    status: 200,
    schema: T.Object({
      quote: QuoteObject,
      left_ms: Left,
      trade: T.Union([TradeObject, T.Null()]),
      ...conversionPage,
    }),
  },
  errors: ['quote_not_found'],
})

export const expireQuoteInConsole = consoleEndpoint({
  name: 'console.quotes.expire',
  route: 'POST /console/api/{environment}/quotes/{quote_id}/expire',
  summary: 'Let a quote of the sandbox expire now',
  permit: 'sandbox.act',
  sandbox_only: true,
  params: quoteParams,
  body: Fields({}),
  reply: { status: 200, schema: QuoteObject },
  errors: ['quote_not_found', 'already_final'],
})

export const listTradesInConsole = consoleEndpoint({
  name: 'console.trades.list',
  route: 'GET /console/api/{environment}/trades',
  summary: 'Trades by time',
  permit: 'read',
  heavy: ['status'],
  params: inWorld,
  query: Fields({ ...pageQuery, ...orderQuery, ...tradeFilters }),
  reply: { status: 200, schema: Page(T.Object({ trade: TradeObject, customer: CustomerName })) },
})

export const exportTrades = consoleEndpoint({
  name: 'console.trades.csv',
  route: 'GET /console/api/{environment}/trades.csv',
  summary: 'The same as a table for spreadsheets',
  permit: 'export',
  params: inWorld,
  query: Fields({ ...orderQuery, ...tradeFilters, ...csvQuery }),
  reply: csv,
})

export const totalTrades = consoleEndpoint({
  name: 'console.trades.totals',
  route: 'GET /console/api/{environment}/trades/totals',
  summary: 'How many trades a filter matches, and their sums, by status and pair',
  permit: 'read',
  heavy: true,
  params: inWorld,
  query: Fields(tradeFilters),
  reply: totals,
})

const tradeParams = T.Object({ environment, trade_id: Id('trade') })

export const getTradeInConsole = consoleEndpoint({
  name: 'console.trades.get',
  route: 'GET /console/api/{environment}/trades/{trade_id}',
  summary: 'A trade and all that is known of it',
  permit: 'read',
  params: tradeParams,
  reply: {
    status: 200,
    schema: T.Object({ trade: TradeObject, quote: T.Union([QuoteObject, T.Null()]), ...conversionPage }),
  },
  errors: ['trade_not_found'],
})

export const redeliverTrade = consoleEndpoint({
  name: 'console.trades.redeliver',
  route: 'POST /console/api/{environment}/trades/{trade_id}/redeliver',
  summary: 'Send a trade’s events again, to every endpoint that listens',
  permit: 'webhooks.write',
  params: tradeParams,
  body: Fields({}),
  reply: {
    status: 200,
    schema: T.Object({ redelivered: T.Integer({ description: 'How many deliveries begin anew' }) }),
  },
  errors: ['trade_not_found', 'too_many_redeliveries'],
})

const Prices = T.Object({ data: T.Array(PriceObject) })

export const listPricesInConsole = consoleEndpoint({
  name: 'console.prices.list',
  route: 'GET /console/api/{environment}/prices',
  summary: 'What each pair is worth right now',
  permit: 'read',
  params: inWorld,
  reply: { status: 200, schema: Prices },
})

export const setPriceInConsole = consoleEndpoint({
  name: 'console.prices.set',
  route: 'POST /console/api/{environment}/prices',
  summary: 'Move a price of the sandbox',
  permit: 'sandbox.act',
  sandbox_only: true,
  params: inWorld,
  body: setPrice.body,
  reply: { status: 200, schema: Prices },
})

export const conversionsEndpoints: readonly ConsoleEndpoint[] = [
  listQuotesInConsole,
  exportQuotes,
  totalQuotes,
  getQuoteInConsole,
  expireQuoteInConsole,
  listTradesInConsole,
  exportTrades,
  totalTrades,
  getTradeInConsole,
  redeliverTrade,
  listPricesInConsole,
  setPriceInConsole,
]
