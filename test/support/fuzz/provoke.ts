import { newId } from '../../../src/core/ids.ts'
import { operationNamed } from './document.ts'
import type { Plan } from './requests.ts'
import type { Stock } from './stock.ts'

/** What chance brings about too rarely to be relied on: for each such code the request that it answers. */
type Provocation = { readonly code: string; readonly plan: Plan }

type Request = {
  readonly caller?: Plan['caller']
  readonly in_path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

const HUGE = '999999999999999999'
const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

export async function provocations(stock: Stock): Promise<Provocation[]> {
  return [
    ...payoutsOf(stock),
    ...transfersOf(stock),
    ...(await quotesOf(stock)),
    ...depositsOf(stock),
    ...lookUpsOf(stock),
    ...(await webhooksOf(stock)),
  ]
}

function provoke(name: string, code: string, request: Request): Provocation {
  const operation = operationNamed(name)
  const { caller = 'full', in_path = {}, query = {}, body } = request
  const plan: Plan = {
    operation,
    caller,
    method: operation.method,
    path: operation.path.replaceAll(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(in_path[part]!)),
    query: Object.entries(query),
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
    twist: `made for ${code}`,
  }
  return { code, plan }
}

const freshKey = () => newId('request', Date.now())

function payoutsOf({ customers }: Stock): Provocation[] {
  const to = (pix_key: string) => ({ counterparty: { type: 'pix_key', pix_key } })
  const order = (more: object) => ({
    customer_id: customers.usual,
    amount: '100',
    ...to('ana@example.com'),
    idempotency_key: freshKey(),
    ...more,
  })
  const refused = (code: string, more: object, caller?: Plan['caller']) =>
    provoke('pix.payouts.create', code, { body: order(more), ...(caller ? { caller } : {}) })
  const again = { idempotency_key: freshKey() }
  return [
    refused('invalid_pix_key', to('no key at all')),
    refused('pix_key_not_found', to('notfound@sandbox.test')),
    refused('counterparty_not_allowed', to('other-owner@sandbox.test')),
    refused('invalid_amount', { amount: '0' }),
    refused('insufficient_balance', { amount: HUGE }),
    refused('limit_exceeded', { customer_id: customers.limited, amount: '2000' }),
    refused('customer_blocked', { customer_id: customers.blocked }),
    refused('customer_not_found', { customer_id: newId('customer', Date.now()) }),
    provoke('pix.payouts.create', '201', { body: order(again) }),
    refused('idempotency_conflict', { ...again, amount: '101' }),
  ]
}

function transfersOf({ customers }: Stock): Provocation[] {
  const refused = (code: string, more: object) =>
    provoke('onchain.transfers.create', code, {
      body: {
        customer_id: customers.usual,
        asset: 'USDT',
        network: 'polygon',
        amount: '1000000',
        destination_address: ADDRESS,
        idempotency_key: freshKey(),
        ...more,
      },
    })
  return [
    refused('unsupported_network', { network: 'bitcoin' }),
    refused('invalid_amount', { amount: '0' }),
    refused('invalid_address', { destination_address: `${ADDRESS.slice(0, -1)}E` }),
    refused('amount_too_large', { amount: HUGE }),
    refused('insufficient_balance', { amount: '90000000000000' }),
    refused('limit_exceeded', { customer_id: customers.limited }),
    refused('customer_blocked', { customer_id: customers.blocked }),
  ]
}

async function quotesOf({ api, customers }: Stock): Promise<Provocation[]> {
  const order = (more: object = {}) => ({
    customer_id: customers.usual,
    from_asset: 'BRL',
    to_asset: 'USDT',
    amount: '100000',
    ...more,
  })
  const refused = (code: string, more: object) => provoke('quotes.create', code, { body: order(more) })
  const beyond = (await api.post('/v1/quotes', order({ amount: '100000000000000' }))).json
  return [
    refused('invalid_amount', { amount: '0' }),
    refused('amount_too_small', { amount: '1' }),
    refused('amount_too_large', { amount: HUGE }),
    refused('customer_blocked', { customer_id: customers.blocked }),
    refused('customer_not_found', { customer_id: newId('customer', Date.now()) }),
    provoke('quotes.execute', 'insufficient_balance', { in_path: { quote_id: beyond.id } }),
    provoke('sandbox.prices.set', '200', {
      body: { pair: 'USDT/BRL', price: '5.40', age_seconds: 86_400 },
    }),
    refused('price_unavailable', {}),
  ]
}

function depositsOf({ customers }: Stock): Provocation[] {
  const refused = (code: string, more: object) =>
    provoke('sandbox.deposits.create', code, {
      body: { customer_id: customers.usual, asset: 'BRL', amount: '100', ...more },
    })
  return [
    refused('invalid_amount', { amount: '0' }),
    refused('amount_too_large', { amount: HUGE }),
    refused('customer_blocked', { customer_id: customers.blocked }),
    provoke('sandbox.deposits.receive', 'unsupported_network', {
      body: { customer_id: customers.usual, network: 'no network', amount: '1000000' },
    }),
    provoke('sandbox.deposits.receive', 'customer_blocked', {
      body: { customer_id: customers.blocked, network: 'polygon', amount: '1000000' },
    }),
  ]
}

function lookUpsOf({ customers }: Stock): Provocation[] {
  const key = (code: string, pix_key: string, more: Request = {}) =>
    provoke('pix.keys.get', code, {
      in_path: { pix_key },
      query: { customer_id: customers.usual },
      ...more,
    })
  return [
    key('invalid_pix_key', 'no key at all'),
    key('pix_key_not_found', 'notfound@sandbox.test'),
    key('customer_not_found', 'ana@example.com', { query: { customer_id: newId('customer', Date.now()) } }),
    provoke('events.list', 'event_not_found', { query: { after: newId('event', Date.now()) } }),
    provoke('requests.list', 'request_not_found', { query: { after: newId('request', Date.now()) } }),
  ]
}

async function webhooksOf({ api, customers }: Stock): Promise<Provocation[]> {
  const { json: list } = await api.get('/v1/webhook_endpoints?limit=1')
  const endpoint_id = list.data[0].id
  const { json: events } = await api.get('/v1/events?limit=1')
  const event_id = events.data[0].id
  const range = { from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' }
  const payout = await api.post('/v1/pix/payouts', {
    customer_id: customers.usual,
    amount: '100',
    counterparty: { type: 'pix_key', pix_key: 'slow@sandbox.test' },
    idempotency_key: freshKey(),
  })
  const end = (name: string, code: string) =>
    provoke(`sandbox.payouts.${name}`, code, { in_path: { payout_id: payout.json.id } })
  const absent = newId('webhook_endpoint', Date.now())
  return [
    provoke('webhook_endpoints.update', '200', { in_path: { endpoint_id }, body: { status: 'disabled' } }),
    provoke('webhook_endpoints.redeliver', 'webhook_endpoint_disabled', {
      in_path: { endpoint_id },
      body: range,
    }),
    provoke('webhook_endpoints.redeliver', 'webhook_endpoint_not_found', {
      in_path: { endpoint_id: absent },
      body: range,
    }),
    provoke('events.redeliver', 'webhook_endpoint_disabled', {
      in_path: { event_id },
      body: { endpoint_id },
    }),
    provoke('events.redeliver', 'webhook_endpoint_not_found', {
      in_path: { event_id },
      body: { endpoint_id: absent },
    }),
    end('fail', '200'),
    end('complete', 'already_final'),
  ]
}
