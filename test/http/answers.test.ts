import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorCodes, errors, Refusal } from '../../src/core/errors.ts'
import { endpoints } from '../../src/doors/api/endpoints.ts'
import type { Api, Reply } from '../support/api.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'

/** What an answer says beside its body. */
let service: TestService
let api: Api
let customer_id: string
beforeAll(async () => {
  service = await startTestService()
  ;({ api } = await service.partner())
  const { json } = await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })
  customer_id = json.id
  for (const asset of ['BRL', 'USDT'])
    await api.post('/v1/sandbox/deposits', { customer_id, asset, amount: '100000000' })
})
afterAll(() => service.stop())

const payout = () => ({
  customer_id,
  amount: '100',
  counterparty: { type: 'pix_key', pix_key: 'ana@example.com' },
  idempotency_key: 'one payout',
})

const webhook = { url: 'https://example.com/hooks', events: ['pix.payout.completed'] }
const quote = () => ({ customer_id, from_asset: 'BRL', to_asset: 'USDT', amount: '1000' })

describe('what was made can be read at its Location', () => {
  /** How to make each thing; the path of what it is made under is found when it is made. */
  const makes: Readonly<Record<string, () => Promise<Reply>>> = {
    'POST /v1/customers': () => api.post('/v1/customers', { name: 'Bia', document: someCpf() }),
    'POST /v1/pix/payouts': () => api.post('/v1/pix/payouts', payout()),
    'POST /v1/pix/charges': () =>
      api.post('/v1/pix/charges', { customer_id, amount: '100', idempotency_key: 'one charge' }),
    'POST /v1/onchain/transfers': () =>
      api.post('/v1/onchain/transfers', {
        customer_id,
        asset: 'USDT',
        network: 'polygon',
        amount: '1000000',
        destination_address: `0x${'1'.repeat(40)}`,
        idempotency_key: 'one transfer',
      }),
    'POST /v1/quotes': () => api.post('/v1/quotes', quote()),
    'POST /v1/quotes/{quote_id}/execute': async () =>
      api.post(`/v1/quotes/${(await api.post('/v1/quotes', quote())).json.id}/execute`),
    'POST /v1/webhook_endpoints': () => api.post('/v1/webhook_endpoints', webhook),
    'POST /v1/webhook_endpoints/{endpoint_id}/test': async () =>
      api.post(`/v1/webhook_endpoints/${(await api.post('/v1/webhook_endpoints', webhook)).json.id}/test`),
    'POST /v1/sandbox/events/{kind}': () => api.post('/v1/sandbox/events/pix.payout.completed'),
  }

  test.each(Object.entries(makes))('%s', async (_, make) => {
    const made = await make()
    expect(made.status).toBe(201)
    const location = made.headers.get('location')!
    expect(location).toMatch(/^\/v1\//)
    const read = await api.get(location)
    expect(read.status).toBe(200)
    expect(read.json.id).toBe(made.json.event_id ?? made.json.id)
  })

  test('whatever makes something that can be read is among them', () => {
    const readable = new Set(
      endpoints
        .filter(({ route }) => /^GET .*\}$/.test(route))
        .map(({ reply }) => (reply.schema as { $id?: string })?.$id)
        .filter((name) => name !== undefined),
    )
    const making = endpoints
      .filter(
        ({ reply }) => reply.status === 201 && readable.has((reply.schema as { $id?: string }).$id ?? ''),
      )
      .filter(({ name }) => !name.startsWith('sandbox.deposits.'))
    expect(making.map(({ route }) => route).filter((route) => !makes[route])).toEqual([])
  })

  test('of a replay is the same', async () => {
    const [first, again] = [
      await api.post('/v1/pix/payouts', payout()),
      await api.post('/v1/pix/payouts', payout()),
    ]
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.headers.get('location')).toBe(first.headers.get('location'))
  })

  test('is not there when nothing was made', async () => {
    const tried = await api.post('/v1/pix/payouts?dry_run=true', { ...payout(), idempotency_key: 'tried' })
    expect([tried.status, tried.headers.get('location')]).toEqual([200, null])
    expect((await api.get('/v1/customers')).headers.get('location')).toBeNull()
  })
})

test('a key that comes as the header Idempotency-Key is told to go into the body', async () => {
  const { idempotency_key, ...rest } = payout()
  const body = JSON.stringify(rest)
  const headers = { 'content-type': 'application/json', 'idempotency-key': idempotency_key }
  const { status, json } = await api.send('POST', '/v1/pix/payouts', { body, headers })
  expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', 'idempotency_key'])
  expect(json.error.message).toContain('goes into the body')
  const plain = await api.send('POST', '/v1/pix/payouts', {
    body,
    headers: { 'content-type': 'application/json' },
  })
  expect(plain.json.error.message).not.toContain('header')
})

test('every 503 says when to come again', () => {
  for (const code of errorCodes.filter((code) => errors[code].status === 503))
    expect(new Refusal(code).retry_after_seconds).toBeGreaterThan(0)
})

test('every 401 says how to show a key', async () => {
  const nobody = await fetch(`${service.url}/v1/customers`)
  const wrong = await fetch(`${service.url}/v1/nothing`, { headers: { authorization: 'Basic x' } })
  const metrics = await fetch(`${service.url}/metrics`)
  for (const { status, headers } of [nobody, wrong, metrics])
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  expect((await fetch(`${service.url}/nothing`)).headers.get('www-authenticate')).toBeNull()
})
