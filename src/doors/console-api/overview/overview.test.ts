import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Api } from '../../../../test/support/api.ts'
import { type ConsoleClient, signedIn } from '../../../../test/support/console.ts'
import { asAdmin } from '../../../../test/support/database.ts'
import { someCpf, startTestService, type TestService } from '../../../../test/support/service.ts'
import { until } from '../../../../test/support/wait.ts'
import { startsOf } from '../../../money/daily/series.ts'
import { createKey, rotateKey } from '../../../parties/keys/keys.ts'
import { markRevoked, noteUses } from '../../../parties/keys/store.ts'
import type { ConsoleHandler } from '../endpoint.ts'
import { overviewRoutes } from './routes.ts'

let service: TestService
let partner_id: string
let key_id: string
let api: Api
let owner: ConsoleClient
let customer_id: string
beforeAll(async () => {
  service = await startTestService({ PIX_WAIT_MS: '3000', STUCK_AFTER_MS: '1000', RAIL_TIMEOUT_MS: '500' })
  ;({ partner_id, key_id, api } = await service.partner())
  owner = await signedIn(service, { partner_id, role: 'owner' })
})
afterAll(() => service.stop())

const get = async (client = owner, query = '', environment = 'sandbox') => {
  const reply = await client.get(`/${environment}/overview${query}`)
  expect(reply.status, reply.text).toBe(200)
  return reply.json
}

const pay = (pix_key: string, amount = '1000') =>
  api.post('/v1/pix/payouts', {
    customer_id,
    amount,
    counterparty: { type: 'pix_key', pix_key },
    idempotency_key: `k${Math.random()}`,
  })

test('for a new partner everything is empty, and marked as new', async () => {
  const seen = await get()
  expect(seen).toMatchObject({
    is_new: true,
    has_key: true,
    pix_ready: true,
    series: [],
    latest: [],
    period: '30d',
  })
  expect(seen.attention).toMatchObject({ unanswered: [], webhooks: [], old_values: [] })
  expect(seen.balances.map(({ asset, held }: { asset: string; held: string }) => [asset, held])).toEqual([
    ['BRL', '0'],
    ['USDT', '0'],
    ['BTC', '0'],
  ])
  expect(seen.starts.length).toBe(30)
  expect(seen.prices.length).toBe(3)
})

describe('figures appear a moment after the events', () => {
  beforeAll(async () => {
    const document = someCpf()
    customer_id = (await api.post('/v1/customers', { name: 'Ana Souza', document })).json.id
    await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '100000' })
    await pay('ana@example.com', '1000')
    await pay('ana@example.com', '2500')
    await pay('ac03@sandbox.test', '700')
    const quote = { customer_id, from_asset: 'BRL', to_asset: 'USDT', amount: '10000' }
    const { json } = await api.post('/v1/quotes', quote)
    expect((await api.post(`/v1/quotes/${json.id}/execute`)).status).toBe(201)
    await until(async () => {
      const { series } = await get()
      const pix = series.find(({ kind }: { kind: string }) => kind === 'pix')
      return series.length === 2 && pix?.completed === 2 && pix.failed === 1
    }, 15_000)
  })

  test('counts, sums and times, by day and by hour', async () => {
    for (const period of ['24h', '7d', '30d', '90d']) {
      const { series, starts } = await get(owner, `?period=${period}`)
      const pix = series.find(({ kind }: { kind: string }) => kind === 'pix')
      expect(pix).toMatchObject({ asset: 'BRL', to_asset: null, completed: 2, failed: 1 })
      expect([pix.completed_sum, pix.failed_sum]).toEqual(['3500', '700'])
      expect(pix.median_ms).toBeGreaterThan(0)
      expect(pix.each.length).toBe(starts.length)
      // The hour, or the day, may have ended since.
      const last = pix.each.slice(-2)
      const sum = (name: 'completed' | 'failed') => last[0][name] + last[1][name]
      expect([sum('completed'), sum('failed')]).toEqual([2, 1])
      const conversions = series.find(({ kind }: { kind: string }) => kind === 'conversions')
      expect(conversions).toMatchObject({ asset: 'BRL', to_asset: 'USDT', completed: 1, median_ms: null })
    }
  })

  test('the balances equal those of the API', async () => {
    await until(async () => (await get()).balances[1].held !== '0', 15_000)
    const { data } = (await api.get(`/v1/customers/${customer_id}/balances`)).json
    const { balances } = await get()
    for (const { asset, available } of data)
      expect(balances.find((one: { asset: string }) => one.asset === asset)).toMatchObject({ available })
    expect(balances[0]).toMatchObject({ customers: 1 })
    expect(balances[0].days.at(-1).held).toBe(balances[0].held)
    expect(balances[0].days[0].held).toBeNull()
  })

  test('the latest orders of all kinds, newest first, each with its customer', async () => {
    const { latest } = await get()
    expect(latest.map(({ kind }: { kind: string }) => kind)).toEqual([
      'trade',
      'payout',
      'payout',
      'payout',
      'deposit',
    ])
    expect(latest.at(-1)).toMatchObject({ amount: '100000', asset: 'BRL', customer: { name: 'Ana Souza' } })
    expect(latest[1]).toMatchObject({ status: 'failed', amount: expect.stringMatching(/^-7\d\d$/) })
  })

  test('balances are current at once, and the reply says whether the other figures are', async () => {
    const before = BigInt((await get()).balances[0].held)
    await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '777' })
    expect((await get()).balances[0].held).toBe(String(before + 777n))
    await until(async () => (await get()).settled, 15_000)
    // The worker of the service may be quicker than the question.
    await until(async () => {
      await asAdmin(service.database.url, ['UPDATE sandbox.daily_progress SET position = position - 1'])
      return !(await get()).settled
    }, 15_000)
    await until(async () => (await get()).settled, 15_000)
  })

  test("the used part of a key's limits", async () => {
    await until(async () => (await get()).limits.length === 2, 15_000)
    const { limits, tier } = await get()
    expect(tier).toBe('standard')
    expect(limits.map(({ window, key_id: of }: { window: string; key_id: string }) => [window, of])).toEqual([
      ['minute', key_id],
      ['day', key_id],
    ])
    expect(limits[1].used).toBeGreaterThan(5)
  })

  test('of the keys only those that it shows, however many the partner has', async () => {
    const many = await service.partner()
    const { worlds, office } = service
    const keys = [many.key_id]
    for (let i = 0; i < 7; i++) {
      const name = `key ${i}`
      keys.push((await createKey(worlds.sandbox, { partner_id: many.partner_id, name })).key.id)
    }
    const usedAt = (i: number) => new Date(Date.now() - (10 - i) * 60_000)
    await noteUses(
      worlds.sandbox.db,
      keys.map((id, i) => ({ api_key_id: id, at: usedAt(i), address: '192.0.2.1' })),
    )
    await markRevoked(worlds.sandbox.db, keys[7]!)
    await rotateKey(worlds.sandbox, keys[0]!, 3600)
    const { reads } = worlds.sandbox
    let most = 0
    const query = async (asked: string | { text: string }, values?: unknown[]) => {
      const found = await reads.query(asked as string, values)
      if (/api_key/.test(typeof asked === 'string' ? asked : asked.text))
        most = Math.max(most, found.rows.length)
      return found
    }
    const world = { ...worlds.sandbox, reads: Object.assign(Object.create(reads), { query }) }
    const limiter = { used: async () => [1, 2] }
    const [{ run }] = overviewRoutes({ office, runtimes: { sandbox: { limiter } } } as never) as [
      ConsoleHandler,
    ]
    const actor = { kind: 'person', role: 'viewer', partner_id: many.partner_id }
    const seen = (await run({ world, actor, query: {} } as never)) as Awaited<ReturnType<typeof get>>
    expect(seen.has_key).toBe(true)
    expect(seen.attention.old_values).toMatchObject([{ id: keys[0], name: 'test' }])
    const shown = [6, 5, 4, 3].flatMap((i) => [keys[i], keys[i]])
    expect(seen.limits.map(({ key_id: of }: { key_id: string }) => of)).toEqual(shown)
    expect(most).toBe(4)
  })
})

describe('needs attention:', () => {
  test('orders that a rail has not answered for too long', async () => {
    const { id } = (await pay('unknown@sandbox.test', '4321')).json
    await until(async () => (await get()).attention.unanswered.length === 1, 60_000)
    const [one] = (await get()).attention.unanswered
    expect(one).toMatchObject({ rail: 'pix', asset: 'BRL', count: 1 })
    expect(Number(one.amount)).toBeGreaterThanOrEqual(4321)
    expect((await api.post(`/v1/sandbox/pix/payouts/${id}/complete`)).json.status).toBe('completed')
    await until(async () => (await get()).attention.unanswered.length === 0, 60_000)
  })

  test('a failing endpoint, with its pending deliveries', async () => {
    await asAdmin(service.database.url, [
      `INSERT INTO sandbox.webhook_endpoints (id, partner_id, url, events, secret, created_at, failing_since)
       VALUES ('whe_01kc3v4x9zq8rj5m2t7w6y0ahb', '${partner_id}', 'https://hooks.example/trilho', '{*}', '\\x00', now(), now() - interval '1 hour')`,
      `INSERT INTO sandbox.webhook_deliveries (event_id, endpoint_id, attempts, next_attempt_at, created_at)
       SELECT id, 'whe_01kc3v4x9zq8rj5m2t7w6y0ahb', 1, now() + interval '1 hour', now() FROM sandbox.events WHERE partner_id = '${partner_id}' LIMIT 3`,
      `INSERT INTO sandbox.webhook_attempts (event_id, endpoint_id, attempt, url, headers, status, started_at, duration_ms)
       SELECT event_id, endpoint_id, 1, 'https://hooks.example/trilho', '{}', 503, now(), 5 FROM sandbox.webhook_deliveries
       WHERE endpoint_id = 'whe_01kc3v4x9zq8rj5m2t7w6y0ahb'`,
    ])
    const { webhooks } = (await get()).attention
    expect(webhooks).toMatchObject([{ url: 'https://hooks.example/trilho', waiting: 3, answered: 503 }])
    expect(webhooks[0].next_attempt_at).not.toBeNull()
  })

  test('an old value of a key that still works', async () => {
    await rotateKey(service.worlds.sandbox, key_id, 3600)
    const { old_values } = (await get()).attention
    expect(old_values).toMatchObject([{ id: key_id, last_four: expect.stringMatching(/^.{4}$/) }])
    await asAdmin(service.database.url, [
      `UPDATE sandbox.api_key_values SET valid_until = now() WHERE valid_until IS NOT NULL`,
    ])
    expect((await get()).attention.old_values).toEqual([])
  })

  test('acts on people, for owners only', async () => {
    const finance = await signedIn(service, { partner_id, role: 'finance' })
    await asAdmin(service.database.url, [
      'SET session_replication_role = replica',
      `INSERT INTO shared.acts (seq, at, actor_kind, actor_email, action, partner_id, previous_hash, hash)
       VALUES (900001, now(), 'person', 'helena@lumen.example', 'reset_factor', '${partner_id}', '', '')`,
    ])
    const told = (await get()).attention.acts.map(({ action }: { action: string }) => action)
    expect(told).toContain('reset_factor')
    expect((await get(finance)).attention.acts).toEqual([])
  })
})

test('repeated acts of one user do not hide the acts of another', async () => {
  const { partner_id } = await service.partner()
  const owner = await signedIn(service, { partner_id, role: 'owner' })
  const viewer = await signedIn(service, { partner_id, role: 'viewer' })
  const { id, email } = viewer.person.user
  const line = (seq: number, action: string, actor: string, object: string) =>
    `(${seq}, now() - interval '1 day' + ${seq - 910_000} * interval '1 second', 'person', '${actor}', '${actor}@x.example', '${action}', '${object}', '${partner_id}', '', '')`
  const own = Array.from({ length: 80 }, (_, i) => line(910_100 + i, 'disable_factor', id, id))
  const invited = Array.from({ length: 80 }, (_, i) => line(910_200 + i, 'invite', 'usr_b', `lnk_${i}`))
  await asAdmin(service.database.url, [
    'SET session_replication_role = replica',
    `INSERT INTO shared.acts (seq, at, actor_kind, actor_id, actor_email, action, object_id, partner_id, previous_hash, hash)
     VALUES ${[line(910_001, 'reset_factor', 'usr_a', id), ...own, ...invited].join(', ')}`,
  ])
  const { acts } = (await get(owner)).attention
  const told = acts.map(({ action }: { action: string }) => action)
  expect(acts.length).toBe(50)
  expect(told.slice(0, 2)).toEqual(['invite', 'reset_factor'])
  expect(acts[1].object_email).toBe(email)
})

test('another partner and the other environment see none of it', async () => {
  const other = await service.partner()
  const stranger = await signedIn(service, { partner_id: other.partner_id, role: 'viewer' })
  expect(await get(stranger)).toMatchObject({ is_new: true, series: [], latest: [], limits: [] })
  expect(await get(owner, '', 'production')).toMatchObject({ is_new: true, series: [], latest: [] })
})

test('without a rail the overview says that payouts are not accepted', async () => {
  expect(await get(owner, '', 'production')).toMatchObject({ pix_ready: false })
})

test('an unknown period is refused', async () => {
  expect((await owner.get('/sandbox/overview?period=1y')).status).toBe(400)
})

test('days and hours come in order, the current one last', () => {
  const now = new Date('2026-03-01T02:30:00Z')
  expect(startsOf('7d', now)).toEqual([
    '2026-02-22',
    '2026-02-23',
    '2026-02-24',
    '2026-02-25',
    '2026-02-26',
    '2026-02-27',
    '2026-02-28',
  ])
  const hours = startsOf('24h', now)
  expect([hours.length, hours[0], hours.at(-1)]).toEqual([
    24,
    '2026-02-28T03:00:00.000Z',
    '2026-03-01T02:00:00.000Z',
  ])
})
