import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Scope, scopes } from '../../src/core/actor.ts'
import { endpoints } from '../../src/doors/api/endpoints.ts'
import { type Endpoint, methodAndPath } from '../../src/http/endpoint.ts'
import { type Api, openApi } from '../support/api.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/wait.ts'

/**
 * Which scopes let a key in, each alone; `+` joins those that do so only together. Written by hand from the spec
 * (contract §5, §14, §17.6, §17.15), never from the code. An endpoint without a line here fails.
 */
const table: Readonly<Record<string, readonly string[]>> = {
  'POST /v1/customers': ['customers'],
  'GET /v1/customers': ['read', 'customers'],
  'GET /v1/customers/{customer_id}': ['read', 'customers'],
  'PATCH /v1/customers/{customer_id}': ['customers'],
  'GET /v1/customers/{customer_id}/balances': ['read', 'customers'],
  'GET /v1/customers/{customer_id}/statement': ['read', 'customers'],
  'GET /v1/deposits': ['read', 'customers'],
  'GET /v1/deposits/{deposit_id}': ['read', 'customers'],
  'POST /v1/pix/payouts': ['payouts'],
  'GET /v1/pix/payouts': ['read', 'payouts'],
  'GET /v1/pix/payouts/{payout_id}': ['read', 'payouts'],
  'GET /v1/pix/payouts/{payout_id}/receipt': ['read', 'payouts'],
  'GET /v1/pix/keys/{pix_key}': ['payouts'],
  'POST /v1/onchain/transfers': ['transfers'],
  'GET /v1/onchain/transfers': ['read', 'transfers'],
  'GET /v1/onchain/transfers/{transfer_id}': ['read', 'transfers'],
  'GET /v1/onchain/transfers/{transfer_id}/receipt': ['read', 'transfers'],
  'GET /v1/onchain/fees': ['read', 'transfers'],
  'POST /v1/quotes': ['quotes'],
  'POST /v1/quotes/{quote_id}/execute': ['quotes'],
  'GET /v1/quotes': ['read', 'quotes'],
  'GET /v1/quotes/{quote_id}': ['read', 'quotes'],
  'GET /v1/trades': ['read', 'quotes'],
  'GET /v1/trades/{trade_id}': ['read', 'quotes'],
  'GET /v1/prices': ['read', 'quotes'],
  'POST /v1/webhook_endpoints': ['webhooks+read'],
  'GET /v1/webhook_endpoints': ['read', 'webhooks'],
  'GET /v1/webhook_endpoints/{endpoint_id}': ['read', 'webhooks'],
  'PATCH /v1/webhook_endpoints/{endpoint_id}': ['webhooks+read'],
  'DELETE /v1/webhook_endpoints/{endpoint_id}': ['webhooks'],
  'POST /v1/webhook_endpoints/{endpoint_id}/rotate_secret': ['webhooks'],
  'POST /v1/webhook_endpoints/{endpoint_id}/test': ['webhooks'],
  'POST /v1/webhook_endpoints/{endpoint_id}/redeliver': ['webhooks+read'],
  'GET /v1/webhook_endpoints/{endpoint_id}/deliveries': ['read', 'webhooks'],
  'GET /v1/webhook_endpoints/{endpoint_id}/deliveries/{event_id}': ['read', 'webhooks'],
  'GET /v1/events': ['read'],
  'GET /v1/events/{event_id}': ['read'],
  'POST /v1/events/{event_id}/redeliver': ['webhooks+read'],
  'GET /v1/requests': ['read'],
  'GET /v1/requests/{request_id}': ['read'],
  'GET /v1/account': ['read'],
  'GET /v1/account/fee_payouts': ['read'],
  'GET /v1/usage': [...scopes],
  'POST /v1/sandbox/deposits': ['customers'],
  'POST /v1/pix/charges': ['customers'],
  'GET /v1/pix/charges': ['read', 'customers'],
  'GET /v1/pix/charges/{charge_id}': ['read', 'customers'],
  'POST /v1/sandbox/pix/payments': ['customers'],
  'POST /v1/sandbox/pix/payments/{end_to_end_id}/return': ['customers'],
  'POST /v1/sandbox/pix/charges/{charge_id}/expire': ['customers'],
  'POST /v1/sandbox/onchain/deposits': ['customers'],
  'POST /v1/customers/{customer_id}/deposit_addresses': ['customers'],
  'GET /v1/customers/{customer_id}/deposit_addresses': ['read', 'customers'],
  'POST /v1/sandbox/pix/payouts/{payout_id}/complete': ['payouts'],
  'POST /v1/sandbox/pix/payouts/{payout_id}/fail': ['payouts'],
  'POST /v1/sandbox/pix/payouts/{payout_id}/return': ['payouts'],
  'POST /v1/sandbox/onchain/transfers/{transfer_id}/confirm': ['transfers'],
  'POST /v1/sandbox/onchain/transfers/{transfer_id}/fail': ['transfers'],
  'POST /v1/sandbox/quotes/{quote_id}/expire': ['quotes'],
  'POST /v1/sandbox/prices': ['quotes'],
  'POST /v1/sandbox/events/{kind}': ['webhooks'],
}

let service: TestService
let receiver: Receiver
let partner_id: string
let api: Api
let url: string
const keys = {} as Record<Scope | 'none' | 'webhooks+read', Api>
beforeAll(async () => {
  service = await startTestService({ WEBHOOK_ALLOW_PRIVATE: 'true' })
  receiver = await openReceiver(({ body }, response) => void response.end(body))
  url = service.url
  ;({ partner_id, api } = await service.partner())
  const having = async (...list: Scope[]) => (await service.partner({ partner_id, scopes: list })).api
  for (const scope of scopes) keys[scope] = await having(scope)
  keys.none = await having()
  keys['webhooks+read'] = await having('webhooks', 'read')
})
afterAll(async () => {
  await service.stop()
  await receiver.stop()
})

function ask(client: Api, endpoint: Endpoint) {
  const { method, path } = methodAndPath(endpoint)
  const target = path.replaceAll(/\{(\w+)\}/g, 'cus_00000000000000000000000000')
  const body = { body: '{}', headers: { 'content-type': 'application/json' } }
  return client.send(method, target, endpoint.body ? body : {})
}

describe('every endpoint lets in exactly the scopes that the contract names', () => {
  test.each(endpoints.map((endpoint) => [endpoint.route, endpoint] as const))(
    '%s',
    async (route, endpoint) => {
      const allowed = table[route]
      expect(allowed, `${route} has no line in the table`).toBeDefined()
      for (const scope of scopes) {
        const { status, json } = await ask(keys[scope], endpoint)
        const let_in = json?.error?.code !== 'insufficient_scope'
        expect([scope, let_in]).toEqual([scope, allowed!.includes(scope)])
        expect(status).toBeLessThan(500)
      }
      const both = await ask(keys['webhooks+read'], endpoint)
      expect(both.json?.error?.code === 'insufficient_scope').toBe(
        !allowed!.some((need) => ['webhooks+read', 'webhooks', 'read'].includes(need)),
      )
    },
  )
})

describe('the refusal says exactly what is missing', () => {
  const messageOf = async (client: Api, method: string, path: string) =>
    (await client.send(method, path)).json.error.message

  test('of several scopes only those that the key lacks', async () => {
    const create = ['POST', '/v1/webhook_endpoints'] as const
    expect(await messageOf(keys.webhooks, ...create)).toBe('This API key lacks the scope read.')
    expect(await messageOf(keys.read, ...create)).toBe('This API key lacks the scope webhooks.')
    expect(await messageOf(keys.none, ...create)).toBe('This API key lacks the scopes webhooks and read.')
    expect(await messageOf(keys.read, 'GET', '/v1/pix/keys/a@b.co')).toBe(
      'This API key lacks the scope payouts.',
    )
  })

  test('or which of several would do', async () => {
    expect(await messageOf(keys.quotes, 'GET', '/v1/pix/payouts')).toBe(
      'This API key needs the scope read or payouts.',
    )
  })

  test('a live key hears sandbox_only in the same place, whatever its body', async () => {
    const live = await service.partner({ partner_id, environment: 'production' })
    for (const path of ['/v1/sandbox/deposits', '/v1/sandbox/events/x']) {
      const { json } = await live.api.send('POST', path, { body: '{' })
      expect(json.error.code).toBe('sandbox_only')
    }
  })
})

describe('a key with webhooks alone', () => {
  test('learns nothing of what happened from deliveries, neither from what was sent nor from an answer that repeats it', async () => {
    const { json: hook } = await api.post('/v1/webhook_endpoints', { url: receiver.url, events: ['*'] })
    const name = 'Nadir Nunca Visto'
    const customer = await api.post('/v1/customers', { name, document: someCpf() })
    const deliveries = `/v1/webhook_endpoints/${hook.id}/deliveries`
    await until(async () => (await api.get(deliveries)).json.data[0]?.status === 'delivered', 10_000)

    const full = (await api.get(deliveries)).json.data[0]
    expect(full.body).toContain(name)
    expect(full.attempts[0].answer.body).toContain(name)

    const list = await keys.webhooks.get(deliveries)
    const one = await keys.webhooks.get(`${deliveries}/${full.event_id}`)
    for (const { status, text } of [list, one]) {
      expect(status).toBe(200)
      expect(text).not.toContain(name)
      expect(text).not.toContain(customer.json.id)
    }
    // What it needs to see how its endpoint is doing is there.
    expect(list.json.data[0]).toMatchObject({ event_id: full.event_id, type: full.type, status: 'delivered' })
    expect(one.json.attempts[0].answer).toMatchObject({ status: 200 })
    expect(one.json.attempts[0].request).toEqual(full.attempts[0].request)
  })

  test('sees its own test events whole', async () => {
    const { json: hook } = await api.post('/v1/webhook_endpoints', { url: receiver.url, events: ['*'] })
    const sent = await keys.webhooks.post(`/v1/webhook_endpoints/${hook.id}/test`)
    expect(JSON.parse(sent.json.body)).toMatchObject({ type: 'webhook_endpoint.test' })
    const read = await keys.webhooks.get(`/v1/webhook_endpoints/${hook.id}/deliveries/${sent.json.event_id}`)
    expect(read.json.body).toBe(sent.json.body)
  })

  test('cannot have anything sent: neither to a new address, nor to another, nor again', async () => {
    const { json: hook } = await api.post('/v1/webhook_endpoints', { url: receiver.url, events: ['*'] })
    const event = (await api.get('/v1/events')).json.data[0]
    const range = { from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' }
    for (const reply of [
      await keys.webhooks.post('/v1/webhook_endpoints', { url: receiver.url, events: ['*'] }),
      await keys.webhooks.patch(`/v1/webhook_endpoints/${hook.id}`, { url: receiver.url }),
      await keys.webhooks.patch(`/v1/webhook_endpoints/${hook.id}`, { status: 'disabled' }),
      await keys.webhooks.post(`/v1/webhook_endpoints/${hook.id}/redeliver`, range),
      await keys.webhooks.post(`/v1/events/${event.id}/redeliver`),
    ])
      expect([reply.status, reply.json.error.code]).toEqual([403, 'insufficient_scope'])
  })
})

test('openapi.json lists the scopes of which all are needed, or any', async () => {
  const document = (await openApi(url, undefined).get('/openapi.json')).json
  const told = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, any>).map(([method, operation]) => {
      const { 'x-scope': all, 'x-scope-any': any } = operation
      const needed = all ? [all.join('+')] : (any ?? scopes)
      return [`${method.toUpperCase()} ${path}`, needed]
    }),
  )
  for (const [route, needed] of told)
    expect([route, needed.toSorted()]).toEqual([route, table[route]?.toSorted()])
})
