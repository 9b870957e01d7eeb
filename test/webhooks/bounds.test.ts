import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Api } from '../support/api.ts'
import { asAdmin } from '../support/database.ts'
import { expectIntact } from '../support/intact.ts'
import { times } from '../support/parallel.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { roomInMinute, until } from '../support/wait.ts'

/** What a partner's webhooks may cost: bytes, rows, redeliveries, and what is polled for. */
let service: TestService
beforeAll(async () => {
  service = await startTestService({
    WEBHOOK_ALLOW_PRIVATE: 'true',
    // Some receivers keep attempts waiting while the test does something else.
    WEBHOOK_TIMEOUT_MS: '30000',
    WEBHOOK_RETRY_MS: '20,20,20',
  })
})
afterAll(() => service.stop())

async function receiver(...args: Parameters<typeof openReceiver>): Promise<Receiver> {
  const opened = await openReceiver(...args)
  onTestFinished(opened.stop)
  return opened
}

const admin = (...statements: string[]) => asAdmin(service.database.url, statements)
const create = async (api: Api, url: string, events = ['pix.payout.completed']) => {
  const made = await api.post('/v1/webhook_endpoints', { url, events })
  expect(made.status).toBe(201)
  return made.json.id as string
}
const sample = async (api: Api) => (await api.post('/v1/sandbox/events/pix.payout.completed')).json
const deliveryOf = async (api: Api, id: string, event_id: string) =>
  (await api.get(`/v1/webhook_endpoints/${id}/deliveries/${event_id}`)).json
async function ended(api: Api, id: string, event_id: string) {
  const isOver = async () => !['pending', undefined].includes((await deliveryOf(api, id, event_id)).status)
  await until(isOver, 20_000)
  return deliveryOf(api, id, event_id)
}
const pendingOf = async (id: string): Promise<number> =>
  (
    await admin(
      `SELECT count(*)::integer AS n FROM sandbox.webhook_deliveries WHERE endpoint_id = '${id}' AND status = 'pending'`,
    )
  )[0]!.n as number
/** Deliveries that are due in an hour, as if they had failed before; the events have their places in the log. */
const addPending = (partner_id: string, id: string, count: number) =>
  admin(
    'SET session_replication_role = replica',
    `INSERT INTO sandbox.events (id, partner_id, type, object_id, sequence, data, created_at, position)
     SELECT '${id}' || n, '${partner_id}', 'pix.payout.completed', 'po_${id}' || n, 1, '{}', now(), nextval('sandbox.event_log') FROM generate_series(1, ${count}) n`,
    addDeliveries(id, count),
  )
const addDeliveries = (id: string, count: number) =>
  `INSERT INTO sandbox.webhook_deliveries (event_id, endpoint_id, attempts, tries, next_attempt_at, created_at)
   SELECT '${id}' || n, '${id}', 1, 1, now() + interval '1 hour', now() FROM generate_series(1, ${count}) n`

describe('of what receivers answer', () => {
  const shout = (_: unknown, response: any) =>
    void response.writeHead(500, { 'x-noise': 'n'.repeat(9000) }).end('x'.repeat(30_000))

  test('4 KiB of the body and a few headers are kept, of the last three attempts, and 20 attempts in all', async () => {
    const { api, partner_id } = await service.partner()
    const target = await receiver(shout)
    const id = await create(api, target.url)
    const event = await sample(api)
    await ended(api, id, event.id)
    // As if it had been redelivered again and again.
    await admin(
      `UPDATE sandbox.webhook_deliveries SET attempts = 30 WHERE endpoint_id = '${id}'`,
      `INSERT INTO sandbox.webhook_attempts (event_id, endpoint_id, attempt, url, headers, status, answer_headers, answer_body, started_at, duration_ms)
       SELECT event_id, endpoint_id, n, url, headers, status, answer_headers, answer_body, started_at, duration_ms
       FROM sandbox.webhook_attempts, generate_series(5, 30) n WHERE endpoint_id = '${id}' AND attempt = 4`,
    )
    await api.post(`/v1/events/${event.id}/redeliver`)
    await ended(api, id, event.id)
    expect(target.received).toHaveLength(8)
    const [kept] = await admin(
      `SELECT count(*)::integer AS attempts, count(answer_body)::integer AS bodies, max(octet_length(answer_body)) AS longest,
         max(octet_length(answer_headers::text)) AS headers FROM sandbox.webhook_attempts WHERE endpoint_id = '${id}'`,
    )
    expect(kept).toMatchObject({ attempts: 20, bodies: 3, longest: 4096 })
    expect(kept!.headers).toBeLessThan(500)
    const { attempts } = await deliveryOf(api, id, event.id)
    expect(attempts.map(({ attempt }: any) => attempt)).toEqual(times(20, (i) => i + 15))
    const [told] = await admin(
      `SELECT bytes FROM sandbox.webhook_answer_bytes WHERE partner_id = '${partner_id}'`,
    )
    expect(Number(told!.bytes)).toBeGreaterThan(8 * 4096)
  })

  test('nothing is kept beyond so many bytes a day, but that and how each attempt ended is', async () => {
    const { api, partner_id } = await service.partner()
    const target = await receiver(shout)
    const id = await create(api, target.url)
    await admin(
      `INSERT INTO sandbox.webhook_answer_bytes VALUES ('${partner_id}', (now() AT TIME ZONE 'UTC')::date, 32 * 1024 * 1024)
       ON CONFLICT (partner_id, day) DO UPDATE SET bytes = excluded.bytes`,
      // If the day ends in the middle of this, the next one is used up too.
      `INSERT INTO sandbox.webhook_answer_bytes VALUES ('${partner_id}', (now() AT TIME ZONE 'UTC')::date + 1, 32 * 1024 * 1024)
       ON CONFLICT DO NOTHING`,
    )
    const event = await sample(api)
    const { status, attempts } = await ended(api, id, event.id)
    expect([status, attempts.length]).toEqual(['exhausted', 4])
    for (const { answer } of attempts) expect(answer).toEqual({ status: 500, headers: {}, body: '' })
    // Another partner's day is its own.
    const other = await service.partner()
    const other_id = await create(other.api, target.url)
    const heard = await ended(other.api, other_id, (await sample(other.api)).id)
    expect(heard.attempts.at(-1).answer.body).toHaveLength(4096)
  })
})

describe('redelivery', () => {
  test('may be asked for ten times a minute with a key, of events and of ranges together', async () => {
    const { api, partner_id } = await service.partner()
    const target = await receiver()
    const id = await create(api, target.url)
    const event = await sample(api)
    await ended(api, id, event.id)
    const other = await service.partner({ partner_id })
    await roomInMinute(20)
    const range = { from: event.created_at, to: '2999-01-01T00:00:00Z' }
    const ask = (i: number) =>
      i % 2 === 0
        ? api.post(`/v1/events/${event.id}/redeliver`)
        : api.post(`/v1/webhook_endpoints/${id}/redeliver`, range)
    for (let i = 0; i < 10; i++) expect((await ask(i)).json).toEqual({ redelivered: 1 })
    for (const i of [0, 1]) {
      const refused = await ask(i)
      expect([refused.status, refused.json.error.code]).toEqual([429, 'too_many_redeliveries'])
      expect(refused.json.error.type).toBe('rate_limit_error')
      expect(refused.headers.get('retry-after')).toMatch(/^[1-9][0-9]?$/)
    }
    // Counted by key; whatever else the key does is not touched by it.
    expect((await other.api.post(`/v1/events/${event.id}/redeliver`)).status).toBe(200)
    expect((await api.get('/v1/events')).status).toBe(200)
  })

  test('is refused while 50,000 deliveries wait for the endpoint, and fills it up to that', async () => {
    const { api } = await service.partner()
    // From then on it keeps what it gets waiting, so that no room is made meanwhile.
    let held = false
    const target = await receiver((_, response) => void (held || response.end()))
    const id = await create(api, target.url)
    const events = await Promise.all(times(5, () => sample(api)))
    for (const event of events) await ended(api, id, event.id)
    const from = events.map(({ created_at }) => created_at).sort()[0]
    const again = () =>
      api.post(`/v1/webhook_endpoints/${id}/redeliver`, { from, to: '2999-01-01T00:00:00Z' })
    held = true
    await admin(addDeliveries(id, 50_000))
    for (const refused of [
      await again(),
      await api.post(`/v1/events/${events[0].id}/redeliver`),
      await api.post(`/v1/events/${events[0].id}/redeliver`, { endpoint_id: id }),
    ]) {
      expect([refused.status, refused.json.error.code]).toEqual([429, 'too_many_redeliveries'])
      expect(refused.json.error.message).toContain(id)
      expect(refused.headers.get('retry-after')).toBe('60')
    }
    await admin(`DELETE FROM sandbox.webhook_deliveries WHERE event_id IN ('${id}1', '${id}2', '${id}3')`)
    // Looks at no more events than there is room for, and says where to go on.
    const some = (await again()).json
    expect(some.redelivered).toBe(3)
    expect(events.map(({ created_at }) => created_at)).toContain(some.next_from)
    await admin(`DELETE FROM sandbox.webhook_deliveries WHERE event_id LIKE '${id}%'`)
  })

  test('of one event may name an endpoint, and goes to no other', async () => {
    const { api } = await service.partner()
    const [one, two] = [await receiver(), await receiver()]
    const id = await create(api, one.url)
    const deaf = await create(api, two.url, ['deposit.completed'])
    const event = await sample(api)
    await ended(api, id, event.id)
    const again = (body: unknown) => api.post(`/v1/events/${event.id}/redeliver`, body)
    expect((await again({ endpoint_id: deaf })).json).toEqual({ redelivered: 1 })
    await until(() => two.received.length === 1, 10_000)
    expect(two.received[0]!.json).toEqual(event)
    expect(one.received).toHaveLength(1)
    expect((await again({})).json).toEqual({ redelivered: 1 })
    await until(() => one.received.length === 2, 10_000)

    const stranger = await service.partner()
    const foreign = await create(stranger.api, one.url)
    for (const endpoint_id of [foreign, 'whe_01kc3v4x9zq8rj5m2t7w6y0ahb'])
      expect((await again({ endpoint_id })).json.error).toMatchObject({
        code: 'webhook_endpoint_not_found',
        param: 'endpoint_id',
      })
    await api.patch(`/v1/webhook_endpoints/${deaf}`, { status: 'disabled' })
    expect((await again({ endpoint_id: deaf })).json.error.code).toBe('webhook_endpoint_disabled')
    expect((await again({ endpoint: id })).json.error).toMatchObject({
      code: 'invalid_request',
      param: 'endpoint',
    })
  })

  test('of a test event goes to its own endpoint alone', async () => {
    const { api } = await service.partner()
    const [one, two] = [await receiver(), await receiver()]
    const id = await create(api, one.url, ['*'])
    const other = await create(api, two.url, ['*'])
    const sent = await api.post(`/v1/webhook_endpoints/${id}/test`)
    expect([sent.status, sent.json.event_id]).toEqual([201, expect.stringMatching(/^evt_/)])
    await ended(api, id, sent.json.event_id)
    const again = (body?: unknown) => api.post(`/v1/events/${sent.json.event_id}/redeliver`, body)
    expect((await again()).json).toEqual({ redelivered: 1 })
    await ended(api, id, sent.json.event_id)
    expect((await again({ endpoint_id: other })).json.error).toMatchObject({
      code: 'invalid_request',
      param: 'endpoint_id',
    })
    expect((await again({ endpoint_id: id })).json).toEqual({ redelivered: 1 })
    // The key that was just made may be told of, too.
    const tests = ({ received }: Receiver) =>
      received.filter(({ json }) => json.type === 'webhook_endpoint.test')
    await until(() => tests(one).length === 3, 10_000)
    expect(tests(two)).toEqual([])
  })

  test('of a range begins with from and ends before to', async () => {
    const { api } = await service.partner()
    const target = await receiver()
    const id = await create(api, target.url)
    const events = []
    for (let i = 0; i < 3; i++) {
      events.push(await sample(api))
      await sleep(5)
    }
    const [first, , last] = events
    const redelivered = async (from: string, to: string) =>
      (await api.post(`/v1/webhook_endpoints/${id}/redeliver`, { from, to })).json.redelivered
    await ended(api, id, last.id)
    expect(await redelivered(first.created_at, last.created_at)).toBe(2)
    expect(await redelivered(last.created_at, '2999-01-01T00:00:00Z')).toBe(1)
  })
})

describe('nothing stays pending', () => {
  test('after an endpoint was deleted or disabled, however much there was', async () => {
    const { api, partner_id } = await service.partner()
    const target = await receiver()
    for (const end of [
      (id: string) => api.delete(`/v1/webhook_endpoints/${id}`),
      (id: string) => api.patch(`/v1/webhook_endpoints/${id}`, { status: 'disabled' }),
    ]) {
      const id = await create(api, target.url)
      await addPending(partner_id, id, 2500)
      await end(id)
      await until(async () => (await pendingOf(id)) === 0, 20_000)
      const [row] = await admin(
        `SELECT count(*)::integer AS n, count(ended_at)::integer AS ended FROM sandbox.webhook_deliveries
         WHERE endpoint_id = '${id}' AND status = 'canceled'`,
      )
      expect(row).toEqual({ n: 2500, ended: 2500 })
    }
    expect(target.received).toEqual([])
  })

  test('after a 410, and nothing that was claimed is sent any more', async () => {
    const { api, partner_id } = await service.partner()
    const target = await receiver((_, response) => void response.writeHead(410).end())
    const id = await create(api, target.url)
    await addPending(partner_id, id, 1500)
    await admin(`UPDATE sandbox.webhook_deliveries SET next_attempt_at = now() WHERE endpoint_id = '${id}'`)
    await until(async () => (await pendingOf(id)) === 0, 20_000)
    expect((await api.get(`/v1/webhook_endpoints/${id}`)).json).toMatchObject({ disabled_reason: 'gone' })
    // Those of the first moment, and no more.
    expect(target.received.length).toBeLessThan(100)
    const { json } = await api.get(`/v1/webhook_endpoints/${id}/deliveries?status=canceled&limit=1`)
    expect(json.data[0]).toMatchObject({ status: 'canceled', ended_at: expect.any(String) })
    expect(json.data[0]).not.toHaveProperty('next_attempt_at')
  })

  test('of what is pending for an endpoint that is disabled or deleted already', async () => {
    const { api, partner_id } = await service.partner()
    const ids = [await create(api, 'https://example.com/'), await create(api, 'https://example.com/')]
    await api.delete(`/v1/webhook_endpoints/${ids[0]}`)
    await api.patch(`/v1/webhook_endpoints/${ids[1]}`, { status: 'disabled' })
    for (const id of ids) await addPending(partner_id, id, 1200)
    for (const id of ids) await until(async () => (await pendingOf(id)) === 0, 20_000)
  })

  test('but what was under way when its endpoint was disabled, and got through, is called delivered', async () => {
    const { api } = await service.partner()
    let go: () => void = () => {}
    const target = await receiver((_, response) => {
      go = () => void response.end()
    })
    const id = await create(api, target.url)
    const event = await sample(api)
    await until(() => target.received.length === 1, 10_000)
    await api.patch(`/v1/webhook_endpoints/${id}`, { status: 'disabled' })
    expect((await deliveryOf(api, id, event.id)).status).toBe('canceled')
    go()
    await until(async () => (await deliveryOf(api, id, event.id)).status === 'delivered', 10_000)
  })
})

test('a secret is rotated with the grace in the body, in the query, or in both when they agree', async () => {
  const { api } = await service.partner()
  const id = await create(api, 'https://example.com/')
  const path = `/v1/webhook_endpoints/${id}/rotate_secret`
  const hoursOf = ({ json }: { json: any }) =>
    json.previous_secret_until === undefined
      ? 0
      : Math.round((Date.parse(json.previous_secret_until) - Date.now()) / 3_600_000)
  expect(hoursOf(await api.post(path))).toBe(24)
  expect(hoursOf(await api.post(path, {}))).toBe(24)
  expect(hoursOf(await api.post(path, { grace_hours: 168 }))).toBe(168)
  expect(hoursOf(await api.post(`${path}?grace_hours=5`, { grace_hours: 5 }))).toBe(5)
  expect(hoursOf(await api.post(path, { grace_hours: 0 }))).toBe(0)
  const refused = await api.post(`${path}?grace_hours=5`, { grace_hours: 6 })
  expect(refused.json.error).toMatchObject({ code: 'invalid_request', param: 'grace_hours' })
  expect(refused.json.error.message).toContain('5 in the query and 6 in the body')
  for (const grace_hours of [-1, 169, 1.5, '24', null])
    expect((await api.post(path, { grace_hours })).json.error.param).toBe('grace_hours')
})

test('afterwards the books are right', () => expectIntact(service))
