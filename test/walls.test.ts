import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sharedGrants, worldGrants, worldGrantsOnShared } from '../src/db/grants.ts'
import { migrate } from '../src/db/migrate.ts'
import { type Client, openClient, roleOf, type SchemaName, sqlState } from '../src/db/pool.ts'
import { asAdmin, createDatabase, type TestDatabase } from './support/database.ts'

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
  for (const schema of schemas)
    seats[schema] = await openClient({ url: database.url, schema, application_name: 'walls' })
})
afterAll(async () => {
  for (const seat of Object.values(seats)) await seat.end()
  await database.drop()
})

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
    expect(found.filter((name) => name !== 'migrations')).toEqual(Object.keys(classified[schema]).sort())
  }
  expect(tables.filter(({ schema }) => !schemas.includes(schema))).toEqual([])
})

test('each role has the rights of grants.ts on each table, and no other', async () => {
  await asAdmin(database.url, [
    `GRANT DELETE ON live.entries TO ${roleOf(database.url, 'live')}`,
    `GRANT SELECT ON live.entries TO ${roleOf(database.url, 'sandbox')}`,
  ])
  // What was granted by hand is gone after the next start.
  await migrate(database.url)
  for (const role of schemas) {
    for (const { schema, name } of tables) {
      const [row] = await asAdmin(database.url, [
        `SELECT ${verbs.map((verb) => `has_table_privilege('${roleOf(database.url, role)}', '${schema}.${name}', '${verb}') AS "${verb}"`).join(', ')}`,
      ])
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

describe.each(['live', 'sandbox'] as const)('%s', (schema) => {
  test('what has happened cannot be changed or removed', async () => {
    const added = Object.entries(worldGrants).filter(([, rights]) => rights === 'SELECT, INSERT')
    const history = added.map(([table]) => table)
    expect(history).toEqual(expect.arrayContaining(['entries', 'events', 'deposits']))
    for (const table of history) {
      const [row] = await asAdmin(database.url, [
        `SELECT column_name FROM information_schema.columns WHERE table_schema = '${schema}' AND table_name = '${table}'`,
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
