import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { type Client, openOwner } from '../../src/db/pool.ts'
import { auditIn } from '../../src/ledger/audit.ts'
import { sliceChecks } from '../../src/node/worlds.ts'
import { type History, openHistory } from '../support/history.ts'
import { findInPieces } from '../support/pieces.ts'

/** How far back the role of a world may forget, and what the audit says of a horizon that it did not reach honestly. */
let history: History
let owner: Client
let P: string
let payout_id: string

beforeAll(async () => {
  history = await openHistory()
  const partner = await history.addPartner(1, 0)
  P = partner.partner_id
  payout_id = (await history.payout(partner, partner.customers[0]!, 'slow@sandbox.test', '200')).id
  await history.trade(partner, partner.customers[0]!, 0)
  await history.quote(partner, partner.customers[0]!, 0)
  await history.stopServer()
  owner = await openOwner(history.database.url, 'test')
  await owner.query(`SET search_path = sandbox; SET lock_timeout = '10s'`)
  await owner.query(
    `INSERT INTO proofs (by, started_at, finished_at, entries, customers, checks, sums, found, findings)
     VALUES ('test', now(), now(), 0, 0, '{}', '{}', 0, '[]')`,
  )
}, 300_000)
afterAll(async () => {
  await owner.end()
  await history.stop()
})

const tables = [
  'events',
  'claims',
  'quotes',
  'requests',
  'steps',
  'proofs',
  'daily',
  'hourly',
  'daily_balances',
]
const counted = tables.map((table) => `(SELECT count(*)::int FROM ${table}) AS ${table}`).join(', ')
const count = async () => (await owner.query(`SELECT ${counted}`)).rows[0]

/** All of it in a transaction that is rolled back. */
async function undone<T>(work: () => Promise<T>): Promise<T> {
  await owner.query('BEGIN')
  try {
    return await work()
  } finally {
    await owner.query('ROLLBACK')
  }
}

async function findings(): Promise<{ whole: string[]; pieces: string[] }> {
  const { findings } = await auditIn(owner, sliceChecks)
  const names = (list: readonly { check: string }[]) => [...new Set(list.map(({ check }) => check))]
  return { whole: names(findings), pieces: names(await findInPieces(owner, 3)) }
}

const role = () => `"${new URL(history.database.url).pathname.slice(1)}_sandbox"`

/** Inside a transaction. */
async function asRole(sql: string, values: unknown[] = []): Promise<void> {
  await owner.query(`SET LOCAL ROLE ${role()}`)
  await owner.query(sql, values)
  await owner.query('RESET ROLE')
}

const FORGET = [
  `forget_old_events('infinity', '', 1000000)`,
  `forget_deliveries('infinity', 1000000)`,
  `forget_claims('infinity', 1000000)`,
  `forget_quotes('infinity', 1000000)`,
  `forget_requests('zzz', 1000000)`,
  `forget_steps('zzz', 1000000)`,
  `forget_sums('2999-01-01', '2999-01-01')`,
  `forget_proofs('infinity')`,
]

describe('the role of a world', () => {
  test.each(FORGET)('removes nothing young by %s', (call) =>
    undone(async () => {
      const before = await count()
      await asRole(`SELECT ${call}`)
      expect(await count()).toEqual(before)
    }),
  )

  test.each(FORGET.map((call) => call.replace(/'infinity'|'zzz'|'2999-01-01'/g, 'NULL')))(
    'removes nothing by %s',
    (call) =>
      undone(async () => {
        const before = await count()
        await asRole(`SELECT ${call}`)
        expect(await count()).toEqual(before)
      }),
  )

  test('cannot move the horizon of the events by an event that is dated in the future, and the audit names that event', () =>
    undone(async () => {
      const insert = `INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at)
        VALUES ('evt_zzz', $1, 'deposit.completed', 'dep_sample', 1, '{}', '2099-01-01')`
      await asRole(insert, [P])
      await asRole(`SELECT forget_old_events('infinity', '', 1000000)`)
      const { rows } = await owner.query(`SELECT forgotten_until < now() AS past FROM event_horizon`)
      expect(rows).toEqual([{ past: true }])
      const named = ['nothing that happened is dated in the future']
      expect(await findings()).toEqual({ whole: named, pieces: named })
    }))

  test.each([
    "INSERT INTO retention (what, days) VALUES ('x', 1)",
    'UPDATE retention SET days = 1',
    'DELETE FROM retention',
  ])('cannot %s', (sql) => undone(async () => expect(asRole(sql)).rejects.toMatchObject({ code: '42501' })))
})

describe('the audit names', () => {
  test.each([`'2099-01-01'`, `now() - interval '1 hour'`, `'infinity'`])(
    'a horizon of the events at %s, and events that went missing under it',
    (until) =>
      undone(async () => {
        await owner.query('SET LOCAL session_replication_role = replica')
        await owner.query(`UPDATE event_horizon SET forgotten_until = ${until}`)
        await owner.query(`DELETE FROM events WHERE object_id = '${payout_id}'`)
        const named = await findings()
        for (const list of [named.whole, named.pieces]) {
          expect(list).toContain('no event was deleted before its retention ended')
          expect(list).toContain('every payout was told at each of its states, as it is')
        }
      }),
  )

  test('a kept response that was changed under such a horizon', () =>
    undone(async () => {
      await owner.query('SET LOCAL session_replication_role = replica')
      await owner.query(`UPDATE event_horizon SET forgotten_until = '2099-01-01'`)
      const { rowCount } = await owner.query(
        `UPDATE claims SET answer_body = replace(answer_body, 'Ana', 'A Thief') WHERE resource_id = '${payout_id}' AND answer_body LIKE '%Ana%'`,
      )
      expect(rowCount).toBe(1)
      expect((await findings()).whole).toContain(
        'every row of payouts has its idempotency record, and the record matches it',
      )
    }))
})

describe('the figures of the operator', () => {
  const figures = { delivery_days: 30, quote_days: 30, request_days: 30 }
  const state = (event_days: number) =>
    migrate(history.database.url, { retention: { event_days, ...figures } })
  const kept = async () => (await owner.query(`SELECT kept_days('events') AS days`)).rows[0].days
  const age = (days: number) =>
    owner.query(
      `INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at, position)
       VALUES ('evt_0000000000000000000000000${days % 10}', '${P}', 'deposit.completed', 'dep_sample', ${days}, '{}', now() - interval '${days} days', ${days})`,
    )
  const forget = () => asRole(`SELECT forget_old_events(now() - interval '20 days', '', 1000000)`)
  const old = async () =>
    (await owner.query(`SELECT sequence FROM events WHERE object_id = 'dep_sample' ORDER BY 1`)).rows.map(
      ({ sequence }) => sequence,
    )

  test('are obeyed when they are longer, and never below the least number of days', async () => {
    await state(100)
    expect(await kept()).toBe(100)
    await undone(async () => {
      for (const days of [25, 91, 102]) await age(days)
      await forget()
      expect(await old()).toEqual([25, 91])
    })
    await state(1)
    expect(await kept()).toBe(30)
    await undone(async () => {
      for (const days of [25, 91, 102]) await age(days)
      await forget()
      expect(await old()).toEqual([25])
    })
  })

  test('may be raised again: what went under the shorter figure is no finding', async () => {
    await owner.query(`UPDATE retention SET days = NULL, reached = '-infinity' WHERE what = 'events'`)
    await state(40)
    await undone(async () => {
      for (const days of [31, 42]) await age(days)
      await owner.query(`UPDATE event_horizon SET forgotten_until = now() - interval '42 days'`)
      expect((await findings()).whole).toEqual([])
      await owner.query(`UPDATE event_horizon SET forgotten_until = now() - interval '31 days'`)
      expect((await findings()).whole).toEqual(['no event was deleted before its retention ended'])
    })
    await state(365)
    await undone(async () => {
      await owner.query(`UPDATE event_horizon SET forgotten_until = now() - interval '42 days'`)
      expect((await findings()).whole).toEqual([])
      await owner.query(`UPDATE event_horizon SET forgotten_until = now() - interval '39 days'`)
      expect((await findings()).whole).toEqual(['no event was deleted before its retention ended'])
    })
  })
})
