import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Api, openApi } from '../../../test/support/api.ts'
import { asAdmin, isLockAwaited } from '../../../test/support/database.ts'
import { expectIntact } from '../../../test/support/intact.ts'
import { startNode } from '../../../test/support/node.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { until } from '../../../test/support/wait.ts'
import { forgetDeliveries } from '../../webhooks/queue.ts'
import { forgetEvents } from './store.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ EVENT_RETENTION_DAYS: '90' })
})
afterAll(() => service.stop())

const addCustomer = async (api: Api) =>
  (await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })).json.id as string
const deposit = async (api: Api, customer_id: string) =>
  (await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '1' })).json.id as string
const log = async (api: Api, query: Record<string, string> = {}) =>
  (await api.get(`/v1/events?${new URLSearchParams(query)}`)).json
/** A partner whose first event, the creation of its key, is in the log. */
async function settledPartner() {
  const partner = await service.partner()
  await until(async () => (await log(partner.api)).data.length === 1, 5000)
  return partner
}

describe('the log', () => {
  test('is read newest first, oldest first from any point, and by type and object', async () => {
    const { api } = await settledPartner()
    const customer_id = await addCustomer(api)
    const deposits: string[] = []
    for (let i = 0; i < 5; i++) deposits.push(await deposit(api, customer_id))
    await until(async () => (await log(api)).data.length === 7, 5000)
    const newest = await log(api)
    const objects = newest.data.map(({ data }: any) => data.object.id)
    expect(objects.slice(0, 6)).toEqual([...deposits.toReversed(), customer_id])
    expect([newest.has_more, newest.next_cursor]).toEqual([false, null])

    const oldest = await log(api, { after: 'start' })
    expect(oldest.data).toEqual(newest.data.toReversed())
    const second = oldest.data[1].id
    expect((await log(api, { after: second })).data).toEqual(oldest.data.slice(2))
    expect((await log(api, { type: 'deposit.completed', after: 'start' })).data).toEqual(oldest.data.slice(2))
    expect((await log(api, { object_id: deposits[2]! })).data).toEqual([oldest.data[4]])
    expect((await log(api, { object_id: deposits[2]!, type: 'customer.created' })).data).toEqual([])
    expect((await api.get(`/v1/events/${second}`)).json).toEqual(oldest.data[1])
  })

  test('gives a cursor to continue from, also when nothing is left', async () => {
    const { api } = await settledPartner()
    const customer_id = await addCustomer(api)
    const seen: string[] = []
    let after = 'start'
    const readOn = async () => {
      for (;;) {
        const page = await log(api, { after, limit: '2' })
        seen.push(...page.data.map(({ data }: any) => data.object.id))
        after = page.next_cursor
        expect(after).toEqual(expect.any(String))
        if (!page.has_more) return
      }
    }
    await until(async () => (await log(api)).data.length === 2, 5000)
    await readOn()
    await readOn()
    expect(seen).toHaveLength(2)
    const deposits = [
      await deposit(api, customer_id),
      await deposit(api, customer_id),
      await deposit(api, customer_id),
    ]
    await until(async () => {
      await readOn()
      return seen.length >= 5
    }, 5000)
    expect(seen.slice(2)).toEqual(deposits)
    const first = await log(api, { limit: '3' })
    const rest = await log(api, { limit: '3', cursor: first.next_cursor })
    expect([...first.data, ...rest.data]).toEqual((await log(api)).data)
  })

  test('refuses a cursor that is no point of the log', async () => {
    const { api } = await service.partner()
    const cursor = Buffer.from('{"position":"1"}').toString('base64url')
    for (const after of ['nonsense', 'evt', Buffer.from('{"position":"-1"}').toString('base64url'), '\0'])
      expect((await api.get(`/v1/events?${new URLSearchParams({ after })}`)).json.error.param).toBe('after')
    expect((await log(api, { after: 'start', cursor })).error.param).toBe('cursor')
    expect((await log(api, { after: 'evt_00000000000000000000000000' })).error.code).toBe('event_not_found')
    for (const object_id of ['', '\0', "po_'", 'a'.repeat(200)])
      expect((await log(api, { object_id })).error.param).toBe('object_id')
    expect((await log(api, { type: 'no.such.kind' })).error.param).toBe('type')
  })

  test('shows a reader with a cursor an event that commits late, after those that overtook it', async () => {
    const { api, partner_id } = await settledPartner()
    const start = (await log(api, { after: 'start' })).next_cursor
    // A slow writer: its event has the lower id and the earlier time, and commits last.
    const slow = new pg.Client({ connectionString: service.database.url, options: '-c search_path=sandbox' })
    await slow.connect()
    await slow.query('BEGIN')
    await slow.query(
      `INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at)
       VALUES ('evt_00000000000000000000000001', $1, 'customer.created', 'cus_slow', 1, '{"id":"cus_slow"}', now() - interval '1 hour')`,
      [partner_id],
    )
    const quick = await addCustomer(api)
    await until(async () => (await log(api, { after: start })).data.length === 1, 5000)
    const page = await log(api, { after: start })
    expect(page.data[0].data.object.id).toBe(quick)
    await slow.query('COMMIT')
    await slow.end()
    await until(async () => (await log(api, { after: page.next_cursor })).data.length === 1, 5000)
    expect((await log(api, { after: page.next_cursor })).data[0].data.object.id).toBe('cus_slow')
  })

  test('never shows a later position before an earlier one', async () => {
    // A request waits six seconds for the COMMIT of another one. When the machine stood still for longer the scene is played again.
    // The request goes to a node of its own, because the last test of this file counts refused requests.
    const node = await startNode(service.database.url, { EVENT_RETENTION_DAYS: '90' })
    onTestFinished(node.stop)
    for (let turn = 0; !(await isInOrder(turn, node.url)); turn++);
  })

  /** False: the second request was refused, because it waited for too long. */
  async function isInOrder(turn: number, url: string): Promise<boolean> {
    const { api, key, partner_id } = await settledPartner()
    const start = (await log(api, { after: 'start' })).next_cursor
    // Another process has taken positions and hangs before its COMMIT.
    const other = new pg.Client({ connectionString: service.database.url, options: '-c search_path=sandbox' })
    await other.connect()
    await other.query('BEGIN')
    await other.query(
      `INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at)
       VALUES ('evt_0000000000000000000000001${turn}', $1, 'customer.created', 'cus_first${turn}', 1, '{"id":"cus_first${turn}"}', now())`,
      [partner_id],
    )
    expect((await other.query('SELECT place_events() AS placed')).rows).toEqual([{ placed: 1 }])
    // The COMMIT of the second request waits for that, and so does its response.
    const began = performance.now()
    const adding = openApi(url, key).post('/v1/customers', { name: 'Ana Souza', document: someCpf() })
    await until(() => isLockAwaited(service.database.url), 10_000)
    expect((await log(api, { after: start })).data).toEqual([])
    await other.query('COMMIT')
    await other.end()
    const second = await adding
    if (second.status === 503 && performance.now() - began > 5000) return false
    const { data } = await log(api, { after: start })
    expect(data.map(({ data }: any) => data.object.id)).toEqual([`cus_first${turn}`, second.json.id])
    return true
  }

  test('shows the same order to readers on two nodes while both write', async () => {
    const other = await startNode(service.database.url, { EVENT_RETENTION_DAYS: '90' })
    try {
      const { api, key } = await settledPartner()
      const there = (await import('../../../test/support/api.ts')).openApi(other.url, key)
      const customer_id = await addCustomer(api)
      const made = new Set<string>()
      let done = false
      const writers = [api, there].flatMap((client) =>
        Array.from({ length: 3 }, async () => {
          for (let i = 0; i < 25; i++) made.add(await deposit(client, customer_id))
        }),
      )
      const follow = async (client: Api) => {
        const seen: string[] = []
        let after = 'start'
        for (;;) {
          const last = done
          const page = await log(client, { after, type: 'deposit.completed', limit: '100' })
          seen.push(...page.data.map(({ data }: any) => data.object.id))
          after = page.next_cursor
          if (last && page.data.length === 0) return seen
          await sleep(3)
        }
      }
      const readers = [follow(api), follow(there)]
      await Promise.all(writers)
      done = true
      const [here, elsewhere] = await Promise.all(readers)
      expect(here).toEqual(elsewhere)
      expect(here).toHaveLength(150)
      expect(new Set(here)).toEqual(made)
    } finally {
      await other.stop()
    }
  })
})

describe('old events are deleted', () => {
  const days = (n: number) => new Date(Date.now() - n * 86_400_000)
  const count = async (table: string, where: string) => {
    const [row] = await asAdmin(service.database.url, [
      `SELECT count(*)::int AS n FROM sandbox.${table} WHERE ${where}`,
    ])
    return row!.n
  }

  test('but never an event with a pending delivery', async () => {
    const { api, partner_id } = await settledPartner()
    // A host name that does not exist: deliveries to it stay pending.
    const { id } = (
      await api.post('/v1/webhook_endpoints', { url: 'https://nobody.invalid/', events: ['*'] })
    ).json
    const [waiting, done, plain] = [await addCustomer(api), await addCustomer(api), await addCustomer(api)]
    const of = (customer: string) => `(SELECT id FROM sandbox.events WHERE object_id = '${customer}')`
    await until(async () => (await count('webhook_deliveries', `endpoint_id = '${id}'`)) === 3, 5000)
    await asAdmin(service.database.url, [
      // Makes the partner and the objects older too.
      `SET session_replication_role = replica`,
      `UPDATE shared.partners SET created_at = now() - interval '100 days' WHERE id = '${partner_id}'`,
      `UPDATE sandbox.customers SET created_at = now() - interval '100 days' WHERE partner_id = '${partner_id}'`,
      `UPDATE sandbox.api_keys SET created_at = now() - interval '100 days' WHERE partner_id = '${partner_id}'`,
      `RESET session_replication_role`,
      `UPDATE sandbox.events SET created_at = now() - interval '100 days' WHERE partner_id = '${partner_id}'`,
      `UPDATE sandbox.webhook_deliveries SET status = 'exhausted', ended_at = now() - interval '40 days' WHERE event_id = ${of(done)}`,
      `DELETE FROM sandbox.webhook_deliveries WHERE event_id = ${of(plain)}`,
    ])
    const world = service.worlds.sandbox
    const mine = `partner_id = '${partner_id}'`
    await forgetEvents(world.db, days(101))
    expect(await count('events', mine)).toBe(4)
    await forgetEvents(world.db, days(90))
    // Left: the event with a pending delivery, and the event whose delivery is kept.
    expect(await count('events', mine)).toBe(2)
    await forgetDeliveries(world.db, days(41))
    expect(await count('webhook_deliveries', `endpoint_id = '${id}'`)).toBe(2)
    await forgetDeliveries(world.db, days(30))
    expect(await count('webhook_deliveries', `endpoint_id = '${id}'`)).toBe(1)
    await forgetEvents(world.db, days(90))
    expect(await count('events', mine)).toBe(1)
    expect(await count('events', `object_id = '${waiting}'`)).toBe(1)
    // No delivery is pending any more.
    await api.delete(`/v1/webhook_endpoints/${id}`)
    await asAdmin(service.database.url, [
      `UPDATE sandbox.webhook_deliveries SET ended_at = now() - interval '40 days' WHERE endpoint_id = '${id}'`,
    ])
    await forgetDeliveries(world.db, days(30))
    await forgetEvents(world.db, days(90))
    expect(await count('events', mine)).toBe(0)
  })

  test('and only by these functions: the service itself can delete neither events nor deliveries', async () => {
    const world = service.worlds.sandbox
    for (const table of ['events', 'webhook_deliveries', 'webhook_attempts'])
      await expect(world.db.query(`DELETE FROM ${table}`)).rejects.toMatchObject({ code: '42501' })
    await expect(
      service.worlds.production.db.query('SELECT sandbox.forget_deliveries(now(), 1)'),
    ).rejects.toMatchObject({ code: '42501' })
  })
})

test('the audit finds an event without a position, which no transaction of the service leaves', async () => {
  const { api } = await settledPartner()
  const customer_id = await addCustomer(api)
  await asAdmin(service.database.url, [
    'SET session_replication_role = replica',
    `INSERT INTO sandbox.events (id, partner_id, type, object_id, sequence, data, created_at)
     SELECT 'evt_00000000000000000000000003', partner_id, 'customer.updated', object_id, 2, data, now() - interval '2 hours'
     FROM sandbox.events WHERE object_id = '${customer_id}'`,
    `UPDATE sandbox.customers SET sequence = 2 WHERE id = '${customer_id}'`,
  ])
  const { findings } = (await service.audit()).sandbox
  expect(findings).toMatchObject([
    { check: 'every event has its place in the log soon after it was written', found: 1 },
  ])
  await asAdmin(service.database.url, ['SET search_path = sandbox', 'SELECT place_events()'])
  expect((await log(api, { object_id: customer_id })).data).toHaveLength(2)
})

test('afterwards the books are right', () => expectIntact(service))
