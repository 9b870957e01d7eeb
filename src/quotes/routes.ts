import { refuse } from '../core/errors.ts'
import { isId } from '../core/ids.ts'
import { parseMoney } from '../core/money.ts'
import { selectNewest } from '../db/newest.ts'
import { Answered } from '../http/answered.ts'
import { answerDryRun } from '../http/dry-run.ts'
import { type Handler, handle } from '../http/endpoint.ts'
import { filterOf, listOf, pageOf } from '../http/page.ts'
import type { TreasuryWorker } from '../treasury/worker.ts'
import type { World } from '../world.ts'
import { pairOf } from './arithmetic.ts'
import * as contract from './contract.ts'
import { currentPrices } from './prices.ts'
import { findQuote, lockQuote, VALID_MS } from './quotes.ts'
import { type Quote, quoteList, type Trade, tradeById, tradeList } from './store.ts'
import { execute, tryExecute } from './trades.ts'

const { renderFailure, renderMarketPrice, renderQuote, renderTrade } = contract

export const quotesRoutes = (treasury: TreasuryWorker): Handler[] => [
  handle(contract.createQuote, async ({ world, actor, body }) => {
    const { customer_id, from_asset, to_asset, amount_type = 'gross', partner_fee_bps = 0 } = body
    const amount_asset = body.amount_asset ?? from_asset
    const { pair, side } = pairOf(from_asset, to_asset) ?? refuse('unsupported_pair', { param: 'to_asset' })
    if (amount_asset !== from_asset && amount_asset !== to_asset) {
      refuse('invalid_request', {
        param: 'amount_asset',
        message: `amount_asset must be ${from_asset} or ${to_asset}, one of the two that are converted.`,
      })
    }
    const { partner_fee_max_bps } = world.quoting
    if (partner_fee_bps > partner_fee_max_bps) {
      refuse('invalid_request', {
        param: 'partner_fee_bps',
        message: `partner_fee_bps must be at most ${partner_fee_max_bps}.`,
      })
    }
    if (!isId('customer', customer_id)) refuse('customer_not_found', { param: 'customer_id' })
    const { units: amount } = parseMoney(amount_asset, body.amount)
    const order = {
      customer_id,
      from_asset,
      to_asset,
      pair,
      side,
      amount,
      amount_asset,
      amount_type,
      partner_fee_bps,
    }
    const quote = await world.commit(lockQuote(world, actor, order, await world.prices.latest()))
    return renderQuote(quote, quote.created_at.getTime())
  }),

  handle(contract.executeQuote, async ({ world, actor, params, query }) => {
    const quote = await findQuote(world, actor, params.quote_id)
    const room = await treasury.room()
    if (query.dry_run === 'true') {
      const { trade, balance_after, would_replay } = await tryExecute(world, actor, quote, room)
      const would_fail = renderFailure(trade) ?? undefined
      const fee = trade.partner_fee + trade.service_fee
      return answerDryRun({ asset: trade.from_asset, fee, balance_after, would_replay }, { would_fail })
    }
    // Also one that was executed before goes through the door: what is repeated must be there to stay.
    const done = await world.commit(execute(world, actor, quote, room))
    return done.kind === 'made' ? renderTrade(done.trade) : replay(world, done.trade_id)
  }),

  handle(contract.listQuotes, async (call) => {
    const { customer_id, status, from_asset, to_asset } = call.query
    const list = listOf(contract.listQuotes, call)
    const now = call.world.clock.now()
    const filter = filterOf(list, 'qt')
    const quotes = await selectNewest<Quote>(call.world.db, quoteList(new Date(now)), {
      partner_id: call.actor.partner_id,
      filters: { customer_id, status, from_asset, to_asset },
      ...filter,
      // Whatever is older has come to its end.
      ...(status === 'pending' ? { after: laterOf(filter.after, new Date(now - VALID_MS)) } : {}),
    })
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

  handle(contract.getTrade, async ({ world, actor, params }) => {
    const trade = isId('trade', params.trade_id) ? await tradeById(world.db, params.trade_id) : undefined
    if (trade?.partner_id !== actor.partner_id) refuse('trade_not_found', { param: 'trade_id' })
    return renderTrade(trade)
  }),

  handle(contract.listPrices, async ({ world, actor }) => ({
    data: (await currentPrices(world, actor)).map(renderMarketPrice),
  })),
]

/** What the quote became, as whoever executed it was told. */
async function replay(world: World, trade_id: string): Promise<Answered> {
  const trade = (await tradeById(world.db, trade_id)) ?? refuse('service_unavailable')
  return new Answered({ status: 201, body: JSON.stringify(renderTrade(trade)) }, true)
}

const laterOf = (one: Date | undefined, other: Date) => (one && one > other ? one : other)
