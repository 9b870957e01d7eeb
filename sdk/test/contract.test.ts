import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { assets } from '../../src/core/money.ts'
import { openReceiver, type Receiver } from '../../test/support/receiver.ts'
import { someCpf, startTestService, type TestService } from '../../test/support/service.ts'
import { eventually } from '../../test/support/wait.ts'
import { ApiError, type Customer, decimal, randomKey, Trilho, units } from '../dist/index.js'
import { openCheckedFetch, operationNames } from './support/checked-fetch.ts'

let service: TestService
let receiver: Receiver
let trilho: Trilho
let customer: Customer
let cpf: string
const { fetch, called } = openCheckedFetch()

beforeAll(async () => {
  service = await startTestService({ WEBHOOK_ALLOW_PRIVATE: 'true' })
  receiver = await openReceiver()
  const { key } = await service.partner()
  trilho = new Trilho({ key, baseUrl: service.url, fetch })
  cpf = someCpf()
  customer = await trilho.customers.create({ name: 'Ana Souza', document: cpf, external_id: 'ana' })
  await trilho.sandbox.deposits.create({
    customer_id: customer.id,
    asset: 'BRL',
    amount: units('5000', 'BRL'),
  })
  await trilho.sandbox.deposits.create({
    customer_id: customer.id,
    asset: 'USDT',
    amount: units('500', 'USDT'),
  })
})
afterAll(async () => {
  await receiver?.stop()
  await service?.stop()
})

const payout = (more: { amount?: bigint | string; pix_key?: string; idempotency_key?: string } = {}) => ({
  customer_id: customer.id,
  amount: more.amount ?? units('10.50', 'BRL'),
  counterparty: { type: 'pix_key' as const, pix_key: more.pix_key ?? cpf },
  idempotency_key: more.idempotency_key ?? randomKey(),
})

describe('every request and every response fits openapi.json', () => {
  test('customers', async () => {
    expect((await trilho.customers.get(customer.id)).external_id).toBe('ana')
    expect((await trilho.customers.update(customer.id, { metadata: { tier: 'gold' } })).metadata).toEqual({
      tier: 'gold',
    })
    expect((await trilho.customers.list({ external_id: 'ana' })).data.map(({ id }) => id)).toEqual([
      customer.id,
    ])
    const balances = await trilho.customers.balances(customer.id).toArray({ limit: 10 })
    expect(balances.map(({ asset }) => asset)).toEqual(Object.keys(assets))
    const lines = await trilho.customers.statement(customer.id, { asset: 'BRL' }).toArray({ limit: 10 })
    expect(decimal(lines.at(-1)!.amount, lines.at(-1)!.decimals)).toBe('5000.00')
  })

  test('Pix', async () => {
    expect((await trilho.pix.keys.get(cpf, { customer_id: customer.id })).payable).toBe(true)
    const dry = await trilho.pix.payouts.dryRun(payout())
    expect(dry.dry_run).toBe(true)
    const made = await trilho.pix.payouts.create(payout())
    expect((await trilho.pix.payouts.get(made.id)).amount).toBe('1050')
    const { data, requestId } = await eventually(() =>
      trilho.pix.payouts.receipt(made.id, { lang: 'en' }).withResponse(),
    )
    expect([data instanceof Uint8Array, data.length > 10_000, requestId?.slice(0, 4)]).toEqual([
      true,
      true,
      'req_',
    ])
    expect(await trilho.pix.payouts.receipt(made.id, { lang: 'en' })).toEqual(data)
    expect((await trilho.pix.payouts.list({ idempotency_key: made.idempotency_key })).data).toHaveLength(1)
    for (const end of ['complete', 'fail'] as const) {
      const open = await trilho.pix.payouts.create(payout({ pix_key: 'unknown@sandbox.test' }))
      const ended = await eventually(() => trilho.sandbox.payouts[end](open.id))
      expect(ended.status).toBe(end === 'complete' ? 'completed' : 'failed')
    }
    const paid = await trilho.pix.payouts.create(payout({ pix_key: 'unknown@sandbox.test' }))
    await eventually(() => trilho.sandbox.payouts.complete(paid.id))
    const returned = await trilho.sandbox.payouts.sendBack(paid.id, { amount: 50n })
    expect([returned.status, returned.amount_returned]).toEqual(['completed', '50'])
  })

  test('on-chain transfers', async () => {
    const order = () => ({
      customer_id: customer.id,
      asset: 'USDT' as const,
      network: 'polygon' as const,
      amount: '10009003', // stays processing
      destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      idempotency_key: randomKey(),
    })
    expect((await trilho.onchain.fees.list()).data.length).toBeGreaterThan(0)
    expect((await trilho.onchain.transfers.dryRun(order())).would_replay).toBe(false)
    const [first, second] = [
      await trilho.onchain.transfers.create(order()),
      await trilho.onchain.transfers.create(order()),
    ]
    expect((await eventually(() => trilho.sandbox.transfers.confirm(first.id))).status).toBe('confirmed')
    expect((await trilho.onchain.transfers.receipt(first.id)).length).toBeGreaterThan(10_000)
    expect((await eventually(() => trilho.sandbox.transfers.fail(second.id))).status).toBe('failed')
    const error = await trilho.onchain.transfers.receipt(second.id).catch((error: unknown) => error)
    expect((error as ApiError).is('receipt_not_available')).toBe(true)
    expect((await trilho.onchain.transfers.get(first.id)).network).toBe('polygon')
    expect((await trilho.onchain.transfers.list({ customer_id: customer.id })).data).toHaveLength(2)
  })

  test('conversions', async () => {
    const { data } = await trilho.sandbox.prices.set({ pair: 'USDT/BRL', price: '5.40' })
    expect((await trilho.prices.list()).data).toHaveLength(data.length)
    const order = { customer_id: customer.id, from_asset: 'BRL', to_asset: 'USDT', amount: 10_000n } as const
    const quote = await trilho.quotes.create(order)
    expect((await trilho.quotes.dryRun(quote.id)).dry_run).toBe(true)
    const trade = await trilho.quotes.execute(quote.id)
    expect((await trilho.trades.get(trade.id)).quote_id).toBe(quote.id)
    expect((await trilho.quotes.execute(quote.id).withResponse()).replayed).toBe(true)
    expect((await trilho.trades.list({ quote_id: quote.id })).data).toHaveLength(1)
    const stale = await trilho.quotes.create(order)
    await trilho.sandbox.quotes.expire(stale.id)
    expect((await trilho.quotes.get(stale.id)).status).toBe('expired')
    const error = await trilho.quotes.execute(stale.id).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(ApiError)
    expect((error as ApiError).is('quote_expired')).toBe(true)
    expect((await trilho.quotes.list({ status: 'expired' })).data.map(({ id }) => id)).toEqual([stale.id])
  })

  test('charges', async () => {
    const order = { customer_id: customer.id, amount: 1050n, idempotency_key: 'charge' }
    const charge = await trilho.pix.charges.create(order)
    const paid = await trilho.sandbox.payments.create({ charge_id: charge.id, amount: 1000n })
    expect([paid.charge_id, paid.amount]).toEqual([charge.id, '1000'])
    const returned = await trilho.sandbox.payments.sendBack(paid.end_to_end_id, { amount: 50n })
    expect(returned.amount_returned).toBe('50')
    expect((await trilho.sandbox.charges.expire(charge.id)).status).toBe('expired')
    expect((await trilho.pix.charges.get(charge.id)).amount_received).toBe('1000')
    const [listed] = await trilho.pix.charges.list({ status: 'expired' }).toArray({ limit: 1 })
    expect(listed?.id).toBe(charge.id)
  })

  test('deposits, account, usage and requests', async () => {
    const [deposit] = await trilho.deposits.list({ asset: 'USDT' }).toArray({ limit: 1 })
    expect((await trilho.deposits.get(deposit!.id)).amount).toBe('500000000')
    const address = await trilho.depositAddresses.create(customer.id, { network: 'bitcoin' })
    expect((await trilho.depositAddresses.list(customer.id)).data).toEqual([address])
    const arrived = await trilho.sandbox.deposits.receive({ address: address.address, amount: 259_003n })
    expect([arrived.status, arrived.network]).toEqual(['pending', 'bitcoin'])
    expect((await trilho.account.get()).environment).toBe('sandbox')
    expect((await trilho.account.feePayouts()).data).toEqual([])
    expect((await trilho.usage.get()).minute.used).toBeGreaterThan(0)
    const { requestId } = await trilho.usage.get().withResponse()
    const request = await eventually(() => trilho.requests.get(requestId!))
    expect(request.route).toBe('/v1/usage')
    expect((await trilho.requests.list({ limit: 1, after: 'start', wait: 1 })).data).toHaveLength(1)
  })

  test('events and webhooks', async () => {
    const endpoint = await trilho.webhookEndpoints.create({
      url: receiver.url,
      events: ['pix.payout.completed'],
    })
    expect(endpoint.secret).toMatch(/^whsec_/)
    expect((await trilho.webhookEndpoints.rotateSecret(endpoint.id)).secret).not.toBe(endpoint.secret)
    expect((await trilho.webhookEndpoints.update(endpoint.id, { description: 'Payouts' })).description).toBe(
      'Payouts',
    )
    const event = await trilho.sandbox.events.create('pix.payout.completed', { override: { amount: 1050n } })
    const found = await eventually(() => trilho.events.get(event.id))
    expect(found.type === 'pix.payout.completed' && found.data.object.amount).toBe('1050')
    await eventually(() => expect(receiver.received.length).toBeGreaterThan(0))
    const delivery = await trilho.webhookEndpoints.test(endpoint.id)
    await eventually(async () => {
      expect((await trilho.webhookEndpoints.deliveries(endpoint.id)).data).toHaveLength(2)
      expect((await trilho.webhookEndpoints.delivery(endpoint.id, delivery.event_id)).status).toBe(
        'delivered',
      )
    })
    expect((await trilho.events.redeliver(event.id, { endpoint_id: endpoint.id })).redelivered).toBe(1)
    const range = { from: new Date(0).toISOString(), to: new Date(Date.now() + 1000).toISOString() }
    expect((await trilho.webhookEndpoints.redeliver(endpoint.id, range)).redelivered).toBeGreaterThan(0)
    expect((await trilho.webhookEndpoints.get(endpoint.id)).status).toBe('enabled')
    expect((await trilho.webhookEndpoints.list()).data).toHaveLength(1)
    expect(await trilho.webhookEndpoints.delete(endpoint.id)).toBeUndefined()
    expect((await trilho.events.list({ type: 'pix.payout.completed', limit: 1 })).data).toHaveLength(1)
  })

  test('and no method was left out', () => {
    expect(operationNames.filter((name) => !called.has(name))).toEqual([])
  })
})
