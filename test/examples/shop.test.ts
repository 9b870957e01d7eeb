import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSecret, signatureHeaders } from '../../src/webhooks/signature.ts'
import type { Api } from '../support/api.ts'
import { freePort } from '../support/free-port.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { size } from '../support/size.ts'
import { until } from '../support/wait.ts'
import { type Running, start, stop, type Trouble } from './program.ts'

let service: TestService
let api: Api
let key: string
let seller: string
let secret: string
let port: string
let folder: string

beforeAll(async () => {
  service = await startTestService({ WEBHOOK_ALLOW_PRIVATE: 'true' })
  ;({ api, key } = await service.partner())
  seller = (await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })).json.id
  await api.post('/v1/sandbox/deposits', { customer_id: seller, asset: 'BRL', amount: '100000000' })
  port = String(await freePort())
  const events = ['pix.payout.completed', 'pix.payout.failed']
  const endpoint = await api.post('/v1/webhook_endpoints', {
    url: `http://127.0.0.1:${port}/webhooks`,
    events,
  })
  secret = endpoint.json.secret
})
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trilho-shop-'))
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

const open = (orders: string, trouble: Trouble = {}): Running =>
  start('shop/server.js', {
    env: {
      TRILHO_URL: service.url,
      TRILHO_KEY: key,
      TRILHO_WEBHOOK_SECRET: secret,
      PORT: port,
      ORDERS: orders,
    },
    cwd: folder,
    ...trouble,
  })

const post = (path: string, body: object, options: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${port}/${path}`, { method: 'POST', body: JSON.stringify(body), ...options })

/** The response, or undefined when the shop is not there (any more). */
async function ask(path: string, body?: object): Promise<any> {
  try {
    const signal = AbortSignal.timeout(30_000)
    const response = await (body
      ? post(path, body, { signal })
      : fetch(`http://127.0.0.1:${port}/${path}`, { signal }))
    return await response.json()
  } catch {
    return undefined
  }
}

const order = (id: string, pix_key = 'ana@example.com') => ({ id, seller, pix_key, amount: '10.50' })
const settled = ({ status }: any = {}) => ['paid', 'failed', 'refused'].includes(status)

/** By what they are for, whatever their key is. */
async function payoutsOf(id: string): Promise<any[]> {
  const { data } = (await api.get(`/v1/pix/payouts?customer_id=${seller}&limit=100`)).json
  return data.filter(({ description }: any) => description === `Order ${id}`)
}

describe('a shop that is left alone', () => {
  let shop: Running
  beforeAll(async () => {
    shop = open('alone.jsonl')
    await until(() => shop.printed().includes('the shop is open'), 20_000)
  })
  afterAll(() => stop(shop))

  test('pays an order once, however often it is placed', async () => {
    for (let time = 0; time < 3; time++) await ask('orders', order('a1'))
    await until(async () => (await ask('orders/a1')).status === 'paid', 10_000)
    expect(await payoutsOf('a1')).toMatchObject([{ amount: '1050', status: 'completed' }])
  })

  test('hears by webhook that the money arrived', async () => {
    // The network is silent for minutes: only the call below ends the payout.
    await ask('orders', order('a2', 'late@sandbox.test'))
    await until(async () => (await ask('orders/a2')).payout_id !== undefined, 10_000)
    expect(await ask('orders/a2')).toMatchObject({ status: 'open' })
    const [payout] = await payoutsOf('a2')
    await api.post(`/v1/sandbox/pix/payouts/${payout.id}/complete`)
    await until(async () => (await ask('orders/a2')).status === 'paid', 10_000)
  })

  test('tells what failed from what was refused', async () => {
    await ask('orders', order('a3', 'ac03@sandbox.test'))
    await ask('orders', order('a4', 'notfound@sandbox.test'))
    await until(async () => settled(await ask('orders/a3')) && settled(await ask('orders/a4')), 10_000)
    expect(await ask('orders/a3')).toMatchObject({ status: 'failed', reason: 'recipient_account_invalid' })
    expect(await ask('orders/a4')).toMatchObject({ status: 'refused', reason: 'pix_key_not_found' })
    expect(await payoutsOf('a4')).toEqual([])
  })

  test('looks before it pays, for its own notes may be gone', async () => {
    // With another description, for the same request would get the same response without a look; late, so that no webhook tells.
    const counterparty = { type: 'pix_key', pix_key: 'late@sandbox.test' }
    const earlier = { customer_id: seller, amount: '1050', counterparty, idempotency_key: 'shop-order-a6-1' }
    const payout_id = (await api.post('/v1/pix/payouts', earlier)).json.id
    await ask('orders', order('a6', 'late@sandbox.test'))
    await until(async () => settled(await ask('orders/a6')) || (await ask('orders/a6')).payout_id, 10_000)
    expect(await ask('orders/a6')).toMatchObject({ status: 'open', payout_id })
  })

  test('believes a webhook only about its own payout', async () => {
    await ask('orders', order('a7', 'late@sandbox.test'))
    await until(async () => (await ask('orders/a7')).payout_id !== undefined, 10_000)
    const [payout] = await payoutsOf('a7')
    const hear = async (object: object) => {
      const body = { id: 'evt_1', type: 'pix.payout.completed', data: { object: { ...payout, ...object } } }
      const signed = {
        id: 'evt_1',
        body: JSON.stringify(body),
        at: new Date(),
        secrets: [readSecret(secret)],
      }
      expect((await post('webhooks', body, { headers: signatureHeaders(signed) })).status).toBe(204)
      return (await ask('orders/a7')).status
    }
    for (const other of [{ amount: '1' }, { customer_id: 'cus_1' }, { id: 'po_1' }])
      expect(await hear({ ...other, status: 'completed' })).toBe('open')
    expect(await hear({ status: 'completed' })).toBe('paid')
  })

  test('pays an order that was short of balance once the money is there', async () => {
    const poor = (await api.post('/v1/customers', { name: 'Rui Lima', document: someCpf() })).json.id
    await ask('orders', { ...order('a8'), seller: poor })
    await until(async () => (await ask('orders/a8')).attempt > 1, 10_000)
    await api.post('/v1/sandbox/deposits', { customer_id: poor, asset: 'BRL', amount: '5000' })
    await until(async () => settled(await ask('orders/a8')), 20_000)
    const { status, attempt, idempotency_key } = await ask('orders/a8')
    expect({ status, idempotency_key }).toEqual({
      status: 'paid',
      idempotency_key: `shop-order-a8-${attempt}`,
    })
    const { data } = (await api.get(`/v1/pix/payouts?customer_id=${poor}`)).json
    expect(data).toMatchObject([{ status: 'completed', idempotency_key }])
  })

  test('does not ask again for what the service will never do', async () => {
    await ask('orders', { ...order('a9'), amount: '99999999999999999999.00' })
    await ask('orders', { ...order('a10'), seller: seller.replace(/.{4}$/, '0000') })
    await until(async () => settled(await ask('orders/a9')) && settled(await ask('orders/a10')), 10_000)
    expect(await ask('orders/a9')).toMatchObject({ status: 'refused', reason: 'invalid_amount', tries: 1 })
    expect(await ask('orders/a10')).toMatchObject({ status: 'refused', reason: 'customer_not_found' })
  })

  test('takes no webhook that is not signed, and no order without an amount to pay', async () => {
    expect((await post('webhooks', { type: 'pix.payout.completed' })).status).toBe(400)
    for (const amount of ['10,50', 1050, '0', '0.00', '-10.50'])
      expect((await post('orders', { ...order('a5'), amount })).status).toBe(400)
    expect((await fetch(`http://127.0.0.1:${port}/orders/a5`)).status).toBe(404)
  })
})

const left = (id: string, more: object = {}) =>
  JSON.stringify({
    ...{ ...order(id), amount: '1050', status: 'open', attempt: 1, idempotency_key: `shop-order-${id}-1` },
    ...{ tries: 0, try_at: new Date().toISOString(), ...more },
  })

test('what is left over is looked after: the last line may be half, and one order does not keep the others from it', async () => {
  const much = '99999999900'
  const lines = [left('b1', { amount: much, tries: 22 }), left('b2', { amount: much, tries: 23 }), left('b3')]
  writeFileSync(join(folder, 'left.jsonl'), `${lines.join('\n')}\n{"id":"b4`)
  const shop = open('left.jsonl')
  await until(async () => (await ask('orders/b3'))?.status === 'paid', 20_000)
  const waiting = await ask('orders/b1')
  expect(waiting).toMatchObject({ status: 'open', attempt: 2, idempotency_key: 'shop-order-b1-2', tries: 23 })
  expect(Date.parse(waiting.try_at) - Date.now()).toBeGreaterThan(1_800_000)
  expect(shop.printed()).toMatch(/^order b1 stays open: .*balance/m)
  expect(await ask('orders/b2')).toMatchObject({ status: 'refused', reason: 'insufficient_balance' })
  await stop(shop)
})

test('a line that is no order stops it, and is named', async () => {
  for (const bad of ['{"id":"c2', 'null']) {
    writeFileSync(join(folder, 'bad.jsonl'), `${left('c1')}\n${bad}\n${left('c3')}\n`)
    const shop = open('bad.jsonl')
    expect(await shop.ended).toBe(1)
    expect(shop.printed()).toContain('bad.jsonl: line 2 is not an order. Mend that line')
  }
})

test('what does not fit on the disk was never ordered, and is not paid', async () => {
  const file = join(folder, 'full.jsonl')
  writeFileSync(file, '')
  const full = open('full.jsonl', { room: 60 })
  await until(() => full.printed().includes('the shop is open'), 20_000)
  expect((await post('orders', order('d1'))).status).toBe(503)
  expect((await fetch(`http://127.0.0.1:${port}/orders/d1`)).status).toBe(404)
  expect(readFileSync(file, 'utf8')).toBe('')
  await stop(full)
  expect(await payoutsOf('d1')).toEqual([])
})

/** Places one order, and waits for its end, or for that of the shop. */
async function place(shop: Running, id: string): Promise<void> {
  await until(() => shop.hasEnded() || shop.printed().includes('the shop is open'), 20_000)
  await until(async () => shop.hasEnded() || (await ask('orders', order(id))) !== undefined, 20_000)
  await until(async () => shop.hasEnded() || settled(await ask(`orders/${id}`)), 20_000)
}

/** Kills the shop at these steps in turn, with an order each; each start takes over what the one before left behind. */
async function survive(orders: string, kills: readonly number[]): Promise<number> {
  const idOf = (kill_at: number) => `${orders}-${kill_at}`
  let killed = 0
  for (const kill_at of kills) {
    const shop = open(orders, { kill_at })
    await place(shop, idOf(kill_at))
    if (shop.hasEnded()) killed++
    await stop(shop)
  }
  const shop = open(orders)
  for (const id of kills.map(idOf)) {
    await place(shop, id)
    expect(await ask(`orders/${id}`)).toMatchObject({ status: 'paid' })
    expect(await payoutsOf(id), id).toMatchObject([{ status: 'completed' }])
  }
  await stop(shop)
  return killed
}

/** More than there are for an order: three writes with their syncs, two requests, their responses, what the shop responds itself. */
const steps = Array.from({ length: 14 }, (_, i) => i + 1)

test('killed at any step, again and again, it pays each order once', { timeout: 300_000 }, async () => {
  expect(await survive('rising', steps)).toBeGreaterThanOrEqual(7)
})

test.runIf(size(1, 0))(
  'killed at each step of its first order, it pays it once',
  { timeout: 300_000 },
  async () => {
    for (const kill_at of steps) await survive(`fresh-${kill_at}`, [kill_at])
  },
)

test('afterwards the books are right', async () => {
  expect((await service.audit()).sandbox.findings).toEqual([])
})
