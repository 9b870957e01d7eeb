import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { asAdmin, createDatabase, type TestDatabase } from '../../test/support/database.ts'
import { NOT_HERE, unpackPreviousRelease } from '../../test/support/previous-release.ts'
import { until } from '../../test/support/wait.ts'
import { selectEvents } from '../records/events/log-store.ts'
import { BASELINE, NEXT_NUMBER } from './baseline.ts'
import { MigrationBlocked, migrate } from './migrate.ts'
import type { Db } from './pool.ts'

const FOLDERS = { shared: 'shared', live: 'world', sandbox: 'world' } as const

let files: string
let is_here: boolean
beforeAll(() => {
  files = mkdtempSync(join(tmpdir(), 'trilho-previous-'))
  is_here = unpackPreviousRelease(files, ['src/db/migrations'])
})
afterAll(() => rmSync(files, { recursive: true, force: true }))
beforeEach(({ skip }) => skip(!is_here, NOT_HERE))

/** A database with the tables and the migration rows of the previous release. */
async function previousDatabase(): Promise<TestDatabase> {
  const database = await createDatabase({ migrated: false })
  for (const [schema, folder] of Object.entries(FOLDERS)) {
    const place = join(files, 'src/db/migrations', folder)
    const statements = readdirSync(place)
      .sort()
      .flatMap((name) => {
        const sql = readFileSync(join(place, name), 'utf8')
        const checksum = createHash('sha256').update(sql).digest('hex')
        const row = `('${name}', '${checksum}', ${sql.startsWith('-- additive')})`
        return [
          `BEGIN; SET LOCAL search_path = ${schema}`,
          sql,
          `INSERT INTO ${schema}.migrations (name, checksum, additive) VALUES ${row}`,
          'COMMIT',
        ]
      })
    await asAdmin(database.url, [
      `CREATE SCHEMA ${schema}`,
      `CREATE TABLE ${schema}.migrations (name text PRIMARY KEY, checksum text NOT NULL,
         applied_at timestamptz NOT NULL DEFAULT clock_timestamp(), additive boolean NOT NULL DEFAULT false)`,
      ...statements,
    ])
  }
  return database
}

const OURS = `IN ('live', 'sandbox', 'shared')`

/** Everything that defines the schemas. Constraints that an old file added as NOT VALID count as the same. */
const CATALOGUE = `
  SELECT 'relation' AS kind, c.oid::regclass::text AS name, concat_ws(' ', relkind, reloptions, relpersistence, relowner::regrole) AS definition
    FROM pg_class c WHERE relnamespace::regnamespace::text ${OURS} AND relkind <> 't'
  UNION ALL
  SELECT 'column', attrelid::regclass || ' ' || attname, concat_ws(' ', row_number() OVER (PARTITION BY attrelid ORDER BY attnum),
      format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated, attcollation::regcollation, attstattarget,
      pg_get_expr(adbin, adrelid))
    FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef ON (adrelid, adnum) = (attrelid, attnum)
    WHERE relnamespace::regnamespace::text ${OURS} AND attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'v')
  UNION ALL
  SELECT 'constraint', conrelid::regclass || ' ' || conname, replace(pg_get_constraintdef(oid), ' NOT VALID', '')
    FROM pg_constraint WHERE connamespace::regnamespace::text ${OURS}
  UNION ALL
  SELECT 'index', schemaname || '.' || indexname, indexdef FROM pg_indexes WHERE schemaname ${OURS}
  UNION ALL
  SELECT 'sequence', schemaname || '.' || sequencename, concat_ws(' ', start_value, min_value, max_value, increment_by, cycle, cache_size)
    FROM pg_sequences WHERE schemaname ${OURS}
  UNION ALL
  SELECT 'function', oid::regprocedure::text, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace::regnamespace::text ${OURS}
  UNION ALL
  SELECT 'trigger', tgrelid::regclass || ' ' || tgname, pg_get_triggerdef(t.oid) || tgenabled::text
    FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid WHERE relnamespace::regnamespace::text ${OURS} AND NOT tgisinternal
  ORDER BY 1, 2`

test('a database of the previous release becomes the same as a new one, and keeps its rows of migrations', async () => {
  const [upgraded, fresh] = [await previousDatabase(), await createDatabase()]
  onTestFinished(upgraded.drop)
  onTestFinished(fresh.drop)
  const rows = (database: TestDatabase, schema: string) =>
    asAdmin(database.url, [`SELECT name, additive FROM ${schema}.migrations ORDER BY applied_at`])
  const before = await rows(upgraded, 'live')
  expect(before.length).toBe(46)
  expect(await migrate(upgraded.url)).toEqual([])
  expect(await asAdmin(upgraded.url, [CATALOGUE])).toEqual(await asAdmin(fresh.url, [CATALOGUE]))
  // Additive where nodes of the previous release may start again, and not where they cannot.
  expect(await rows(upgraded, 'live')).toEqual([...before, { name: BASELINE, additive: true }])
  expect(await rows(fresh, 'live')).toEqual([{ name: BASELINE, additive: false }])
  expect(await migrate(upgraded.url)).toEqual([])
})

test.each([
  ['lacks a file', `DELETE FROM sandbox.migrations WHERE name = '0054-refusals.sql'`],
  [
    'has another text of a file',
    `UPDATE sandbox.migrations SET checksum = 'x' WHERE name = '0003-ledger.sql'`,
  ],
])('a database of an earlier build, which %s, is refused and stays as it is', async (_, change) => {
  const database = await previousDatabase()
  onTestFinished(database.drop)
  await asAdmin(database.url, [change])
  const before = await asAdmin(database.url, [CATALOGUE])
  const error = await migrate(database.url).catch((error) => error)
  expect(error).toBeInstanceOf(MigrationBlocked)
  expect(error.message).toBe(
    'Schema sandbox was made by an earlier build of 0.1.0. Start it once with the previous release, then with this one.',
  )
  expect(await asAdmin(database.url, [CATALOGUE])).toEqual(before)
  expect(await asAdmin(database.url, [`SELECT FROM shared.migrations WHERE name = '${BASELINE}'`])).toEqual(
    [],
  )
})

test('events of an earlier build, with positions that were counted, are still found by their time', async () => {
  const database = await previousDatabase()
  onTestFinished(database.drop)
  const db = new pg.Client({ connectionString: database.url })
  await db.connect()
  onTestFinished(() => db.end())
  // The triggers would call functions that no file of the previous release makes.
  await db.query('SET search_path = live; SET session_replication_role = replica')
  await db.query(`INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at, position)
    SELECT 'evt_' || n, 'ptn_1', 'customer.created', 'cus_' || n, 1, '{}', timestamptz '2026-11-15' + n * interval '1 hour', n
    FROM generate_series(1, 5) AS n`)
  await db.query(`INSERT INTO log_times SELECT position, created_at FROM events`)
  await migrate(database.url)
  const time = { after: new Date('2026-11-15T02:00:00Z'), before: new Date('2026-11-15T05:00:00Z') }
  const any = { type: undefined, object_id: undefined, from: { before: undefined } }
  const filter = { partner_id: 'ptn_1', ...any, time, limit: 10 }
  const { rows } = await selectEvents(db as unknown as Db, filter)
  expect(rows.map(({ id }) => id)).toEqual(['evt_4', 'evt_3', 'evt_2'])
})

test('a migration that loses a deadlock against a node is tried again', async () => {
  const database = await previousDatabase()
  onTestFinished(database.drop)
  const node = new pg.Client({ connectionString: database.url })
  await node.connect()
  // The session that waits first notices the deadlock first and gives up.
  await node.query(`SET deadlock_timeout = '60s'; BEGIN; LOCK TABLE live.audit_progress`)
  const migrated = migrate(database.url)
  await until(async () => {
    const { rows } = await node.query(
      `SELECT FROM pg_locks WHERE relation = 'live.audit_progress'::regclass AND NOT granted`,
    )
    return rows.length > 0
  }, 30_000)
  await node.query('LOCK TABLE live.log_times; COMMIT')
  await node.end()
  expect(await migrated).toEqual([])
  const [left] = await asAdmin(database.url, [`SELECT to_regclass('live.log_times') AS table`])
  expect(left).toEqual({ table: null })
})

test('a later file has a number that no replaced file had', () => {
  for (const folder of new Set(Object.values(FOLDERS))) {
    const names = readdirSync(new URL(`./migrations/${folder}/`, import.meta.url)).sort()
    expect(names[0]).toBe(BASELINE)
    for (const name of names.slice(1)) expect(name > NEXT_NUMBER, name).toBe(true)
  }
})
