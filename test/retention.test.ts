import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Chore, openChore } from '../src/db/chore.ts'
import { openPool } from '../src/db/pool.ts'
import { forgetClaims, forgetCommits } from '../src/ledger/retention.ts'
import { forgetWindows } from '../src/limits/store.ts'
import { forgetQuotes } from '../src/money/quotes/store.ts'
import { choresOf } from '../src/node/housekeeping.ts'
import type { Api } from './support/api.ts'
import { asAdmin, seatAt } from './support/database.ts'
import { scrape } from './support/metrics.ts'
import { openDesk } from './support/operators.ts'
import { inParallel, times } from './support/parallel.ts'
import { noteFact } from './support/proof.ts'
import { someCpf, startTestService, type TestService } from './support/service.ts'
import { size } from './support/size.ts'
import { eventually, until } from './support/wait.ts'

/** What is kept and for how long: docs/operate/retention.md. */
let service: TestService
let api: Api
let customer_id: string
let document: string

beforeAll(async () => {
  // A payout is to be completed in the answer, on a busy machine too.
  service = await startTestService({ PIX_WAIT_MS: '9000' })
  ;({ api } = await service.partner())
  document = someCpf()
  customer_id = (await api.post('/v1/customers', { name: 'Ana Souza', document })).json.id
  for (const [asset, amount] of Object.entries({ BRL: '100000000', USDT: '100000000000' }))
    await api.post('/v1/sandbox/deposits', { customer_id, asset, amount })
})
afterAll(() => service.stop())

const admin = (...statements: string[]) => asAdmin(service.database.url, statements)

async function count(table: string, where = 'true'): Promise<number> {
  const [row] = await admin(`SELECT count(*)::int AS n FROM ${table} WHERE ${where}`)
  return row!.n as number
}

const pay = (idempotency_key: string, more: Record<string, unknown> = {}) =>
  api.post('/v1/pix/payouts', {
    customer_id,
    amount: '100',
    counterparty: { type: 'pix_key', pix_key: document },
    idempotency_key,
    ...more,
  })

/** As if the claims had been made, and had ended, so many hours earlier. */
const ageClaims = (hours: number, where: string) =>
  admin(
    'ALTER TABLE sandbox.payouts DISABLE TRIGGER USER',
    `UPDATE sandbox.payouts SET created_at = created_at - interval '${hours} hours', completed_at = completed_at - interval '${hours} hours'
     WHERE id IN (SELECT resource_id FROM sandbox.claims WHERE ${where})`,
    'ALTER TABLE sandbox.payouts ENABLE TRIGGER USER',
    'SET session_replication_role = replica',
    ...['claims', 'refusals'].map(
      (table) =>
        `UPDATE sandbox.${table} SET expires_at = expires_at - interval '${hours} hours' WHERE ${where}`,
    ),
    `UPDATE sandbox.claims SET claimed_at = claimed_at - interval '${hours} hours' WHERE ${where}`,
  )

async function quote(executed: boolean): Promise<string> {
  const asked = await api.post('/v1/quotes', {
    customer_id,
    from_asset: 'BRL',
    to_asset: 'USDT',
    amount: '10000',
  })
  if (executed) expect((await api.post(`/v1/quotes/${asked.json.id}/execute`)).status).toBe(201)
  return asked.json.id
}

const ageQuotes = (days: number, ids: readonly string[]) =>
  admin(
    'ALTER TABLE sandbox.quotes DISABLE TRIGGER USER',
    `UPDATE sandbox.quotes SET created_at = created_at - interval '${days} days', expires_at = expires_at - interval '${days} days'
     WHERE id IN (${ids.map((id) => `'${id}'`).join(', ')})`,
    'ALTER TABLE sandbox.quotes ENABLE TRIGGER USER',
    `UPDATE sandbox.trades SET created_at = created_at - interval '${days} days', quote_expires_at = quote_expires_at - interval '${days} days'
     WHERE quote_id IN (${ids.map((id) => `'${id}'`).join(', ')})`,
  )

describe('claims are forgotten', () => {
  const forget = () => forgetClaims(service.worlds.sandbox.db, Date.now())
  const left = (key: string) => count('sandbox.claims', `key = '${key}'`)

  test('two days after their name is free, with refusals, and never before', async () => {
    expect((await pay('paid')).json.status).toBe('completed')
    expect((await pay('refused', { amount: '999999999999' })).status).toBe(422)
    expect((await pay('yesterday')).status).toBe(201)
    await ageClaims(24 + 49, `key IN ('paid', 'refused')`)
    await ageClaims(24 + 47, `key = 'yesterday'`)
    await forget()
    expect([await left('paid'), await left('refused'), await left('yesterday')]).toEqual([0, 0, 1])
    expect(await count('sandbox.refusals', `key = 'refused'`)).toBe(0)
  })

  test('but not those of operators, nor of what is still on its way', async () => {
    expect(
      (await pay('open', { counterparty: { type: 'pix_key', pix_key: 'late@sandbox.test' } })).status,
    ).toBe(201)
    await admin(
      `INSERT INTO sandbox.claims (scope, operation, key, fingerprint, resource_id, claimed_at, final)
       VALUES ('operator', 'credit', 'for ever', '', 'dep_1', now() - interval '3 years', true)`,
    )
    // The claim alone: the payout tells when it was made.
    const shiftOpen = (days: number) =>
      admin(
        `UPDATE sandbox.claims SET claimed_at = claimed_at - interval '${days} days', expires_at = expires_at - interval '${days} days'
         WHERE key = 'open'`,
      )
    await shiftOpen(365)
    await forget()
    expect([await left('open'), await left('for ever')]).toEqual([1, 1])
    await shiftOpen(-365)
    await admin(`DELETE FROM sandbox.claims WHERE key = 'for ever'`)
  })

  test('without waiting for whoever holds one', async () => {
    for (const key of ['held', 'beside it']) await pay(key)
    await ageClaims(24 * 30, `key IN ('held', 'beside it')`)
    const other = new pg.Client({ connectionString: service.database.url })
    await other.connect()
    onTestFinished(() => other.end())
    await other.query('BEGIN')
    await other.query(`SELECT FROM sandbox.claims WHERE key = 'held' FOR UPDATE`)
    await forget()
    expect([await left('held'), await left('beside it')]).toEqual([1, 0])
    await other.query('ROLLBACK')
    await forget()
    expect(await left('held')).toBe(0)
  })

  test('many, step by step, also when all ended in the same millisecond', async () => {
    await admin(
      `INSERT INTO sandbox.claims (scope, operation, key, fingerprint, claimed_at, expires_at, final)
       SELECT 'many', 'x', n::text, '', '2026-01-01', '2026-01-02', n % 2 = 0 FROM generate_series(1, 3000) n`,
      `INSERT INTO sandbox.claims (scope, operation, key, fingerprint, claimed_at, expires_at, final)
       SELECT 'many', 'y', n::text, '', '2026-01-01'::timestamptz + n * interval '1 ms', '2026-01-02', true FROM generate_series(1, 3000) n`,
    )
    await forget()
    expect(await count('sandbox.claims', `scope = 'many'`)).toBe(1500)
    await admin(`DELETE FROM sandbox.claims WHERE scope = 'many'`)
  })

  test('but none that is not free, whatever time is said', async () => {
    const before = await pay('not-free')
    await service.worlds.sandbox.db.query(`SELECT forget_claims(now() + interval '10 years', 1000)`)
    expect((await pay('not-free')).text).toBe(before.text)
  })

  test('and the same key is then a new operation, once, however many ask while it is being forgotten', async () => {
    const keys = times(size(300, 40), (i) => `again-${i}`)
    const first = await inParallel(keys, 20, async (key) => (await pay(key)).json.id as string)
    await ageClaims(24 * 30, `key LIKE 'again-%'`)
    let racing = true
    let forgotten = 0
    // One by one, in the order in which they are asked for again: so both are after the same ones.
    const forgetting = (async () => {
      while (racing) {
        const { rows } = await service.worlds.sandbox.db.query('SELECT forget_claims(now(), 1) AS gone')
        if (rows[0].gone === 0) await sleep(1)
        else forgotten++
      }
    })()
    const second = await inParallel(keys, 10, async (key) => {
      const replies = await Promise.all(times(3, () => pay(key)))
      expect(replies.map(({ status }) => status)).toEqual([201, 201, 201])
      const ids = new Set(replies.map(({ json }) => json.id as string))
      expect(ids.size).toBe(1)
      return [...ids][0]!
    }).finally(() => {
      racing = false
    })
    await forgetting
    expect(new Set([...first, ...second]).size).toBe(2 * keys.length)
    noteFact(
      `${keys.length} idempotency keys used again by 3 requests each while ${forgotten} old claims were being forgotten: ${keys.length} new payouts, 1 per key, 1 body per key`,
    )
  })
})

test('quotes that were never executed are forgotten after their days; executed and younger ones stay', async () => {
  const forget = () => forgetQuotes(service.worlds.sandbox.db, new Date(Date.now() - 30 * 24 * 3_600_000))
  const old = [await quote(false), await quote(true), await quote(false)]
  const young = [await quote(false), await quote(true)]
  await ageQuotes(31, old)
  await ageQuotes(29, young)
  await forget()
  const kept = (await admin('SELECT id FROM sandbox.quotes ORDER BY id')).map(({ id }) => id)
  expect(kept).toEqual([old[1], ...young])
  expect((await api.post(`/v1/quotes/${old[0]}/execute`)).json.error.code).toBe('quote_not_found')
  // What was judged is not looked at again, and what was too young then has its time later.
  expect(await admin('SELECT what, up_to FROM sandbox.forgotten')).toEqual([
    { what: 'quotes', up_to: old[2] },
  ])
  await ageQuotes(2, young)
  await forget()
  expect((await admin('SELECT id FROM sandbox.quotes ORDER BY id')).map(({ id }) => id)).toEqual([
    old[1],
    young[1],
  ])
})

test('ids of batches are forgotten after an hour, windows of the limits an hour after their end', async () => {
  await admin(
    `INSERT INTO sandbox.commits (id, committed_at) SELECT 'old ' || n, now() - interval '61 minutes' FROM generate_series(1, 1700) n`,
    `INSERT INTO sandbox.commits (id, committed_at) VALUES ('new', now() - interval '50 minutes')`,
    `INSERT INTO shared.windows (subject, name, starts_at, ends_at, count)
     SELECT 'address ' || n, 'address', now() - interval '3 hours', now() - interval '61 minutes', 1 FROM generate_series(1, 2500) n`,
    `INSERT INTO shared.windows (subject, name, starts_at, ends_at, count) VALUES ('address 0', 'address', now(), now() + interval '1 minute', 1)`,
  )
  await forgetCommits(service.worlds.sandbox.db)
  const shared = openPool({ ...seatAt(service.database.url, 'shared'), max: 1 })
  onTestFinished(() => shared.end())
  await forgetWindows(shared)
  expect(await count('sandbox.commits', `id LIKE 'old %'`)).toBe(0)
  expect(await count('sandbox.commits', `id = 'new'`)).toBe(1)
  expect(await count('shared.windows', `subject LIKE 'address %'`)).toBe(1)
})

test('history is forgotten only so: the service itself can remove neither quotes nor how far it got', async () => {
  for (const statement of [
    'DELETE FROM quotes',
    'DELETE FROM forgotten',
    `INSERT INTO forgotten VALUES ('a', 'b')`,
  ])
    await expect(service.worlds.sandbox.db.query(statement)).rejects.toMatchObject({ code: '42501' })
})

describe('a chore', () => {
  const log = pino({ level: 'silent' })
  const never = 3_600_000
  const choreOf = (work: Chore['work']): Chore => ({
    name: 'test',
    every_ms: never,
    pool: service.worlds.sandbox.db,
    work,
  })

  test('is done by one node at a time', async () => {
    let end = () => {}
    let begun = false
    const first = openChore(
      choreOf(
        () =>
          new Promise<void>((resolve) => {
            begun = true
            end = resolve
          }),
      ),
      { log },
    )
    const second = openChore(
      choreOf(async () => {}),
      { log },
    )
    onTestFinished(async () => {
      await Promise.all([first.stop(), second.stop()])
    })
    const running = first.run()
    await until(() => begun, 10_000)
    expect(await second.run()).toBe('elsewhere')
    end()
    expect(await running).toBe('done')
    expect(await second.run()).toBe('done')
  })

  test('needs no connection but the one it holds', async () => {
    const { database, worlds, office } = service
    await office.log.begin()
    const seat = seatAt(database.url, 'sandbox', 'chores')
    const pool = openPool({ ...seat, max: 1, wait_ms: 3000 })
    onTestFinished(() => pool.end())
    const sandbox = { ...worlds.sandbox, db: pool, stuck_after_ms: 0 }
    const booked = { partner_id: 'p', customer_id, asset: 'BRL', amount: '1' } as const
    const details = { ...booked, reason: 'wire 8841', reference: 'r-1' }
    const { id } = await openDesk(() => office).propose(
      worlds.sandbox,
      { name: 'credit', details },
      'a@example.com',
    )
    await admin(
      'SET session_replication_role = replica',
      `UPDATE sandbox.proposals SET expires_at = clock_timestamp() - interval '1 second' WHERE id = '${id}'`,
    )
    const chores = choresOf({
      role: 'all',
      worlds: { ...worlds, sandbox },
      shared: pool,
      office,
      notifications: { every_ms: never, work: async () => {} },
      log,
      retention: { every_ms: never, event_days: 365, delivery_days: 30, quote_days: 30, request_days: 30 },
      reconcile_every_ms: never,
      setClock: async () => {},
    })
    const own = chores.filter(({ environment }) => environment === 'sandbox')
    expect(own.length).toBeGreaterThan(5)
    for (const { environment, ...chore } of own) {
      const running = openChore({ ...chore, every_ms: never }, { log })
      onTestFinished(running.stop)
      // The service itself may be at it.
      await until(async () => (await running.run()) !== 'elsewhere', 10_000)
      expect([chore.name, await running.run()]).not.toContain('failed')
    }
    const [proposal] = await admin(`SELECT ended FROM sandbox.proposals WHERE id = '${id}'`)
    expect(proposal).toEqual({ ended: 'expired' })
  })

  test('that fails says so, holds nobody up, and is tried again', async () => {
    const outcomes: string[] = []
    let broken = true
    const chore = openChore(
      choreOf(async (db) => {
        if (broken) await db.query('SELECT 1 / 0')
      }),
      { log, onRun: (outcome) => outcomes.push(outcome) },
    )
    onTestFinished(chore.stop)
    await chore.run()
    expect(outcomes).toEqual(['failed'])
    broken = false
    // The lock goes with the connection that failed, and that takes the server a moment.
    await until(async () => (await chore.run()) === 'done', 10_000)
  })

  test('comes by itself, at times that differ from node to node, and stops between two steps', async () => {
    const runs: number[] = []
    const started = performance.now()
    const chores = times(8, () =>
      openChore(
        {
          ...choreOf(async () => void runs.push(performance.now() - started)),
          every_ms: 400,
          on_every_node: true,
        },
        { log },
      ),
    )
    await until(() => runs.length >= 16, 20_000)
    await Promise.all(chores.map((chore) => chore.stop()))
    const [early, late] = [Math.min(...runs.slice(0, 8)), Math.max(...runs.slice(0, 8))]
    expect(late - early).toBeGreaterThan(50)

    let steps = 0
    const long = openChore(
      choreOf(async (_, shouldContinue) => {
        for (; shouldContinue(); steps++) await sleep(5)
      }),
      { log },
    )
    const running = long.run()
    await until(() => steps > 3, 10_000)
    await long.stop()
    expect(await running).toBe('done')
  })
})

test('a server forgets by itself whatever may be forgotten, in every table, and tells of it', async () => {
  const busy = await startTestService({ HOUSEKEEPING_MS: '200' })
  onTestFinished(busy.stop)
  const long_ago = `now() - interval '3 years'`
  const rows: Record<string, string> = {
    'sandbox.claims': `INSERT INTO sandbox.claims (scope, operation, key, fingerprint, claimed_at, expires_at, final)
      VALUES ('a', 'b', 'c', '', ${long_ago}, ${long_ago}, true)`,
    'sandbox.commits': `INSERT INTO sandbox.commits (id, committed_at) VALUES ('bat_old', ${long_ago})`,
    'sandbox.quotes': `INSERT INTO sandbox.quotes (id, partner_id, customer_id, api_key_id, from_asset, to_asset, side, market_price,
        price_source, from_amount, to_amount, partner_fee, partner_bps, service_fee, service_bps, worth_brl, created_at, expires_at)
      VALUES ('qt_0', 'p', 'c', 'k', 'BRL', 'USDT', 'buy', 1, 's', 10, 10, 0, 0, 0, 0, 1, ${long_ago}, ${long_ago})`,
    'sandbox.events': `INSERT INTO sandbox.events (id, partner_id, type, object_id, sequence, data, created_at)
      VALUES ('evt_0', 'p', 'customer.created', 'c', 1, '{}', ${long_ago})`,
    'sandbox.webhook_deliveries': `INSERT INTO sandbox.webhook_deliveries (event_id, endpoint_id, status, next_attempt_at, created_at, ended_at)
      VALUES ('evt_1', 'whe_0', 'delivered', ${long_ago}, ${long_ago}, ${long_ago})`,
    'sandbox.webhook_attempts': `INSERT INTO sandbox.webhook_attempts (event_id, endpoint_id, attempt, url, headers, status, started_at, duration_ms)
      VALUES ('evt_1', 'whe_0', 1, 'https://example.com/', '{}', 200, ${long_ago}, 1)`,
    'sandbox.requests': `INSERT INTO sandbox.requests (id, partner_id, api_key_id, method, status, duration_ms, address, created_at)
      VALUES ('req_0000000000', 'p', 'k', 'GET', 200, 1, '192.0.2.1', ${long_ago})`,
    'shared.windows': `INSERT INTO shared.windows VALUES ('address 192.0.2.1', 'address', ${long_ago}, ${long_ago}, 7)`,
  }
  const tables = Object.keys(rows)
  await asAdmin(busy.database.url, [
    'BEGIN',
    rows['sandbox.webhook_attempts']!,
    ...Object.values(rows).filter((sql) => sql !== rows['sandbox.webhook_attempts']),
    'COMMIT',
  ])
  await until(async () => {
    const counts = await asAdmin(busy.database.url, [
      tables
        .map((table) => `SELECT '${table}' AS name, count(*)::int AS n FROM ${table}`)
        .join(' UNION ALL '),
    ])
    return counts.every(({ n }) => n === 0)
  }, 20_000)
  // A run is counted when it has ended, after its rows are gone.
  await eventually(async () => {
    const metrics = await scrape(busy.url)
    for (const chore of ['claims', 'commits', 'quotes', 'events', 'deliveries', 'requests'])
      expect(metrics).toMatch(
        new RegExp(
          `trilho_housekeeping_runs_total\\{environment="sandbox",chore="forget ${chore}",outcome="done"\\} [1-9]`,
        ),
      )
  })
  expect(await scrape(busy.url)).not.toContain('outcome="failed"')
})

test('an idle server adds no row to any table, and writes next to nothing', async () => {
  // Each pass of the audit leaves a proof, one an hour.
  const idle = await startTestService({ HOUSEKEEPING_MS: '200', AUDIT_EVERY_MS: '0' })
  onTestFinished(idle.stop)
  const { api } = await idle.partner()
  await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })
  const rowsOf = async () => {
    const rows = await asAdmin(idle.database.url, [
      `SELECT schemaname || '.' || relname AS name,
         (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM %I.%I', schemaname, relname), false, true, '')))[1]::text AS n
       FROM pg_stat_user_tables ORDER BY 1`,
    ])
    return Object.fromEntries(rows.map(({ name, n }) => [name, Number(n)]))
  }
  /**
   * How much the connections of this database have written into the log; other suites use the same server. Images of
   * pages do not count: after a checkpoint even a read may leave one.
   */
  const writtenOf = async () => {
    const rows = await asAdmin(idle.database.url, [
      `SELECT a.pid, a.backend_start::text AS since, (w.wal_records - w.wal_fpi)::float8 AS records
       FROM pg_stat_activity a, pg_stat_get_backend_wal(a.pid) w
       WHERE a.datname = current_database() AND a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()`,
    ])
    return new Map(rows.map(({ pid, since, records }) => [`${pid} ${since}`, records as number]))
  }
  // Events get their places, the last use of the key is noted, counts are saved.
  await until(
    async () => (await asAdmin(idle.database.url, ['SELECT FROM sandbox.api_key_uses'])).length === 1,
    60_000,
  )
  const SECONDS = size(30, 4)
  let records = 0
  // Jobs that run seldom store their positions at their first run, and the database tells what a connection wrote up to
  // ten seconds late: an interval that begins after all of that is the one that counts.
  for (const deadline = Date.now() + SECONDS * 2000 + 90_000; ; ) {
    const [rows_before, written_before] = [await rowsOf(), await writtenOf()]
    await sleep(SECONDS * 1000)
    const [rows_after, written_after] = [await rowsOf(), await writtenOf()]
    expect(Object.keys(rows_before).length).toBeGreaterThan(50)
    expect(written_after.size).toBeGreaterThan(0)
    records = 0
    for (const [backend, now] of written_after) records += now - (written_before.get(backend) ?? 0)
    if (records <= 2 && isDeepStrictEqual(rows_after, rows_before)) break
    if (Date.now() < deadline) continue
    expect(rows_after).toEqual(rows_before)
    expect(records).toBeLessThanOrEqual(2)
  }
  noteFact(
    `An idle server for ${SECONDS} s, housekeeping 5 times a second: no row added to any of ${Object.keys(await rowsOf()).length} tables, ${records} records in the write-ahead log`,
  )
}, 300_000)

test('afterwards the books are right, and nobody misses what was forgotten', async () => {
  const ofClaims = ({ check }: { check: string }) => /claim|idempotency/.test(check)
  // As old as they were made: the audit knows that their claims may be gone.
  expect((await service.audit()).sandbox.findings.filter(ofClaims)).toEqual([])
  // As old as they are: everything else is as it was booked.
  const booked = (movements: string) =>
    `(SELECT max(e.created_at) FROM sandbox.entries e WHERE e.cause_id = p.id AND e.movement IN (${movements}))`
  await admin(
    'ALTER TABLE sandbox.payouts DISABLE TRIGGER USER',
    `UPDATE sandbox.payouts p SET created_at = ${booked(`'accepted'`)},
       completed_at = ${booked(`'completed', 'returned'`)} WHERE status IN ('completed', 'failed')`,
    'ALTER TABLE sandbox.payouts ENABLE TRIGGER USER',
  )
  await ageQuotes(
    -31,
    (await admin('SELECT id FROM sandbox.quotes')).map(({ id }) => id as string),
  )
  const { findings } = (await service.audit()).sandbox
  expect(findings.filter((finding) => !ofClaims(finding))).toEqual([])
})
