import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { asAdmin, createDatabase, type TestDatabase } from '../../test/support/database.ts'
import { NOT_HERE, unpackPreviousRelease } from '../../test/support/previous-release.ts'
import { until } from '../../test/support/wait.ts'
import { BASELINE, NEXT_NUMBER } from './baseline.ts'
import { MigrationBlocked, migrate } from './migrate.ts'

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

/** The rows of migrations that a build before the baseline left in a schema. */
const OF_AN_EARLIER_BUILD = `INSERT INTO sandbox.migrations (name, checksum, additive) VALUES ('0003-ledger.sql', 'x', true)`

test('a database of the previous release becomes the same as a new one, and keeps its rows of migrations', async () => {
  const [upgraded, fresh] = [await previousDatabase(), await createDatabase()]
  onTestFinished(upgraded.drop)
  onTestFinished(fresh.drop)
  const rows = (database: TestDatabase, schema: string) =>
    asAdmin(database.url, [`SELECT name, additive FROM ${schema}.migrations ORDER BY name`])
  await asAdmin(upgraded.url, [OF_AN_EARLIER_BUILD])
  const before = await rows(upgraded, 'live')
  const applied = await migrate(upgraded.url)
  expect(applied).toContain('live/0055-order-metadata.sql')
  expect(await asAdmin(upgraded.url, [CATALOGUE])).toEqual(await asAdmin(fresh.url, [CATALOGUE]))
  expect(await rows(upgraded, 'live')).toEqual(await rows(fresh, 'live'))
  expect(await rows(upgraded, 'live')).toEqual(expect.arrayContaining(before))
  expect(await rows(upgraded, 'sandbox')).toContainEqual({ name: '0003-ledger.sql', additive: true })
  expect(await migrate(upgraded.url)).toEqual([])
})

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
    'Schema sandbox was made by an earlier build of 0.1.0. Start it once with the previous release, then with this one.',
  )
  expect(await asAdmin(database.url, [CATALOGUE])).toEqual(before)
})

test('a migration that loses a deadlock against a node is tried again', async () => {
  const database = await previousDatabase()
  onTestFinished(database.drop)
  const node = new pg.Client({ connectionString: database.url })
  await node.connect()
  // The session that waits first notices the deadlock first and gives up.
  await node.query(`SET deadlock_timeout = '60s'; BEGIN; LOCK TABLE live.transfers`)
  const migrated = migrate(database.url)
  await until(async () => {
    const { rows } = await node.query(
      `SELECT FROM pg_locks WHERE relation = 'live.transfers'::regclass AND NOT granted`,
    )
    return rows.length > 0
  }, 30_000)
  await node.query('LOCK TABLE live.payouts; COMMIT')
  await node.end()
  expect(await migrated).toContain('live/0055-order-metadata.sql')
})

/** Transfers of the version before: unsigned, signed, broadcast, confirmed and failed. */
const TRANSFERS = [
  ['tr_a', 'confirmed', true],
  ['tr_b', 'pending', false],
  ['tr_c', 'pending', true],
  ['tr_d', 'processing', true],
  ['tr_e', 'failed', false],
  ['tr_f', 'failed', true],
] as const

const insertTransfer = ([id, status, is_signed]: readonly [string, string, boolean]) => {
  const [hash, signed] = is_signed ? [`'hash of ${id}'`, `'bytes of ${id}'`] : ['NULL', 'NULL']
  const code = status === 'failed' ? `'reverted'` : 'NULL'
  const ended = status === 'confirmed' || status === 'failed' ? 'now()' : 'NULL'
  return `INSERT INTO sandbox.transfers (id, partner_id, customer_id, api_key_id, idempotency_key, asset, network, amount_net, fee,
      status, destination_address, tx_hash, signed_transaction, failure_code, attempts, next_attempt_at, sequence, created_at, completed_at)
    VALUES ('${id}', 'p', 'c', 'k', '${id}', 'USDT', 'tron', 1, 0, '${status}', 'x', ${hash}, ${signed}, ${code}, 0, now(), 1, now(), ${ended})`
}

test('transfers that were signed before get nonces without a gap, also those that nodes of the version before sign until the triggers are there', async () => {
  const database = await previousDatabase()
  onTestFinished(database.drop)
  await asAdmin(database.url, TRANSFERS.map(insertTransfer))
  const node = new pg.Client({ connectionString: database.url })
  await node.connect()
  // The triggers cannot be created while this is held; the migrations need no lock on this table.
  await node.query('BEGIN; LOCK TABLE live.claims IN ROW EXCLUSIVE MODE')
  const migrated = migrate(database.url)
  await until(async () => {
    const { rows } = await node.query(
      `SELECT FROM pg_locks WHERE relation = 'live.claims'::regclass AND NOT granted`,
    )
    return rows.length > 0
  }, 60_000)
  const sign = `UPDATE sandbox.transfers SET tx_hash = 'hash of tr_b', signed_transaction = 'bytes of tr_b' WHERE id = 'tr_b'`
  await asAdmin(database.url, [sign])
  await node.query('COMMIT')
  await node.end()
  await migrated
  const rows = await asAdmin(database.url, [
    `SELECT t.id, t.wallet_id, t.nonce::integer, x.attempt, x.tx_hash = t.tx_hash AND x.signed = t.signed_transaction AS stored
     FROM sandbox.transfers t LEFT JOIN sandbox.transactions x ON x.transfer_id = t.id ORDER BY t.id`,
  ])
  const reserved = (id: string, nonce: number) => ({
    id,
    wallet_id: 'tron:simulated',
    nonce,
    attempt: 1,
    stored: true,
  })
  expect(rows).toEqual([
    reserved('tr_a', 0),
    reserved('tr_b', 4),
    reserved('tr_c', 1),
    reserved('tr_d', 2),
    { id: 'tr_e', wallet_id: null, nonce: null, attempt: null, stored: null },
    reserved('tr_f', 3),
  ])
  const wallets = 'SELECT id, first_nonce::integer, next_nonce::integer FROM sandbox.wallets'
  expect(await asAdmin(database.url, [wallets])).toEqual([
    { id: 'tron:simulated', first_nonce: 0, next_nonce: 5 },
  ])
})

test('a later file has a number that no replaced file had', () => {
  for (const folder of new Set(Object.values(FOLDERS))) {
    const names = readdirSync(new URL(`./migrations/${folder}/`, import.meta.url)).sort()
    expect(names[0]).toBe(BASELINE)
    for (const name of names.slice(1)) expect(name > NEXT_NUMBER, name).toBe(true)
  }
})
