import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Api } from '../support/api.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { size } from '../support/size.ts'
import { until } from '../support/wait.ts'
import { freePort, type Running, start, stop } from './program.ts'

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
  port = await freePort()
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

const open = (orders: string, kill_at?: number): Running =>
  start('shop/server.js', {
    env: {
      TRILHO_URL: service.url,
      TRILHO_KEY: key,
      TRILHO_WEBHOOK_SECRET: secret,
      PORT: port,
      ORDERS: orders,
    },
    cwd: folder,
    ...(kill_at === undefined ? {} : { kill_at }),
  })

/** The response, or undefined when the shop is not there (any more). */
async function ask(path: string, body?: object): Promise<any> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(5000),
    })
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
    await ask('orders', order('a2', 'slow@sandbox.test'))
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

  test('takes no webhook that is not signed, and no order without an amount', async () => {
    const post = (path: string, body: object) =>
      fetch(`http://127.0.0.1:${port}/${path}`, { method: 'POST', body: JSON.stringify(body) })
    expect((await post('webhooks', { type: 'pix.payout.completed' })).status).toBe(400)
    expect((await post('orders', { ...order('a5'), amount: '10,50' })).status).toBe(400)
    expect((await post('orders', { ...order('a5'), amount: 1050 })).status).toBe(400)
    expect((await fetch(`http://127.0.0.1:${port}/orders/a5`)).status).toBe(404)
  })
})

test('an order that cannot be paid does not keep the others from it', async () => {
  const left = (id: string, amount: string) =>
    JSON.stringify({ ...order(id), amount, idempotency_key: `order-${id}`, status: 'open' })
  writeFileSync(join(folder, 'left.jsonl'), `${left('b1', '99999999900')}\n${left('b2', '1050')}\n{"id":"b3`)
  const shop = open('left.jsonl')
  await until(async () => (await ask('orders/b2'))?.status === 'paid', 20_000)
  expect(await ask('orders/b1')).toMatchObject({ status: 'open' })
  expect(shop.printed()).toMatch(/^order b1 stays open: .*balance/m)
  await stop(shop)
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
    const shop = open(orders, kill_at)
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

/** More than there are for an order: two writes with their syncs, a request, its response, and what the shop responds itself. */
const steps = Array.from({ length: 12 }, (_, i) => i + 1)

test('killed at any step, again and again, it pays each order once', async () => {
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
