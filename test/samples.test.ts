import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blockCustomer } from '../src/parties/customers/customers.ts'
import { createKey, revokeKey, rotateKey } from '../src/parties/keys/keys.ts'
import { eventTypes, TEST_TYPE } from '../src/records/events/types.ts'
import type { Api } from './support/api.ts'
import { document, misfit } from './support/fuzz/document.ts'
import { someCpf, startTestService, type TestService } from './support/service.ts'
import { until } from './support/wait.ts'

/** Sample events beside the real ones: a receiver that takes the one must be able to take the other. */
let service: TestService
let api: Api
let real: Map<string, any>

beforeAll(async () => {
  service = await startTestService({
    SANDBOX_BROADCAST_MS: '20',
    SANDBOX_CONFIRM_MS: '40',
    WEBHOOK_ALLOW_PRIVATE: 'true',
  })
  const { partner_id, ...own } = await service.partner()
  api = own.api
  await act(partner_id)
  await until(async () => {
    real = await eventsByType()
    return types.every((type) => real.has(type) || rare.includes(type))
  }, 15_000)
})
afterAll(() => service.stop())

const types = [...eventTypes, TEST_TYPE]
/** Nothing that these tests do brings them about. */
const rare: readonly string[] = ['trade.failed', 'fee_payout.completed', 'webhook_endpoint.disabled']

/** One of everything that a caller and its operator can make happen. */
async function act(partner_id: string): Promise<void> {
  const customer = (
    await api.post('/v1/customers', {
      name: 'Ana Souza',
      document: someCpf(),
      email: 'ana@example.com',
      external_id: 'user-4711',
      metadata: { segment: 'retail' },
    })
  ).json
  const customer_id = customer.id
  for (const asset of ['BRL', 'USDT'])
    await api.post('/v1/sandbox/deposits', { customer_id, asset, amount: '900000000' })
  await api.post('/v1/sandbox/onchain/deposits', { customer_id, network: 'polygon', amount: '25009001' })
  for (const name of ['anyone', 'ac03']) {
    const { json } = await api.post('/v1/pix/payouts', {
      customer_id,
      amount: '1050',
      counterparty: { type: 'pix_key', pix_key: `${name}@sandbox.test` },
      description: 'Invoice 1042',
      idempotency_key: name,
    })
    if (name === 'anyone') await api.post(`/v1/sandbox/pix/payouts/${json.id}/return`, { amount: '450' })
  }
  const charge = async (amount: string, key: string): Promise<string> => {
    const order = { customer_id, amount, description: 'Order 1042', idempotency_key: key }
    return (await api.post('/v1/pix/charges', order)).json.id
  }
  await api.post('/v1/sandbox/pix/payments', { charge_id: await charge('1050', 'paid') })
  await api.post(`/v1/sandbox/pix/charges/${await charge('1050', 'expired')}/expire`)
  await charge('19001', 'failed')
  const given_back = { charge_id: await charge('1050', 'given-back') }
  const { end_to_end_id } = (await api.post('/v1/sandbox/pix/payments', given_back)).json
  await api.post(`/v1/sandbox/pix/payments/${end_to_end_id}/return`, { amount: '450' })
  for (const amount of ['25000000', '25009002']) {
    await api.post('/v1/onchain/transfers', {
      customer_id,
      asset: 'USDT',
      network: 'polygon',
      amount,
      destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      idempotency_key: amount,
    })
  }
  const quote = (
    await api.post('/v1/quotes', { customer_id, from_asset: 'BRL', to_asset: 'USDT', amount: '100000' })
  ).json
  await api.post(`/v1/quotes/${quote.id}/execute`)
  await api.patch(`/v1/customers/${customer_id}`, { name: 'Ana Maria Souza' })
  for (const status of ['blocked', 'active'] as const)
    await blockCustomer(service.worlds.sandbox, customer_id, status)
  const { key } = await createKey(service.worlds.sandbox, { partner_id, name: 'Server' })
  await rotateKey(service.worlds.sandbox, key.id, 60)
  await revokeKey(service.worlds.sandbox, key.id)
  const endpoint = (
    await api.post('/v1/webhook_endpoints', {
      url: 'http://127.0.0.1:9999/',
      events: ['pix.payout.completed'],
      description: 'Payouts',
    })
  ).json
  await api.post(`/v1/webhook_endpoints/${endpoint.id}/test`)
}

async function eventsByType(): Promise<Map<string, any>> {
  const { data } = (await api.get('/v1/events?limit=100')).json
  return new Map(data.map((event: any) => [event.type, event]))
}

/** What is there, and of which type; a text or a number may be any. */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return 'list'
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, part]) => [name, formOf(part)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
}

/** Where events of one object come in one order only, the sequence is that of the real one. */
const states = (event: any) => {
  const about = event.type.slice(0, event.type.lastIndexOf('.'))
  const one_way = (types as string[]).includes(`${about}.processing`) || event.sequence === 1
  return { sequence: one_way ? event.sequence : 'later', status: event.data.object.status }
}

describe('an event fits the webhook that openapi.json describes', () => {
  const schemaOf = (type: string) =>
    document.webhooks[type]!.post.requestBody.content['application/json'].schema

  test('a real one', () => {
    for (const [type, event] of real) expect(misfit(schemaOf(type), event, 'answer'), type).toBeUndefined()
  })

  test.each(eventTypes)(
    'a sample of %s, which has the fields, the nulls and the sequence of a real one',
    async (type) => {
      const { status, json } = await api.post(`/v1/sandbox/events/${type}`)
      expect(status).toBe(201)
      expect(misfit(schemaOf(type), json, 'answer')).toBeUndefined()
      const { created_at, completed_at = created_at } = json.data.object
      expect([created_at, completed_at, json.created_at].toSorted()).toEqual([
        created_at,
        completed_at,
        json.created_at,
      ])
      const example = document.components.schemas[schemaOf(type).$ref.split('/').at(-1)!]!.examples![0] as any
      for (const shown of [json, example]) {
        const known = real.get(type)
        if (!known) expect(rare).toContain(type)
        else {
          expect(formOf(shown)).toEqual(formOf(known))
          expect(states(shown)).toEqual(states(known))
        }
      }
    },
  )
})
