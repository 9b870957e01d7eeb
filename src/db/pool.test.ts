import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { asAdmin, createDatabase, holdLock, seatAt } from '../../test/support/database.ts'
import { until } from '../../test/support/wait.ts'
import { isAnswer, isServerTrouble, isUnreachable } from './failure.ts'
import { isPlainRead } from './plain-read.ts'
import { type Db, openClient, openPool, transaction } from './pool.ts'

test('a transaction whose connection is cut between two statements runs again, and affects no other caller', async () => {
  const database = await createDatabase()
  const pool = openPool({ ...seatAt(database.url, 'shared', 'cut'), max: 1 })
  const uncaught: unknown[] = []
  const note = (error: unknown) => uncaught.push(error)
  process.on('uncaughtException', note)
  let runs = 0
  try {
    const cut = transaction(pool, async (tx) => {
      runs++
      await tx.query('SELECT 1')
      if (runs === 1)
        await asAdmin(database.url, [
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut'`,
        ])
      await sleep(100)
      return (await tx.query('SELECT 2 AS n')).rows[0].n
    })
    expect(await cut).toBe(2)
    expect(runs).toBe(2)
    expect(await transaction(pool, async (tx) => (await tx.query('SELECT 3 AS n')).rows[0].n)).toBe(3)
    expect(uncaught).toEqual([])
  } finally {
    process.off('uncaughtException', note)
    await pool.end()
    await database.drop()
  }
})

test('a connection that asks something every second is closed by the server when its process stands still', async () => {
  const { url } = await createDatabase()
  const seat = seatAt(url, 'shared', 'trilho')
  const idleMost = async (db: Db) =>
    (await db.query('SHOW idle_session_timeout')).rows[0].idle_session_timeout
  const watched = await openClient(seat)
  onTestFinished(() => watched.end())
  expect(await idleMost(watched)).toBe('30s')
  const pool = openPool({ ...seat, max: 1 })
  onTestFinished(() => pool.end())
  expect(await idleMost(pool), 'idle for as long as nobody needs it').toBe('0')
})

test('a lock that is held for longer than lock_timeout delays a transaction and a read, and fails neither', async () => {
  const database = await createDatabase()
  onTestFinished(database.drop)
  const pool = openPool({ ...seatAt(database.url, 'sandbox', 'contended'), max: 2 })
  onTestFinished(() => pool.end())
  await asAdmin(database.url, [
    'CREATE TABLE sandbox.held (n integer); GRANT SELECT, INSERT ON sandbox.held TO PUBLIC',
  ])
  const release = await holdLock(database.url, 'sandbox.held')
  const failures: unknown[] = []
  let runs = 0
  const writing = transaction(pool, async (tx) => {
    runs++
    await tx.query('INSERT INTO held VALUES (1)').catch((error: unknown) => {
      failures.push(error)
      throw error
    })
  })
  const reading = pool.query('SELECT count(*)::integer AS n FROM held')
  // The server refused the first run with a lock timeout.
  await until(() => runs > 1, 10_000)
  await release()
  await writing
  expect(failures[0]).toMatchObject({ code: '55P03' })
  expect([0, 1]).toContain((await reading).rows[0].n)
  expect((await pool.query('SELECT n FROM held')).rows).toEqual([{ n: 1 }])
})

test('an error is classified by its SQLSTATE, in whatever language the server speaks', () => {
  const error = (code: string, severity = 'ERRO') =>
    Object.assign(new pg.DatabaseError('mensagem', 1, 'error'), { code, severity })
  const verdicts = (code: string) => [
    isAnswer(error(code)),
    isServerTrouble(error(code)),
    isUnreachable(error(code)),
  ]
  // The statement was refused and the connection stays open: a lock timeout, a deadlock, a broken constraint, a cancel.
  for (const code of ['55P03', '40P01', '40001', '23505', '57014', 'P0001'])
    expect(verdicts(code), code).toEqual([true, false, false])
  // The server as a whole cannot work: disk full, out of memory, a standby, an I/O error.
  for (const code of ['53100', '53200', '25006', '58030'])
    expect(verdicts(code), code).toEqual([true, true, true])
  // The connection is lost.
  for (const code of ['57P01', '57P02', '57P03', '08006'])
    expect(verdicts(code), code).toEqual([false, true, true])
  expect(isAnswer(error('25P03'))).toBe(false)
  expect(isUnreachable(new Error('Connection terminated unexpectedly'))).toBe(true)
  expect(isUnreachable(new Error('Client was closed and is not queryable'))).toBe(true)
  expect(isUnreachable(new TypeError('x is not a function'))).toBe(false)
})

test('a missing socket, an unknown host name and a refused connection mean that the server is unreachable', () => {
  const error = (syscall: string, code: string) =>
    Object.assign(new Error(`${syscall} ${code}`), { code, syscall })
  for (const code of ['ENOENT', 'EADDRNOTAVAIL', 'ECONNREFUSED'])
    expect(isUnreachable(error('connect', code)), code).toBe(true)
  for (const code of ['EAI_FAIL', 'ENOTFOUND'])
    expect(isUnreachable(error('getaddrinfo', code)), code).toBe(true)
  // Errors of other system calls than connect do not tell of the database.
  expect(isUnreachable(error('open', 'ENOENT'))).toBe(false)
  expect(isUnreachable(error('listen', 'EADDRNOTAVAIL'))).toBe(false)
})

test('a plan that a migration has made stale is prepared again', async () => {
  const database = await createDatabase()
  onTestFinished(database.drop)
  const seat = seatAt(database.url, 'shared', 'stale')
  const pool = openPool({ ...seat, max: 1 })
  onTestFinished(() => pool.end())
  const client = await openClient(seat, { pipeline: true })
  onTestFinished(() => client.end())
  await asAdmin(database.url, [
    'CREATE TABLE shared.growing (id integer); GRANT SELECT ON shared.growing TO PUBLIC; INSERT INTO shared.growing VALUES (1)',
  ])
  const ask = { name: 'all of it', text: 'SELECT * FROM growing' }
  await pool.query(ask)
  await transaction(pool, (tx) => tx.query(ask))
  await client.query(ask)
  await asAdmin(database.url, ['ALTER TABLE shared.growing ADD COLUMN more text'])
  expect((await transaction(pool, (tx) => tx.query(ask))).rows).toEqual([{ id: 1, more: null }])
  expect((await pool.query(ask)).rows).toHaveLength(1)
  // A connection outside the pool gets the error once; the next use succeeds.
  await expect(client.query(ask)).rejects.toMatchObject({ code: '0A000' })
  expect((await client.query(ask)).rows).toEqual([{ id: 1, more: null }])
  expect((await client.query(ask)).rows).toEqual([{ id: 1, more: null }])
})

test.each([
  ['SELECT id FROM payouts WHERE id = $1', true],
  ['WITH a AS (SELECT 1) SELECT coalesce(updated_at, now()) FROM a JOIN unnest($1) ON true', true],
  ['SELECT id FROM payouts WHERE id = $1 FOR UPDATE', false],
  ['SELECT place_events()', false],
  ['SELECT pg_advisory_xact_lock(1)', false],
  ['WITH gone AS (DELETE FROM windows RETURNING 1) SELECT count(*) FROM gone', false],
  ['INSERT INTO windows SELECT 1', false],
  ['SELECT id FROM payouts WHERE (a, b) IN (SELECT 1, 2) AND NOT (c = ANY($1)) OR (d)', true],
  ['SELECT a.id FROM a JOIN unnest($1::text[]) AS wanted (id) USING (id)', true],
  ['SELECT count(*) FILTER (WHERE a), sum(b) OVER (ORDER BY c), x::numeric FROM (VALUES (1)) AS v (a)', true],
  ["SELECT id, nextval('numbers') FROM payouts", false],
  ['SELECT sandbox.forget_quotes($1, $2)', false],
  ['SELECT coalesce(a, pg_advisory_lock(1)) FROM b', false],
  ['SELECT id FROM payouts WHERE take2($1)', false],
  ['SELECT "take" (1)', false],
  ['SELECT take/* it */(1)', false],
  ['SELECT 1 AS a, take (1)', false],
  ['SELECT id INTO copy FROM payouts', false],
  ['SELECT 1; DROP TABLE payouts', false],
])('what only reads may be asked twice, and nothing else: %s', (text, plain) => {
  expect(isPlainRead(text)).toBe(plain)
})
