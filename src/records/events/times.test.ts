import { afterAll, beforeAll, expect, test } from 'vitest'
import { asAdmin } from '../../../test/support/database.ts'
import { startTestService, type TestService } from '../../../test/support/service.ts'

/** A time range is a range of the log, whatever the clocks did. */
let service: TestService
beforeAll(async () => {
  service = await startTestService({ WEBHOOK_ALLOW_PRIVATE: 'true' })
})
afterAll(() => service.stop())

const admin = (...statements: string[]) =>
  asAdmin(service.database.url, ['SET search_path = sandbox', ...statements])
const ids = ({ json }: { json: { data: { id: string }[] } }) => json.data.map(({ id }) => id)

test('an event whose node was ahead of the database is found by its time', async () => {
  const { api, partner_id } = await service.partner()
  const [{ at }] = (await admin(
    `INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at)
     VALUES ('evt_ahead', '${partner_id}', 'customer.created', 'cus_ahead', 1, '{"id":"cus_ahead"}', clock_timestamp() + interval '20 seconds')
     RETURNING created_at AS at`,
  )) as [{ at: Date }]
  const from = new Date(at.getTime() - 1000).toISOString()
  expect(ids(await api.get('/v1/events'))).toContain('evt_ahead')
  expect(ids(await api.get(`/v1/events?created_after=${from}`))).toEqual(['evt_ahead'])
  const made = await api.post('/v1/webhook_endpoints', {
    url: 'http://127.0.0.1:8099/',
    events: ['customer.created'],
  })
  const range = { from, to: new Date(at.getTime() + 1000).toISOString() }
  const again = await api.post(`/v1/webhook_endpoints/${made.json.id}/redeliver`, range)
  expect(again.json).toEqual({ redelivered: 1 })
})

test('a redelivery gets past an instant that has more events than one call takes', async () => {
  const { api, partner_id } = await service.partner()
  // The earliest event has the last position: it committed late, but not late enough to be marked `late`.
  await admin(
    `INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at, position)
     SELECT 'evt_dense' || n, '${partner_id}', 'customer.created', 'cus_dense' || n, 1, '{}',
       to_timestamp(1700000000 + CASE n WHEN 10500 THEN 0 ELSE n / 10000.0 END), 1700000000000000 + 100 * n + 1000
     FROM generate_series(1, 10500) n`,
  )
  const made = await api.post('/v1/webhook_endpoints', {
    url: 'http://127.0.0.1:8099/',
    events: ['deposit.completed'],
  })
  let from: string | undefined = new Date(1_700_000_000_000).toISOString()
  for (let calls = 0; from; calls++) {
    expect(calls).toBeLessThan(4)
    const { json } = await api.post(`/v1/webhook_endpoints/${made.json.id}/redeliver`, {
      from,
      to: '2024-01-01T00:00:00Z',
    })
    expect(json).toEqual({ redelivered: 0, ...(json.next_from && { next_from: expect.any(String) }) })
    from = json.next_from
  }
})

test('a redelivery takes late events in parts, also when a clock was set back and there are many', async () => {
  const { api, partner_id } = await service.partner()
  await admin(
    `INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at, position, late)
     SELECT 'evt_back' || n, '${partner_id}', 'customer.created', 'cus_back' || n, 1, '{}',
       to_timestamp(1600000000 + n / 100.0), 1600003600000000 + n, true FROM generate_series(1, 5000) n`,
  )
  const made = await api.post('/v1/webhook_endpoints', {
    url: 'http://127.0.0.1:8099/',
    events: ['customer.created'],
  })
  const parts: number[] = []
  for (let from: string | undefined = '2020-01-01T00:00:00Z'; from && parts.length < 9; ) {
    const range = { from, to: '2021-01-01T00:00:00Z' }
    const { json } = await api.post(`/v1/webhook_endpoints/${made.json.id}/redeliver`, range)
    parts.push(json.redelivered)
    from = json.next_from
  }
  expect(parts).toEqual([2000, 2000, 1000])
})
