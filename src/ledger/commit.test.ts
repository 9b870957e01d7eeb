import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asAdmin, createDatabase, seatAt, type TestDatabase } from '../../test/support/database.ts'
import { openProxy } from '../../test/support/proxy.ts'
import { Refusal, refuse } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import type { Asset } from '../core/money.ts'
import { openPool, type Pool } from '../db/pool.ts'
import { audit } from './audit.ts'
import { type Claim, type Command, insertInto, rowSource, targetOf, writeTo } from './command.ts'
import { type Door, openDoor } from './commit.ts'

/** The engine alone, on a real PostgreSQL, with the simplest commands: money in, money out, money between customers. */
const partner_id = 'ptn_test'
let database: TestDatabase
let pool: Pool
const doors: Door[] = []

const open = (url = database.url, wait_ms?: number) => {
  const seat = seatAt(url, 'sandbox')
  const door = openDoor({ seat, lanes: 1, log: pino({ level: 'silent' }), ...(wait_ms && { wait_ms }) })
  doors.push(door)
  return door
}

beforeAll(async () => {
  database = await createDatabase()
  pool = openPool({ ...seatAt(database.url, 'sandbox'), max: 4 })
})
afterAll(async () => {
  await Promise.all(doors.map((door) => door.stop()))
  await pool.end()
  await database.drop()
})

async function account(balance = 0n, owner = partner_id): Promise<string> {
  const id = newId('customer', Date.now())
  await pool.query(
    `INSERT INTO balances (customer_id, partner_id, asset) SELECT $1, $2, unnest(ARRAY['BRL', 'USDT', 'BTC'])`,
    [id, owner],
  )
  if (balance > 0n) await doors[0]!.commit(move({ to: id, units: balance }))
  return id
}

type Move = { from?: string; to?: string; units: bigint; asset?: Asset; partner?: string; cause_id?: string }

/** From a customer or the outside, to a customer or the outside. */
function move({
  from,
  to,
  units,
  asset = 'BRL',
  partner = partner_id,
  cause_id = newId('deposit', Date.now()),
}: Move): Command<string> {
  const side = (customer_id: string | undefined) =>
    customer_id ? ({ kind: 'customer', customer_id } as const) : ({ kind: 'external', rail: 'test' } as const)
  return {
    partner_id: partner,
    locks: {
      accounts: [from, to].filter((id) => id !== undefined).map((customer_id) => ({ customer_id, asset })),
    },
    decide: () => ({
      movements: [
        {
          cause_id,
          name: 'credited',
          partner_id: partner,
          lines: [
            { account: side(from), asset, amount: -units },
            { account: side(to), asset, amount: units },
          ],
        },
      ],
      result: cause_id,
    }),
  }
}

async function balanceOf(customer_id: string, asset: Asset = 'BRL'): Promise<bigint> {
  const { rows } = await pool.query('SELECT balance FROM balances WHERE customer_id = $1 AND asset = $2', [
    customer_id,
    asset,
  ])
  return rows[0].balance
}

/** All rows that the engine may change, as one text. */
async function snapshot(): Promise<string> {
  const tables = ['balances', 'entries', 'claims', 'deposits', 'events', 'commits']
  const dumps = await Promise.all(
    tables.map((table) =>
      pool.query(`SELECT coalesce(json_agg(t ORDER BY t::text), '[]')::text AS all FROM ${table} t`),
    ),
  )
  return dumps.map(({ rows }) => rows[0].all).join('\n')
}

const outcomeOf = (work: Promise<unknown>) =>
  work.then(() => 'ok').catch((error: unknown) => (error instanceof Refusal ? error.code : String(error)))

describe('the one door for money', () => {
  test('random commands from two nodes: sums stay zero, nothing goes negative, every accepted one is booked once', async () => {
    const nodes = [open(), open()]
    const people = await Promise.all(Array.from({ length: 6 }, () => account()))
    const expected = new Map(people.map((id) => [id, 0n]))
    const person = fc.constantFrom(...people)
    const moves = fc.oneof(
      fc.record({ to: person, units: fc.bigInt(1n, 1000n) }),
      fc.record({ from: person, units: fc.bigInt(1n, 1500n) }),
      fc.record({ from: person, to: person, units: fc.bigInt(1n, 800n) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(moves, { minLength: 1, maxLength: 60 }), async (wanted) => {
        const results = await Promise.all(
          wanted.map(async (one, i) => ({ one, outcome: await outcomeOf(nodes[i % 2]!.commit(move(one))) })),
        )
        for (const { one, outcome } of results) {
          expect(['ok', 'insufficient_balance']).toContain(outcome)
          if (outcome !== 'ok') continue
          const { from, to, units } = one as Move
          if (from) expected.set(from, expected.get(from)! - units)
          if (to) expected.set(to, expected.get(to)! + units)
        }
        for (const id of people) expect(await balanceOf(id)).toBe(expected.get(id))
      }),
      { numRuns: 40 },
    )
    const report = await audit(pool, [])
    expect(report.findings).toEqual([])
    expect(report.entries).toBeGreaterThan(0n)
  })

  test('50 racers on two nodes spend a balance of 1,000 exactly: ten debits of 100 pass', async () => {
    const nodes = [open(), open()]
    for (let round = 0; round < 5; round++) {
      const id = await account(1000n)
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          outcomeOf(nodes[i % 2]!.commit(move({ from: id, units: 100n }))),
        ),
      )
      expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(10)
      expect(outcomes.filter((outcome) => outcome === 'insufficient_balance')).toHaveLength(40)
      expect(await balanceOf(id)).toBe(0n)
    }
  })

  test('a refusal, whatever its reason, leaves the database as it was to the byte', async () => {
    const node = open()
    const id = await account(500n)
    const claim: Claim = { scope: 's', operation: 'o', key: 'refused', fingerprint: 'f' }
    const refused: Command<unknown>[] = [
      move({ from: id, units: 501n }),
      move({ to: id, units: 10n ** 18n - 500n }),
      { ...move({ to: id, units: 5n }), decide: () => refuse('customer_blocked') },
      {
        ...move({ to: id, units: 5n }),
        locks: { claim, accounts: [{ customer_id: id, asset: 'BRL' }] },
        decide: () => refuse('insufficient_balance'),
      },
    ]
    const before = await snapshot()
    const outcomes = await Promise.all(refused.map((command) => outcomeOf(node.commit(command))))
    expect(outcomes).toEqual([
      'insufficient_balance',
      'amount_too_large',
      'customer_blocked',
      'insufficient_balance',
    ])
    expect(await snapshot()).toBe(before)
  })

  test('a command with a bug affects no other command', async () => {
    const node = open()
    const id = await account(0n)
    const other = await account(0n)
    const unbalanced = move({ to: id, units: 5n })
    const broken: Command<unknown>[] = [
      {
        ...unbalanced,
        decide: () => {
          throw new TypeError('a bug')
        },
      },
      { ...unbalanced, locks: {} },
      {
        ...unbalanced,
        decide: (held) => {
          const decision = unbalanced.decide(held)
          const lines = decision.movements![0]!.lines.map((line, i) =>
            i === 0 ? { ...line, amount: -4n } : line,
          )
          return { ...decision, movements: [{ ...decision.movements![0]!, lines }] }
        },
      },
      // The database refuses this command, and with it the whole batch: halving must find it.
      {
        ...unbalanced,
        locks: {},
        decide: () => ({
          writes: [writeTo(insertInto('deposits', { id: 'text' }), { id: 'broken' })],
          result: 1,
        }),
      },
    ]
    const good = Array.from({ length: 30 }, (_, i) => move({ to: i % 2 ? id : other, units: 1n }))
    const mixed = [
      ...good.slice(0, 11),
      broken[0]!,
      broken[3]!,
      ...good.slice(11, 20),
      broken[1]!,
      broken[2]!,
      ...good.slice(20),
    ]
    const outcomes = await Promise.all(mixed.map((command) => outcomeOf(node.commit(command))))
    expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(30)
    expect(await balanceOf(id)).toBe(15n)
    expect(await balanceOf(other)).toBe(15n)
    expect((await audit(pool, [])).ok).toBe(true)
  })

  test('the same movement of the same cause is booked once, also when it is submitted twice', async () => {
    const node = open()
    const id = await account(0n)
    const cause_id = newId('deposit', Date.now())
    await node.commit(move({ to: id, units: 7n, cause_id }))
    expect(await outcomeOf(node.commit(move({ to: id, units: 7n, cause_id })))).toMatch(/entries_pkey/)
    expect(await balanceOf(id)).toBe(7n)
  })

  test('a command that waits for another transaction’s lock does not delay the others', async () => {
    const node = open()
    const stuck = await account(0n)
    const free = await account(0n)
    const holder = new pg.Client({ connectionString: database.url })
    await holder.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM sandbox.balances WHERE customer_id = $1 FOR UPDATE', [stuck])
    const waiting = node.commit(move({ to: stuck, units: 1n }))
    await new Promise((resolve) => setTimeout(resolve, 50))
    const order: string[] = []
    const others = Promise.all(
      Array.from({ length: 20 }, () => node.commit(move({ to: free, units: 1n }))),
    ).then(() => order.push('others'))
    const late = waiting.then(() => order.push('stuck'))
    await others
    await holder.query('COMMIT')
    await late
    await holder.end()
    expect(order).toEqual(['others', 'stuck'])
    expect(await balanceOf(stuck)).toBe(1n)
    expect(await balanceOf(free)).toBe(20n)
  })

  test('a command that waits too long is refused, and does not happen later', async () => {
    const node = open()
    const id = await account(0n)
    const holder = new pg.Client({ connectionString: database.url })
    await holder.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM sandbox.balances WHERE customer_id = $1 FOR UPDATE', [id])
    expect(await outcomeOf(node.commit(move({ to: id, units: 1n })))).toBe('service_unavailable')
    await holder.query('COMMIT')
    await holder.end()
    await node.commit(move({ to: id, units: 2n }))
    expect(await balanceOf(id)).toBe(2n)
  })

  test('a connection cut at COMMIT, before or after it took effect: every acknowledged command is booked exactly once', async () => {
    const proxy = await openProxy(database.url)
    const node = open(proxy.url)
    const id = await account(0n)
    let answered = 0n
    for (let round = 0; round < 30; round++) {
      if (round > 0) proxy.cut(randomInt(2) ? 'before' : 'after', 1)
      const outcomes = await Promise.all(
        Array.from({ length: 5 }, () => outcomeOf(node.commit(move({ to: id, units: 1n })))),
      )
      expect(outcomes).toEqual(Array(5).fill('ok'))
      answered += 5n
      expect(await balanceOf(id)).toBe(answered)
    }
    expect(proxy.cuts()).toBe(29)
    expect((await audit(pool, [])).ok).toBe(true)
    await proxy.down()
  })

  test('without a database commands get 503, and once it is back the door recovers by itself', async () => {
    const proxy = await openProxy(database.url)
    const node = open(proxy.url)
    const id = await account(0n)
    await node.commit(move({ to: id, units: 1n }))
    await proxy.down()
    expect(await outcomeOf(node.commit(move({ to: id, units: 1n })))).toBe('service_unavailable')
    expect(await balanceOf(id)).toBe(1n)
    await proxy.up()
    await node.commit(move({ to: id, units: 1n }))
    expect(await balanceOf(id)).toBe(2n)
    await proxy.down()
  })

  test('a server that is read-only for a moment shows as latency, not as an error', async () => {
    // The moment may be long on a busy machine.
    const node = open(undefined, 60_000)
    const id = await account(0n)
    await node.commit(move({ to: id, units: 1n }))
    const name = new URL(database.url).pathname.slice(1)
    const set = (value: string) =>
      asAdmin(database.url, [
        'SET default_transaction_read_only = off',
        `ALTER DATABASE ${name} ${value} default_transaction_read_only${value === 'SET' ? ' = on' : ''}`,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
      ])
    await set('SET')
    const outcomes = Promise.all(
      Array.from({ length: 40 }, () => outcomeOf(node.commit(move({ to: id, units: 1n })))),
    )
    await new Promise((resolve) => setTimeout(resolve, 1000))
    await set('RESET')
    expect(new Set(await outcomes)).toEqual(new Set(['ok']))
    expect(await balanceOf(id)).toBe(41n)
  })

  test('a claim that is removed while a command waits for it fails nothing, and leaves nothing half done', async () => {
    const node = open()
    const id = await account(100n)
    const claim: Claim = { scope: 's', operation: 'o', key: 'removed', fingerprint: 'f' }
    const kept = { fingerprint: 'f', expires_at: null, final: true, response: null }
    const once = (): Command<string> => {
      const made = move({ from: id, units: 1n })
      return {
        ...made,
        locks: { ...made.locks, claim },
        decide(held) {
          const before = held.record(claim)
          if (before?.resource_id) return { result: before.resource_id }
          const decision = made.decide(held)
          return { ...decision, record: { ...kept, resource_id: decision.result } }
        },
      }
    }
    const first = await node.commit(once())
    const cleaner = new pg.Client({ connectionString: database.url })
    await cleaner.connect()
    await cleaner.query('BEGIN')
    await cleaner.query(`DELETE FROM sandbox.claims WHERE key = 'removed'`)
    const second = node.commit(once())
    await new Promise((resolve) => setTimeout(resolve, 100))
    await cleaner.query('COMMIT')
    await cleaner.end()
    expect(await second).not.toBe(first)
    expect(await balanceOf(id)).toBe(98n)
    expect(await node.commit(once())).toBe(await second)
    expect(await balanceOf(id)).toBe(98n)
  })

  test('a command that changes what it does not hold writes nothing, and its caller gets a bug', async () => {
    const node = open()
    const id = await account(0n)
    const before = await snapshot()
    const made = move({ to: id, units: 5n })
    const wrong: Command<string> = {
      ...made,
      decide: (held) => ({
        ...made.decide(held),
        record: { fingerprint: '', resource_id: 'x', expires_at: null, final: true, response: null },
      }),
    }
    const unheld: Command<string> = {
      ...made,
      decide: (held) => ({
        ...made.decide(held),
        writes: [writeTo({ ...insertInto('deposits', { id: 'text' }), updates: rowSource('x', '') }, { id })],
      }),
    }
    expect(await outcomeOf(node.commit(wrong))).toMatch(/sets a record but locks no claim/)
    expect(await outcomeOf(node.commit(unheld))).toMatch(/was not locked by the command/)
    expect(await snapshot()).toBe(before)
  })

  test('one command of a batch may lock rows of a source that another one only reads', async () => {
    const node = open()
    const id = await account(5n)
    const source = rowSource<{ id: string; balance: bigint }>(
      'accounts of a test',
      `SELECT customer_id || ' ' || asset AS id, balance FROM balances WHERE customer_id || ' ' || asset = ANY($1::text[])`,
    )
    const row = (name: string, how: 'rows' | 'reads'): Command<bigint | undefined> => ({
      partner_id,
      locks: { [how]: [{ source, id: name }] },
      decide: (held) => ({ result: held.row(source, name)?.balance }),
    })
    await expect(
      Promise.all([node.commit(row(`${id} BRL`, 'rows')), node.commit(row(`${id} USDT`, 'reads'))]),
    ).resolves.toEqual([5n, 0n])
  })

  test('a listener that fails neither undoes a batch nor stops the lane', async () => {
    const seat = seatAt(database.url, 'sandbox')
    const node = openDoor({
      seat,
      lanes: 1,
      log: pino({ level: 'silent' }),
      onBatch() {
        throw new Error('listener')
      },
    })
    doors.push(node)
    const id = await account(0n)
    for (let i = 0; i < 3; i++) expect(await outcomeOf(node.commit(move({ to: id, units: 1n })))).toBe('ok')
    expect(await balanceOf(id)).toBe(3n)
  })

  test('a command that cannot be encoded does not affect the others of its batch, and leaves no transaction open', async () => {
    const node = open()
    const id = await account(0n)
    const made = move({ to: id, units: 1n })
    const bad: Command<string> = {
      ...made,
      decide: (held) => ({
        ...made.decide(held),
        writes: [writeTo(insertInto('deposits', { id: 'text' }), { id: 5 as unknown as string })],
      }),
    }
    const outcomes = await Promise.all([
      outcomeOf(node.commit(move({ to: id, units: 2n }))),
      outcomeOf(node.commit(bad)),
      outcomeOf(node.commit(move({ to: id, units: 3n }))),
    ])
    expect(outcomes).toEqual(['ok', 'AssertionError [ERR_ASSERTION]: a text was expected', 'ok'])
    expect(await balanceOf(id)).toBe(5n)
  })

  test('a money transaction is READ COMMITTED, whatever the default of the database', async () => {
    const name = new URL(database.url).pathname.slice(1)
    await asAdmin(database.url, [
      `ALTER ROLE ${name}_sandbox SET default_transaction_isolation = 'serializable'`,
    ])
    await asAdmin(database.url, [`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`])
    const source = rowSource<{ id: string; level: string }>(
      'isolation of a test',
      `SELECT id, current_setting('transaction_isolation') AS level FROM unnest($1::text[]) AS id`,
    )
    const level = await open().commit({
      partner_id,
      locks: { reads: [{ source, id: 'x' }] },
      decide: (held) => ({ result: held.row(source, 'x')?.level }),
    })
    await asAdmin(database.url, [`ALTER DATABASE ${name} RESET default_transaction_isolation`])
    expect(level).toBe('read committed')
  })

  test('a server that becomes non-durable under an open connection is not used any more', async () => {
    const node = open()
    const id = await account(0n)
    const source = rowSource<{ id: string }>(
      'forgetting of a test',
      `SELECT id, set_config('synchronous_commit', 'local', false) FROM unnest($1::text[]) AS id`,
    )
    const made = move({ to: id, units: 1n })
    const forgetful = { ...made, locks: { ...made.locks, reads: [{ source, id: 'x' }] } }
    expect(await outcomeOf(node.commit(forgetful))).toBe('service_unavailable')
    expect(await balanceOf(id)).toBe(0n)
    await node.commit(move({ to: id, units: 2n }))
    expect(await balanceOf(id)).toBe(2n)
  })

  test('a single command is written by a statement for exactly its number of rows, unless there are many', async () => {
    const node = open()
    const target = { ...insertInto('commits', { id: 'text' }), name: `rows of ${newId('batch', Date.now())}` }
    const source = rowSource<{ id: string; texts: string[] }>(
      'texts of a test',
      `SELECT id, (SELECT array_agg(statement) FROM pg_prepared_statements) AS texts FROM unnest($1::text[]) AS id`,
    )
    const command = (rows: number): Command<{ ids: string[]; texts: string[] }> => {
      const ids = Array.from({ length: rows }, () => newId('batch', Date.now()))
      return {
        partner_id,
        locks: { reads: [{ source, id: 'x' }] },
        decide: (held) => ({
          writes: ids.map((id) => writeTo(target, { id })),
          result: { ids, texts: held.row(source, 'x')!.texts },
        }),
      }
    }
    const few = await node.commit(command(2))
    const many = await node.commit(command(200))
    const together = await Promise.all([command(3), command(4)].map((each) => node.commit(each)))
    const { texts } = await node.commit(command(1))
    expect(texts.some((text) => text.includes('(VALUES ($1::text), ($2::text)) AS new (id)'))).toBe(true)
    expect(texts.some((text) => /\$200::text\b/.test(text))).toBe(false)
    const ids = [few, many, ...together].flatMap((done) => done.ids)
    const { rows } = await pool.query('SELECT id FROM commits WHERE id = ANY($1)', [ids])
    expect(rows.map(({ id }) => id).sort()).toEqual([...ids].sort())
  })

  test('however the kinds of commands mix, a backend keeps few prepared statements', async () => {
    const node = open()
    const targets = Array.from({ length: 12 }, (_, i) => ({
      ...insertInto('commits', { id: 'text' }),
      name: `target ${i}`,
    }))
    const source = rowSource<{ id: string; kept: bigint }>(
      'statements of a test',
      `SELECT id, (SELECT count(*) FROM pg_prepared_statements) AS kept FROM unnest($1::text[]) AS id`,
    )
    const command = (chosen: typeof targets): Command<undefined> => ({
      partner_id,
      locks: {},
      decide: () => ({
        writes: chosen.map((target) => writeTo(target, { id: newId('batch', Date.now()) })),
        result: undefined,
      }),
    })
    for (let round = 0; round < 300; round++) {
      const chosen = targets.filter(() => randomInt(2) === 1)
      await node.commit(command(randomInt(2) ? chosen : chosen.reverse()))
    }
    const kept = await node.commit({
      partner_id,
      locks: { reads: [{ source, id: 'x' }] },
      decide: (held) => ({ result: held.row(source, 'x')?.kept }),
    })
    expect(kept).toBeLessThan(100n)
  })

  test('a `last` statement sees everything else of its batch, and rolls it back when it fails', async () => {
    const node = open()
    const id = await account(0n)
    const last = targetOf(
      'last of a test',
      { id: 'text', cause_id: 'text' },
      (rows) => `INSERT INTO commits (id) SELECT new.id FROM ${rows}
        WHERE EXISTS (SELECT FROM entries WHERE cause_id = new.cause_id) RETURNING 1`,
      { counted: true, last: true },
    )
    const behind = (about?: string): Command<string> => {
      const made = move({ to: id, units: 1n })
      return {
        ...made,
        decide(held) {
          const { result, ...decision } = made.decide(held)
          const row = { id: newId('batch', Date.now()), cause_id: about ?? result }
          return { ...decision, writes: [writeTo(last, row)], result }
        },
      }
    }
    await node.commit(behind())
    expect(await balanceOf(id)).toBe(1n)
    const before = await snapshot()
    expect(await outcomeOf(node.commit(behind('dep_nothing')))).toMatch(/last of a test/)
    expect(await snapshot()).toBe(before)
  })

  test('of 50 commands with one claim on two nodes one wins; the others see its record', async () => {
    const nodes = [open(), open()]
    for (let round = 0; round < 5; round++) {
      const id = await account(0n)
      const claim: Claim = { scope: 's', operation: 'o', key: `k${round}`, fingerprint: 'f' }
      const once = (): Command<string> => {
        const made = move({ to: id, units: 1n })
        return {
          ...made,
          locks: { ...made.locks, claim },
          decide(held) {
            const before = held.record(claim)
            if (before?.resource_id) return { result: before.resource_id }
            const decision = made.decide(held)
            const { fingerprint } = claim
            return {
              ...decision,
              record: {
                fingerprint,
                resource_id: decision.result,
                expires_at: null,
                final: true,
                response: null,
              },
            }
          },
        }
      }
      const results = await Promise.all(Array.from({ length: 50 }, (_, i) => nodes[i % 2]!.commit(once())))
      expect(new Set(results).size).toBe(1)
      expect(await balanceOf(id)).toBe(1n)
    }
  })

  test('partners take turns: one with thousands of waiting commands does not delay another', async () => {
    const node = open()
    const busy = await account(0n)
    const calm = await account(0n, 'ptn_calm')
    let busyDone = 0
    const flood = Promise.all(
      Array.from({ length: 3000 }, () => node.commit(move({ to: busy, units: 1n })).then(() => busyDone++)),
    )
    await node.commit(move({ to: calm, units: 1n, partner: 'ptn_calm' }))
    expect(busyDone).toBeLessThan(1100)
    await flood
    expect(await balanceOf(busy)).toBe(3000n)
  })

  test('the clock is read after the locks are acquired', async () => {
    const node = open()
    const id = await account(0n)
    const holder = new pg.Client({ connectionString: database.url })
    await holder.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM sandbox.balances WHERE customer_id = $1 FOR UPDATE', [id])
    let decided = new Date(0)
    const made = move({ to: id, units: 1n })
    const waiting = node.commit({
      ...made,
      decide: (held) => {
        decided = held.now
        return made.decide(held)
      },
    })
    await new Promise((resolve) => setTimeout(resolve, 200))
    const { rows } = await holder.query('SELECT clock_timestamp() AS released')
    await holder.query('COMMIT')
    await waiting
    await holder.end()
    expect(decided.getTime()).toBeGreaterThanOrEqual(rows[0].released.getTime())
  })
})

describe('the audit', () => {
  const spoil = (sql: string) =>
    asAdmin(database.url, ['SET session_replication_role = replica', 'SET search_path = sandbox', sql])

  test('finds a single flipped unit, wherever it is', async () => {
    const id = await account(100n)
    await doors[0]!.commit(move({ from: id, units: 30n }))
    expect((await audit(pool, [])).ok).toBe(true)
    const spoiled: [string, string][] = [
      [
        `UPDATE entries SET amount = amount + 1 WHERE owner = '${id}' AND seq = 1`,
        `UPDATE entries SET amount = amount - 1 WHERE owner = '${id}' AND seq = 1`,
      ],
      [
        `UPDATE balances SET balance = balance + 1 WHERE customer_id = '${id}' AND asset = 'BRL'`,
        `UPDATE balances SET balance = balance - 1 WHERE customer_id = '${id}' AND asset = 'BRL'`,
      ],
      [
        `UPDATE balances SET in_transit = 1 WHERE customer_id = '${id}' AND asset = 'BTC'`,
        `UPDATE balances SET in_transit = 0 WHERE customer_id = '${id}' AND asset = 'BTC'`,
      ],
      [
        `UPDATE entries SET balance_after = balance_after + 1 WHERE owner = '${id}' AND seq = 2`,
        `UPDATE entries SET balance_after = balance_after - 1 WHERE owner = '${id}' AND seq = 2`,
      ],
      [
        `UPDATE balances SET seq = seq + 1 WHERE customer_id = '${id}' AND asset = 'BRL'`,
        `UPDATE balances SET seq = seq - 1 WHERE customer_id = '${id}' AND asset = 'BRL'`,
      ],
    ]
    for (const [harm, mend] of spoiled) {
      await spoil(harm)
      expect((await audit(pool, [])).ok, harm).toBe(false)
      await spoil(mend)
      expect((await audit(pool, [])).ok, mend).toBe(true)
    }
  })
})
