import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, openApi, type Reply } from '../../../test/support/api.ts'
import { asAdmin } from '../../../test/support/database.ts'
import { expectIntact } from '../../../test/support/intact.ts'
import { scrape } from '../../../test/support/metrics.ts'
import { startNode } from '../../../test/support/node.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { until } from '../../../test/support/wait.ts'
import { newId } from '../../core/ids.ts'
import { editPartner } from '../../parties/partners/partners.ts'
import { openRequestRecorder } from './recorder.ts'
import { forgetRequests } from './store.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

const idOf = ({ headers }: Reply) => headers.get('x-request-id')!
const log = async (api: Api, query: Record<string, string> = {}) =>
  (await api.get(`/v1/requests?${new URLSearchParams(query)}`)).json
/** Waits until the request is in the log, and returns its entry. */
async function logged(api: Api, reply: Reply): Promise<any> {
  const path = `/v1/requests/${idOf(reply)}`
  await until(async () => (await api.get(path)).status === 200, 10_000)
  return (await api.get(path)).json
}
const rowsOf = (partner_id: string) =>
  asAdmin(service.database.url, [`SELECT * FROM sandbox.requests WHERE partner_id = '${partner_id}'`])

describe('a request is in the log', () => {
  test('with its key, route, status, time and the object it created', async () => {
    const { api, key_id } = await service.partner()
    const made = await api.post('/v1/customers', { name: 'Ana', document: someCpf() })
    expect(await logged(api, made)).toEqual({
      id: idOf(made),
      key_id,
      method: 'POST',
      route: '/v1/customers',
      status: 201,
      duration_ms: expect.any(Number),
      address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
      object_id: made.json.id,
      created_at: expect.any(String),
    })
    const read = await api.get(`/v1/customers/${made.json.id}/balances`)
    expect(await logged(api, read)).toMatchObject({
      route: '/v1/customers/{customer_id}/balances',
      object_id: made.json.id,
    })
  })

  test('with the error code of a refusal, also from the gate or a stored response', async () => {
    const { api, partner_id } = await service.partner()
    const customer_id = (await api.post('/v1/customers', { name: 'Ana', document: someCpf() })).json.id
    const reader = (await service.partner({ partner_id, scopes: ['read'] })).api
    const payout = () =>
      api.post('/v1/pix/payouts', {
        customer_id,
        amount: '100',
        counterparty: { type: 'pix_key', pix_key: 'ana@example.com' },
        idempotency_key: 'poor',
      })
    const refusals: [Reply, string, number][] = [
      [await api.post('/v1/customers', {}), 'invalid_request', 400],
      [await api.get('/v1/nothing/here'), 'route_not_found', 404],
      [await reader.post('/v1/customers', {}), 'insufficient_scope', 403],
      [await payout(), 'insufficient_balance', 422],
      [await payout(), 'insufficient_balance', 422],
    ]
    for (const [reply, error_code, status] of refusals)
      expect(await logged(api, reply)).toMatchObject({ error_code, status })
    expect(await logged(api, refusals[1]![0])).not.toHaveProperty('route')

    const limited = await service.partner({ limited: true })
    await editPartner(service.shared, limited.partner_id, { per_day: 1 })
    let refused!: Reply
    await until(async () => {
      refused = await limited.api.get('/v1/usage')
      return refused.status === 429
    }, 10_000)
    const row = async () => (await rowsOf(limited.partner_id)).find(({ id }) => id === idOf(refused))
    await until(async () => (await row()) !== undefined, 10_000)
    expect(await row()).toMatchObject({ status: 429, error_code: 'rate_limit_exceeded' })
  })

  test('newest first, page by page, by status, key and time; and in no other partner’s log', async () => {
    const { api, partner_id, key_id } = await service.partner()
    const second = await service.partner({ partner_id })
    const stranger = await service.partner()
    // Requests of one millisecond have no order.
    const apart = (reply: Reply) => sleep(2, reply)
    const replies = [
      await apart(await api.get('/v1/customers')),
      await apart(await second.api.get('/v1/usage')),
      await api.get('/v1/nothing'),
    ]
    for (const reply of replies) await logged(api, reply)
    const mine = replies.map(idOf)
    const ids = async (query: Record<string, string>) => (await log(api, query)).data.map(({ id }: any) => id)
    const all = await ids({ limit: '100' })
    expect(all.filter((id: string) => mine.includes(id))).toEqual(mine.toReversed())
    expect(await ids({ key_id: second.key_id })).toEqual([mine[1]])
    const missing = await log(api, { status: '404', limit: '100' })
    expect(missing.data.map(({ status }: any) => status)).toEqual(missing.data.map(() => 404))
    expect(missing.data.map(({ id }: any) => id)).toContain(mine[2])
    const [first, last] = [await logged(api, replies[0]!), await logged(api, replies[2]!)]
    const range = { created_after: first.created_at, created_before: last.created_at }
    expect(await ids({ ...range, key_id, limit: '100' })).toContain(mine[0])

    const page = await log(api, { key_id, limit: '1' })
    expect(page.has_more).toBe(true)
    const next = await log(api, { key_id, limit: '1', cursor: page.next_cursor })
    expect(next.data[0].id).not.toBe(page.data[0].id)

    // The same for a follower: a page examines a limited number of requests that the filter excludes.
    const rows = Array.from(
      { length: 1500 },
      () => `('${newId('request', Date.now())}', '${partner_id}', 'key_x', 'GET', 200, 1, '::1', now())`,
    )
    await asAdmin(service.database.url, [
      `INSERT INTO sandbox.requests (id, partner_id, api_key_id, method, status, duration_ms, address, created_at) VALUES ${rows.join(', ')}`,
      `INSERT INTO sandbox.requests (id, partner_id, api_key_id, method, status, duration_ms, address, created_at)
       VALUES ('${newId('request', Date.now())}', '${partner_id}', 'key_y', 'GET', 599, 1, '::1', now())`,
    ])
    const halfway = await log(api, { after: idOf(replies[2]!), status: '599', wait: '30' })
    expect(halfway).toMatchObject({ data: [], has_more: true })
    const found = await log(api, { after: halfway.next_cursor, status: '599', wait: '30' })
    expect(found.data.map(({ status }: any) => status)).toEqual([599])

    for (const path of [`/v1/requests/${mine[0]}`, `/v1/requests?after=${mine[0]}`])
      expect((await stranger.api.get(path)).json.error.code).toBe('request_not_found')
    expect((await log(stranger.api, { key_id })).data).toEqual([])
    const live = await service.partner({ partner_id, environment: 'production' })
    expect((await live.api.get(`/v1/requests/${mine[0]}`)).status).toBe(404)
    expect((await log(live.api, { limit: '100' })).data.map(({ id }: any) => id)).not.toContain(mine[0])
  })

  test('in one order for followers, and at once for waiting callers', async () => {
    const { api, key } = await service.partner()
    const other = await startNode(service.database.url)
    try {
      const there = openApi(other.url, key)
      const start = (await log(api, { after: 'now' })).next_cursor
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, i) => (i % 2 ? api : there).get('/v1/usage')),
      )
      const seen = new Set<string>()
      let after = start
      while (made.some((reply) => !seen.has(idOf(reply)))) {
        const page = await log(api, { after, wait: '10', limit: '7' })
        for (const { id } of page.data) {
          expect(seen.has(id)).toBe(false)
          seen.add(id)
        }
        after = page.next_cursor
      }
      expect((await log(api, { after: idOf(made[0]!), limit: '1' })).data).toHaveLength(1)
    } finally {
      await other.stop()
    }
    for (const [query, param] of [
      ['after=nonsense', 'after'],
      ['after=start&cursor=e30', 'cursor'],
      ['status=abc', 'status'],
      ['wait=31', 'wait'],
    ])
      expect((await api.get(`/v1/requests?${query}`)).json.error.param).toBe(param)
    // A text that is no key id matches no request.
    for (const key_id of ['\0', 'nonsense'])
      expect((await log(api, { after: 'start', key_id })).data).toEqual([])
  })
})

describe('what is not in the log', () => {
  test('any part of a body, a query or a path: documents, Pix keys, names', async () => {
    const { api, partner_id } = await service.partner()
    const document = someCpf()
    const customer_id = (await api.post('/v1/customers', { name: 'Nadir Nunca', document })).json.id
    const replies = [
      await api.get(`/v1/customers?document=${document}`),
      await api.get(`/v1/pix/keys/${document}?customer_id=${customer_id}`),
      await api.get('/v1/pix/keys/nadir@example.com'),
      await api.get('/v1/customers/nadir-nunca'),
      await api.get('/v1/Nadir/Nunca?nadir=1'),
    ]
    for (const reply of replies) await logged(api, reply)
    const text = JSON.stringify(await rowsOf(partner_id), (_, value) =>
      typeof value === 'bigint' ? '' : value,
    )
    expect(text).not.toContain(document)
    expect(text.toLowerCase()).not.toContain('nadir')
  })

  test('requests without a valid key: they belong to no partner', async () => {
    const { api, key } = await service.partner()
    const nobody = openApi(service.url, undefined)
    const guess = openApi(service.url, `${key.slice(0, -4)}aaaa`)
    const refused = [
      await nobody.get('/v1/usage'),
      await guess.get('/v1/usage'),
      await nobody.get('/healthz'),
    ]
    await logged(api, await api.get('/v1/usage'))
    const ids = refused.map((reply) => `'${idOf(reply)}'`).join(', ')
    const found = await asAdmin(service.database.url, [
      `SELECT id FROM sandbox.requests WHERE id IN (${ids}) UNION ALL SELECT id FROM live.requests WHERE id IN (${ids})`,
    ])
    expect(found).toEqual([])
  })

  test('requests beyond a partner’s daily share, and rate-limit refusals beyond a tenth of it', async () => {
    const left_out: string[] = []
    const recorder = openRequestRecorder({
      worlds: service.worlds,
      log: pino({ level: 'silent' }),
      per_day: 50,
      onLeftOut: (_, reason, count) => left_out.push(...Array<string>(count).fill(reason)),
    })
    const world = service.worlds.sandbox
    const record = (partner_id: string, status: number) =>
      recorder.record({
        ...{ id: newId('request', Date.now()), by: { world, partner_id, key_id: 'key_x' } },
        ...{ method: 'GET', route: '/v1/usage', status, error_code: null },
        ...{ elapsed_ms: 1, address: '192.0.2.1', object_id: null },
      })
    for (let i = 0; i < 200; i++) record('ptn_flood', 429)
    for (let i = 0; i < 200; i++) record('ptn_flood', 200)
    record('ptn_quiet', 200)
    await recorder.stop()
    const flood = await rowsOf('ptn_flood')
    expect(flood).toHaveLength(50)
    expect(flood.filter(({ status }) => status === 429)).toHaveLength(5)
    expect(await rowsOf('ptn_quiet')).toHaveLength(1)
    expect(left_out).toEqual(Array(350).fill('share'))
  })

  test('requests older than the retention', async () => {
    const days = (n: number) => Date.now() - n * 86_400_000
    const old = newId('request', days(31))
    const young = newId('request', days(29))
    await asAdmin(
      service.database.url,
      [old, young].map(
        (
          id,
        ) => `INSERT INTO sandbox.requests (id, partner_id, api_key_id, method, status, duration_ms, address, created_at)
          VALUES ('${id}', 'ptn_old', 'key_x', 'GET', 200, 1, '192.0.2.1', now())`,
      ),
    )
    await forgetRequests(service.worlds.sandbox.db, new Date(days(30)))
    expect((await rowsOf('ptn_old')).map(({ id }) => id)).toEqual([young])
    await expect(service.worlds.sandbox.db.query('DELETE FROM requests')).rejects.toMatchObject({
      code: '42501',
    })
  })
})

test('a database that blocks the log delays no response: lost requests are counted, later ones are logged', async () => {
  const { api } = await service.partner()
  const unlogged = async () => {
    const text = await scrape(service.url)
    return Number(
      /trilho_requests_unlogged_total\{environment="sandbox",reason="database"\} (\d+)/.exec(text)?.[1] ?? 0,
    )
  }
  const before = await unlogged()
  // Another transaction holds the lock of the log and hangs.
  const holder = new pg.Client({ connectionString: service.database.url, options: '-c search_path=sandbox' })
  await holder.connect()
  await holder.query('BEGIN')
  await holder.query(
    `SELECT pg_advisory_xact_lock(hashtextextended('place requests ' || current_schema(), 0))`,
  )
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => api.post('/v1/customers', { name: 'Ana', document: someCpf() })),
  )
  expect(replies.every(({ status }) => status === 201)).toBe(true)
  await until(async () => (await unlogged()) > before, 20_000)
  await holder.query('COMMIT')
  await holder.end()
  await logged(api, await api.get('/v1/usage'))
})

test('a node that stops logs the requests it has answered', async () => {
  const node = await startNode(service.database.url)
  const { api, key } = await service.partner()
  const reply = await openApi(node.url, key).get('/v1/usage')
  await node.stop()
  expect((await api.get(`/v1/requests/${idOf(reply)}`)).status).toBe(200)
})

test('afterwards the books are right', () => expectIntact(service))
