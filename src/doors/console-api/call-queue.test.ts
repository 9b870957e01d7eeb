import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ConsoleClient, signedIn } from '../../../test/support/console.ts'
import { asAdmin, holdLock } from '../../../test/support/database.ts'
import { startTestService, type TestService } from '../../../test/support/service.ts'
import { until } from '../../../test/support/wait.ts'
import type { Pool } from '../../db/pool.ts'
import { openPeopleShares } from '../../http/shares.ts'
import { AT_ONCE, HEAVY_AT_ONCE, HEAVY_WAIT_MS, openCallQueue, WAIT_MS, WAITING } from './call-queue.ts'
import { isHeavy } from './endpoint.ts'
import { consoleEndpoints } from './endpoints.ts'

let service: TestService
let person: ConsoleClient
beforeAll(async () => {
  service = await startTestService({ AUDIT_EVERY_MS: '0' })
  const { partner_id } = await service.partner()
  person = await signedIn(service, { partner_id, role: 'viewer' })
})
afterAll(() => service.stop())

const many = (count: number, client = person) =>
  Promise.all(Array.from({ length: count }, () => client.get('/sandbox/overview?period=90d')))

describe('concurrent calls of one user', () => {
  test('from pages in several tabs are all answered', async () => {
    const began = performance.now()
    const replies = await many(5 * 10)
    // Nobody waits for more than five seconds: a machine that needs longer for fifty answers refuses the last of them.
    const most = performance.now() - began < WAIT_MS ? 0 : replies.length / 2
    expect(replies.filter(({ status }) => status !== 200).length).toBeLessThanOrEqual(most)
  })

  test('beyond the queue are refused, with a time to retry', async () => {
    const replies = await many(3 * (AT_ONCE + WAITING))
    const refused = replies.filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThan(0)
    for (const { status, headers, json } of refused) {
      expect([status, json.error.code]).toEqual([429, 'rate_limit_exceeded'])
      expect(headers.get('retry-after')).toBe('1')
    }
    expect((await person.get('/sandbox/overview')).status).toBe(200)
  })

  test('do not delay other users', async () => {
    const { partner_id } = await service.partner()
    const other = await signedIn(service, { partner_id, role: 'viewer' })
    const flood = many(3 * (AT_ONCE + WAITING))
    const began = performance.now()
    const replies = await many(10, other)
    // The ten overviews are made one after the other: on a busy machine the last ones may wait too long, and are refused.
    const most = performance.now() - began < HEAVY_WAIT_MS ? 0 : replies.length / 2
    await flood
    expect(replies.filter(({ status }) => status !== 200).length).toBeLessThanOrEqual(most)
  })
})

describe('heavy reads', () => {
  test('are searches, overviews, sums of a filter, and counts per day', () => {
    const heavy = consoleEndpoints.filter((endpoint) => endpoint.heavy === true).map(({ name }) => name)
    const totals = consoleEndpoints.map(({ name }) => name).filter((name) => name.endsWith('.totals'))
    expect(totals.length).toBeGreaterThanOrEqual(10)
    const others = ['find.search', 'overview.get', 'keys.calls', 'webhooks.list', 'webhooks.health']
    expect(heavy.toSorted()).toEqual([...totals, ...others.map((name) => `console.${name}`)].toSorted())
  })

  test('are pages of lists that walk on, because no index answers the filter or several filters together', () => {
    const isHeavyList = (name: string, query: object) =>
      isHeavy(consoleEndpoints.find((endpoint) => endpoint.name === `console.${name}.list`)!, query)
    const page = { limit: '50', cursor: 'x', order: 'oldest', created_after: 'x', created_before: 'x' }
    const walking = {
      payouts: ['amount_min', 'amount_max', 'api_key_id', 'failure_code', 'status'],
      transfers: ['amount_min', 'amount_max', 'api_key_id', 'failure_code', 'status'],
      charges: ['amount_min', 'amount_max'],
      customers: ['name'],
      quotes: ['status'],
      trades: ['status'],
    }
    for (const [name, filters] of Object.entries(walking)) {
      expect(isHeavyList(name, page), name).toBe(false)
      for (const filter of filters) expect(isHeavyList(name, { ...page, [filter]: 'x' }), filter).toBe(true)
    }
    expect(isHeavyList('payouts', { customer_id: 'x' })).toBe(false)
    expect(isHeavyList('payouts', { customer_id: 'x', idempotency_key: 'x' })).toBe(true)
  })

  test('are answered one at a time per partner and two on a node; operators wait for no partner', async () => {
    const calls = openCallQueue()
    const begun: string[] = []
    const ends = new Map<string, () => void>()
    const read = (id: string, partner_id: string | null) =>
      calls.answerHeavy({ id, partner_id }, async () => {
        begun.push(id)
        await new Promise<void>((end) => ends.set(id, end))
      })
    const all = [
      ...Array.from({ length: 3 }, () => read('ana', 'one')),
      read('bia', 'one'),
      read('caio', 'two'),
      read('davi', 'three'),
      read('operator', null),
    ]
    await until(() => begun.length === HEAVY_AT_ONCE + 1, 5000)
    expect(begun).toEqual(['ana', 'caio', 'operator'])
    // The colleague comes before the second call of the same person, and the third partner when a place of the node is free.
    for (const [ended, next] of [
      ['ana', 'bia'],
      ['caio', 'davi'],
      ['bia', 'ana'],
    ] as const) {
      const before = begun.length
      ends.get(ended)!()
      await until(() => begun.length > before, 5000)
      expect(begun.slice(before)).toEqual([next])
    }
    ends.get('ana')!()
    await until(() => begun.length === all.length, 5000)
    for (const end of ends.values()) end()
    await Promise.all(all)
  })

  test('of a person never hold the places of other calls of that person, however many wait', async () => {
    const calls = openCallQueue()
    let end = () => {}
    const blocked = new Promise<void>((resolve) => {
      end = resolve
    })
    const caller = { id: 'ana', partner_id: 'one' }
    const heavy = Array.from({ length: 2 * AT_ONCE }, () => calls.answerHeavy(caller, () => blocked))
    const settled = Promise.allSettled(heavy)
    const light = Array.from({ length: AT_ONCE - 1 }, () => calls.answer('ana', async () => 'answered'))
    expect(await Promise.all(light)).toEqual(light.map(() => 'answered'))
    end()
    await settled
  })

  test('beyond one at a time wait for their turn; light calls and other partners do not', async () => {
    let seen = await readBeside()
    // The database lets a statement wait half a second for a lock: where that was too short, the calls have shown nothing.
    while (!seen.afterwards.includes('/overview 200')) seen = await readBeside()
    expect(seen.meanwhile).toEqual(['/customers 200', '/payouts/totals 200'])
    expect(seen.afterwards.toSorted()).toEqual([
      '/customers/totals 200',
      '/customers?name=nobody 200',
      '/overview 200',
    ])
  })

  /** The calls that are answered while an overview waits for a lock, and those that are answered after that. */
  async function readBeside() {
    const { partner_id } = await service.partner()
    const busy = await signedIn(service, { partner_id, role: 'viewer' })
    const colleague = await signedIn(service, { partner_id, role: 'viewer' })
    const answered: string[] = []
    const get = async (client: ConsoleClient, path: string) => {
      const { status } = await client.get(`/sandbox${path}`)
      answered.push(`${path} ${status}`)
    }
    const unlock = await holdLock(service.database.url, 'sandbox.webhook_endpoints')
    const waiting: Promise<void>[] = []
    let meanwhile: string[] = []
    try {
      waiting.push(get(busy, '/overview'))
      const waits = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'sandbox.webhook_endpoints'::regclass`
      const isWaiting = async () => (await asAdmin(service.database.url, [waits])).length > 0
      await until(async () => answered.length > 0 || (await isWaiting()), 5000)
      waiting.push(get(colleague, '/customers/totals'))
      waiting.push(get(colleague, '/customers?name=nobody'))
      await get(colleague, '/customers')
      await get(person, '/payouts/totals')
      meanwhile = [...answered]
    } finally {
      await unlock()
    }
    await Promise.all(waiting)
    return { meanwhile, afterwards: answered.slice(meanwhile.length) }
  }
})

describe('queries of users', () => {
  const SLOW = 'SELECT pg_sleep(1)'

  /** Asks each share for a connection, and keeps all that it gets for as long as the test needs. */
  function keepConnections(shares: readonly Pool[]) {
    let count = 0
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const keepOne = async (share: Pool) => {
      const client = await share.connect()
      count++
      await ended
      client.release()
    }
    // Who waits too long is refused.
    const all = Promise.allSettled(shares.map(keepOne))
    return {
      count: () => count,
      release() {
        end()
        return all
      },
    }
  }

  test.each(['db', 'reads'] as const)('leave a connection of the pool %s to API calls', async (pool) => {
    const world = service.worlds.sandbox
    const shares = openPeopleShares()
    const { max } = world[pool].options
    const kept = keepConnections(
      Array.from(
        { length: 2 * max },
        (_, i) => shares(world, { user_id: `person ${i}`, partner_id: `partner ${i}` })[pool],
      ),
    )
    try {
      await until(() => kept.count() > 0, 5000)
      expect((await world[pool].query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    } finally {
      await kept.release()
    }
  })

  test('take turns, however many wait under one name', async () => {
    const world = service.worlds.sandbox
    const shares = openPeopleShares()
    const order: string[] = []
    const crowd = Array.from({ length: 6 }, () =>
      shares(world, { user_id: 'one', partner_id: 'crowd' })
        .reads.query(SLOW)
        .then(() => order.push('crowd')),
    )
    await shares(world, { user_id: 'other', partner_id: 'other' })
      .reads.query('SELECT 1')
      .then(() => order.push('other'))
    await Promise.all(crowd)
    expect(order.indexOf('other')).toBeLessThanOrEqual(2)
  })

  test('of one person leave a connection of the partner’s share to its other people', async () => {
    const world = service.worlds.sandbox
    const shares = openPeopleShares()
    const wide = { ...world, db: world.keys, reads: world.db }
    const of = (user_id: string) => shares(wide, { user_id, partner_id: 'one' }).reads
    const kept = keepConnections(Array.from({ length: 6 }, () => of('busy')))
    try {
      await until(() => kept.count() > 0, 5000)
      expect((await of('colleague').query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    } finally {
      await kept.release()
    }
  })
})
