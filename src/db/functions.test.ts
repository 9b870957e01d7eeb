import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { asAdmin, createDatabase, seatsAt, type TestDatabase } from '../../test/support/database.ts'
import { EDITION, readFunctions } from './functions.ts'
import { assertMigrated, migrate } from './migrate.ts'
import { databaseRoleOf, openOwner } from './pool.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

const admin = (...statements: string[]) => asAdmin(database.url, statements)

const ALL = `SELECT n.nspname || '.' || p.proname AS name, pg_get_functiondef(p.oid) AS definition, proowner::regrole::text AS owner
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE nspname IN ('live', 'sandbox', 'shared')
  UNION ALL
  SELECT n.nspname || '.' || c.relname || ' ' || t.tgname, pg_get_triggerdef(t.oid), t.tgenabled::text
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE nspname IN ('live', 'sandbox', 'shared') AND NOT t.tgisinternal
  ORDER BY 1`

test('a changed file requires a new EDITION', async () => {
  const digests = await Promise.all((['live', 'shared'] as const).map(readFunctions))
  const digest = createHash('sha256')
    .update(digests.map((one) => one.digest).join(' '))
    .digest('hex')
  // When this fails: raise EDITION by one, then put the new digest here.
  expect({ edition: EDITION, digest: digest.slice(0, 16) }).toEqual({
    edition: 17,
    digest: 'af63a280e86a7611',
  })
})

test('every function and trigger is in a file: after all of them are dropped, the next start creates the same', async () => {
  const before = await admin(ALL)
  expect(before.length).toBeGreaterThan(60)
  await admin(
    `DO $$ DECLARE one regprocedure; BEGIN
       FOR one IN SELECT oid FROM pg_proc WHERE pronamespace IN ('live'::regnamespace, 'sandbox'::regnamespace, 'shared'::regnamespace) LOOP
         EXECUTE format('DROP FUNCTION %s CASCADE', one);
       END LOOP;
     END $$`,
  )
  expect(await admin(ALL)).toEqual([])
  await migrate(database.url)
  expect(await admin(ALL)).toEqual(before)
})

test('a start restores functions that were changed by hand, and does not touch unchanged ones', async () => {
  const before = await admin(ALL)
  const stated = () => admin('SELECT stated_at FROM live.functions')
  const at = await stated()
  await migrate(database.url)
  expect(await stated()).toEqual(at)
  await admin(
    `CREATE OR REPLACE FUNCTION live.order_stays() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`,
    'ALTER TABLE live.entries DISABLE TRIGGER entries_sum_to_zero',
    'DROP TRIGGER payouts_forward_only ON live.payouts',
  )
  await migrate(database.url)
  expect(await admin(ALL)).toEqual(before)
  expect(await stated()).not.toEqual(at)
})

test('a long lock on a table makes no payment wait long behind a start, and the start goes on once the lock is released', async () => {
  const holder = await openOwner(database.url, 'test holder')
  onTestFinished(() => holder.end())
  await admin(`UPDATE sandbox.functions SET digest = 'x'`)
  await holder.query('BEGIN; LOCK TABLE sandbox.unfolded IN ROW EXCLUSIVE MODE')
  let done = false
  const stating = migrate(database.url).then(() => {
    done = true
  })
  // Writes like those of an order, again and again: each gets its lock in time.
  for (let i = 0; i < 20; i++) {
    await admin(
      `SET lock_timeout = '2s'`,
      'BEGIN',
      'LOCK TABLE sandbox.payouts IN ROW EXCLUSIVE MODE',
      'COMMIT',
    )
    await sleep(25)
  }
  expect(done).toBe(false)
  await holder.query('COMMIT')
  await stating
  const [row] = await admin('SELECT digest FROM sandbox.functions')
  expect(row!.digest).not.toBe('x')
})

test('a start leaves the functions of a newer version, and the rights on them, as they are', async () => {
  const role = databaseRoleOf(database.url, 'sandbox')
  onTestFinished(async () => {
    await admin('DROP FUNCTION sandbox.newer()', `UPDATE sandbox.functions SET edition = ${EDITION}`)
    await migrate(database.url)
  })
  await admin(
    `UPDATE sandbox.functions SET edition = ${EDITION + 1}`,
    `CREATE FUNCTION sandbox.newer() RETURNS integer LANGUAGE sql AS 'SELECT 1'`,
    `GRANT EXECUTE ON FUNCTION sandbox.newer() TO ${role}`,
    `CREATE OR REPLACE FUNCTION sandbox.wants_event(kinds text[], type text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true'`,
  )
  await migrate(database.url)
  expect(await admin(`SELECT sandbox.wants_event('{}', 'x') AS newer`)).toEqual([{ newer: true }])
  expect(
    await admin(`SELECT has_function_privilege('${role}', 'sandbox.newer()', 'EXECUTE') AS may`),
  ).toEqual([{ may: true }])
})

test('the rights on a new table are there before a function reads the table: nodes of the version before call it at once', async () => {
  const role = databaseRoleOf(database.url, 'sandbox')
  onTestFinished(() =>
    admin('DROP EVENT TRIGGER rights_first', 'DROP FUNCTION public.rights_first()').then(() => {}),
  )
  await admin(
    `REVOKE ALL ON sandbox.pix_charges FROM ${role}`,
    'DROP FUNCTION sandbox.ended_orders(text[])',
    `CREATE FUNCTION public.rights_first() RETURNS event_trigger LANGUAGE plpgsql AS $$
     BEGIN
       IF NOT has_table_privilege('${role}', 'sandbox.pix_charges', 'SELECT') THEN RAISE 'a function was made before the rights'; END IF;
     END $$`,
    `CREATE EVENT TRIGGER rights_first ON ddl_command_end WHEN TAG IN ('CREATE FUNCTION') EXECUTE FUNCTION public.rights_first()`,
  )
  await migrate(database.url)
  expect(await admin(`SELECT to_regprocedure('sandbox.ended_orders(text[])') IS NOT NULL AS made`)).toEqual([
    { made: true },
  ])
})

test('a node that does not migrate requires the functions of its own version, or of a newer one', async () => {
  const check = () => assertMigrated(seatsAt(database.url))
  const [row] = await admin('SELECT digest FROM sandbox.functions')
  await check()
  await admin(`UPDATE sandbox.functions SET digest = 'x'`)
  await expect(check()).rejects.toThrow('Schema sandbox has other functions than this version')
  await admin(`UPDATE sandbox.functions SET edition = ${EDITION - 1}`)
  await expect(check()).rejects.toThrow('Schema sandbox has the functions of an older version')
  await admin(`UPDATE sandbox.functions SET edition = ${EDITION + 1}`)
  await check()
  await admin('DELETE FROM sandbox.functions')
  await expect(check()).rejects.toThrow('Schema sandbox has no functions')
  await migrate(database.url)
  expect(await admin('SELECT edition, digest FROM sandbox.functions')).toEqual([
    { edition: EDITION, digest: row!.digest },
  ])
  await check()
})
