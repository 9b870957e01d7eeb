import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, seatAt, type TestDatabase } from '../../test/support/database.ts'
import { openPool, type Pool } from '../db/pool.ts'
import type { StoredEvent } from '../records/events/store.ts'
import { eventTypes, TEST_TYPE } from '../records/events/types.ts'
import { listenersOf, redeliverRange } from './queue.ts'
import type { WebhookEndpoint } from './store.ts'

let database: TestDatabase
let db: Pool
beforeAll(async () => {
  database = await createDatabase()
  db = openPool({ ...seatAt(database.url, 'sandbox'), max: 1 })
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

const kind = fc.constantFrom(...eventTypes.slice(0, 4), TEST_TYPE)
const kinds = fc.uniqueArray(fc.oneof(kind, fc.constant('*')), { minLength: 1, maxLength: 4 })
const endpoint = fc.record({ kinds, enabled: fc.boolean() })

let made = 0

test('an event goes to the endpoints subscribed to its type, and a redelivery to the same endpoints', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(endpoint, { maxLength: 5 }), kind, async (endpoints, type) => {
      const partner_id = `part_${++made}`
      const event = { id: `evt_${made}`, partner_id, type, object_id: `we_${made}_0` } as StoredEvent
      for (const [i, { kinds, enabled }] of endpoints.entries())
        await db.query(
          `INSERT INTO webhook_endpoints (id, partner_id, url, events, secret, created_at, status, disabled_reason, disabled_at)
           VALUES ($1, $2, 'https://example.com', $3, '', now(), $4, $5, $6)`,
          [
            `we_${made}_${i}`,
            partner_id,
            kinds,
            ...(enabled ? ['enabled', null, null] : ['disabled', 'by_partner', new Date()]),
          ],
        )
      await db.query(
        `INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at)
         VALUES ($1, $2, $3, $4, 1, '{}', now())`,
        [event.id, partner_id, type, event.object_id],
      )
      const wanting = endpoints.flatMap(({ kinds, enabled }, i) =>
        enabled && type !== TEST_TYPE && kinds.some((one) => one === type || one === '*')
          ? [`we_${made}_${i}`]
          : [],
      )
      const { rows } = await db.query(
        'SELECT endpoint_id FROM webhook_deliveries WHERE event_id = $1 ORDER BY 1',
        [event.id],
      )
      expect(rows.map(({ endpoint_id }) => endpoint_id)).toEqual(wanting)
      const about = type === TEST_TYPE && endpoints[0]?.enabled ? [event.object_id] : []
      expect(await listenersOf(db, event)).toEqual([...wanting, ...about])
      const range = { from: new Date(0), to: new Date(Date.now() + 60_000), after: null, most: 10 }
      for (const [i] of endpoints.entries()) {
        const again = { id: `we_${made}_${i}`, partner_id } as WebhookEndpoint
        const { redelivered } = await redeliverRange(db, again, range)
        expect(redelivered).toBe(wanting.includes(again.id) ? 1 : 0)
      }
    }),
    { numRuns: 60 },
  )
})
