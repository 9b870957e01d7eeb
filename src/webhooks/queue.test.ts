import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  asAdmin,
  createDatabase,
  isLockAwaited,
  seatAt,
  type TestDatabase,
} from '../../test/support/database.ts'
import { until } from '../../test/support/wait.ts'
import { openPool, type Pool, transaction } from '../db/pool.ts'
import { forgetEvents } from '../records/events/store.ts'
import { type AttemptResult, recordResults } from './attempt-results.ts'
import {
  addDeliveries,
  endpointsWithPending,
  forgetDeliveries,
  lockOutstanding,
  releaseTaken,
  type TakenDelivery,
  takeDeliveries,
} from './queue.ts'

let database: TestDatabase
let db: Pool
beforeAll(async () => {
  database = await createDatabase()
  db = openPool({ ...seatAt(database.url, 'sandbox'), max: 2 })
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

const endpoint = (id: string, status = 'enabled') =>
  `INSERT INTO sandbox.webhook_endpoints (id, partner_id, url, events, secret, status, created_at)
   VALUES ('${id}', 'ptn ${id}', 'https://example.com/', '{*}', '', '${status}', now())`

test('endpointsWithPending finds deliveries that are due, due soon, or pending for a deleted endpoint', async () => {
  const delivery = (id: string, n: number, due_in: string) =>
    `INSERT INTO sandbox.webhook_deliveries (event_id, endpoint_id, next_attempt_at, created_at)
     VALUES ('evt ${n}', '${id}', now() + interval '${due_in}', now())`
  await asAdmin(database.url, [
    endpoint('due'),
    delivery('due', 1, '-1 second'),
    delivery('due', 2, '30 seconds'),
    endpoint('soon'),
    delivery('soon', 1, '50 seconds'),
    endpoint('later'),
    delivery('later', 1, '1 hour'),
    endpoint('deleted', 'deleted'),
    delivery('deleted', 1, '1 hour'),
    endpoint('idle'),
  ])
  const found = await endpointsWithPending(db, 60_000)
  expect(found.map(({ endpoint_id, enabled }) => [endpoint_id, enabled])).toEqual([
    ['due', true],
    ['soon', true],
    ['deleted', false],
  ])
  expect(found.map(({ partner_id }) => partner_id)).toEqual(['ptn due', 'ptn soon', 'ptn deleted'])
  const [due, soon] = found
  expect(due!.due_in_ms).toBe(0)
  expect(soon!.due_in_ms).toBeGreaterThan(0)
  expect(soon!.due_in_ms).toBeLessThanOrEqual(50_000)
})

let made = 0

/** A delivery that was tried `tries` times and is taken for one more, with functions for its possible results. */
async function takenAfter(tries: number) {
  const event_id = `evt taken ${++made}`
  const endpoint_id = `taken ${made}`
  await asAdmin(database.url, [
    endpoint(endpoint_id),
    `INSERT INTO sandbox.events (id, partner_id, type, object_id, sequence, data, created_at)
     VALUES ('${event_id}', 'ptn ${endpoint_id}', 'customer.created', 'cus ${made}', 1, '{}', now())`,
    `UPDATE sandbox.webhook_deliveries SET attempts = ${tries}, tries = ${tries} WHERE event_id = '${event_id}'`,
  ])
  async function take(): Promise<TakenDelivery> {
    let taken: TakenDelivery | undefined
    await until(async () => {
      ;[taken] = await takeDeliveries(db, new Map([[endpoint_id, 1]]), 3_600_000)
      return taken !== undefined
    }, 10_000)
    return taken!
  }
  async function state() {
    const [row] = await asAdmin(database.url, [
      `SELECT status, attempts, tries, next_attempt_at <= now() AS due,
         ARRAY(SELECT attempt FROM sandbox.webhook_attempts a WHERE a.event_id = d.event_id ORDER BY 1) AS written_down
       FROM sandbox.webhook_deliveries d WHERE event_id = '${event_id}'`,
    ])
    return row
  }
  return { taken: await take(), take, state, sendAgain: () => addDeliveries(db, event_id, [endpoint_id]) }
}

const resultOf = (
  { id, endpoint_id, partner_id, attempts, tries, url }: TakenDelivery,
  result: Pick<AttemptResult, 'status' | 'delivered' | 'retry_ms'>,
): AttemptResult => ({
  event_id: id,
  endpoint_id,
  partner_id,
  attempt: attempts,
  tries,
  lengthy: false,
  url,
  headers: '{}',
  answer_headers: null,
  answer_body: null,
  error: null,
  started_at: new Date(),
  duration_ms: 1,
  ...result,
})
const success = { status: 200, delivered: true, retry_ms: null }

describe('a delivery that is redelivered while an attempt is under way', () => {
  test.each([
    { comes_to: 'its last failure', tries: 9, retry_ms: null },
    { comes_to: 'a failure with a day to wait', tries: 8, retry_ms: 86_400_000 },
  ])('begins anew when that comes to $comes_to', async ({ tries, retry_ms }) => {
    const { taken, sendAgain, take, state } = await takenAfter(tries)
    await sendAgain()
    await recordResults(db, [resultOf(taken, { status: 500, delivered: false, retry_ms })])
    const { attempts } = taken
    expect(await state()).toEqual({
      status: 'pending',
      attempts,
      tries: 0,
      due: true,
      written_down: [attempts],
    })
    const next = await take()
    expect([next.attempts, next.tries]).toEqual([attempts + 1, 1])
    await recordResults(db, [resultOf(next, success)])
    expect(await state()).toMatchObject({ status: 'delivered', written_down: [attempts, attempts + 1] })
  })

  test('is delivered if the attempt succeeds', async () => {
    const { taken, sendAgain, state } = await takenAfter(0)
    await sendAgain()
    await recordResults(db, [resultOf(taken, success)])
    expect(await state()).toMatchObject({ status: 'delivered', written_down: [1] })
  })

  test('has its whole schedule left if the attempt is released untried', async () => {
    const { taken, sendAgain, take, state } = await takenAfter(0)
    await sendAgain()
    await releaseTaken(db, [taken])
    expect(await state()).toMatchObject({ status: 'pending', tries: 0, due: true })
    expect((await take()).tries).toBe(1)
  })
})

test('a delivery that is released untried is due at once, and used up no try', async () => {
  const { taken, take, state } = await takenAfter(3)
  expect(await state()).toMatchObject({ attempts: 4, tries: 4, due: false })
  await releaseTaken(db, [taken])
  expect(await state()).toMatchObject({ attempts: 4, tries: 3, due: true })
  expect(await take()).toMatchObject({ attempts: 5, tries: 4 })
})

describe('a delivery that is redelivered while it is being deleted', () => {
  const days = (n: number) => new Date(Date.now() - n * 86_400_000)

  /** Starts the deletion when the redelivery is made but not committed. */
  async function redeliverAmid({ id, endpoint_id }: TakenDelivery, forget: () => Promise<void>) {
    let ended = false
    let forgetting: Promise<void> | undefined
    await transaction(db, async (tx) => {
      await lockOutstanding(tx, endpoint_id, 10)
      await addDeliveries(tx, id, [endpoint_id])
      forgetting = forget().finally(() => {
        ended = true
      })
      await until(async () => ended || (await isLockAwaited(database.url)), 10_000)
    })
    await forgetting
  }

  test('is kept, with its earlier attempts', async () => {
    const { taken, state } = await takenAfter(0)
    await recordResults(db, [resultOf(taken, success)])
    await asAdmin(database.url, [
      `UPDATE sandbox.webhook_deliveries SET ended_at = now() - interval '40 days' WHERE event_id = '${taken.id}'`,
      `UPDATE sandbox.events SET created_at = now() - interval '40 days' WHERE id = '${taken.id}'`,
    ])
    await redeliverAmid(taken, () => forgetDeliveries(db, days(30)))
    expect(await state()).toMatchObject({ status: 'pending', written_down: [1] })
  })

  test('is kept with its event', async () => {
    const { taken } = await takenAfter(0)
    await asAdmin(database.url, [
      `DELETE FROM sandbox.webhook_deliveries WHERE event_id = '${taken.id}'`,
      `UPDATE sandbox.events SET created_at = now() - interval '100 days' WHERE id = '${taken.id}'`,
    ])
    await redeliverAmid(taken, () => forgetEvents(db, days(90)))
    const events = `SELECT FROM sandbox.events WHERE id = '${taken.id}'`
    expect(await asAdmin(database.url, [events])).toHaveLength(1)
  })
})
