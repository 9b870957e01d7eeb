import { refuse } from '../../../core/errors.ts'
import { parsePrice } from '../../../core/price.ts'
import { type NewestFilter, selectNewest } from '../../../db/newest.ts'
import { filterOf, pageOf } from '../../../http/page.ts'
import { renderMarketPrice, renderQuote, renderTrade } from '../../../money/quotes/contract.ts'
import { currentPrices } from '../../../money/quotes/prices.ts'
import { findQuote, listQuotes, sinceWhen } from '../../../money/quotes/quotes.ts'
import { type Quote, quoteList, type Trade, tradeList } from '../../../money/quotes/store.ts'
import { findTrade } from '../../../money/quotes/trades.ts'
import type { ActEntry } from '../../../records/acts/line.ts'
import type { World } from '../../../world.ts'
import { setPrice } from '../../sandbox/prices.ts'
import { expireQuote } from '../../sandbox/quotes.ts'
import { actIn, actWithMoney } from '../act.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import { consoleList, exportList, fullPage, listTotals, rangeOf, withCustomers } from '../lists.ts'
import type { ConsoleParts } from '../parts.ts'
import { redeliverObject } from '../redeliver.ts'
import * as contract from './contract.ts'
import { leftOf, quotePage, tradePage } from './page.ts'
import { quoteColumns, tradeColumns } from './tables.ts'

export const conversionsRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  ...quoteRoutes(parts),
  ...tradeRoutes(parts),
  ...priceRoutes(parts),
]

type Named<Row> = Row & { readonly customer: { readonly id: string; readonly name: string } }

const quoteRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(contract.listQuotesInConsole, async (call) => {
    const { world, actor, query } = call
    const now = world.clock.now()
    const list = consoleList(contract.listQuotesInConsole, call)
    const filter = { partner_id: actor.partner_id, filters: filtersOf(query), ...filterOf(list, 'qt') }
    const found = await fullPage(readQuotes(world, now), filter)
    const rows = await withCustomers(world.reads, found.rows)
    return pageOf(list, { ...found, rows }, (row) => ({
      quote: renderQuote(row, now),
      left_ms: leftOf(row, now),
      customer: row.customer,
    }))
  }),

  answer(contract.exportQuotes, async (call) => {
    const { world, query } = call
    const now = world.clock.now()
    return exportList<Quote, Named<Quote>>(parts, call, {
      endpoint: contract.exportQuotes,
      noun: 'quotes',
      query,
      columns: quoteColumns(now),
      read: readQuotes(world, now),
      filters: filtersOf(query),
      show: (rows) => withCustomers(world.reads, rows),
    })
  }),

  answer(contract.totalQuotes, (call) => {
    const now = new Date(call.world.clock.now())
    const filters = filtersOf(call.query)
    const after = sinceWhen({ filters, ...rangeOf(call.query) }, now)
    const query = { ...call.query, ...(after ? { created_after: after.toISOString() } : {}) }
    return listTotals({ ...call, query }, quoteList(now), filters, {
      group: ['from_asset', 'to_asset'],
      sums: ['from_amount', 'to_amount'],
      as: sidesOf,
    })
  }),

  answer(contract.getQuoteInConsole, async ({ world, actor, params }) =>
    quotePage(world, await findQuote({ ...world, db: world.reads }, actor, params.quote_id)),
  ),

  answer(contract.expireQuoteInConsole, async ({ world, actor, params }) => {
    const entry: ActEntry = { action: 'expire_quote', object_id: params.quote_id, before: null, after: null }
    const expire = (here: typeof world) => expireQuote(here, actor, params.quote_id)
    const quote = await actWithMoney(parts.office, actor, world, expire, entry)
    return renderQuote(quote, Math.max(world.clock.now(), quote.expires_at.getTime()))
  }),
]

const tradeRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(contract.listTradesInConsole, async (call) => {
    const { world, actor, query } = call
    const list = consoleList(contract.listTradesInConsole, call)
    const filter = { partner_id: actor.partner_id, filters: filtersOf(query), ...filterOf(list, 'td') }
    const found = await fullPage(readTrades(world), filter)
    const rows = await withCustomers(world.reads, found.rows)
    return pageOf(list, { ...found, rows }, (row) => ({ trade: renderTrade(row), customer: row.customer }))
  }),

  answer(contract.exportTrades, async (call) => {
    const { world, query } = call
    return exportList<Trade, Named<Trade>>(parts, call, {
      endpoint: contract.exportTrades,
      noun: 'trades',
      query,
      columns: tradeColumns,
      read: readTrades(world),
      filters: filtersOf(query),
      show: (rows) => withCustomers(world.reads, rows),
    })
  }),

  answer(contract.totalTrades, (call) =>
    listTotals(call, tradeList, filtersOf(call.query), {
      group: ['status', 'from_asset', 'to_asset'],
      sums: ['from_amount', 'to_amount'],
      as: (row) => ({ status: String(row.status), ...sidesOf(row) }),
    }),
  ),

  answer(contract.getTradeInConsole, async ({ world, actor, params }) =>
    tradePage(world, await findTrade({ ...world, db: world.reads }, actor, params.trade_id)),
  ),

  answer(contract.redeliverTrade, async ({ world, actor, params }) => {
    const { id } = await findTrade(world, actor, params.trade_id)
    return redeliverObject(parts, { world, actor }, id)
  }),
]

const priceRoutes = ({ office }: ConsoleParts): ConsoleHandler[] => [
  answer(contract.listPricesInConsole, async ({ world, actor }) => ({
    data: (await currentPrices({ ...world, db: world.reads }, actor)).map(renderMarketPrice),
  })),

  answer(contract.setPriceInConsole, async ({ world, actor, body }) => {
    const { pair, age_seconds = 0 } = body
    const price =
      parsePrice(body.price) ??
      refuse('invalid_request', { param: 'price', message: 'price must be above zero, such as "5.40".' })
    const data = await actIn(office, actor, world, async (here) => {
      const before = await currentPrices(here, actor)
      await setPrice(here, actor, { pair, price, age_seconds })
      const known = before.find((each) => each.pair === pair)
      const entry: ActEntry = {
        action: 'set_price',
        object_id: null,
        before: known ? { pair, price: renderMarketPrice(known).price } : null,
        after: { pair, price: body.price, age_seconds },
      }
      return { result: await currentPrices(here, actor), entry }
    })
    return { data: data.map(renderMarketPrice) }
  }),
]

const sidesOf = (row: Readonly<Record<string, unknown>>) => ({
  asset: String(row.from_asset),
  to_asset: String(row.to_asset),
  amount: String(row.from_amount),
  to_amount: String(row.to_amount),
})

type Query = {
  readonly customer_id?: string
  readonly status?: string
  readonly from_asset?: string
  readonly to_asset?: string
}

const filtersOf = ({ customer_id, status, from_asset, to_asset }: Query) => ({
  customer_id,
  status,
  from_asset,
  to_asset,
})

const readQuotes = (world: World, now: number) => (filter: NewestFilter) =>
  listQuotes({ ...world, db: world.reads }, filter, new Date(now))

const readTrades = (world: World) => (filter: NewestFilter) =>
  selectNewest<Trade>(world.reads, tradeList, filter)
