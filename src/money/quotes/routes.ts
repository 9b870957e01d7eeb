import type { Static } from 'typebox'
import { parseMoney } from '../../core/money.ts'
import { selectNewest } from '../../db/newest.ts'
import { replyToDryRun } from '../../http/dry-run.ts'
import { type Handler, handle } from '../../http/endpoint.ts'
import { filterOf, listOf, pageOf } from '../../http/page.ts'
import { StoredReply } from '../../http/stored-reply.ts'
import type { TreasuryWorker } from '../treasury/worker.ts'
import * as contract from './contract.ts'
import { currentPrices } from './prices.ts'
import { createQuote, findQuote, listQuotes, type QuoteRequest } from './quotes.ts'
import { type Trade, tradeList } from './store.ts'
import { executeQuote, findTrade, tryExecute } from './trades.ts'

const { renderTradeFailure: renderFailure, renderMarketPrice, renderQuote, renderTrade } = contract

export const quotesRoutes = (treasury: TreasuryWorker): Handler[] => [
  handle(contract.createQuote, async ({ world, actor, body, request_id }) => {
    const quote = await createQuote(world, actor, { ...readRequest(body), request_id })
    return renderQuote(quote, quote.created_at.getTime())
  }),

  handle(contract.executeQuote, async ({ world, actor, params, query, request_id }) => {
    if (query.dry_run === 'true') {
      const tried = await tryExecute(world, actor, params.quote_id, treasury)
      const { from_asset: asset, partner_fee, service_fee } = tried.trade
      const would_fail = renderFailure(tried.trade) ?? undefined
      return replyToDryRun({ ...tried, asset, fee: partner_fee + service_fee }, { would_fail })
    }
    const { trade, replayed } = await executeQuote(world, actor, params.quote_id, treasury, request_id)
    return new StoredReply({ status: 201, body: JSON.stringify(renderTrade(trade)) }, replayed)
  }),

  handle(contract.listQuotes, async (call) => {
    const { customer_id, status, from_asset, to_asset } = call.query
    const list = listOf(contract.listQuotes, call)
    const now = call.world.clock.now()
    const filter = {
      partner_id: call.actor.partner_id,
      filters: { customer_id, status, from_asset, to_asset },
      ...filterOf(list, 'qt'),
    }
    const quotes = await listQuotes(call.world, filter, new Date(now))
    return pageOf(list, quotes, (quote) => renderQuote(quote, now))
  }),

  handle(contract.getQuote, async ({ world, actor, params }) =>
    renderQuote(await findQuote(world, actor, params.quote_id), world.clock.now()),
  ),

  handle(contract.listTrades, async (call) => {
    const { customer_id, status, from_asset, to_asset, quote_id } = call.query
    const list = listOf(contract.listTrades, call)
    const trades = await selectNewest<Trade>(call.world.db, tradeList, {
      partner_id: call.actor.partner_id,
      filters: { customer_id, status, from_asset, to_asset, quote_id },
      ...filterOf(list, 'td'),
    })
    return pageOf(list, trades, renderTrade)
  }),

  handle(contract.getTrade, async ({ world, actor, params }) =>
    renderTrade(await findTrade(world, actor, params.trade_id)),
  ),

  handle(contract.listPrices, async ({ world, actor }) => ({
    data: (await currentPrices(world, actor)).map(renderMarketPrice),
  })),
]

const readRequest = (body: Static<typeof contract.createQuote.body>): QuoteRequest => {
  const { customer_id, from_asset, to_asset, amount_asset = from_asset } = body
  const { amount_type = 'gross', partner_fee_bps = 0, metadata = {} } = body
  const { units: amount } = parseMoney(amount_asset, body.amount)
  return { customer_id, from_asset, to_asset, amount, amount_asset, amount_type, partner_fee_bps, metadata }
}
