import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sqlState } from '../src/db/failure.ts'
import {
  sharedFunctions,
  sharedGrants,
  worldFunctions,
  worldGrants,
  worldGrantsOnShared,
} from '../src/db/grants.ts'
import { migrate } from '../src/db/migrate.ts'
import { type Client, databaseName, databaseRoleOf, openClient, type SchemaName } from '../src/db/pool.ts'
import { asAdmin, createDatabase, seatAt, type TestDatabase } from './support/database.ts'

/** What the database itself refuses, whatever the code above it does. */
const DENIED = '42501'
const CHECK_FAILED = '23514'
const TAKEN = '23505'
const RAISED = 'P0001'

const schemas: readonly SchemaName[] = ['live', 'sandbox', 'shared']
const verbs = ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'] as const

/** role → schema → table → rights, as grants.ts says. */
const granted: Record<SchemaName, Partial<Record<SchemaName, Record<string, string>>>> = {
  live: { live: worldGrants, shared: worldGrantsOnShared },
  sandbox: { sandbox: worldGrants, shared: worldGrantsOnShared },
  shared: { shared: sharedGrants },
}

let database: TestDatabase
let tables: { schema: SchemaName; name: string }[]
const seats = {} as Record<SchemaName, Client>

beforeAll(async () => {
  database = await createDatabase()
  const rows = await asAdmin(database.url, [
    `SELECT table_schema AS schema, table_name AS name FROM information_schema.tables
     WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2`,
  ])
  tables = rows as typeof tables
  // A transaction may stay open for as long as the machine stands still.
  const settings = { idle_in_transaction_session_timeout: '0' }
  for (const schema of schemas)
    seats[schema] = await openClient(seatAt(database.url, schema, 'walls'), { settings })
})
afterAll(async () => {
  for (const seat of Object.values(seats)) await seat.end()
  await database.drop()
})

/** Outside of a transaction, in which some commands refuse to run before anything else is looked at. */
async function outrightStateOf(schema: SchemaName, sql: string): Promise<string | undefined> {
  return seats[schema].query(sql).then(() => undefined, sqlState)
}

async function stateOf(schema: SchemaName, sql: string): Promise<string | undefined> {
  const client = seats[schema]
  await client.query('BEGIN')
  try {
    await client.query(sql)
    return undefined
  } catch (error) {
    return sqlState(error)
  } finally {
    await client.query('ROLLBACK')
  }
}

test('every table is classified in grants.ts, and nothing else is', () => {
  const classified = { live: worldGrants, sandbox: worldGrants, shared: sharedGrants }
  for (const schema of schemas) {
    const found = tables.filter((table) => table.schema === schema).map(({ name }) => name)
    expect(found).toEqual(Object.keys(classified[schema]).sort())
  }
  expect(tables.filter(({ schema }) => !schemas.includes(schema))).toEqual([])
})

test('each role has the rights of grants.ts on each table, and no other', async () => {
  await asAdmin(database.url, [
    `GRANT DELETE ON live.entries TO ${databaseRoleOf(database.url, 'live')}`,
    `GRANT SELECT ON live.entries TO ${databaseRoleOf(database.url, 'sandbox')}`,
  ])
  // What was granted by hand is gone after the next start.
  await migrate(database.url)
  const held = await asAdmin(database.url, [
    `SELECT role, schema, name, ${verbs.map((verb) => `has_table_privilege(role, format('%I.%I', schema, name), '${verb}') AS "${verb}"`).join(', ')}
     FROM unnest(ARRAY['${schemas.map((role) => databaseRoleOf(database.url, role)).join("', '")}']) AS role,
          (VALUES ${tables.map(({ schema, name }) => `('${schema}', '${name}')`).join(', ')}) AS t (schema, name)`,
  ])
  const rights = new Map(held.map((row) => [`${row.role} ${row.schema}.${row.name}`, row]))
  for (const role of schemas) {
    for (const { schema, name } of tables) {
      const row = rights.get(`${databaseRoleOf(database.url, role)} ${schema}.${name}`)
      const expected = granted[role][schema]?.[name]?.split(', ') ?? []
      const actual = verbs.filter((verb) => row![verb])
      expect(actual, `${role} on ${schema}.${name}`).toEqual(verbs.filter((verb) => expected.includes(verb)))
    }
  }
})

test.each(schemas)('%s cannot enter what belongs to others', async (role) => {
  const own = granted[role]
  const others = tables.filter(({ schema, name }) => own[schema]?.[name] === undefined)
  expect(others.length).toBeGreaterThan(5)
  for (const { schema, name } of others) {
    for (const sql of [
      `SELECT FROM ${schema}.${name}`,
      `INSERT INTO ${schema}.${name} DEFAULT VALUES`,
      `DELETE FROM ${schema}.${name}`,
    ]) {
      expect(await stateOf(role, sql), sql).toBe(DENIED)
    }
  }
  for (const schema of schemas)
    expect(await stateOf(role, `CREATE TABLE ${schema}.more (id text)`)).toBe(DENIED)
  expect(await stateOf(role, 'CREATE TABLE public.more (id text)')).toBe(DENIED)
})

test.each(schemas)('%s may log in, and nothing else', async (schema) => {
  const [role] = await asAdmin(database.url, [
    `SELECT rolcanlogin, rolsuper, rolcreatedb, rolcreaterole, rolinherit, rolreplication, rolbypassrls,
            rolpassword LIKE 'SCRAM-SHA-256$%' AS scram,
            (SELECT count(*)::integer FROM pg_auth_members WHERE member = a.oid) AS memberships
     FROM pg_authid a WHERE rolname = '${databaseRoleOf(database.url, schema)}'`,
  ])
  expect(role).toEqual({
    rolcanlogin: true,
    rolsuper: false,
    rolcreatedb: false,
    rolcreaterole: false,
    rolinherit: false,
    rolreplication: false,
    rolbypassrls: false,
    scram: true,
    memberships: 0,
  })
})

describe.each(schemas)('from the seat of %s', (schema) => {
  const other = schema === 'live' ? 'sandbox.entries' : 'live.entries'
  const owner = () => new URL(database.url).username
  const own = () => databaseRoleOf(database.url, schema)
  const neighbour = () => databaseRoleOf(database.url, schema === 'live' ? 'sandbox' : 'live')

  test.each<[string, (() => string)[]]>([
    ['leaving the role', [() => `SET ROLE NONE; SELECT FROM ${other}`]],
    ['resetting it', [() => `RESET ROLE; SELECT FROM ${other}`]],
    ['resetting everything', [() => `RESET SESSION AUTHORIZATION; RESET ALL; SELECT FROM ${other}`]],
    ['being the owner', [() => `SET SESSION AUTHORIZATION ${owner()}`, () => `SET ROLE ${owner()}`]],
    [
      'being the neighbour',
      [() => `SET ROLE ${neighbour()}`, () => `SET SESSION AUTHORIZATION ${neighbour()}`],
    ],
    [
      'files of the server',
      [
        () => `SELECT pg_read_file('PG_VERSION')`,
        () => `SELECT pg_read_binary_file('PG_VERSION')`,
        () => `SELECT pg_ls_dir('.')`,
        () => `SELECT pg_stat_file('PG_VERSION')`,
        () => `SELECT lo_import('/etc/passwd')`,
        () => `SELECT lo_export(1, '/tmp/x')`,
        () => `COPY migrations FROM '/etc/passwd'`,
        () => `COPY migrations TO '/tmp/migrations'`,
      ],
    ],
    [
      'programs of the server',
      [() => `COPY migrations TO PROGRAM 'cat'`, () => `COPY (SELECT 1) TO PROGRAM 'cat'`],
    ],
    [
      'making anything',
      [
        () => 'CREATE SCHEMA more',
        () => 'CREATE TEMPORARY TABLE more (id text)',
        () => `CREATE FUNCTION ${schema}.more() RETURNS integer LANGUAGE sql AS 'SELECT 1'`,
        () => `CREATE FUNCTION pg_temp.more() RETURNS integer LANGUAGE sql AS 'SELECT 1'`,
        () => `CREATE TYPE ${schema}.more AS (id text)`,
        () => `CREATE VIEW ${schema}.more AS SELECT 1`,
        () => `CREATE INDEX ON ${schema}.migrations (name)`,
        () => 'CREATE PUBLICATION more',
        () => 'CREATE FOREIGN DATA WRAPPER more',
        () => 'CREATE ROLE more',
        () => `CREATE EVENT TRIGGER more ON ddl_command_start EXECUTE FUNCTION pg_sleep()`,
        () => 'SELECT FROM public.more',
        () => 'SELECT lo_create(0)',
        () => 'SELECT lo_creat(-1)',
        () => `SELECT lo_from_bytea(0, 'x')`,
      ],
    ],
    [
      'what others are, and what they ask',
      [
        () => 'SELECT FROM pg_authid',
        () => 'SELECT FROM pg_shadow',
        () => 'SELECT FROM pg_hba_file_rules',
        () => 'SELECT FROM pg_catalog.pg_statistic',
      ],
    ],
    [
      'rights',
      [
        () => `ALTER ROLE ${own()} SUPERUSER`,
        () => `ALTER ROLE ${own()} CREATEROLE`,
        () => `ALTER ROLE ${own()} BYPASSRLS`,
        () => `ALTER ROLE ${neighbour()} PASSWORD 'x'`,
        () => `GRANT ${neighbour()} TO ${own()}`,
        () => `GRANT pg_read_all_data TO ${own()}`,
        () => `ALTER DEFAULT PRIVILEGES FOR ROLE ${owner()} GRANT ALL ON TABLES TO ${own()}`,
      ],
    ],
    [
      'what keeps the books right',
      [
        () => 'SET session_replication_role = replica',
        () => 'ALTER TABLE migrations DISABLE TRIGGER ALL',
        () => 'ALTER TABLE migrations ADD COLUMN more text',
        () => 'ALTER SYSTEM SET fsync = off',
        () => 'SET log_statement = none',
        () => `ALTER ROLE ALL SET synchronous_commit = off`,
        () => `ALTER DATABASE ${databaseName(database.url)} SET synchronous_commit = off`,
        () => 'SELECT pg_reload_conf()',
        () => 'SELECT pg_switch_wal()',
        () => 'CHECKPOINT',
      ],
    ],
  ])('PostgreSQL refuses %s', async (_, attempts) => {
    for (const attempt of attempts) expect(await outrightStateOf(schema, attempt()), attempt()).toBe(DENIED)
  })

  test('no role can be entered but its own', async () => {
    const roles = await asAdmin(database.url, [
      `SELECT quote_ident(rolname) AS role FROM pg_roles WHERE rolname <> '${own()}'
       AND (rolname ~ '^pg_' OR rolsuper OR rolname LIKE '${databaseName(database.url)}%')`,
    ])
    expect(roles.length).toBeGreaterThan(10)
    for (const { role } of roles) expect(await stateOf(schema, `SET ROLE ${role}`), String(role)).toBe(DENIED)
  })

  test('what others ask is not shown, and their connections cannot be ended', async () => {
    const [others] = (
      await seats[schema].query(
        `SELECT bool_and(query = '<insufficient privilege>') AS hidden, count(*)::integer AS connections,
                min(pid) AS pid FROM pg_stat_activity WHERE usename <> current_user`,
      )
    ).rows
    expect(others).toMatchObject({ hidden: true })
    expect(others.connections).toBeGreaterThanOrEqual(2)
    const pid = (await seats[schema === 'live' ? 'sandbox' : 'live'].query('SELECT pg_backend_pid() AS pid'))
      .rows[0].pid
    expect(await stateOf(schema, `SELECT pg_terminate_backend(${pid})`)).toBe(DENIED)
  })

  test('no extension can be made, and no other database is open', async () => {
    for (const extension of ['dblink', 'file_fdw', 'adminpack', 'pgcrypto'])
      expect(await stateOf(schema, `CREATE EXTENSION ${extension}`), extension).toBeDefined()
    const { login } = seatAt(database.url, schema)
    for (const name of ['postgres', 'template1']) {
      const url = new URL(database.url)
      Object.assign(url, { username: login.user, password: login.password(), pathname: `/${name}` })
      expect(await asAdmin(url.href, ['SELECT 1']).catch(sqlState), name).toBe(DENIED)
    }
  })

  test('listening is allowed', async () => {
    expect(await stateOf(schema, 'LISTEN api_key_changed')).toBe(undefined)
  })
})

test('nobody but the three comes into the database', async () => {
  const [rights] = await asAdmin(database.url, [
    `SELECT has_database_privilege('public', current_database(), 'CONNECT, TEMPORARY, CREATE') AS database,
            has_schema_privilege('public', 'public', 'USAGE, CREATE') AS schema`,
  ])
  expect(rights).toEqual({ database: false, schema: false })
})

test('a function is called by its own world, and by nobody else', async () => {
  const functions = await asAdmin(database.url, [
    `SELECT n.nspname AS schema, p.proname AS name, p.prorettype = 'trigger'::regtype AS of_trigger,
            ARRAY(SELECT role FROM unnest(ARRAY['public', '${schemas.map((role) => databaseRoleOf(database.url, role)).join("', '")}']) AS role
                  WHERE has_function_privilege(role, p.oid, 'EXECUTE')) AS callers
     FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname IN ('live', 'sandbox', 'shared')`,
  ])
  const named = { live: worldFunctions, sandbox: worldFunctions, shared: sharedFunctions }
  // For a person with the rights of the owner.
  const isOwners = (name: unknown) => name === 'place_events'
  for (const schema of schemas) {
    const callable = functions.filter(
      ({ schema: place, name, of_trigger }) => place === schema && !of_trigger && !isOwners(name),
    )
    const names = named[schema].map((name) => name.replace(/\(.*/, ''))
    expect(callable.map(({ name }) => name).sort()).toEqual(names.sort())
  }
  for (const { schema, name, of_trigger, callers } of functions) {
    const meant = of_trigger || isOwners(name) ? [] : [databaseRoleOf(database.url, schema as SchemaName)]
    expect(callers, `${schema}.${name}`).toEqual(meant)
  }
})

test('a table of the caller’s own does not stand before that of a function that acts as the owner', async () => {
  const [open] = await asAdmin(database.url, [
    `SELECT count(*)::integer AS functions FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE prosecdef AND NOT coalesce(format('search_path=%s, pg_temp', nspname) = ANY (proconfig), false)
       AND n.nspname IN ('live', 'sandbox', 'shared')`,
  ])
  expect(open!.functions).toBe(0)
  const role = databaseRoleOf(database.url, 'live')
  const name = databaseName(database.url)
  await asAdmin(database.url, [`GRANT TEMPORARY ON DATABASE ${name} TO ${role}`])
  const client = seats.live
  await client.query(`CREATE TEMPORARY TABLE claims (LIKE live.claims INCLUDING DEFAULTS);
    INSERT INTO claims (scope, operation, key, fingerprint, final, expires_at)
    VALUES ('s', 'o', 'k', '', true, '2000-01-01')`)
  expect((await client.query('SELECT forget_claims(now(), 10) AS gone')).rows[0].gone).toBe(0)
  await client.query('DROP TABLE pg_temp.claims')
  await asAdmin(database.url, [`REVOKE TEMPORARY ON DATABASE ${name} FROM ${role}`])
})

describe.each(['live', 'sandbox'] as const)('%s', (schema) => {
  test('what has happened cannot be changed or removed', async () => {
    const added = Object.entries(worldGrants).filter(([, rights]) => rights === 'SELECT, INSERT')
    const history = added.map(([table]) => table)
    expect(history).toEqual(expect.arrayContaining(['entries', 'events', 'deposit_addresses']))
    for (const table of history) {
      const [row] = await asAdmin(database.url, [
        `SELECT column_name FROM information_schema.columns WHERE table_schema = '${schema}' AND table_name = '${table}' AND is_identity = 'NO'`,
      ])
      const column = row!.column_name
      for (const sql of [
        `UPDATE ${table} SET ${column} = ${column}`,
        `DELETE FROM ${table}`,
        `TRUNCATE ${table}`,
        `ALTER TABLE ${table} DISABLE TRIGGER ALL`,
        `DROP TABLE ${table}`,
      ]) {
        expect(await stateOf(schema, sql), sql).toBe(DENIED)
      }
    }
  })

  test('a deposit cannot be removed, and changes only while it is on a chain and not credited', async () => {
    const made = (values: string) =>
      `INSERT INTO deposits (id, partner_id, customer_id, asset, amount, rail, created_at, status, address, tx_hash, output_index)
       VALUES ('dep_1', 'p', 'c', 'USDT', 5, ${values}); UPDATE deposits SET`
    const credited = made(`'operator', now(), 'completed', NULL, NULL, NULL`)
    const pending = made(`'polygon', now(), 'pending', 'a', 't', 0`)
    for (const change of [
      'amount = 6',
      `customer_id = 'd'`,
      `rail = 'bitcoin'`,
      `tx_hash = 'u'`,
      `address = 'b'`,
    ])
      for (const before of [credited, pending])
        expect(await stateOf(schema, `${before} ${change}`), change).toBe(RAISED)
    for (const change of [
      `status = 'pending'`,
      `status = 'dropped'`,
      'sequence = 2',
      'completed_at = now()',
      'depth = 9',
    ])
      expect(await stateOf(schema, `${credited} ${change}`), change).toBe(RAISED)
    expect(await stateOf(schema, `${pending} status = 'dropped', sequence = 2`)).toBeUndefined()
    for (const sql of ['DELETE FROM deposits', 'TRUNCATE deposits'])
      expect(await stateOf(schema, sql), sql).toBe(DENIED)
  })

  const account = (columns: string, values: string) =>
    `INSERT INTO balances (customer_id, asset, partner_id${columns}) VALUES ('c', 'BRL', 'p'${values})`
  const lines = (...values: string[]) =>
    `INSERT INTO entries (cause_id, movement, line, partner_id, account, owner, asset, amount, seq, balance_after, created_at)
     VALUES ${values.map((value) => `(${value}, clock_timestamp())`).join(', ')}`
  const outside = "'dep_1', 'credited', 0, 'p', 'external:sandbox', '', 'BRL', -5, NULL, NULL"
  const customer = "'dep_1', 'credited', 1, 'p', 'customer', 'c', 'BRL', 5, 1, 5"
  const deposit = (amount: number) =>
    `INSERT INTO deposits (id, partner_id, customer_id, asset, amount, rail, created_at) VALUES ('d', 'p', 'c', 'BRL', ${amount}, 'r', clock_timestamp())`
  const proposal = (approved_by: string) =>
    `INSERT INTO proposals (id, action, details, proposed_by, approved_by) VALUES ('x', 'credit', '{}', 'a@b.c', ${approved_by})`
  const ended = (end: string, by: string, reason = `'no'`) =>
    `${proposal('NULL')}; UPDATE proposals SET ended = '${end}', ended_by = ${by}, ended_reason = ${reason}, ended_at = clock_timestamp()`
  const adjustment = (id: string, kind: string, deposit_id: string, reference = id, amount = 5) =>
    `INSERT INTO adjustments (id, kind, partner_id, customer_id, asset, amount, deposit_id, rail, reason, reference, created_at)
     VALUES ('${id}', '${kind}', 'p', 'c', 'BRL', ${amount}, ${deposit_id}, 'operator', 'x', '${reference}', clock_timestamp())`

  test.each<[string, string | undefined, string]>([
    ['an account', undefined, account(', balance', ', 999999999999999999')],
    ['a negative balance', CHECK_FAILED, account(', balance', ', -1')],
    ['a negative amount in transit', CHECK_FAILED, account(', in_transit', ', -1')],
    [
      'more than an account may hold',
      CHECK_FAILED,
      account(', balance, in_transit', ', 999999999999999999, 1'),
    ],
    ['an unknown asset', CHECK_FAILED, account('', '').replace('BRL', 'EUR')],
    ['the same account twice', TAKEN, `${account('', '')}; ${account('', '')}`],
    ['a debit below zero', CHECK_FAILED, `${account('', '')}; UPDATE balances SET balance = balance - 1`],
    ['a balanced movement', undefined, lines(outside, customer)],
    ['one side of a movement', RAISED, lines(outside)],
    ['sides of unequal size', RAISED, lines(outside, customer.replace(' 5, 1, 5', ' 4, 1, 4'))],
    ['sides in different assets', RAISED, lines(outside, customer.replace('BRL', 'BTC'))],
    ['sides in different movements', RAISED, lines(outside, customer.replace('credited', 'returned'))],
    ['sides in different statements', RAISED, `${lines(outside)}; ${lines(customer)}`],
    ['an entry of zero', CHECK_FAILED, lines(outside.replace('-5', '0'))],
    ['a movement booked twice', TAKEN, `${lines(outside, customer)}; ${lines(outside, customer)}`],
    ['a statement line numbered twice', TAKEN, lines(outside, customer, ...second(1))],
    ['the next statement line', undefined, lines(outside, customer, ...second(2))],
    [
      'a customer’s line without its balance',
      CHECK_FAILED,
      lines(outside, customer.replace(' 1, 5', ' 1, NULL')),
    ],
    [
      'a customer’s line without its number',
      CHECK_FAILED,
      lines(outside, customer.replace(' 1, 5', ' NULL, 5')),
    ],
    ['a negative balance on a statement', CHECK_FAILED, lines(outside, customer.replace(' 1, 5', ' 1, -5'))],
    ['a deposit', undefined, deposit(1)],
    ['a deposit of nothing', CHECK_FAILED, deposit(0)],
    ['a negative deposit', CHECK_FAILED, deposit(-1)],
    ['an update that finds fewer rows', RAISED, `SELECT expect_rows('balances', 1, 2)`],
    ['a proposal that nobody approved', undefined, proposal('NULL')],
    ['a proposal approved by another', undefined, proposal(`'d@e.f'`)],
    ['a proposal approved by its author', CHECK_FAILED, proposal(`'a@b.c'`)],
    ['a proposal rejected by another', undefined, ended('rejected', `'d@e.f'`)],
    ['a proposal rejected by its author', CHECK_FAILED, ended('rejected', `'a@b.c'`)],
    ['a proposal rejected without a reason', CHECK_FAILED, ended('rejected', `'d@e.f'`, 'NULL')],
    ['a proposal withdrawn by its author', undefined, ended('withdrawn', `'a@b.c'`)],
    ['a proposal withdrawn by another', CHECK_FAILED, ended('withdrawn', `'d@e.f'`)],
    ['a proposal that expires before its time', CHECK_FAILED, ended('expired', 'NULL', 'NULL')],
    ['a credit that is superseded', CHECK_FAILED, ended('superseded', `'d@e.f'`)],
    [
      'a resolution superseded when another approves it',
      undefined,
      ended('superseded', `'d@e.f'`).replace(`'credit'`, `'resolve_payout'`),
    ],
    [
      'a resolution superseded by its author',
      CHECK_FAILED,
      ended('superseded', `'a@b.c'`).replace(`'credit'`, `'resolve_payout'`),
    ],
    ['a proposal done without anything made', CHECK_FAILED, ended('done', `'d@e.f'`)],
    [
      'a proposal that ends twice',
      RAISED,
      `${ended('withdrawn', `'a@b.c'`)}; UPDATE proposals SET ended = NULL`,
    ],
    [
      'an approval of what was rejected',
      RAISED,
      `${ended('rejected', `'d@e.f'`)}; UPDATE proposals SET approved_by = 'd@e.f'`,
    ],
    ['a debit', undefined, adjustment('a', 'debit', 'NULL')],
    ['a debit of nothing', CHECK_FAILED, adjustment('a', 'debit', 'NULL', 'a', 0)],
    ['a debit that names a deposit', CHECK_FAILED, adjustment('a', 'debit', `'d'`)],
    ['a reversal of nothing', CHECK_FAILED, adjustment('a', 'reversal', 'NULL')],
    [
      'a deposit reversed twice',
      TAKEN,
      `${adjustment('a', 'reversal', `'d'`)}; ${adjustment('b', 'reversal', `'d'`)}`,
    ],
    [
      'two adjustments under one reference',
      TAKEN,
      `${adjustment('a', 'debit', 'NULL', 'r')}; ${adjustment('b', 'debit', 'NULL', 'r')}`,
    ],
    [
      'a limit below nothing',
      CHECK_FAILED,
      `INSERT INTO money_limits (subject_id, payout_day) VALUES ('c', -1)`,
    ],
  ])('%s: %s', async (_, state, sql) => {
    expect(await stateOf(schema, sql)).toBe(state)
  })

  function second(seq: number): string[] {
    return [outside, customer.replace(' 1, 5', ` ${seq}, 10`)].map((line) => line.replace('dep_1', 'dep_2'))
  }
})
