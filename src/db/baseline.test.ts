import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { asAdmin, createDatabase, type TestDatabase } from '../../test/support/database.ts'
import {
  NOT_HERE,
  PREVIOUS_RELEASE,
  RELEASE_BEFORE,
  unpackPreviousRelease,
} from '../../test/support/previous-release.ts'
import { until } from '../../test/support/wait.ts'
import { BASELINE, LOWEST_NUMBER } from './baseline.ts'
import { MigrationBlocked, migrate } from './migrate.ts'

const FOLDERS = { shared: 'shared', live: 'world', sandbox: 'world' } as const

const releases = [PREVIOUS_RELEASE, RELEASE_BEFORE]
let files: string
let is_here: boolean
beforeAll(() => {
  files = mkdtempSync(join(tmpdir(), 'trilho-previous-'))
  is_here = releases.every((release) => {
    mkdirSync(join(files, release))
    return unpackPreviousRelease(join(files, release), ['src/db/migrations'], release)
  })
})
afterAll(() => rmSync(files, { recursive: true, force: true }))
beforeEach(({ skip }) => skip(!is_here, NOT_HERE))

/** A database with the tables and the migration rows of a release. */
async function previousDatabase(release = PREVIOUS_RELEASE): Promise<TestDatabase> {
  const database = await createDatabase({ migrated: false })
  for (const [schema, folder] of Object.entries(FOLDERS)) {
    const place = join(files, release, 'src/db/migrations', folder)
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

/** The rows of migrations that a build before the baseline left in a schema. */
const OF_AN_EARLIER_BUILD = `INSERT INTO sandbox.migrations (name, checksum, additive) VALUES ('0003-ledger.sql', 'x', true)`

test.each(releases)(
  'a database of release %s becomes the same as a new one, and keeps its rows of migrations',
  async (release) => {
    const [upgraded, fresh] = [await previousDatabase(release), await createDatabase()]
    onTestFinished(upgraded.drop)
    onTestFinished(fresh.drop)
    const rows = (database: TestDatabase, schema: string) =>
      asAdmin(database.url, [`SELECT name, additive FROM ${schema}.migrations ORDER BY name`])
    await asAdmin(upgraded.url, [OF_AN_EARLIER_BUILD])
    const before = await rows(upgraded, 'live')
    const applied = await migrate(upgraded.url)
    expect(await asAdmin(upgraded.url, [CATALOGUE])).toEqual(await asAdmin(fresh.url, [CATALOGUE]))
    const after = await rows(upgraded, 'live')
    expect(after).toEqual(await rows(fresh, 'live'))
    expect(after).toEqual(expect.arrayContaining(before))
    const known = new Set(before.map(({ name }) => name))
    expect(applied.filter((name) => name.startsWith('live/'))).toEqual(
      after.flatMap(({ name }) => (known.has(name) ? [] : [`live/${name}`])),
    )
    expect(await rows(upgraded, 'sandbox')).toContainEqual({ name: '0003-ledger.sql', additive: true })
    expect(await migrate(upgraded.url)).toEqual([])
  },
)

test('a database of a build before the baseline is refused and stays as it is', async () => {
  const database = await previousDatabase()
  onTestFinished(database.drop)
  await asAdmin(database.url, [
    OF_AN_EARLIER_BUILD,
    `DELETE FROM sandbox.migrations WHERE name = '${BASELINE}'`,
  ])
  const before = await asAdmin(database.url, [CATALOGUE])
  const error = await migrate(database.url).catch((error) => error)
  expect(error).toBeInstanceOf(MigrationBlocked)
  expect(error.message).toBe(
    `Schema sandbox has no ${BASELINE}: it was made by a build before 0.1.0, which no release can upgrade. Use a new database or another DATA_DIR.`,
  )
  expect(await asAdmin(database.url, [CATALOGUE])).toEqual(before)
})

test('a migration that loses a deadlock against a node is tried again', async () => {
  // Its first migration of this version locks two tables.
  const database = await previousDatabase(RELEASE_BEFORE)
  onTestFinished(database.drop)
  const node = new pg.Client({ connectionString: database.url })
  await node.connect()
  // The session that waits first notices the deadlock first and gives up.
  await node.query(`SET deadlock_timeout = '60s'; BEGIN; LOCK TABLE live.blocks`)
  const migrated = migrate(database.url)
  await until(async () => {
    const { rows } = await node.query(
      `SELECT FROM pg_locks WHERE relation = 'live.blocks'::regclass AND NOT granted`,
    )
    return rows.length > 0
  }, 30_000)
  await node.query('LOCK TABLE live.coins; COMMIT')
  await node.end()
  expect(await migrated).toContain('live/0068-coins-at-deposit-addresses.sql')
})

test('a later file has a number that no replaced file had', () => {
  for (const folder of new Set(Object.values(FOLDERS))) {
    const names = readdirSync(new URL(`./migrations/${folder}/`, import.meta.url)).sort()
    expect(names[0]).toBe(BASELINE)
    for (const name of names.slice(1)) expect(name > LOWEST_NUMBER, name).toBe(true)
  }
})
