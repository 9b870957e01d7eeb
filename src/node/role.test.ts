import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Api, openApi } from '../../test/support/api.ts'
import { createDatabase } from '../../test/support/database.ts'
import { scrape } from '../../test/support/metrics.ts'
import { startNode } from '../../test/support/node.ts'
import { openReceiver } from '../../test/support/receiver.ts'
import {
  openDirectAccess,
  someCpf,
  spawnServer,
  startTestService,
  type TestService,
  testEnv,
} from '../../test/support/service.ts'
import { until } from '../../test/support/wait.ts'
import type { Service } from './serve.ts'

const TIMEOUT_MS = 300_000
/** Long enough for the outcome of every magic key of the sandbox, on a slow machine. */
const ENDS_MS = 60_000

const env = {
  WEBHOOK_ALLOW_PRIVATE: 'true',
  SANDBOX_BROADCAST_MS: '100',
  SANDBOX_CONFIRM_MS: '200',
  // Much shorter than the network is silent.
  PIX_WAIT_MS: '500',
}

let service: TestService
let worker: Service
beforeAll(async () => {
  service = await startTestService({ ...env, ROLE: 'api' })
  worker = await startNode(service.database.url, { ...env, ROLE: 'worker' })
})
afterAll(async () => {
  await worker.stop()
  await service.stop()
})

async function customerWith(api: Api): Promise<string> {
  const { id } = (await api.post('/v1/customers', { name: 'Ana', document: someCpf() })).json
  for (const asset of ['BRL', 'USDT'])
    await api.post('/v1/sandbox/deposits', { customer_id: id, asset, amount: '100000000' })
  return id
}

async function receiverOf(api: Api, ...events: string[]) {
  const receiver = await openReceiver()
  onTestFinished(() => receiver.stop())
  const made = await api.post('/v1/webhook_endpoints', { url: receiver.url, events })
  expect(made.status).toBe(201)
  const told = () => receiver.received.map(({ json }) => json.data.object.id as string)
  return { ...receiver, told }
}

let orders = 0
const pay = (api: Api, customer_id: string, pix_key: string) =>
  api.post('/v1/pix/payouts', {
    customer_id,
    amount: '100',
    counterparty: { type: 'pix_key', pix_key },
    idempotency_key: `role-${orders++}`,
  })
const transfer = (api: Api, customer_id: string) =>
  api.post('/v1/onchain/transfers', {
    customer_id,
    asset: 'USDT',
    network: 'polygon',
    amount: '25000000',
    destination_address: '0x52908400098527886E0F7030069857D2E4169EE7',
    idempotency_key: `role-${orders++}`,
  })

const hasEnded = (api: Api, path: string, id: string, status: string) => async () =>
  (await api.get(`${path}/${id}`)).json.status === status

describe('one node that answers calls and one that works', () => {
  test(
    'bring payouts of every kind and transfers to their end, and tell of each',
    async () => {
      const { api } = await service.partner()
      const customer_id = await customerWith(api)
      const receiver = await receiverOf(api, 'pix.payout.completed', 'onchain.transfer.confirmed')
      const keys = ['ana@example.com', 'slow@sandbox.test', 'timeout@sandbox.test', 'lost@sandbox.test']
      const payouts = await Promise.all(keys.map((key) => pay(api, customer_id, key)))
      const sent = await transfer(api, customer_id)
      expect([...payouts, sent].map(({ status }) => status)).toEqual(Array(5).fill(201))
      for (const { json } of payouts)
        await until(hasEnded(api, '/v1/pix/payouts', json.id, 'completed'), ENDS_MS)
      await until(hasEnded(api, '/v1/onchain/transfers', sent.json.id, 'confirmed'), ENDS_MS)
      const ids = [...payouts, sent].map(({ json }) => json.id)
      await until(() => ids.every((id) => receiver.told().includes(id)), ENDS_MS)
      expect((await service.audit()).sandbox.findings).toEqual([])
    },
    TIMEOUT_MS,
  )

  test('a call that waits is answered by the one with what the other has placed', async () => {
    const { api } = await service.partner()
    const customer_id = await customerWith(api)
    await until(async () => (await api.get('/v1/events')).json.data.length === 4, ENDS_MS)
    // From a known place: the call may arrive after the deposit.
    const { next_cursor } = (await api.get('/v1/events?after=now')).json
    const waiting = api.get(`/v1/events?after=${next_cursor}&wait=30&type=deposit.completed`)
    await new Promise((resolve) => setTimeout(resolve, 300))
    const made = await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '1' })
    expect((await waiting).json.data.map(({ data }: any) => data.object.id)).toEqual([made.json.id])
  })

  test('say which they are', async () => {
    for (const [url, role] of [
      [service.url, 'api'],
      [worker.url, 'worker'],
    ] as const) {
      expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok', role })
      expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ status: 'ready', role })
      expect(await scrape(url)).toMatch(new RegExp(`^trilho_build_info\\{.*role="${role}"\\} 1$`, 'm'))
    }
  })

  test('calls are for the one only: the other has no such routes, in the usual form', async () => {
    const { key } = await service.partner()
    for (const who of [key, undefined, 'svc_test_sk_wrong']) {
      const api = openApi(worker.url, who)
      for (const path of ['/', '/docs', '/openapi.json', '/v1', '/v1/customers', '/v1/nothing']) {
        const reply = await api.get(path)
        expect([path, reply.status, reply.json.error.code]).toEqual([path, 404, 'route_not_found'])
      }
    }
    expect((await openApi(worker.url, key).post('/v1/customers', {})).status).toBe(404)
  })
})

test(
  'alone, one that answers calls accepts and sends; the rest waits for a worker, and nothing is lost',
  async () => {
    const alone = await startTestService({ ...env, ROLE: 'api' })
    onTestFinished(() => alone.stop())
    const { api } = await alone.partner()
    const customer_id = await customerWith(api)
    const receiver = await receiverOf(api, '*')
    const paid = await pay(api, customer_id, 'ana@example.com')
    const left = await pay(api, customer_id, 'timeout@sandbox.test')
    const sent = await transfer(api, customer_id)
    expect([left, sent].map(({ json }) => json.status)).toEqual(['processing', 'pending'])
    // The node that accepts a payout also sends it: no worker was needed.
    await until(hasEnded(api, '/v1/pix/payouts', paid.json.id, 'completed'), ENDS_MS)
    // A worker would have taken them many times by now.
    await new Promise((resolve) => setTimeout(resolve, 2000))
    expect((await api.get(`/v1/onchain/transfers/${sent.json.id}`)).json.status).toBe('pending')
    // The events are in the log all the same.
    const told = (await api.get('/v1/events')).json.data.map(({ type }: { type: string }) => type)
    expect(told).toContain('pix.payout.completed')
    expect(receiver.received).toEqual([])

    const joined = await startNode(alone.database.url, { ...env, ROLE: 'worker' })
    onTestFinished(() => joined.stop())
    await until(hasEnded(api, '/v1/onchain/transfers', sent.json.id, 'confirmed'), ENDS_MS)
    await until(hasEnded(api, '/v1/pix/payouts', left.json.id, 'completed'), ENDS_MS)
    await until(() => [paid, left, sent].every(({ json }) => receiver.told().includes(json.id)), ENDS_MS)
    expect((await alone.audit()).sandbox.findings).toEqual([])
  },
  TIMEOUT_MS,
)

test(
  'whichever of the two is killed, what was accepted comes to its end and is told',
  async () => {
    const direct = openDirectAccess(await createDatabase())
    const start = (ROLE: string) =>
      spawnServer(testEnv(direct.database.url, { ...env, LEASE_MS: '1500', ROLE }))
    const started = [await start('api'), await start('worker')]
    onTestFinished(async () => {
      for (const { kill } of started) await kill('SIGKILL')
      await direct.stop()
    })
    const [first, second] = started
    const { api, key } = await direct.partner(first!.url)
    const customer_id = await customerWith(api)
    const receiver = await receiverOf(api, 'pix.payout.completed')
    const left = await pay(api, customer_id, 'timeout@sandbox.test')
    await second!.kill('SIGKILL')
    const lost = await pay(api, customer_id, 'lost@sandbox.test')
    const paid = await pay(api, customer_id, 'ana@example.com')
    await until(hasEnded(api, '/v1/pix/payouts', paid.json.id, 'completed'), ENDS_MS)
    await first!.kill('SIGKILL')
    expect([left, lost].map(({ json }) => json.status)).toEqual(['processing', 'processing'])

    started.push(await start('worker'))
    const ids = [left, lost, paid].map(({ json }) => json.id)
    await until(() => ids.every((id) => receiver.told().includes(id)), ENDS_MS)
    started.push(await start('api'))
    const again = openApi(started.at(-1)!.url, key)
    for (const id of ids) expect((await again.get(`/v1/pix/payouts/${id}`)).json.status).toBe('completed')
    expect((await direct.audit()).sandbox.findings).toEqual([])
  },
  TIMEOUT_MS,
)
