import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Api } from '../../test/support/api.ts'
import { signedIn } from '../../test/support/console.ts'
import { someCpf, startTestService, type TestService } from '../../test/support/service.ts'

let service: TestService
let api: Api
let partner_id: string
let customer_id: string
let document: string

beforeAll(async () => {
  service = await startTestService()
  ;({ api, partner_id } = await service.partner())
  document = someCpf()
  customer_id = (await api.post('/v1/customers', { name: 'Ana Souza', document })).json.id
  for (const asset of ['BRL', 'USDT'])
    await api.post('/v1/sandbox/deposits', { customer_id, asset, amount: '100000000' })
})
afterAll(() => service.stop())

/** Names that a JavaScript object would reorder or take for something else stay ordinary names. */
const metadata = { invoice: '1042', 'cost-center': 'São Paulo', empty: '', '7': 'seven', constructor: 'x' }

const payout = (more: Record<string, unknown> = {}) => ({
  customer_id,
  amount: '1050',
  counterparty: { type: 'pix_key', pix_key: document },
  idempotency_key: 'with texts',
  ...more,
})
const transfer = (more: Record<string, unknown> = {}) => ({
  customer_id,
  asset: 'USDT',
  network: 'polygon',
  amount: '25000000',
  destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  idempotency_key: 'with texts',
  ...more,
})
const quote = (more: Record<string, unknown> = {}) => ({
  customer_id,
  from_asset: 'BRL',
  to_asset: 'USDT',
  amount: '10000',
  ...more,
})

const available = async (): Promise<string[]> =>
  (await api.get(`/v1/customers/${customer_id}/balances`)).json.data.map(
    (balance: { available: string }) => balance.available,
  )

const eventsOf = async (id: string): Promise<any[]> =>
  (await api.get(`/v1/events?object_id=${id}&limit=10`)).json.data

test('contract §17.16: payouts, transfers and quotes keep texts of the partner, in responses, events and CSV', async () => {
  const owner = await signedIn(service, { partner_id, role: 'owner' })
  const paid = (await api.post('/v1/pix/payouts', payout({ metadata }))).json
  const sent = (await api.post('/v1/onchain/transfers', transfer({ metadata }))).json
  const quoted = (await api.post('/v1/quotes', quote({ metadata }))).json
  const traded = (await api.post(`/v1/quotes/${quoted.id}/execute`)).json
  const orders = [
    { path: 'pix/payouts', page: 'payouts', made: paid },
    { path: 'onchain/transfers', page: 'transfers', made: sent },
    { path: 'quotes', page: 'quotes', made: quoted },
    { path: 'trades', page: 'trades', made: traded },
  ]
  for (const { path, page, made } of orders) {
    expect(made.metadata, path).toEqual(metadata)
    expect((await api.get(`/v1/${path}/${made.id}`)).json.metadata, path).toEqual(metadata)
    const listed = (await api.get(`/v1/${path}?limit=1`)).json.data[0]
    expect(listed, path).toMatchObject({ id: made.id, metadata })
    for (const { type, data } of await eventsOf(made.id)) expect(data.object.metadata, type).toEqual(metadata)
    const csv = (await owner.get(`/sandbox/${page}.csv`)).text
    expect(csv.split('\r\n')[0], path).toContain('metadata')
    expect(csv, path).toContain(JSON.stringify(metadata).replaceAll('"', '""'))
  }
  expect((await eventsOf(paid.id)).length).toBe(3)
  expect((await service.audit()).sandbox.findings).toEqual([])
})

test('an order without texts has an empty object', async () => {
  const { json } = await api.post('/v1/pix/payouts', payout({ idempotency_key: 'without texts' }))
  expect(json.metadata).toEqual({})
})

test('texts are part of the idempotency fingerprint, in any order', async () => {
  const first = await api.post(
    '/v1/pix/payouts',
    payout({ idempotency_key: 'once', metadata: { a: '1', b: '2' } }),
  )
  const again = await api.post(
    '/v1/pix/payouts',
    payout({ idempotency_key: 'once', metadata: { b: '2', a: '1' } }),
  )
  expect(again.text).toBe(first.text)
  for (const other of [{ a: '1' }, { a: '1', b: '3' }, {}, undefined]) {
    const { status, json } = await api.post(
      '/v1/pix/payouts',
      payout({ idempotency_key: 'once', metadata: other }),
    )
    expect([status, json.error.code]).toEqual([409, 'idempotency_conflict'])
  }
})

test.each([
  ['too many texts', Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`n${i}`, 'x']))],
  ['a name of 41 characters', { ['n'.repeat(41)]: 'x' }],
  ['a name with a space', { 'a b': 'x' }],
  ['a text of 501 characters', { a: 'x'.repeat(501) }],
  ['a number', { a: 1 }],
  ['a control character', { a: 'x\u0007' }],
  ['a list', []],
  ['null', null],
])('%s in metadata is refused, and nothing moves', async (_, wrong) => {
  const before = await available()
  const order = { metadata: wrong, idempotency_key: 'wrong' }
  for (const [path, body] of [
    ['/v1/pix/payouts', payout(order)],
    ['/v1/onchain/transfers', transfer(order)],
    ['/v1/quotes', quote({ metadata: wrong })],
  ] as const) {
    const { status, json } = await api.post(path, body)
    expect([status, json.error.code], path).toEqual([400, 'invalid_request'])
    expect(json.error.param, path).toMatch(/^metadata/)
  }
  expect(await available()).toEqual(before)
})

test.each(['payouts', 'transfers', 'quotes'])(
  'the role of a world cannot change the texts of %s',
  async (table) => {
    const changed = service.worlds.sandbox.db.query(`UPDATE ${table} SET metadata = '{"x": "1"}'`)
    await expect(changed).rejects.toThrow(/orders never changes/)
  },
)
