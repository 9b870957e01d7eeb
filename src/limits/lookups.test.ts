import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, openApi, type Reply } from '../../test/support/api.ts'
import { startNode } from '../../test/support/node.ts'
import { someCpf, startTestService, type TestService } from '../../test/support/service.ts'
import { roomInMinute } from '../../test/support/wait.ts'
import type { Service } from '../node/serve.ts'
import { setKeyLimits } from '../parties/keys/keys.ts'

/** Contract §17.5, §17.15: all windows that a request touches are judged together, the one of look-ups included. */
const LOOKUPS = 3
let service: TestService
let second: Service | undefined
beforeAll(async () => {
  service = await startTestService({ PIX_WAIT_MS: '500' })
})
afterAll(async () => {
  await second?.stop()
  await service.stop()
})

async function newCaller(): Promise<{ api: Api; key: string; customer_id: string }> {
  const { api, key, key_id } = await service.partner({ limited: true })
  await setKeyLimits(service.worlds.sandbox, key_id, { lookup_per_minute: LOOKUPS })
  const { json } = await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })
  await api.post('/v1/sandbox/deposits', { customer_id: json.id, asset: 'BRL', amount: '1000000' })
  return { api, key, customer_id: json.id }
}

let keys = 0
const order = (customer_id: string, pix_key: string, dry_run = false) =>
  [
    `/v1/pix/payouts${dry_run ? '?dry_run=true' : ''}`,
    {
      customer_id,
      amount: '100',
      counterparty: { type: 'pix_key', pix_key },
      idempotency_key: `look-up ${++keys}`,
    },
  ] as const

const used = async (api: Api) => {
  const { minute, day, endpoints, lookups } = (await api.get('/v1/usage')).json
  const payouts = endpoints.find(({ endpoint }: any) => endpoint === 'POST /v1/pix/payouts')
  return { minute: minute.used, day: day.used, payouts: payouts.used, lookups: lookups.used }
}

/** Uses up the look-ups through all endpoints that look up keys, then checks that all of them refuse. */
async function scan(apis: readonly Api[], customer_id: string): Promise<void> {
  const api = (i: number) => apis[i % apis.length]!
  const before = await used(api(0))
  const told = [
    await api(1).get('/v1/pix/keys/ana@example.com'),
    await api(0).post(...order(customer_id, 'ana@example.com', true)),
    await api(1).post(...order(customer_id, 'other-owner@sandbox.test')),
  ]
  expect(told.map(({ status }) => status)).toEqual([200, 200, 422])
  const full = await used(api(0))
  expect(full).toEqual({
    minute: before.minute + 4,
    day: before.day + 4,
    payouts: before.payouts + 2,
    lookups: before.lookups + LOOKUPS,
  })
  const refused: Reply[] = []
  for (let i = 0; i < 4; i++) {
    refused.push(
      await api(i).get('/v1/pix/keys/ana@example.com'),
      await api(i).post(...order(customer_id, 'ana@example.com', true)),
      await api(i).post(...order(customer_id, 'other-owner@sandbox.test')),
      await api(i).post(...order(customer_id, 'notfound@sandbox.test')),
    )
  }
  for (const { json, headers } of refused) {
    expect(json.error).toMatchObject({
      code: 'rate_limit_exceeded',
      details: { window: 'lookups', limit: LOOKUPS, retry_after_seconds: Number(headers.get('retry-after')) },
    })
    expect(Number(headers.get('x-ratelimit-remaining'))).toBe(100 - full.minute)
  }
  const after = await used(api(0))
  expect(after).toEqual({ ...full, minute: full.minute + 1, day: full.day + 1 })
  // A payout that is accepted does not count as a look-up.
  expect((await api(1).post(...order(customer_id, 'ana@example.com'))).status).toBe(201)
  expect((await used(api(0))).lookups).toBe(LOOKUPS)
}

describe('look-ups beyond their limit consume none of any window', () => {
  test('on one node', async () => {
    const { api, customer_id } = await newCaller()
    await roomInMinute(15)
    await scan([api], customer_id)
  })

  test('on two nodes', async () => {
    second = await startNode(service.database.url)
    const { api, key, customer_id } = await newCaller()
    await roomInMinute(18)
    await scan([api, openApi(second.url, key)], customer_id)
  })
})

test('a refusal names the window, its limit and the wait', async () => {
  const { api, key_id } = await service.partner({ limited: true })
  await roomInMinute(15)
  const detailsOf = async (limits: Parameters<typeof setKeyLimits>[2], call: () => Promise<Reply>) => {
    await setKeyLimits(service.worlds.sandbox, key_id, limits)
    // Longer than a node caches a key.
    await sleep(900)
    for (;;) {
      const { status, json, headers } = await call()
      if (status !== 429) continue
      expect(json.error.details.retry_after_seconds).toBe(Number(headers.get('retry-after')))
      return [json.error.details.window, json.error.details.limit]
    }
  }
  const quote = () => api.post('/v1/quotes', { customer_id: 'cus_none' })
  const usage = () => api.get('/v1/usage')
  // On a busy machine the limits of before may hold a little longer.
  await expect.poll(() => detailsOf({ endpoint_per_minute: 2 }, quote)).toEqual(['endpoint', 2])
  await expect.poll(() => detailsOf({ per_minute: 3 }, usage)).toEqual(['minute', 3])
  await expect.poll(() => detailsOf({ per_minute: 1000, per_day: 4 }, usage)).toEqual(['day', 4])
})
