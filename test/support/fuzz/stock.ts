import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { newId } from '../../../src/core/ids.ts'
import { setMoneyLimits } from '../../../src/money/money-limits/money-limits.ts'
import { blockCustomer } from '../../../src/parties/customers/customers.ts'
import { revokeKey } from '../../../src/parties/keys/keys.ts'
import type { Api } from '../api.ts'
import { someCpf, type TestService } from '../service.ts'
import { until } from '../wait.ts'
import { type Memory, openMemory } from './memory.ts'
import type { CallerName } from './requests.ts'

/** What exists while the fuzzer runs: keys of all sorts, objects of three owners, and a place that takes webhooks. */
export type Stock = Awaited<ReturnType<typeof openStock>>

export async function openStock(service: TestService) {
  const receiver = await openReceiver()
  const memory = openMemory(receiver.port)
  const full = await service.partner()
  const other = await service.partner()
  const { partner_id } = full
  const keys = await makeKeys(service, { partner_id, full: full.key, other: other.key })
  const live = (await service.partner({ partner_id, environment: 'production' })).api
  const customers = await addCustomers(memory, 'full', full.api)
  await addCustomers(memory, 'other', other.api)
  await addCustomers(memory, 'live', live)
  const [blocked, limited, usual] = customers as [string, string, string]
  const { sandbox } = service.worlds
  await blockCustomer(sandbox, blocked, 'blocked')
  await setMoneyLimits(sandbox, limited, { payout_order: 1000n, transfer_day_usdt: 1000n } as never)
  for (const [caller, api] of [
    ['full', full.api],
    ['other', other.api],
    ['live', live],
  ] as const)
    await addEndpoints(memory, caller, api, receiver.port)
  /** The endpoint and the event of the last `refresh`. */
  let delivered: readonly string[] = []

  return {
    ...memory,
    keys,
    /** Of the caller `full`: one that may do everything, one that is blocked, and one that may send little. */
    customers: { usual, blocked, limited },
    api: full.api,
    /**
     * What chance seldom leaves: a key that may redeliver still; a payment that can be given back; a payout that can be ended, for nearly all that are
     * ordered come to their end at once; a trade, and a quote that can be executed, for prices may have been set to be old;
     * an endpoint and an event that was delivered to it, for requests delete endpoints and turn them off.
     */
    async refresh(): Promise<void> {
      keys.full = (await service.partner({ partner_id })).key
      const endpoint_id = await makeEndpoint(full.api, receiver.port)
      await makeOrders(memory, full.api, usual)
      const event_id = await firstDelivery(full.api, endpoint_id)
      memory.retire(delivered)
      delivered = [endpoint_id, event_id]
      memory.keepReady('full', 'webhook_endpoint', endpoint_id)
      memory.keepReady('full', 'event', event_id)
    },
    stop: receiver.stop,
  }
}

async function openReceiver() {
  const receiver = createServer((request, response) => {
    request.resume()
    response.statusCode = request.url === '/gone' ? 410 : 200
    request.once('end', () => response.end('ok'))
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  return {
    port: (receiver.address() as AddressInfo).port,
    async stop() {
      receiver.closeAllConnections()
      await new Promise((resolve) => receiver.close(resolve))
    },
  }
}

async function makeKeys(
  service: TestService,
  { partner_id, full, other }: { partner_id: string; full: string; other: string },
): Promise<Record<CallerName, string | undefined>> {
  const key = async (options: Parameters<TestService['partner']>[0] = {}) =>
    (await service.partner({ partner_id, ...options })).key
  const expired = await key({ expires_at: new Date(Date.now() + 1000) })
  await setTimeout(1100)
  const revoked = await service.partner({ partner_id })
  await revokeKey(service.worlds.sandbox, revoked.key_id)
  return {
    full,
    few: await key({ scopes: ['customers', 'quotes'] }),
    live: await key({ environment: 'production' }),
    other,
    // With the limits of its tier: it runs into all of them.
    limited: (await service.partner({ limited: true })).key,
    revoked: revoked.key,
    expired,
    elsewhere: await key({ ip_allowlist: ['203.0.113.7'] }),
    wrong: `svc_test_sk_${'x'.repeat(40)}`,
    none: undefined,
  }
}

const RICH = { BRL: '90000000000', USDT: '900000000000', BTC: '9000000000' }

/** Customers of one owner, with money where there can be any. */
async function addCustomers(memory: Memory, caller: CallerName, api: Api): Promise<string[]> {
  const made: string[] = []
  for (let i = 0; i < 5; i++) {
    const document = someCpf()
    const { json } = await api.post('/v1/customers', { name: `Fuzz ${i}`, document })
    memory.documents.set(json.id, document)
    memory.learn(caller, 'customers.create', json)
    memory.keepReady(caller, 'customer', json.id)
    made.push(json.id)
    if (caller === 'live') continue
    for (const [asset, amount] of Object.entries(RICH))
      await api.post('/v1/sandbox/deposits', { customer_id: json.id, asset, amount })
  }
  return made
}

async function addEndpoints(memory: Memory, caller: CallerName, api: Api, port: number): Promise<void> {
  const place = `${caller === 'live' ? 'https' : 'http'}://127.0.0.1:${port}`
  for (let i = 0; i < 3; i++) {
    const { json } = await api.post('/v1/webhook_endpoints', { url: `${place}/${i}`, events: ['*'] })
    memory.learn(caller, 'webhook_endpoints.create', json)
  }
}

/** One that is new, and takes everything. Requests may have made as many as there can be: then one of them goes. */
async function makeEndpoint(api: Api, port: number): Promise<string> {
  const create = () => api.post('/v1/webhook_endpoints', { url: `http://127.0.0.1:${port}/0`, events: ['*'] })
  const made = await create()
  if (made.status < 300) return made.json.id
  const { json: list } = await api.get('/v1/webhook_endpoints')
  await api.delete(`/v1/webhook_endpoints/${list.data[0].id}`)
  const { status, json } = await create()
  if (status >= 300) throw new Error(`no endpoint could be made: ${JSON.stringify(json)}`)
  return json.id
}

async function firstDelivery(api: Api, endpoint_id: string): Promise<string> {
  for (const until = Date.now() + 60_000; Date.now() < until; await setTimeout(50)) {
    const { json } = await api.get(`/v1/webhook_endpoints/${endpoint_id}/deliveries`)
    if (json.data?.length > 0) return json.data[0].event_id
  }
  throw new Error(`nothing was delivered to ${endpoint_id} within a minute`)
}

async function makeOrders(memory: Memory, api: Api, customer_id: string): Promise<void> {
  const { json: charge } = await api.post('/v1/pix/charges', {
    customer_id,
    amount: '100000',
    idempotency_key: newId('request', Date.now()),
  })
  const opened = async () => (await api.get(`/v1/pix/charges/${charge.id}`)).json.status === 'open'
  await until(opened, 60_000)
  const payment = await api.post('/v1/sandbox/pix/payments', { charge_id: charge.id })
  memory.learn('full', 'sandbox.payments.create', payment.json)
  const payout = await api.post('/v1/pix/payouts', {
    customer_id,
    amount: '100',
    counterparty: { type: 'pix_key', pix_key: 'slow@sandbox.test' },
    idempotency_key: newId('request', Date.now()),
  })
  memory.learn('full', 'pix.payouts.create', payout.json)
  await api.post('/v1/sandbox/prices', { pair: 'USDT/BRL', price: '5.40' })
  const order = { customer_id, from_asset: 'BRL', to_asset: 'USDT', amount: '100000' }
  const { json: quote } = await api.post('/v1/quotes', order)
  memory.learn('full', 'quotes.execute', (await api.post(`/v1/quotes/${quote.id}/execute`)).json)
  memory.learn('full', 'quotes.create', (await api.post('/v1/quotes', order)).json)
}
