import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ConsoleClient, signedIn } from '../../../test/support/console.ts'
import { startTestService, type TestService } from '../../../test/support/service.ts'
import { openPeopleShares } from '../../http/shares.ts'
import { AT_ONCE, WAIT_MS, WAITING } from './call-queue.ts'

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
    const replies = await many(10, other)
    await flood
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
  })
})

describe('queries of users', () => {
  const SLOW = 'SELECT pg_sleep(1)'

  test.each(['db', 'reads'] as const)('leave a connection of the pool %s to API calls', async (pool) => {
    const world = service.worlds.sandbox
    const shares = openPeopleShares()
    const { max } = world[pool].options
    const order: string[] = []
    const slow = Array.from({ length: 2 * max }, (_, i) =>
      shares(world, { user_id: `person ${i}`, partner_id: `partner ${i}` })
        [pool].query(SLOW)
        .then(() => order.push('person')),
    )
    await sleep(100)
    await world[pool].query('SELECT 1').then(() => order.push('program'))
    await Promise.all(slow)
    expect(order.indexOf('program')).toBe(0)
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
    const order: string[] = []
    const busy = Array.from({ length: 6 }, () =>
      of('busy')
        .query(SLOW)
        .then(() => order.push('busy')),
    )
    await of('colleague')
      .query('SELECT 1')
      .then(() => order.push('colleague'))
    await Promise.all(busy)
    expect(order[0]).toBe('colleague')
  })
})
