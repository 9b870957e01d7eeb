import { afterAll, beforeAll, expect, test } from 'vitest'
import { asAdmin, createDatabase, prepareDatabase, type TestDatabase } from '../../test/support/database.ts'
import { databaseRoleOf } from './pool.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

const admin = (...statements: string[]) => asAdmin(database.url, statements)
const role = (schema: 'live' | 'sandbox' | 'shared') => databaseRoleOf(database.url, schema)

/** Every right on every object, and the transaction that last wrote it. */
const rights = () =>
  admin(
    `SELECT oid::regclass::text AS object, relacl::text AS acl, xmin::text FROM pg_class
       WHERE relnamespace::regnamespace::text IN ('live', 'sandbox', 'shared')
     UNION ALL
     SELECT attrelid::regclass || '.' || attname, attacl::text, a.xmin::text FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
       WHERE relnamespace::regnamespace::text IN ('live', 'sandbox', 'shared') AND attacl IS NOT NULL AND attacl::text <> '{}'
     UNION ALL
     SELECT oid::regprocedure::text, proacl::text, xmin::text FROM pg_proc
       WHERE pronamespace::regnamespace::text IN ('live', 'sandbox', 'shared') OR proname IN ('lo_creat', 'lo_create', 'lo_from_bytea')
     UNION ALL
     SELECT nspname, nspacl::text, xmin::text FROM pg_namespace WHERE nspname IN ('live', 'sandbox', 'shared', 'public')
     UNION ALL
     SELECT datname, datacl::text, xmin::text FROM pg_database WHERE datname = current_database()
     ORDER BY 1`,
  )

const aclsOf = (found: Awaited<ReturnType<typeof rights>>) =>
  found.map(({ object, acl }) => [
    object,
    String(acl)
      .replace(/[{}]/g, '')
      .split(',')
      .filter((one) => one !== '')
      .sort(),
  ])

test('a start that finds all rights in place writes none of them again', async () => {
  const before = await rights()
  await prepareDatabase(database.url)
  expect(await rights()).toEqual(before)
})

test.each([
  ['a right on a table too many', () => `GRANT DELETE ON live.entries TO ${role('live')}`],
  ['a right of the other world', () => `GRANT SELECT ON sandbox.entries TO ${role('live')}`],
  ['a right on a column', () => `GRANT UPDATE (type) ON live.events TO ${role('live')}`],
  ['a right to pass on', () => `GRANT SELECT ON live.entries TO ${role('live')} WITH GRANT OPTION`],
  ['a right on a table that is missing', () => `REVOKE INSERT ON live.entries FROM ${role('live')}`],
  ['all rights on a table missing', () => `REVOKE ALL ON shared.users FROM ${role('shared')}`],
  ['a function that everybody may call', () => 'GRANT EXECUTE ON FUNCTION live.forget_proofs TO PUBLIC'],
  [
    'a function that may not be called',
    () => `REVOKE ALL ON FUNCTION live.forget_proofs FROM ${role('live')}`,
  ],
  ['a schema of the other world', () => `GRANT ALL ON SCHEMA sandbox TO ${role('live')}`],
  ['a schema that is closed', () => `REVOKE ALL ON SCHEMA live FROM ${role('live')}`],
  ['a database that everybody enters', () => `GRANT ALL ON DATABASE "${nameOf()}" TO PUBLIC`],
  [
    'a database in which a role makes things',
    () => `GRANT CREATE ON DATABASE "${nameOf()}" TO ${role('live')}`,
  ],
  [
    'a database that a role does not enter',
    () => `REVOKE ALL ON DATABASE "${nameOf()}" FROM ${role('live')}`,
  ],
  ['the schema public for everybody', () => 'GRANT ALL ON SCHEMA public TO PUBLIC'],
  ['large objects for everybody', () => 'GRANT EXECUTE ON FUNCTION lo_create(oid) TO PUBLIC'],
])('%s is put right by the next start', async (_, change) => {
  const before = aclsOf(await rights())
  await admin(change())
  expect(aclsOf(await rights())).not.toEqual(before)
  await prepareDatabase(database.url)
  expect(aclsOf(await rights())).toEqual(before)
})

const nameOf = () => new URL(database.url).pathname.slice(1)
