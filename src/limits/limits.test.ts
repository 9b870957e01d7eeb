import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import { Type as T } from 'typebox'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Api, openApi } from '../../test/support/api.ts'
import {
  asAdmin,
  createDatabase,
  holdLock,
  isLockAwaited,
  seatAt,
  type TestDatabase,
} from '../../test/support/database.ts'
import { startNode } from '../../test/support/node.ts'
import {
  openDirectAccess,
  someCpf,
  spawnServer,
  startTestService,
  type TestService,
  testEnv,
} from '../../test/support/service.ts'
import { eventually, promptly, roomInDay, roomInMinute, until } from '../../test/support/wait.ts'
import { systemClock } from '../core/clock.ts'
import { openHints } from '../db/hints.ts'
import { openClient } from '../db/pool.ts'
import { createGate } from '../doors/api/gate.ts'
import { endpoint, handle } from '../http/endpoint.ts'
import { Fields } from '../http/schema.ts'
import { buildServer } from '../http/server.ts'
import { openKeyring } from '../parties/keys/keyring.ts'
import { setKeyLimits } from '../parties/keys/keys.ts'
import { editPartner } from '../parties/partners/partners.ts'
import { type Limiter, openLimiter } from './limiter.ts'
import { endBackend, findBackend } from './orphaned-connections.ts'
import { limitsRoutes } from './routes.ts'
import { countersOf } from './store.ts'
import { limitsOf, tiers } from './tiers.ts'
import { windowLimitsOf } from './window-limits.ts'
import type { WindowLimit } from './windows.ts'

const none = { per_minute: null, per_day: null, endpoint_per_minute: null, lookup_per_minute: null }
const secondsToMidnight = () => (86_400_000 - (Date.now() % 86_400_000)) / 1000
const times = <R>(n: number, work: (i: number) => Promise<R>) =>
  Promise.all(Array.from({ length: n }, (_, i) => work(i)))

let service: TestService
beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: '127.0.0.1' })
})
afterAll(() => service.stop())

/** A client with the given address, as the proxy in front of the service reports it. */
const from = (address: string, key?: string) => {
  const api = openApi(service.url, key)
  return (path: string) => api.send('GET', path, { headers: { 'x-forwarded-for': address } })
}

const left = (reply: { headers: Headers }) => Number(reply.headers.get('x-ratelimit-remaining'))

describe('interface §8: a key of the standard tier', () => {
  test('makes 100 requests in a minute; the next is refused with Retry-After, and not counted', async () => {
    const { api, key_id } = await service.partner({ limited: true })
    await roomInMinute(10)
    const replies = await times(100, () => api.get('/v1/usage'))
    expect(replies.map(({ status }) => status)).toEqual(Array(100).fill(200))
    expect(replies.map(left).sort((a, b) => a - b)).toEqual([...Array(100).keys()])
    for (const { headers } of replies) {
      expect(headers.get('x-ratelimit-limit')).toBe('100')
      expect(headers.has('retry-after')).toBe(false)
    }
    const seconds = () => Date.now() / 1000
    const asked = seconds()
    const refused = await times(20, () => api.get('/v1/customers'))
    const told = seconds()
    for (const { status, headers, json } of refused) {
      expect(status).toBe(429)
      expect(json.error.code).toBe('rate_limit_exceeded')
      expect(json.error.message).toContain('100 per minute')
      const wait = Number(headers.get('retry-after'))
      const reset = Number(headers.get('x-ratelimit-reset'))
      expect(wait).toBeGreaterThanOrEqual(1)
      expect(wait).toBeLessThanOrEqual(60)
      expect(headers.get('x-ratelimit-limit')).toBe('100')
      expect(headers.get('x-ratelimit-remaining')).toBe('0')
      expect(reset % 60).toBe(0)
      expect(wait).toBeGreaterThan(reset - told - 2)
      expect(wait).toBeLessThan(reset - asked + 2)
    }
    // With a higher limit, the same minute shows that the refused requests were not counted.
    await setKeyLimits(service.worlds.sandbox, key_id, { per_minute: 200 })
    await promptly(async () => (await api.get('/v1/usage')).status === 200, 1000)
    const usage = (await api.get('/v1/usage')).json
    expect(usage.minute).toMatchObject({ limit: 200, used: 102, remaining: 98 })
    expect(usage.day).toMatchObject({ limit: 10_000, used: 102, remaining: 9898 })
  })

  test('is counted whatever the response is, except 429', async () => {
    const { api } = await service.partner({ limited: true, scopes: ['read'] })
    await roomInMinute(5)
    const before = left(await api.get('/v1/usage'))
    const answers = [
      await api.get('/v1/customers/cus_none'),
      await api.get('/v1/nothing'),
      await api.send('PUT', '/v1/customers'),
      await api.get('/v1/customers?limit=zero'),
      await api.post('/v1/customers', { name: 'A', document: someCpf() }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 405, 400, 403])
    expect(answers.map(left)).toEqual([1, 2, 3, 4, 5].map((n) => before - n))
  })

  test('has windows of its own, not those of another key of the partner', async () => {
    const one = await service.partner({ limited: true })
    const two = await service.partner({ limited: true, partner_id: one.partner_id })
    await roomInMinute(5)
    await times(10, () => one.api.get('/v1/usage'))
    expect(left(await two.api.get('/v1/usage'))).toBe(99)
  })
})

describe('interface §8: how much', () => {
  const limitOf = async (api: Api) => (await api.get('/v1/usage')).headers.get('x-ratelimit-limit')
  const becomes = (api: Api, limit: number) => promptly(async () => (await limitOf(api)) === `${limit}`, 1000)

  test('follows tier, partner and key, and a change applies within a second', async () => {
    const { api, partner_id, key_id } = await service.partner({ limited: true })
    expect(await limitOf(api)).toBe('100')
    await editPartner(service.shared, partner_id, { tier: 'growth' })
    await becomes(api, 500)
    expect((await api.get('/v1/usage')).json.day.limit).toBe(50_000)
    await editPartner(service.shared, partner_id, { tier: 'enterprise', per_minute: 1234, per_day: 99_000 })
    await becomes(api, 1234)
    expect((await api.get('/v1/usage')).json.day.limit).toBe(99_000)
    await setKeyLimits(service.worlds.sandbox, key_id, { per_minute: 777 })
    await becomes(api, 777)
    expect((await api.get('/v1/usage')).json.day.limit).toBe(99_000)
    await editPartner(service.shared, partner_id, { per_minute: null, tier: 'standard' })
    await sleep(1000)
    expect(await limitOf(api)).toBe('777')
  })

  test('a limit lowered below what was used refuses at once, and a raised one admits again', async () => {
    const { api, key_id } = await service.partner({ limited: true })
    await roomInMinute(8)
    await times(10, () => api.get('/v1/usage'))
    await setKeyLimits(service.worlds.sandbox, key_id, { per_minute: 5 })
    await promptly(async () => (await api.get('/v1/usage')).status === 429, 1000)
    expect(left(await api.get('/v1/usage'))).toBe(0)
    await setKeyLimits(service.worlds.sandbox, key_id, { per_minute: 500 })
    await promptly(async () => (await api.get('/v1/usage')).status === 200, 1000)
  })

  test.each([
    ['standard', none, none, [100, 10_000]],
    ['growth', none, none, [500, 50_000]],
    ['enterprise', none, none, [500, 50_000]],
    ['standard', { ...none, per_minute: 7 }, none, [7, 10_000]],
    ['growth', { ...none, per_minute: 7 }, { ...none, per_minute: 9, per_day: 11 }, [9, 11]],
    ['growth', { ...none, per_day: 70 }, { ...none, per_minute: 9 }, [9, 70]],
  ] as const)('%s, partner %o, key %o: %o', (tier, partner, key, expected) => {
    const { per_minute, per_day } = limitsOf(tier, partner, key)
    expect([per_minute, per_day]).toEqual(expected)
  })

  test('the tiers are those of the interface', () => {
    expect(tiers.standard).toEqual({ per_minute: 100, per_day: 10_000 })
    expect(tiers.growth).toEqual({ per_minute: 500, per_day: 50_000 })
  })
})

describe('contract §6: the day', () => {
  test('refuses with the wait until midnight, while the headers still show the minute', async () => {
    const { api, partner_id } = await service.partner({ limited: true })
    await editPartner(service.shared, partner_id, { per_day: 5 })
    await roomInMinute(5)
    const replies = []
    for (let i = 0; i < 7; i++) replies.push(await api.get('/v1/usage'))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429])
    const refused = replies[6]!
    expect(refused.json.error.message).toContain('5 per UTC day')
    const wait = Number(refused.headers.get('retry-after'))
    expect(Math.abs(wait - secondsToMidnight())).toBeLessThan(15)
    expect(refused.headers.get('x-ratelimit-limit')).toBe('100')
    expect(left(refused)).toBe(95)
  })

  test('reports the longer wait if the minute is full too', async () => {
    const { api, partner_id } = await service.partner({ limited: true })
    await editPartner(service.shared, partner_id, { per_day: 3, per_minute: 3 })
    await roomInMinute(5)
    const replies = await times(4, () => api.get('/v1/usage'))
    const refused = replies.find(({ status }) => status === 429)!
    expect(Math.abs(Number(refused.headers.get('retry-after')) - secondsToMidnight())).toBeLessThan(15)
  })

  test('survives a restart', async () => {
    const direct = openDirectAccess(await createDatabase())
    onTestFinished(direct.stop)
    const first = await startNode(direct.database.url)
    onTestFinished(first.stop)
    const { api, key } = await direct.partner(first.url, { limited: true })
    await times(20, () => api.get('/v1/usage'))
    await first.stop()
    const second = await startNode(direct.database.url)
    onTestFinished(second.stop)
    const usage = (await openApi(second.url, key).get('/v1/usage')).json
    expect(usage.day.used).toBe(21)
  })
})

describe('contract §5: without a valid key', () => {
  test('an address is limited, a valid key from it is not, and neither is another address', async () => {
    const { key } = await service.partner({ limited: true })
    const stranger = from('198.51.100.1', `svc_test_sk_${'x'.repeat(43)}`)
    await roomInMinute(8)
    const replies = await times(100, () => stranger('/v1/customers'))
    expect(replies.map(({ json }) => json.error.code)).toEqual(Array(100).fill('invalid_api_key'))
    expect(replies.map(left).sort((a, b) => a - b)).toEqual([...Array(100).keys()])
    const refused = await stranger('/v1/customers')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    expect(refused.json.error.message).not.toContain('key_')
    expect((await from('198.51.100.1')('/v1/customers')).status).toBe(429)
    // The key is so new that the node's list of valid keys may not have it yet. A 429 consumes nothing.
    const welcome = await eventually(async () => {
      const reply = await from('198.51.100.1', key)('/v1/usage')
      expect(reply.status).toBe(200)
      return reply
    })
    expect(left(welcome)).toBe(99)
    expect((await from('198.51.100.2')('/v1/customers')).json.error.code).toBe('missing_authorization')
  })

  test('a request from an address that the key does not allow counts for the address and not for the key', async () => {
    const { key } = await service.partner({ limited: true, ip_allowlist: ['203.0.113.0/24'] })
    await roomInMinute(5)
    for (const [i, expected] of [99, 98, 97].entries()) {
      const reply = await from('198.51.100.3', key)('/v1/usage')
      expect([reply.json.error.code, left(reply)], `${i}`).toEqual(['ip_not_allowed', expected])
    }
    expect(left(await from('203.0.113.9', key)('/v1/usage'))).toBe(99)
  })

  test('health and docs show the window of the address and consume none of it', async () => {
    const visitor = from('198.51.100.4')
    await roomInMinute(5)
    for (const path of ['/healthz', '/readyz', '/docs', '/openapi.json', '/nothing', '/healthz']) {
      const reply = await visitor(path)
      expect([reply.headers.get('x-ratelimit-limit'), left(reply)], path).toEqual(['100', 100])
    }
    await visitor('/v1/usage')
    expect(left(await visitor('/healthz'))).toBe(99)
  })
})

test('GET /v1/usage shows what is used, what is left and when the window resets, and counts itself', async () => {
  const { api } = await service.partner({ limited: true, scopes: ['webhooks'] })
  await roomInMinute(5)
  await api.get('/v1/usage')
  const { json } = await api.get('/v1/usage')
  const minute = Date.now() - (Date.now() % 60_000) + 60_000
  const day = Date.now() - (Date.now() % 86_400_000) + 86_400_000
  expect(json.minute).toEqual({
    limit: 100,
    used: 2,
    remaining: 98,
    resets_at: new Date(minute).toISOString(),
  })
  expect(json.day).toEqual({
    limit: 10_000,
    used: 2,
    remaining: 9998,
    resets_at: new Date(day).toISOString(),
  })
})

const log = pino({ level: 'silent' })

/** A limiter as a server opens it, over the given database. */
async function openNode(
  database: TestDatabase,
  waits: { try_exclusive_ms?: number; wait_ms?: number; mark_wait_ms?: number } = {},
): Promise<Limiter> {
  const seat = seatAt(database.url, 'shared', 'trilho')
  const hints = openHints(seat, log)
  const limiter = await openLimiter({ seat, clock: systemClock(), hints, log, ...waits })
  let stopping: Promise<void> | undefined
  const stop = () => (stopping ??= limiter.stop().then(hints.stop))
  onTestFinished(stop)
  return { ...limiter, stop }
}

describe('an endpoint with a limit of its own', () => {
  const limited = endpoint({
    name: 'test.limited',
    route: 'POST /v1/limited',
    summary: 'Limited',
    limit_per_minute: 3,
    body: Fields({}),
    reply: { status: 200, schema: T.Object({}) },
    errors: [],
  })

  test('refuses in its own window, leaves the others untouched, and is shown in the usage', async () => {
    const direct = openDirectAccess(await createDatabase())
    onTestFinished(direct.stop)
    const seat = seatAt(direct.database.url, 'shared', 'trilho')
    const hints = openHints(seat, log)
    onTestFinished(hints.stop)
    const keyring = openKeyring({ worlds: direct.worlds, hints, log })
    onTestFinished(keyring.stop)
    const limiter = await openLimiter({ seat, clock: systemClock(), hints, log })
    onTestFinished(limiter.stop)
    const handlers = [handle(limited, async () => ({})), ...limitsRoutes(limiter, [limited])]
    const app = buildServer({
      endpoints: handlers.map(({ endpoint }) => endpoint),
      handlers: { production: handlers, sandbox: handlers },
      gate: createGate({ keyring, limiter, clock: systemClock(), trusted_proxies: [], in_flight: 100 }),
      public_url: () => 'http://127.0.0.1',
      log,
    })
    const { key, key_id } = await direct.partner('http://127.0.0.1', { limited: true })
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    onTestFinished(() => app.close())
    const authorization = `Bearer ${key}`
    const post = () =>
      fetch(`${url}/v1/limited`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: '{}',
      })
    const usage = async (): Promise<any> =>
      (await fetch(`${url}/v1/usage`, { headers: { authorization } })).json()
    await roomInMinute(8)
    const replies = await times(6, post)
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429, 429])
    const refused = replies.find(({ status }) => status === 429)!
    expect(((await refused.json()) as any).error.message).toContain('3 per minute for POST /v1/limited')
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    // The headers show the key's minute, which is not full.
    expect(refused.headers.get('x-ratelimit-limit')).toBe('100')
    expect(left(refused)).toBe(97)
    expect(await usage()).toMatchObject({
      minute: { used: 4 },
      day: { used: 4 },
      endpoints: [{ endpoint: 'POST /v1/limited', limit: 3, used: 3, remaining: 0 }],
    })
    // Custom limits replace the endpoint's own.
    await setKeyLimits(direct.worlds.sandbox, key_id, { endpoint_per_minute: 5 })
    await promptly(async () => (await usage()).endpoints[0].limit === 5, 1000)
    const more = await times(4, post)
    expect(more.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429])
  })

  test('is one more window of the key, after the minute of the headers', () => {
    const limits = limitsOf('standard', none, none)
    expect(windowLimitsOf(limits, undefined).map(({ name }) => name)).toEqual(['minute', 'day'])
    expect(windowLimitsOf(limits, limited).map(({ name, limit }) => [name, limit])).toEqual([
      ['minute', 100],
      ['day', 10_000],
      ['POST /v1/limited', 3],
    ])
  })
})

/** Many callers at once send requests until refused; returns how many were admitted. */
async function drain(
  limiters: () => readonly Limiter[],
  subject: string,
  want: WindowLimit,
  pause_ms = () => Math.random() * 20,
): Promise<{ accepted: number; failed: number }> {
  let accepted = 0
  let failed = 0
  await times(40, async (i) => {
    for (let turn = i; ; turn++) {
      const nodes = limiters()
      const verdict = await nodes[turn % nodes.length]!.take(subject, [want]).catch(() => undefined)
      if (verdict?.refused) return
      if (verdict) accepted++
      else failed++
      await sleep(pause_ms())
    }
  })
  return { accepted, failed }
}

describe('contract §6: with several nodes the windows are exact', () => {
  let database: TestDatabase
  let direct: ReturnType<typeof openDirectAccess>
  beforeAll(async () => {
    database = await createDatabase()
    direct = openDirectAccess(database)
  })
  beforeEach(() => roomInDay(60))
  afterAll(() => direct.stop())

  /** Nothing but the test ends the waits of such a node. */
  const patient = { wait_ms: 600_000, mark_wait_ms: 600_000 }

  /** The connections of nodes that count together. */
  const members = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND granted AND objid = 7415302
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

  const countOf = async (subject: string) => {
    const rows = await asAdmin(database.url, [
      `SELECT count FROM shared.windows WHERE subject = '${subject}'`,
    ])
    return rows[0]?.count
  }

  test('300 requests at once, over two servers, on a key of 100 a minute: 100 are admitted', async () => {
    const one = await spawnServer(testEnv(database.url))
    onTestFinished(() => one.kill('SIGKILL'))
    const two = await startNode(database.url)
    onTestFinished(two.stop)
    const burst = async () => {
      const { key } = await direct.partner(one.url, { limited: true })
      const servers = [openApi(one.url, key), openApi(two.url, key)]
      await roomInMinute(8)
      const replies = await times(300, (i) => servers[i % 2]!.get('/v1/usage'))
      // Even in a slow run: within one minute `remaining` never has the same value twice.
      const places = replies
        .filter(({ status }) => status === 200)
        .map((reply) => `${reply.headers.get('x-ratelimit-reset')} ${left(reply)}`)
      expect(new Set(places).size).toBe(places.length)
      return replies
    }
    // On a busy machine the minute may end meanwhile, or a request may wait too long: then the burst proves nothing.
    const isTelling = (burst: Awaited<ReturnType<Api['get']>>[]) =>
      new Set(burst.map(({ headers }) => headers.get('x-ratelimit-reset'))).size === 1 &&
      burst.every(({ status }) => status !== 503)
    let replies = await burst()
    while (!isTelling(replies)) replies = await burst()
    const accepted = replies.filter(({ status }) => status === 200)
    expect(accepted.map(left).sort((a, b) => a - b)).toEqual([...Array(100).keys()])
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(200)
  })

  test('a node that joins under load, and one that leaves, changes no count', async () => {
    const first = await openNode(database, { try_exclusive_ms: 30 })
    let nodes = [first]
    let joins = 0
    // Slowly until enough nodes have joined: a busy machine takes seconds to open one.
    const pause_ms = () => (joins <= 3 ? 100 : Math.random() * 20)
    const load = drain(() => nodes, 'key_joined', { name: 'day', kind: 'day', limit: 6000 }, pause_ms)
    let over = false
    void load.finally(() => {
      over = true
    })
    for (; joins < 50 && !over; joins++) {
      await sleep(20)
      const second = await openNode(database, { try_exclusive_ms: 30 })
      nodes = [first, second]
      await sleep(40)
      nodes = [first]
      await second.stop()
      // Long enough for the remaining node to become exclusive again.
      await sleep(60)
    }
    expect(await load).toEqual({ accepted: 6000, failed: 0 })
    expect(joins).toBeGreaterThan(3)
  })

  test('counts that are under way in the database when a node becomes exclusive are not lost', async () => {
    let seen = await countMeanwhile('key_held')
    // A count waits for its row two seconds at most: on a busy machine it is refused then, and not counted.
    for (let tries = 1; seen.counted < 9; tries++) {
      expect(seen.left).toEqual({ accepted: 10 - seen.counted, failed: 0 })
      seen = await countMeanwhile(`key_held_${tries}`)
    }
    expect(seen).toEqual({ counted: 9, refused: 0, left: { accepted: 1, failed: 0 } })
  })

  /** Takes nine of ten requests: five, one whose row is locked while the other node leaves, and three more. `left`: what the window still admits. */
  async function countMeanwhile(subject: string) {
    const want: WindowLimit = { name: 'day', kind: 'day', limit: 10 }
    const first = await openNode(database, { ...patient, try_exclusive_ms: 30 })
    const second = await openNode(database, { ...patient, try_exclusive_ms: 30 })
    const take = () => first.take(subject, [want]).catch(() => undefined)
    const before = []
    for (let i = 0; i < 5; i++) before.push(await take())
    const holder = new pg.Client({ connectionString: database.url })
    await holder.connect()
    await holder.query(`BEGIN; SELECT FROM shared.windows WHERE subject = '${subject}' FOR UPDATE`)
    const waiting = take()
    await second.stop()
    await sleep(200)
    const more = times(3, take)
    await sleep(100)
    await holder.end()
    const verdicts = [...before, await waiting, ...(await more)].filter((verdict) => verdict !== undefined)
    const refused = verdicts.filter((verdict) => verdict.refused).length
    const left = await drain(() => [first], subject, want)
    await first.stop()
    return { counted: verdicts.length - refused, refused, left }
  }

  test('a server that starts and stops while another one is busy changes no count', async () => {
    const first = await startNode(database.url)
    onTestFinished(first.stop)
    const { key, partner_id } = await direct.partner(first.url, { limited: true })
    await editPartner(direct.shared, partner_id, { per_minute: 10_000, per_day: 1500 })
    let servers = [openApi(first.url, key)]
    const load = times(15, async (i) => {
      const statuses: number[] = []
      for (let turn = i; statuses.at(-1) !== 429; turn++) {
        // A kept-alive connection that closes as it is used again gives no response: its request was not counted.
        const reply = await servers[turn % servers.length]!.get('/v1/usage').catch(() => undefined)
        statuses.push(reply?.status ?? 0)
        await sleep(15)
      }
      return statuses
    })
    await sleep(200)
    const second = await startNode(database.url)
    onTestFinished(second.stop)
    servers = [openApi(first.url, key), openApi(second.url, key)]
    await sleep(300)
    servers = servers.slice(0, 1)
    await second.stop()
    const statuses = (await load).flat()
    expect(statuses.filter((status) => status === 200)).toHaveLength(1500)
    expect(statuses.filter((status) => status === 429)).toHaveLength(15)
  })

  test('three nodes that start at once count together from the first request on', async () => {
    const nodes = await times(3, () => openNode(database))
    const load = drain(() => nodes, 'key_three', { name: 'day', kind: 'day', limit: 1000 })
    expect(await load).toEqual({ accepted: 1000, failed: 0 })
  })

  test.each([1, 2])('a lost connection to the database loses no count: %d nodes', async (size) => {
    const nodes = await times(size, () => openNode(database, { try_exclusive_ms: 30 }))
    const name = `key_lost_${size}`
    const load = drain(() => nodes, name, { name: 'day', kind: 'day', limit: 5000 })
    for (let i = 0; i < 3; i++) {
      await sleep(150)
      await asAdmin(database.url, [
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'trilho' AND datname = current_database()`,
      ])
      await sleep(600)
    }
    const { accepted, failed } = await load
    // A request whose count may not have been stored gets an error: it is never admitted.
    expect(accepted).toBeLessThanOrEqual(5000)
    expect(accepted).toBeGreaterThanOrEqual(5000 - failed)
  })

  test('the next node waits for the unsaved counts of an exclusive node that lost its lock', async () => {
    const want: WindowLimit = { name: 'day', kind: 'day', limit: 10 }
    const first = await openNode(database, patient)
    await times(2, () => first.take('key_left', [want]))
    await until(async () => (await countOf('key_left')) === 2, 5000)
    const holder = new pg.Client({ connectionString: database.url })
    await holder.connect()
    await holder.query(`BEGIN; SELECT FROM shared.windows WHERE subject = 'key_left' FOR UPDATE`)
    await times(3, () => first.take('key_left', [want]))
    await asAdmin(database.url, [
      `SELECT pg_terminate_backend(pid) FROM pg_locks
       WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND classid = 0 AND objid = 7415302
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    ])
    const second = await openNode(database, patient)
    const verdicts = times(20, () => second.take('key_left', [want]))
    await sleep(100)
    await holder.end()
    expect((await verdicts).filter(({ refused }) => !refused)).toHaveLength(5)
  })

  test('shared nodes do not count while a former exclusive node has counts to save', async () => {
    const want: WindowLimit = { name: 'day', kind: 'day', limit: 10 }
    const [first] = await times(2, () => openNode(database, patient))
    await first!.take('key_marked', [want])
    await asAdmin(database.url, [`INSERT INTO shared.lone_node (node) VALUES ('another')`])
    const verdict = first!.take('key_marked', [want])
    await sleep(100)
    await asAdmin(database.url, [
      `BEGIN; UPDATE shared.windows SET count = 10 WHERE subject = 'key_marked'; DELETE FROM shared.lone_node; COMMIT`,
    ])
    expect((await verdict).refused).toBeDefined()
  })

  test('the usage of a hundred keys is read with one statement', async () => {
    const want: WindowLimit = { name: 'day', kind: 'day', limit: 10 }
    const [first, second] = await times(2, () => openNode(database))
    const subjects = Array.from({ length: 100 }, (_, i) => `key_shown_${i}`)
    await first!.take(subjects[1]!, [want])
    await times(2, () => second!.take(subjects[2]!, [want]))
    const used = await Promise.all(subjects.map((subject) => first!.used(subject, [want])))
    expect(used.flat()).toEqual([0, 1, 2, ...Array(97).fill(0)])

    const client = await openClient(seatAt(database.url, 'shared'))
    onTestFinished(() => client.end())
    const statements = vi.spyOn(client, 'query')
    const stored = await Promise.all(subjects.map((subject) => countersOf(client, subject)))
    expect(stored.flat().map(({ subject, count }) => [subject, count])).toEqual([
      [subjects[1], 1],
      [subjects[2], 2],
    ])
    expect(statements).toHaveBeenCalledTimes(1)
  })

  test('reads of usage that wait keep no node from taking its lock again', async () => {
    const want: WindowLimit = { name: 'day', kind: 'day', limit: 10 }
    const waits = { ...patient, try_exclusive_ms: 600_000 }
    const nodes = [await openNode(database, waits), await openNode(database, waits)]
    const release = await holdLock(database.url, 'shared.windows')
    const reading = times(2000, (i) => nodes[i % 2]!.used(`key_read_${i % 100}`, [want]))
    try {
      await until(() => isLockAwaited(database.url), 20_000)
      await asAdmin(database.url, [
        `SELECT pg_terminate_backend(pid, 10000) FROM (${members} LIMIT 1) AS member`,
      ])
      await until(async () => (await asAdmin(database.url, [members])).length === 2, 20_000)
    } finally {
      await release()
    }
    expect((await reading).flat()).toEqual(Array(2000).fill(0))
  })

  test('an exclusive node that is killed loses at most the last second, and the next one starts at once', async () => {
    const killed = await spawnServer(testEnv(database.url))
    onTestFinished(() => killed.kill('SIGKILL'))
    const { key, key_id, api } = await direct.partner(killed.url, { limited: true })
    await times(30, () => api.get('/v1/usage'))
    // Counts are saved every second; a busy machine takes longer.
    const saved = `SELECT FROM shared.windows WHERE strpos(subject, '${key_id}') > 0 AND name = 'day' AND count >= 30`
    await until(async () => (await asAdmin(database.url, [saved])).length > 0, 20_000)
    await times(5, () => api.get('/v1/usage'))
    await killed.kill('SIGKILL')
    const started = performance.now()
    const next = await startNode(database.url)
    onTestFinished(next.stop)
    expect(performance.now() - started).toBeLessThan(30_000)
    const { used } = (await openApi(next.url, key).get('/v1/usage')).json.day
    expect(used).toBeGreaterThanOrEqual(31)
    expect(used).toBeLessThanOrEqual(36)
  })
})

test('endBackend ends the lost connection, and not another one that has its pid', async () => {
  const database = await createDatabase()
  onTestFinished(database.drop)
  const seat = seatAt(database.url, 'shared', 'trilho')
  const next = await openClient(seat)
  onTestFinished(() => next.end())
  const client = await openClient(seat)
  const lost = await findBackend(client)
  const ended = new Promise((resolve) => client.once('end', resolve))
  // The same pid, but of another server, or of an earlier connection.
  await endBackend(next, { ...lost, server_started: '2026-01-01 00:00:00+00' })
  await endBackend(next, { ...lost, met_at: lost.server_started })
  expect((await client.query('SELECT 1 AS n')).rows[0].n).toBe(1)
  await endBackend(next, lost)
  await ended
})
