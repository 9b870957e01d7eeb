import type { Static } from 'typebox'
import { refuse } from '../../core/errors.ts'
import { parseMoney } from '../../core/money.ts'
import { parsePrice } from '../../core/price.ts'
import { type Endpoint, type Handler, handle } from '../../http/endpoint.ts'
import { renderCharge } from '../../money/charges/contract.ts'
import { renderDeposit } from '../../money/deposits/contract.ts'
import { renderTransfer } from '../../money/onchain/contract.ts'
import { renderPayout } from '../../money/pix/contract.ts'
import { renderMarketPrice, renderQuote } from '../../money/quotes/contract.ts'
import { currentPrices } from '../../money/quotes/prices.ts'
import { renderEvent } from '../../records/events/contract.ts'
import type { Webhooks } from '../../webhooks/endpoints.ts'
import { receiveDeposit } from './chain-deposits.ts'
import * as contract from './contract.ts'
import { depositTestMoney } from './deposits.ts'
import { addSampleEvent } from './events.ts'
import { expireCharge, payByPix } from './pix-payments.ts'
import { setPrice } from './prices.ts'
import { expireQuote } from './quotes.ts'
import { completePayout, confirmTransfer, failPayout, failTransfer } from './rails.ts'
import { returnPayment, returnPayout } from './returns.ts'
import { sampleOf } from './samples.ts'

type SandboxParts = {
  readonly webhooks: Webhooks
  /** How long each step of a deposit on a chain takes. */
  readonly deposit_step_ms: number
}

export const sandboxRoutes = (
  { webhooks, deposit_step_ms }: SandboxParts,
  endpoints: readonly Endpoint[],
): Handler[] => [
  handle(contract.createDeposit, async ({ world, actor, body }) => {
    const order = { customer_id: body.customer_id, money: parseMoney(body.asset, body.amount) }
    return renderDeposit(await depositTestMoney(world, actor, order))
  }),

  handle(contract.receiveDeposit, async ({ world, actor, body }) => {
    const to = readReceiver(body)
    const amount = readUnits(body.amount)
    return renderDeposit(await receiveDeposit(world, actor, { to, amount }, deposit_step_ms))
  }),

  handle(contract.completePayout, async ({ world, actor, params }) =>
    renderPayout(await completePayout(world, actor, params.payout_id)),
  ),

  handle(contract.failPayout, async ({ world, actor, params }) =>
    renderPayout(await failPayout(world, actor, params.payout_id)),
  ),

  handle(contract.returnPayout, async ({ world, actor, params, body }) => {
    const amount = body.amount === undefined ? undefined : readUnits(body.amount)
    return renderPayout(await returnPayout(world, actor, { payout_id: params.payout_id, amount }))
  }),

  handle(contract.payByPix, async ({ world, actor, body }) => {
    const { charge_id, amount } = body
    const paid = await payByPix(world, actor, {
      ...(charge_id === undefined ? {} : { charge_id }),
      ...(amount === undefined ? {} : { amount: parseMoney('BRL', amount).units }),
    })
    const { end_to_end_id, deposit_id } = paid
    return { end_to_end_id, charge_id: paid.charge_id, amount: paid.amount.toString(), deposit_id }
  }),

  handle(contract.returnPayment, async ({ world, actor, params, body }) => {
    const amount = body.amount === undefined ? undefined : readUnits(body.amount)
    return renderDeposit(await returnPayment(world, actor, { end_to_end_id: params.end_to_end_id, amount }))
  }),

  handle(contract.expireCharge, async ({ world, actor, params }) =>
    renderCharge(await expireCharge(world, actor, params.charge_id)),
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

/** The asset follows from the network, and every asset has amounts of the same form. */
const readUnits = (text: string): bigint => parseMoney('USDT', text).units

function readReceiver({ address, customer_id, network }: Static<typeof contract.receiveDeposit.body>) {
  if (address !== undefined && customer_id === undefined) return { address, network }
  if (address === undefined && customer_id !== undefined && network !== undefined)
    return { customer_id, network }
  return refuse('invalid_request', {
    param: address === undefined && customer_id !== undefined ? 'network' : 'address',
    message: 'Send either address, or customer_id and network.',
  })
}

const readPrice = (text: string): bigint =>
  parsePrice(text) ??
  refuse('invalid_request', { param: 'price', message: 'price must be above zero, such as "5.40".' })
