import { refuse } from '../../core/errors.ts'
import { parseMoney } from '../../core/money.ts'
import { parsePrice } from '../../core/price.ts'
import { type Endpoint, type Handler, handle } from '../../http/endpoint.ts'
import { renderDeposit } from '../../money/deposits/contract.ts'
import { renderTransfer } from '../../money/onchain/contract.ts'
import { renderPayout } from '../../money/pix/contract.ts'
import { renderMarketPrice, renderQuote } from '../../money/quotes/contract.ts'
import { currentPrices } from '../../money/quotes/prices.ts'
import { renderEvent } from '../../records/events/contract.ts'
import type { Webhooks } from '../../webhooks/endpoints.ts'
import * as contract from './contract.ts'
import { depositTestMoney } from './deposits.ts'
import { addSampleEvent } from './events.ts'
import { setPrice } from './prices.ts'
import { expireQuote } from './quotes.ts'
import { completePayout, confirmTransfer, failPayout, failTransfer } from './rails.ts'
import { sampleOf } from './samples.ts'

export const sandboxRoutes = (webhooks: Webhooks, endpoints: readonly Endpoint[]): Handler[] => [
  handle(contract.createDeposit, async ({ world, actor, body }) => {
    const order = { customer_id: body.customer_id, money: parseMoney(body.asset, body.amount) }
    return renderDeposit(await depositTestMoney(world, actor, order))
  }),

  handle(contract.completePayout, async ({ world, actor, params }) =>
    renderPayout(await completePayout(world, actor, params.payout_id)),
  ),

  handle(contract.failPayout, async ({ world, actor, params }) =>
    renderPayout(await failPayout(world, actor, params.payout_id)),
  ),

  handle(contract.confirmTransfer, async ({ world, actor, params }) =>
    renderTransfer(await confirmTransfer(world, actor, params.transfer_id)),
  ),

  handle(contract.failTransfer, async ({ world, actor, params }) =>
    renderTransfer(await failTransfer(world, actor, params.transfer_id)),
  ),

  handle(contract.setPrice, async ({ world, actor, body }) => {
    const { pair, age_seconds = 0 } = body
    await setPrice(world, actor, { pair, price: readPrice(body.price), age_seconds })
    return { data: (await currentPrices(world, actor)).map(renderMarketPrice) }
  }),

  handle(contract.expireQuote, async ({ world, actor, params }) => {
    const quote = await expireQuote(world, actor, params.quote_id)
    return renderQuote(quote, Math.max(world.clock.now(), quote.expires_at.getTime()))
  }),

  handle(contract.createSampleEvent, async ({ world, actor, params, body }) => {
    const order = { type: params.kind, override: body.override ?? {} }
    const parts = { worker: webhooks.worker, sampleOf: sampleOf(endpoints) }
    return renderEvent(await addSampleEvent(world, actor, order, parts), world.environment)
  }),
]

const readPrice = (text: string): bigint =>
  parsePrice(text) ??
  refuse('invalid_request', { param: 'price', message: 'price must be above zero, such as "5.40".' })
