import { afterAll, beforeAll, expect, test } from 'vitest'
import { asAdmin, createDatabase, seatAt, type TestDatabase } from '../../test/support/database.ts'
import { openPool, type Pool } from '../db/pool.ts'
import { endpointsWithPending } from './queue.ts'

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

test('a look finds what is due, what soon will be, and what waits for an endpoint that is no more', async () => {
  const endpoint = (id: string, status = 'enabled') =>
    `INSERT INTO sandbox.webhook_endpoints (id, partner_id, url, events, secret, status, created_at)
     VALUES ('${id}', 'ptn ${id}', 'https://example.com/', '{*}', '', '${status}', now())`
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
