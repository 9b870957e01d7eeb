import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../src/node/config.ts'
import { startService } from '../../src/node/serve.ts'
import { LANES_MAX } from '../../src/webhooks/lanes.ts'
import type { Api } from '../support/api.ts'
import { asAdmin } from '../support/database.ts'
import { expectIntact } from '../support/intact.ts'
import { times } from '../support/parallel.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { startTestService, type TestService, testEnv } from '../support/service.ts'
import { size } from '../support/size.ts'
import { until } from '../support/wait.ts'

/** Many deliveries at once to receivers that answer at once: taken ahead, and written down together. */
const MANY = size(4000, 1200)
const ENV = {
  WEBHOOK_ALLOW_PRIVATE: 'true',
  WEBHOOK_PER_SECOND: '1000000',
  // Some receivers keep attempts waiting while the test does something else.
  WEBHOOK_TIMEOUT_MS: '30000',
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

const admin = (...statements: string[]) => asAdmin(service.database.url, statements)
const create = async (api: Api, url: string) =>
  (await api.post('/v1/webhook_endpoints', { url, events: ['pix.payout.completed'] })).json.id as string
const sample = (api: Api) => api.post('/v1/sandbox/events/pix.payout.completed')

/** So many deliveries are due there at once; nobody is told of them. */
async function flood(partner_id: string, id: string, count: number): Promise<void> {
  await admin(
    'SET session_replication_role = replica',
    `INSERT INTO sandbox.events (id, partner_id, type, object_id, sequence, data, created_at, position)
     SELECT '${id}' || n, '${partner_id}', 'pix.payout.completed', 'po_${id}' || n, 1, '{}', now(), nextval('sandbox.event_log') FROM generate_series(1, ${count}) n`,
    `INSERT INTO sandbox.webhook_deliveries (event_id, endpoint_id, next_attempt_at, created_at)
     SELECT '${id}' || n, '${id}', now(), now() FROM generate_series(1, ${count}) n`,
  )
}

const statusesOf = async (id: string): Promise<Record<string, number>> =>
  Object.fromEntries(
    (
      await admin(
        `SELECT status, count(*)::integer AS n FROM sandbox.webhook_deliveries WHERE endpoint_id = '${id}' GROUP BY status`,
      )
    ).map(({ status, n }) => [status, n]),
  )
const isDone = (id: string) => until(async () => !('pending' in (await statusesOf(id))), 60_000)
const idsOf = ({ received }: Receiver) => received.map(({ json }) => json.id as string)

test('two nodes share a flood: each event is sent once', async () => {
  const config = readConfig(testEnv(service.database.url, ENV))
  const fail = (error: Error) => {
    throw error
  }
  const second = await startService({ config, print: () => {}, onFatal: fail })
  onTestFinished(second.stop)
  const { api, partner_id } = await service.partner()
  const target = await receiver()
  const id = await create(api, target.url)
  await flood(partner_id, id, MANY)
  await isDone(id)
  expect(await statusesOf(id)).toEqual({ delivered: MANY })
  expect(idsOf(target)).toHaveLength(MANY)
  expect(new Set(idsOf(target)).size).toBe(MANY)
  const [row] = await admin(
    `SELECT count(*)::integer AS n, max(attempt) AS most FROM sandbox.webhook_attempts WHERE endpoint_id = '${id}'`,
  )
  expect(row).toEqual({ n: MANY, most: 1 })
})

test('a node that stops leaves what it took ahead to the other, and nothing is lost', async () => {
  const config = readConfig(testEnv(service.database.url, ENV))
  const fail = (error: Error) => {
    throw error
  }
  const second = await startService({ config, print: () => {}, onFatal: fail })
  let stopping: Promise<void> | undefined
  const stop = () => (stopping ??= second.stop())
  onTestFinished(stop)
  const { api, partner_id } = await service.partner()
  const target = await receiver((_, response) => {
    if (target.received.length === 200) void stop()
    response.end()
  })
  const id = await create(api, target.url)
  await flood(partner_id, id, MANY)
  await isDone(id)
  await stop()
  expect(await statusesOf(id)).toEqual({ delivered: MANY })
  expect(new Set(idsOf(target)).size).toBe(MANY)
})

test('an endpoint of a partner that keeps us waiting holds up no other one of it', async () => {
  const { api, partner_id } = await service.partner()
  const let_go: (() => void)[] = []
  let waits = true
  const slow = await receiver((_, response) => {
    if (waits) let_go.push(() => void response.end())
    else response.end()
  })
  const quick = await receiver()
  const slow_id = await create(api, slow.url)
  const quick_id = await create(api, quick.url)
  await flood(partner_id, slow_id, 100)
  await until(() => let_go.length > 0, 20_000)
  await flood(partner_id, quick_id, MANY)
  await isDone(quick_id)
  expect(await statusesOf(quick_id)).toEqual({ delivered: MANY })
  expect(await statusesOf(slow_id)).toEqual({ pending: 100 })
  waits = false
  for (const go of let_go) go()
  await isDone(slow_id)
})

describe('what was taken ahead', () => {
  test('is not sent any more when its endpoint was disabled', async () => {
    const { api, partner_id } = await service.partner()
    // From then on it keeps what it gets waiting, so that much is left when the endpoint is disabled.
    const let_go: (() => void)[] = []
    let waits = true
    const target = await receiver((_, response) => {
      if (waits && target.received.length > 300) let_go.push(() => void response.end())
      else response.end()
    })
    const id = await create(api, target.url)
    await flood(partner_id, id, MANY)
    await until(() => let_go.length > 0, 20_000)
    await api.patch(`/v1/webhook_endpoints/${id}`, { status: 'disabled' })
    const sent = target.received.length
    waits = false
    for (const go of let_go) go()
    await isDone(id)
    const { delivered, canceled } = await statusesOf(id)
    expect(delivered! + canceled!).toBe(MANY)
    expect(canceled).toBeGreaterThan(0)
    // Those that were under way at that moment.
    expect(target.received.length - sent).toBeLessThanOrEqual(LANES_MAX)
    await until(async () => (await statusesOf(id)).delivered === target.received.length, 20_000)
  })

  test('is not sent to a receiver that says yes and then asks for no more', async () => {
    const { api, partner_id } = await service.partner()
    const target = await receiver((_, response) =>
      response.writeHead(target.received.length > 200 ? 410 : 200).end(),
    )
    const id = await create(api, target.url)
    await flood(partner_id, id, MANY)
    await isDone(id)
    expect((await api.get(`/v1/webhook_endpoints/${id}`)).json).toMatchObject({ disabled_reason: 'gone' })
    // Those that were under way at that moment, twice over.
    expect(target.received.length).toBeLessThanOrEqual(200 + 2 * LANES_MAX)
  })
})

test('events of many partners reach each receiver, while one of them is flooded', async () => {
  const loud = await service.partner()
  const flooded = await receiver()
  const id = await create(loud.api, flooded.url)
  await flood(loud.partner_id, id, MANY)
  const quiet = await Promise.all(
    times(5, async () => {
      const { api } = await service.partner()
      const target = await receiver()
      await create(api, target.url)
      return { api, target }
    }),
  )
  for (const { api, target } of quiet) {
    const { json } = await sample(api)
    await until(() => idsOf(target).includes(json.id), 20_000)
  }
  await isDone(id)
  expect(new Set(idsOf(flooded)).size).toBe(MANY)
})

test('afterwards the books are right', () => expectIntact(service))
