import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Api } from '../../../test/support/api.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { until } from '../../../test/support/wait.ts'
import type { PixReturn } from '../../rails/pix/rail.ts'
import { openExceptions } from '../../records/exceptions/store.ts'
import { bookReceivedReturns, coverReturns } from './deposit-returns.ts'

/** What is given back of a payment that came in (decision 0068). */
let service: TestService
let api: Api
beforeAll(async () => {
  // A charge is to be open in the answer, on a busy machine too.
  service = await startTestService({ PIX_WAIT_MS: '9000' })
  ;({ api } = await service.partner())
})
afterEach(async () => {
  expect((await service.audit()).sandbox.findings).toEqual([])
})
afterAll(() => service.stop())

let keys = 0
async function received(amount = '1050') {
  const customer_id = (await api.post('/v1/customers', { name: 'Ana', document: someCpf() })).json.id
  const order = { customer_id, amount, idempotency_key: `c${++keys}` }
  const { id } = (await api.post('/v1/pix/charges', order)).json
  const { end_to_end_id, deposit_id } = (await api.post('/v1/sandbox/pix/payments', { charge_id: id })).json
  return { customer_id, end_to_end_id, deposit_id }
}

const giveBack = (end_to_end_id: string, body?: object) =>
  api.post(`/v1/sandbox/pix/payments/${end_to_end_id}/return`, body)

async function available(customer_id: string): Promise<string> {
  const { json } = await api.get(`/v1/customers/${customer_id}/balances`)
  return json.data.find((balance: any) => balance.asset === 'BRL').available
}

const events = async (id: string) =>
  (await api.get(`/v1/events?after=start&object_id=${id}`)).json.data.map(({ type, sequence, data }: any) => [
    ...[type, sequence, data.object.amount_returned],
  ])

const uncovered = async (deposit_id: string) =>
  (await openExceptions(service.worlds.sandbox.db, 50))
    .filter(({ object_id }) => object_id === deposit_id)
    .map(({ kind }) => kind)

test('a received payment that is given back is debited, in parts, and told by an event of its own', async () => {
  const { customer_id, end_to_end_id, deposit_id } = await received()
  expect((await giveBack(end_to_end_id, { amount: '450' })).json).toMatchObject({
    ...{ id: deposit_id, status: 'completed', amount: '1050', amount_returned: '450' },
  })
  expect(await available(customer_id)).toBe('600')
  expect((await giveBack(end_to_end_id, { amount: '601' })).json.error).toMatchObject({ param: 'amount' })
  expect((await giveBack(end_to_end_id)).json).toMatchObject({ amount_returned: '1050' })
  expect((await giveBack(end_to_end_id)).status).toBe(400)
  expect(await available(customer_id)).toBe('0')
  expect(await events(deposit_id)).toEqual([
    ['deposit.completed', 1, undefined],
    ['deposit.returned', 2, '450'],
    ['deposit.returned', 3, '1050'],
  ])
  const { data } = (await api.get(`/v1/customers/${customer_id}/statement`)).json
  expect(data[0]).toMatchObject({ amount: '-600', cause: { type: 'return', of: deposit_id } })
  const unknown = { code: 'deposit_not_found', param: 'end_to_end_id' }
  expect((await giveBack('E0000')).json.error).toMatchObject(unknown)
  // Nor does another partner learn that there is such a payment.
  const stranger = await service.partner()
  const { status, json } = await stranger.api.post(`/v1/sandbox/pix/payments/${end_to_end_id}/return`)
  expect([status, json.error.param]).toEqual([404, 'end_to_end_id'])
})

test('a return that the balance does not cover waits, is told to the desk, and is debited once it is covered', async () => {
  const { customer_id, end_to_end_id, deposit_id } = await received()
  const counterparty = { type: 'pix_key', pix_key: 'ana@sandbox.test' }
  await api.post('/v1/pix/payouts', {
    customer_id,
    amount: '1000',
    counterparty,
    idempotency_key: `p${++keys}`,
  })
  const noted = (await giveBack(end_to_end_id)).json
  expect(noted.amount_returned).toBeUndefined()
  expect(await available(customer_id)).toBe('50')
  expect(await uncovered(deposit_id)).toEqual(['return_uncovered'])
  const world = service.worlds.sandbox
  await coverReturns(world, world.db, () => true)
  expect(await available(customer_id)).toBe('50')
  await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '2000' })
  await coverReturns(world, world.db, () => true)
  // A chore of the service may have been first.
  await until(async () => (await available(customer_id)) === '1000', 20_000)
  await until(async () => (await uncovered(deposit_id)).length === 0, 20_000)
  expect(await events(deposit_id)).toEqual([
    ['deposit.completed', 1, undefined],
    ['deposit.returned', 2, '1050'],
  ])
})

test('what the provider reports is debited once, never more than was received, and a person is told of more', async () => {
  const { customer_id, end_to_end_id, deposit_id } = await received()
  const settled = (n: number, amount: bigint): PixReturn => ({
    ...{ id: `D${end_to_end_id.slice(1, -1)}${n}`, amount, state: 'settled' },
  })
  const returns = [settled(1, 300n), settled(2, 700n), { ...settled(4, 50n), state: 'open' as const }]
  const seen = { end_to_end_id, returns }
  const world = service.worlds.sandbox
  expect(await Promise.all([1, 2, 3].map(() => bookReceivedReturns(world, seen)))).toEqual([
    false,
    false,
    false,
  ])
  expect(await available(customer_id)).toBe('50')
  expect(await bookReceivedReturns(world, { end_to_end_id, returns: [settled(3, 51n)] })).toBe(true)
  expect(await available(customer_id)).toBe('50')
  expect(await uncovered(deposit_id)).toEqual(['contradiction'])
})

test.each([
  ['another amount', { amount: 400n }],
  ['no return after all', { state: 'refused' as const }],
])(
  'a debited return of which the provider tells %s later stays, and a person is told',
  async (_, changes) => {
    const { customer_id, end_to_end_id, deposit_id } = await received()
    const back: PixReturn = { id: `D${end_to_end_id.slice(1)}`, amount: 300n, state: 'settled' }
    const world = service.worlds.sandbox
    await bookReceivedReturns(world, { end_to_end_id, returns: [back] })
    await bookReceivedReturns(world, { end_to_end_id, returns: [{ ...back, ...changes }] })
    expect(await available(customer_id)).toBe('750')
    expect(await uncovered(deposit_id)).toEqual(['contradiction'])
  },
)

test('a payment that was never credited debits nobody; what was given back of it is stored', async () => {
  const { json } = await api.post('/v1/sandbox/pix/payments', { amount: '700' })
  const { end_to_end_id } = json
  const world = service.worlds.sandbox
  const back = (amount: bigint): PixReturn => ({ id: `D${end_to_end_id.slice(1)}`, amount, state: 'settled' })
  await bookReceivedReturns(world, { end_to_end_id, returns: [back(700n)] })
  const { rows } = await world.db.query('SELECT amount_returned FROM pix_received WHERE end_to_end_id = $1', [
    end_to_end_id,
  ])
  expect(rows).toEqual([{ amount_returned: 700n }])
})
