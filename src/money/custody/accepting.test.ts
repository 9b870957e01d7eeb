import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { until } from '../../../test/support/wait.ts'
import { isPaused, pauseRail, resumeRail, setRailLimits } from './controls.ts'
import type { RailName } from './controls-store.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ SANDBOX_BROADCAST_MS: '0', SANDBOX_CONFIRM_MS: '0' })
})
afterAll(async () => {
  const { production, sandbox } = await service.audit()
  expect([production.findings, sandbox.findings]).toEqual([[], []])
  await service.stop()
})

let api: Awaited<ReturnType<TestService['partner']>>['api']
let customer_id: string
beforeEach(async () => {
  api = (await service.partner()).api
  const document = someCpf()
  customer_id = (await api.post('/v1/customers', { name: 'Ana', document })).json.id
  await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '100000' })
  await api.post('/v1/sandbox/deposits', { customer_id, asset: 'USDT', amount: '900000000' })
})

const world = () => service.worlds.sandbox

async function paused<T>(rail: RailName, work: () => Promise<T>): Promise<T> {
  await pauseRail(world(), { rail, by: 'service', reason: 'a secret reason' })
  try {
    // The test and the server may have connections of their own.
    await until(() => isPaused(world(), rail), 10_000)
    return await work()
  } finally {
    await world().commit(resumeRail({ rail, by: 'shell', reason: 'right again', proposal_id: null }))
  }
}

const payout = (idempotency_key: string, amount = '1000') => ({
  customer_id,
  amount,
  counterparty: { type: 'pix_key', pix_key: 'ana@example.com' },
  idempotency_key,
})
const transfer = (idempotency_key: string, amount = '10000000') => ({
  customer_id,
  asset: 'USDT',
  network: 'polygon',
  amount,
  destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  idempotency_key,
})

test.each([
  ['pix', '/v1/pix/payouts', payout],
  ['polygon', '/v1/onchain/transfers', transfer],
] as const)(
  'a paused rail %s refuses new orders, answers replays, and takes the same key after the resume',
  async (rail, path, order) => {
    const first = await api.post(path, order('before'))
    expect(first.status).toBe(201)
    await paused(rail, async () => {
      await until(async () => (await api.post(path, order(`probe ${Math.random()}`))).status === 503, 10_000)
      const refused = await api.post(path, order('during'))
      expect(refused).toMatchObject({ status: 503, json: { error: { code: 'rail_unavailable' } } })
      expect(refused.json.error.message).toContain('paused')
      expect(JSON.stringify(refused.json)).not.toContain('secret')
      const dry = await api.post(`${path}?dry_run=true`, order('dry'))
      expect(dry).toMatchObject({ status: 503, json: { error: { code: 'rail_unavailable' } } })
      const replay = await api.post(path, order('before'))
      expect(replay.status).toBe(201)
      expect(replay.json.id).toBe(first.json.id)
    })
    await until(async () => (await api.post(path, order('during'))).status === 201, 10_000)
  },
)

test.each([
  ['pix', '/v1/pix/payouts', payout, '5000', '5001'],
  ['polygon', '/v1/onchain/transfers', transfer, '20000000', '20000001'],
] as const)(
  'an order above the limit of the rail %s is too large, and the refusal is kept',
  async (rail, path, order, fits, above) => {
    const limit = (order_most: bigint | null) =>
      setRailLimits(world(), { rail, by: 'shell', reason: 'a new wallet', change: { order_most } })
    await limit(BigInt(fits))
    const refused = () => api.post(path, order('large', above))
    await until(
      async () => (await api.post(`${path}?dry_run=true`, order('dry', above))).status === 422,
      10_000,
    )
    expect(await refused()).toMatchObject({
      status: 422,
      json: { error: { code: 'amount_too_large', param: 'amount' } },
    })
    expect((await api.post(path, order('fits', fits))).status).toBe(201)
    await limit(null)
    await until(
      async () => (await api.post(path, order(`free ${Math.random()}`, above))).status === 201,
      10_000,
    )
    expect(await refused()).toMatchObject({ status: 422, json: { error: { code: 'amount_too_large' } } })
  },
)
