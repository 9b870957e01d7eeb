import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Api } from '../../test/support/api.ts'
import { asAdmin, isLockAwaited } from '../../test/support/database.ts'
import { expectIntact } from '../../test/support/intact.ts'
import { scrape } from '../../test/support/metrics.ts'
import { openReceiver, type Receiver, verifies } from '../../test/support/receiver.ts'
import { retryUntilAnswered } from '../../test/support/retry.ts'
import { someCpf, startTestService, type TestService } from '../../test/support/service.ts'
import { slowness, until } from '../../test/support/wait.ts'
import { eventTypes } from '../records/events/types.ts'

const ENV = {
  EVENT_RETENTION_DAYS: '90',
  WEBHOOK_ALLOW_PRIVATE: 'true',
  WEBHOOK_RETRY_MS: '50,50,50',
  // Longer than a busy machine stands still: a receiver that answers at once does so in time.
  WEBHOOK_TIMEOUT_MS: '30000',
  LEASE_MS: '4000',
}

let service: TestService
beforeAll(async () => {
  service = await startTestService(ENV)
})
afterAll(() => service.stop())

async function receiver(...args: Parameters<typeof openReceiver>): Promise<Receiver> {
  const opened = await openReceiver(...args)
  onTestFinished(opened.stop)
  return opened
}

/** All event types but those of keys: the event of the test's own key may still be under way. */
const kinds = eventTypes.filter((kind) => !kind.startsWith('api_key'))
const create = async (api: Api, url: string, events: readonly string[] = kinds) => {
  const reply = await api.post('/v1/webhook_endpoints', { url, events })
  expect(reply.status).toBe(201)
  return reply.json as { id: string; secret: string }
}
const addCustomer = async (api: Api) =>
  (await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })).json
const sample = async (api: Api, kind = 'pix.payout.completed') =>
  (await api.post(`/v1/sandbox/events/${kind}`)).json
const read = async (api: Api, id: string) => (await api.get(`/v1/webhook_endpoints/${id}`)).json
const deliveryOf = async (api: Api, id: string, event_id: string) =>
  (await api.get(`/v1/webhook_endpoints/${id}/deliveries/${event_id}`)).json
/** Waits until the delivery has ended. */
async function ended(api: Api, id: string, event_id: string) {
  await until(
    async () => !['pending', undefined].includes((await deliveryOf(api, id, event_id)).status),
    10_000,
  )
  return deliveryOf(api, id, event_id)
}

describe('an event is delivered', () => {
  test('with the object as GET shows it, signed, to every endpoint that is subscribed to its type', async () => {
    const { api } = await service.partner()
    const [all, some, none] = [await receiver(), await receiver(), await receiver()]
    const endpoint = await create(api, `${all.url}/hooks?a=1`)
    await create(api, some.url, ['customer.created'])
    await create(api, none.url, ['pix.payout.failed'])
    const customer = await addCustomer(api)
    const { json: deposit } = await api.post('/v1/sandbox/deposits', {
      customer_id: customer.id,
      asset: 'BRL',
      amount: '5000',
    })
    const { json: payout } = await api.post('/v1/pix/payouts', {
      customer_id: customer.id,
      amount: '1000',
      counterparty: { type: 'pix_key', pix_key: 'ana@example.com' },
      idempotency_key: 'one',
    })
    await until(() => all.received.length === 5, 5000)
    expect(all.received.map(({ json }) => json.type).sort()).toEqual([
      'customer.created',
      'deposit.completed',
      'pix.payout.completed',
      'pix.payout.created',
      'pix.payout.processing',
    ])
    expect(some.received.map(({ json }) => json.data.object)).toEqual([customer])
    const objectOf = (type: string) => all.received.find(({ json }) => json.type === type)!.json.data.object
    expect(objectOf('deposit.completed')).toEqual(deposit)
    expect(objectOf('pix.payout.completed')).toEqual((await api.get(`/v1/pix/payouts/${payout.id}`)).json)
    for (const request of all.received) {
      const { id, created_at, environment, sequence } = request.json
      expect(request.path).toBe('/hooks?a=1')
      expect(Object.keys(request.json)).toEqual([
        'id',
        'type',
        'created_at',
        'environment',
        'sequence',
        'data',
      ])
      expect([environment, request.headers['webhook-id']]).toEqual(['sandbox', id])
      expect(request.headers['content-type']).toBe('application/json')
      expect(sequence).toBeGreaterThan(0)
      expect(Date.now() - Date.parse(created_at)).toBeLessThan(30_000)
      expect(verifies(endpoint.secret, request)).toBe(true)
      expect(verifies(endpoint.secret, { ...request, body: `${request.body} ` })).toBe(false)
      expect((await api.get(`/v1/events/${id}`)).json).toEqual(request.json)
    }
    expect(none.received).toEqual([])
  })

  test('and its delivery shows the request and the response', async () => {
    const { api } = await service.partner()
    const target = await receiver(
      (_, response) =>
        void response.setHeader('server', 's'.repeat(5000)).setHeader('x-secret', 'hi').end('thanks\0é'),
    )
    const { id, secret } = await create(api, target.url)
    const event = await sample(api)
    const delivery = await ended(api, id, event.id)
    expect(delivery).toMatchObject({
      event_id: event.id,
      endpoint_id: id,
      status: 'delivered',
      type: event.type,
    })
    expect(delivery.body).toBe(target.received[0]!.body)
    const [attempt] = delivery.attempts
    expect(attempt.request.url).toBe(target.url)
    expect(verifies(secret, { body: delivery.body, headers: attempt.request.headers })).toBe(true)
    expect(attempt.answer).toMatchObject({ status: 200, body: 'thanks\ufffdé' })
    expect(Object.keys(attempt.answer.headers).sort()).toEqual(['content-length', 'date', 'server'])
    expect(attempt.answer.headers.server).toBe('s'.repeat(256))
    expect(JSON.stringify(attempt.request)).not.toContain(secret.slice(6))
    const list = (await api.get(`/v1/webhook_endpoints/${id}/deliveries`)).json
    expect(list).toEqual({ data: [delivery], has_more: false, next_cursor: null })
    const none = (await api.get(`/v1/webhook_endpoints/${id}/deliveries?status=pending`)).json
    expect(none.data).toEqual([])
  })

  test('again until the receiver accepts it, with the same bytes and a new timestamp and signature', async () => {
    const { api } = await service.partner()
    let left = 2
    const target = await receiver((_, response) => void response.writeHead(left-- > 0 ? 500 : 204).end())
    const { id, secret } = await create(api, target.url)
    const event = await sample(api)
    const delivery = await ended(api, id, event.id)
    expect(delivery.status).toBe('delivered')
    expect(delivery.attempts.map(({ answer }: any) => answer.status)).toEqual([500, 500, 204])
    expect(new Set(target.received.map(({ body }) => body)).size).toBe(1)
    expect(target.received.every((request) => verifies(secret, request))).toBe(true)
    await until(async () => !('failing_since' in (await read(api, id))), 10_000)
  })

  test('until the schedule is used up; then the delivery is exhausted, and can be redelivered', async () => {
    const { api } = await service.partner()
    let works = false
    const target = await receiver((_, response) => void response.writeHead(works ? 200 : 503).end())
    const { id } = await create(api, target.url)
    const event = await sample(api)
    const failed = await ended(api, id, event.id)
    expect([failed.status, failed.attempts.length]).toEqual(['exhausted', 4])
    await until(async () => 'failing_since' in (await read(api, id)), 10_000)
    works = true
    expect((await api.post(`/v1/events/${event.id}/redeliver`)).json).toEqual({ redelivered: 1 })
    const again = await ended(api, id, event.id)
    expect([again.status, again.attempts.length]).toEqual(['delivered', 5])
    await until(async () => !('failing_since' in (await read(api, id))), 10_000)
  })

  test('when its retry is due, also while other deliveries keep the workers busy', async () => {
    const { api } = await service.partner()
    const other = await service.partner()
    const busy = await receiver()
    await create(other.api, busy.url)
    let left = 2
    const target = await receiver((_, response) => void response.writeHead(left-- > 0 ? 500 : 200).end())
    const { id } = await create(api, target.url)
    let done = false
    const stream = Array.from({ length: 4 }, async () => {
      while (!done) await sample(other.api)
    })
    const event = await sample(api)
    await ended(api, id, event.id)
    const busy_at_the_end = busy.received.length
    await sample(other.api)
    await until(() => busy.received.length > busy_at_the_end, 10_000)
    done = true
    await Promise.all(stream)
    expect(target.received).toHaveLength(3)
    expect(target.received[2]!.at - target.received[0]!.at).toBeLessThan(30_000 * slowness())
  })

  test('to its own partner and environment only', async () => {
    const one = await service.partner()
    const other = await service.partner()
    const live = await service.partner({ partner_id: one.partner_id, environment: 'production' })
    const target = await receiver()
    const endpoint = await create(one.api, target.url)
    await addCustomer(other.api)
    await addCustomer(live.api)
    const mine = await addCustomer(one.api)
    await until(() => target.received.length > 0, 5000)
    await sleep(400)
    expect(target.received.map(({ json }) => json.data.object.id)).toEqual([mine.id])
    const event_id = target.received[0]!.json.id
    const foreign = [
      ['get', `/v1/events/${event_id}`, 'event_not_found'],
      ['post', `/v1/events/${event_id}/redeliver`, 'event_not_found'],
      ['get', `/v1/events?after=${event_id}`, 'event_not_found'],
      ['get', `/v1/webhook_endpoints/${endpoint.id}`, 'webhook_endpoint_not_found'],
      ['delete', `/v1/webhook_endpoints/${endpoint.id}`, 'webhook_endpoint_not_found'],
      ['post', `/v1/webhook_endpoints/${endpoint.id}/test`, 'webhook_endpoint_not_found'],
      ['post', `/v1/webhook_endpoints/${endpoint.id}/rotate_secret`, 'webhook_endpoint_not_found'],
      ['get', `/v1/webhook_endpoints/${endpoint.id}/deliveries`, 'webhook_endpoint_not_found'],
      ['get', `/v1/webhook_endpoints/${endpoint.id}/deliveries/${event_id}`, 'webhook_endpoint_not_found'],
    ] as const
    for (const client of [other.api, live.api]) {
      for (const [method, path, code] of foreign)
        expect((await client[method](path)).json.error.code).toBe(code)
      const patched = await client.patch(`/v1/webhook_endpoints/${endpoint.id}`, { status: 'disabled' })
      expect(patched.json.error.code).toBe('webhook_endpoint_not_found')
      expect((await client.get('/v1/webhook_endpoints')).json.data).toEqual([])
      expect((await client.get(`/v1/events?object_id=${mine.id}`)).json.data).toEqual([])
    }
  })
})

test('an event that is being deleted is not redelivered', async () => {
  const { api } = await service.partner()
  const event = await sample(api)
  const { id } = await create(api, 'https://nobody.invalid/')
  const keeper = new pg.Client({ connectionString: service.database.url })
  await keeper.connect()
  onTestFinished(() => keeper.end())
  await keeper.query(
    `UPDATE sandbox.events SET created_at = now() - interval '100 days' WHERE id = '${event.id}'`,
  )
  await keeper.query('BEGIN')
  await keeper.query(`SELECT sandbox.forget_old_events(now() - interval '90 days', '', 100000)`)
  let answered = false
  const asked = api.post(`/v1/events/${event.id}/redeliver`, { endpoint_id: id }).finally(() => {
    answered = true
  })
  await until(async () => answered || (await isLockAwaited(service.database.url)), 10_000)
  await keeper.query('COMMIT')
  expect((await asked).json.error.code).toBe('event_not_found')
})

describe('which responses count as delivered', () => {
  /** The result of an event whose receiver responds like this every time. */
  async function fate(answer: Parameters<typeof openReceiver>[0], at = service) {
    const { api } = await at.partner()
    const target = await receiver(answer)
    const { id } = await create(api, target.url)
    const event = await sample(api)
    const delivery = await ended(api, id, event.id)
    return { delivery, target }
  }

  test.each([200, 201, 202, 204, 299])('%i is success', async (status) => {
    const { delivery } = await fate((_, response) => void response.writeHead(status).end())
    expect([delivery.status, delivery.attempts.length]).toEqual(['delivered', 1])
  })

  test.each([300, 301, 302, 303, 307, 308, 400, 401, 404, 429, 500, 502])(
    '%i is failure, and no redirect is followed',
    async (status) => {
      const elsewhere = await receiver()
      const { delivery } = await fate(
        (_, response) => void response.writeHead(status, { location: `${elsewhere.url}/moved` }).end(),
      )
      expect([delivery.status, delivery.attempts.length]).toEqual(['exhausted', 4])
      expect(delivery.attempts.map(({ answer }: any) => answer.status)).toEqual(Array(4).fill(status))
      expect(elsewhere.connections()).toBe(0)
    },
  )

  test('a receiver that hangs, closes the connection or sends slowly is a failure within the time-out', async () => {
    const hasty = await startTestService({ ...ENV, WEBHOOK_TIMEOUT_MS: '2000' })
    onTestFinished(hasty.stop)
    const [silent, gone, drip] = await Promise.all([
      fate(() => {}, hasty),
      fate((_, response) => void response.destroy(), hasty),
      fate((_, response) => {
        const timer = setInterval(() => response.write('.'), 50)
        response.once('close', () => clearInterval(timer))
      }, hasty),
    ])
    for (const { delivery } of [silent, gone, drip]) {
      expect([delivery.status, delivery.attempts.length]).toEqual(['exhausted', 4])
      for (const { error, duration_ms } of delivery.attempts) {
        expect(error.length).toBeGreaterThan(5)
        expect(duration_ms).toBeLessThan(30_000)
      }
    }
    expect(silent.delivery.attempts[0].error).toBe('no answer within 2000 ms')
    expect(drip.delivery.attempts.at(-1).answer.body).toMatch(/^\.+$/)
  })

  test('an endless response is cut off, and its status counts', async () => {
    const endless = (status: number) => (_: unknown, response: any) => {
      response.writeHead(status)
      const pour = () => {
        while (response.write('x'.repeat(16_384)));
      }
      response.on('drain', pour)
      pour()
    }
    const yes = await fate(endless(200))
    expect([yes.delivery.status, yes.delivery.attempts[0].answer.body.length]).toEqual(['delivered', 1024])
    const no = await fate(endless(500))
    expect(no.delivery.status).toBe('exhausted')
    expect(no.delivery.attempts.map(({ answer }: any) => answer.body.length)).toEqual([0, 4096, 4096, 4096])
  })

  test('Retry-After is respected', async () => {
    const { api } = await service.partner()
    let left = 1
    const target = await receiver((_, response) => {
      if (left-- > 0) response.writeHead(429, { 'retry-after': '1' })
      response.end()
    })
    const { id } = await create(api, target.url)
    const event = await sample(api)
    await ended(api, id, event.id)
    const [first, second] = target.received
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(1000)
  })

  test('410 disables the endpoint', async () => {
    const { api } = await service.partner()
    let gone = true
    const target = await receiver((_, response) => void response.writeHead(gone ? 410 : 200).end())
    const { id } = await create(api, target.url)
    const event = await sample(api)
    await until(async () => (await read(api, id)).status === 'disabled', 5000)
    expect(await read(api, id)).toMatchObject({ disabled_reason: 'gone' })
    await ended(api, id, event.id)
    await sleep(400)
    expect(target.received.length).toBe(1)
    gone = false
    await api.patch(`/v1/webhook_endpoints/${id}`, { status: 'enabled' })
    // The pending deliveries were canceled, and can be redelivered.
    expect((await deliveryOf(api, id, event.id)).status).toBe('canceled')
    expect((await api.post(`/v1/events/${event.id}/redeliver`)).json).toEqual({ redelivered: 1 })
    expect((await ended(api, id, event.id)).status).toBe('delivered')
  })

  test('five days of failures only disable the endpoint, and its events are kept', async () => {
    const { api } = await service.partner()
    let works = false
    const target = await receiver((_, response) => void response.writeHead(works ? 200 : 500).end())
    const { id } = await create(api, target.url)
    const first = await sample(api)
    await ended(api, id, first.id)
    const age = (days: string) =>
      asAdmin(service.database.url, [
        `UPDATE sandbox.webhook_endpoints SET failing_since = now() - interval '${days}' WHERE id = '${id}'`,
      ])
    await age('4 days 23 hours')
    const from = (await sample(api)).created_at
    await sleep(600)
    expect((await read(api, id)).status).toBe('enabled')
    await age('5 days 1 hour')
    const last = await sample(api)
    await until(async () => (await read(api, id)).status === 'disabled', 5000)
    expect(await read(api, id)).toMatchObject({ disabled_reason: 'failing' })
    const missed = await sample(api)
    const refused = await api.post(`/v1/webhook_endpoints/${id}/redeliver`, {
      from,
      to: '2999-01-01T00:00:00Z',
    })
    expect(refused.json.error.code).toBe('webhook_endpoint_disabled')
    // The events must be in the log: only those can be redelivered.
    const placed = async () => (await api.get('/v1/events?limit=100')).json.data.map(({ id }: any) => id)
    await until(async () => (await placed()).includes(missed.id), 5000)
    works = true
    const enabled = await api.patch(`/v1/webhook_endpoints/${id}`, { status: 'enabled' })
    expect(enabled.json).not.toHaveProperty('disabled_reason')
    const again = await api.post(`/v1/webhook_endpoints/${id}/redeliver`, {
      from,
      to: '2999-01-01T00:00:00Z',
    })
    // The three events, and webhook_endpoint.disabled.
    expect(again.json.redelivered).toBe(4)
    for (const { id: event_id } of [last, missed])
      expect((await ended(api, id, event_id)).status).toBe('delivered')
  })
})

describe('an endpoint', () => {
  test('is created, listed, changed and deleted', async () => {
    const { api } = await service.partner()
    const target = await receiver()
    const made = await api.post('/v1/webhook_endpoints', {
      url: target.url,
      events: ['customer.created', 'customer.created'],
      description: 'One',
    })
    const { secret, ...shown } = made.json
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(shown).toMatchObject({ events: ['customer.created'], status: 'enabled', description: 'One' })
    expect(await read(api, shown.id)).toEqual(shown)
    expect((await api.get('/v1/webhook_endpoints')).json.data).toEqual([shown])
    const path = `/v1/webhook_endpoints/${shown.id}`
    const changed = await api.patch(path, { events: ['*'], description: null, status: 'disabled' })
    expect(changed.json).toMatchObject({ events: ['*'], status: 'disabled', disabled_reason: 'by_request' })
    expect(changed.json).not.toHaveProperty('description')
    await addCustomer(api)
    // The event must get its log position before the endpoint is enabled again: a disabled endpoint gets none.
    const logged = async () => (await api.get('/v1/events?type=customer.created')).json.data.length
    await until(async () => (await logged()) === 1, 5000)
    expect((await api.post(`${path}/test`)).json.error.code).toBe('webhook_endpoint_disabled')
    expect((await api.patch(path, { status: 'enabled' })).json.status).toBe('enabled')
    expect((await api.patch(path, {})).json.error.code).toBe('invalid_request')
    expect((await api.delete(path)).status).toBe(204)
    expect((await api.delete(path)).json.error.code).toBe('webhook_endpoint_not_found')
    expect((await api.get(path)).json.error.code).toBe('webhook_endpoint_not_found')
    expect((await api.get('/v1/webhook_endpoints')).json.data).toEqual([])
    await addCustomer(api)
    await sleep(400)
    expect(target.received).toEqual([])
  })

  test('whose URL changes is no longer failing', async () => {
    const { api } = await service.partner()
    const { id } = await create(api, 'http://127.0.0.1:9000/')
    const path = `/v1/webhook_endpoints/${id}`
    await asAdmin(service.database.url, [
      `UPDATE sandbox.webhook_endpoints SET failing_since = now() - interval '4 days' WHERE id = '${id}'`,
    ])
    for (const change of [{ description: 'One' }, { url: 'http://127.0.0.1:9000/' }])
      expect((await api.patch(path, change)).json).toHaveProperty('failing_since')
    const moved = await api.patch(path, { url: 'http://127.0.0.1:9000/new' })
    expect(moved.json).not.toHaveProperty('failing_since')
  })

  test('can be tested with an event for it alone, which a receiver can recognise', async () => {
    const { api } = await service.partner()
    const [target, other] = [await receiver(), await receiver()]
    const { id, secret } = await create(api, target.url, ['pix.payout.failed'])
    await create(api, other.url)
    const sent = await api.post(`/v1/webhook_endpoints/${id}/test`)
    expect(sent.json).toMatchObject({ type: 'webhook_endpoint.test', status: 'pending', attempts: [] })
    await api.post(`/v1/webhook_endpoints/${id}/test`)
    await until(() => target.received.length === 2, 5000)
    expect(target.received.map(({ json }) => json.sequence).sort()).toEqual([1, 2])
    expect(target.received[0]!.json.data.object).toEqual(await read(api, id))
    expect(target.received.every((request) => verifies(secret, request))).toBe(true)
    expect(JSON.stringify(target.received)).not.toContain('whsec_')
    await sleep(300)
    expect(other.received).toEqual([])
  })

  test('gets a test response that shows the delivery before its first attempt, however quick the receiver is', async () => {
    const { api } = await service.partner()
    const target = await receiver()
    const { id } = await create(api, target.url)
    const sent = await Promise.all(
      // On a busy machine a call may wait too long for the others, and is made again.
      Array.from({ length: 60 }, () =>
        retryUntilAnswered(() => api.post(`/v1/webhook_endpoints/${id}/test`), { cut: 0, unavailable: 0 }),
      ),
    )
    for (const { json } of sent) expect(json).toMatchObject({ status: 'pending', attempts: [] })
    await until(() => target.received.length >= sent.length, 10_000)
  })

  test('signs with both secrets while one is rotated', async () => {
    const { api } = await service.partner()
    const target = await receiver()
    const { id, secret: first } = await create(api, target.url)
    const path = `/v1/webhook_endpoints/${id}/rotate_secret`
    const sendOne = async () => {
      const before = target.received.length
      await sample(api)
      await until(() => target.received.length > before, 5000)
      return target.received.at(-1)!
    }
    const rotated = (await api.post(path)).json
    const hours = (Date.parse(rotated.previous_secret_until) - Date.now()) / 3_600_000
    expect(Math.round(hours)).toBe(24)
    const both = await sendOne()
    expect([verifies(first, both), verifies(rotated.secret, both)]).toEqual([true, true])
    const now = (await api.post(`${path}?grace_hours=0`)).json
    expect(now).not.toHaveProperty('previous_secret_until')
    const one = await sendOne()
    expect([first, rotated.secret, now.secret].map((secret) => verifies(secret, one))).toEqual([
      false,
      false,
      true,
    ])
    for (const bad of ['-1', '169', '1.5', '']) {
      expect((await api.post(`${path}?grace_hours=${bad}`)).json.error.param).toBe('grace_hours')
    }
  })

  test('is one of at most 20, however many are created at once', async () => {
    const { api } = await service.partner()
    const made = await Promise.all(
      Array.from({ length: 30 }, () =>
        api.post('/v1/webhook_endpoints', { url: 'https://example.com/', events: ['*'] }),
      ),
    )
    expect(made.filter(({ status }) => status === 201)).toHaveLength(20)
    for (const { json } of made.filter(({ status }) => status !== 201))
      expect(json.error.code).toBe('too_many_webhook_endpoints')
    const first = (await api.get('/v1/webhook_endpoints?limit=15')).json
    const rest = (await api.get(`/v1/webhook_endpoints?limit=15&cursor=${first.next_cursor}`)).json
    expect(new Set([...first.data, ...rest.data].map(({ id }: any) => id)).size).toBe(20)
    await api.delete(`/v1/webhook_endpoints/${first.data[0].id}`)
    expect(
      (await api.post('/v1/webhook_endpoints', { url: 'https://example.com/', events: ['*'] })).status,
    ).toBe(201)
  })

  test('has its secret in clear in no table', async () => {
    const { api } = await service.partner()
    const { secret } = await create(api, 'https://example.com/')
    const bare = Buffer.from(secret.slice(6), 'base64')
    const [row] = await asAdmin(service.database.url, [
      `SELECT string_agg(w::text, '') AS text FROM sandbox.webhook_endpoints w`,
    ])
    expect(row!.text).not.toContain(secret.slice(6))
    expect(row!.text).not.toContain(bare.toString('hex'))
  })
})

test('the sandbox makes a sample of every event type, shaped like the real event', async () => {
  const { api } = await service.partner()
  const target = await receiver()
  await create(api, target.url)
  for (const kind of kinds) {
    const event = await sample(api, kind)
    expect(event).toMatchObject({ type: kind, environment: 'sandbox' })
    const state = kind.split('.').at(-1)!
    const status = { created: 'pending', returned: 'completed' }[state] ?? state
    if (/^(pix|onchain|trade)\./.test(kind)) expect(event.data.object.status).toBe(status)
  }
  await until(() => target.received.length === kinds.length, 5000)
  for (const kind of eventTypes) expect((await sample(api, kind)).type).toBe(kind)
  const unknown = await api.post('/v1/sandbox/events/no.such.kind')
  expect(unknown.json.error).toMatchObject({ code: 'invalid_request', param: 'kind' })
})

test('the metrics show the state of the queue', async () => {
  const text = await scrape(service.url)
  expect(text).toMatch(/trilho_webhook_attempts_total\{environment="sandbox",outcome="delivered"\} [1-9]/)
  for (const outcome of ['failed', 'exhausted']) expect(text).toContain(`outcome="${outcome}"`)
  for (const name of ['trilho_events_fresh', 'trilho_webhook_pending', 'trilho_webhook_oldest_due_seconds'])
    expect(text).toMatch(new RegExp(`${name}\\{environment="sandbox"\\} [0-9]`))
  expect(text).toMatch(/trilho_webhook_lag_seconds_count\{environment="sandbox"\} [1-9]/)
})

test('afterwards the books are right', () => expectIntact(service))
