import { pairOf } from '../../../money/quotes/arithmetic.ts'
import { renderQuote, renderTrade } from '../../../money/quotes/contract.ts'
import { type Quote, quoteById, type Trade, tradeById } from '../../../money/quotes/store.ts'
import { renderCustomer } from '../../../parties/customers/contract.ts'
import { findCustomer } from '../../../parties/customers/customers.ts'
import type { World } from '../../../world.ts'
import { apiRequestOf, eventsAbout, movementsOf } from '../object-page.ts'

/** Milliseconds until the quote expires; zero if it was executed. */
export const leftOf = ({ trade_id, expires_at }: Quote, now: number): number =>
  trade_id === null ? Math.max(0, expires_at.getTime() - now) : 0

export async function quotePage(world: World, quote: Quote) {
  const { reads: db } = world
  const trade = quote.trade_id === null ? undefined : await tradeById(db, quote.trade_id)
  const { customer_id, from_asset, to_asset } = quote
  const first = renderQuote({ ...quote, trade_id: null }, quote.created_at.getTime())
  const [common, request] = await Promise.all([
    conversionPage(world, quote, { source: quote.price_source, trade }),
    apiRequestOf(db, quote, {
      route: 'POST /v1/quotes',
      body: { customer_id, from_asset, to_asset },
      answer: { status: 201, body: JSON.stringify(first) },
    }),
  ])
  const now = world.clock.now()
  return {
    quote: renderQuote(quote, now),
    left_ms: leftOf(quote, now),
    trade: trade ? renderTrade(trade) : null,
    ...common,
    request,
  }
}

export async function tradePage(world: World, trade: Trade) {
  const { reads: db } = world
  const quote = await quoteById(db, trade.quote_id)
  const [common, request] = await Promise.all([
    conversionPage(world, trade, { source: quote?.price_source ?? null, trade }),
    apiRequestOf(db, trade, {
      route: `POST /v1/quotes/${trade.quote_id}/execute`,
      body: null,
      answer: { status: 201, body: JSON.stringify(renderTrade(trade)) },
    }),
  ])
  return {
    trade: renderTrade(trade),
    quote: quote ? renderQuote(quote, world.clock.now()) : null,
    ...common,
    request,
  }
}

/** A quote has no movements and no events of its own; its trade has them. */
async function conversionPage(
  world: World,
  { partner_id, customer_id, from_asset, to_asset }: Quote | Trade,
  { source, trade }: { source: string | null; trade: Trade | undefined },
) {
  const { reads: db } = world
  const [customer, movements, events] = await Promise.all([
    findCustomer({ ...world, db }, { id: customer_id, partner_id }),
    trade ? movementsOf(db, trade.id) : [],
    trade ? eventsAbout(db, trade) : [],
  ])
  const { pair } = pairOf(from_asset, to_asset)!
  return {
    customer: renderCustomer(customer),
    pricing: { pair, source, spread_bps: world.quoting.spread_bps },
    movements,
    events,
  }
}
