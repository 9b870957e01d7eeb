import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { sqlState } from '../src/db/failure.ts'
import { migrate } from '../src/db/migrate.ts'
import { databaseName, databaseRoleOf, openClient, openPool } from '../src/db/pool.ts'
import { primaryOf } from '../src/db/primary.ts'
import { openSeats, schemaNames } from '../src/db/seat.ts'
import {
  asAdmin,
  createDatabase,
  prepareDatabase,
  seatAt,
  seatsAt,
  TEST_KEY,
  type TestDatabase,
} from './support/database.ts'
import { startNode } from './support/node.ts'
import { openDirectAccess, someCpf } from './support/service.ts'
import { until } from './support/wait.ts'

/** As whom the service comes in, and how that changes. */
let database: TestDatabase
let direct: ReturnType<typeof openDirectAccess>
beforeAll(async () => {
  database = await createDatabase()
  direct = openDirectAccess(database)
})
afterAll(() => direct.stop())

const admin = (...statements: string[]) => asAdmin(database.url, statements)
const roles = () => schemaNames.map((schema) => databaseRoleOf(database.url, schema))
const passwords = async () =>
  (
    await admin(
      `SELECT rolpassword FROM pg_authid WHERE rolname IN ('${roles().join("', '")}') ORDER BY rolname`,
    )
  ).map(({ rolpassword }) => rolpassword)

/** Who is connected to the database, under which names. */
async function guests(): Promise<{ user: string; names: string[] }[]> {
  const rows = await admin(
    `SELECT usename AS user, array_agg(DISTINCT application_name) AS names FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> 'test'
       AND backend_type = 'client backend' GROUP BY 1`,
  )
  return rows as { user: string; names: string[] }[]
}

async function serves(url: string): Promise<void> {
  const { api } = await direct.partner(url)
  const customer = await api.post('/v1/customers', { name: 'Ana', document: someCpf() })
  expect(customer.status).toBe(201)
  const order = { customer_id: customer.json.id, asset: 'BRL', amount: '100' }
  expect((await api.post('/v1/sandbox/deposits', order)).status).toBe(201)
}

test('a running service is connected as the roles of its seats alone, its heartbeat too', async () => {
  const node = await startNode(database.url)
  onTestFinished(node.stop)
  await serves(node.url)
  // Each opens its connection when it first needs one.
  const expected = ['trilho heartbeat', 'trilho hints', 'trilho sandbox main']
  await until(async () => {
    const names = (await guests()).flatMap((guest) => guest.names)
    return expected.every((name) => names.includes(name))
  }, 15_000)
  const users = async () => (await guests()).map(({ user }) => user).sort()
  await until(async () => (await users()).length >= roles().length, 15_000)
  expect(await users()).toEqual(roles().sort())
})

test('roles without a login get one at the next start, and what was granted by hand is gone', async () => {
  const name = databaseName(database.url)
  await admin(
    ...roles().flatMap((role) => [
      `ALTER ROLE ${role} NOLOGIN INHERIT PASSWORD NULL`,
      `GRANT pg_read_all_data TO ${role}`,
    ]),
    `ALTER ROLE ${roles()[0]} CREATEDB`,
    `GRANT ALL ON DATABASE ${name} TO PUBLIC`,
    'GRANT ALL ON SCHEMA public TO PUBLIC',
    'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA live, sandbox TO PUBLIC',
    'ALTER FUNCTION live.forget_claims SET search_path = live',
  )
  await expect(openClient(seatAt(database.url, 'live'))).rejects.toMatchObject({ code: '28P01' })
  const node = await startNode(database.url)
  onTestFinished(node.stop)
  await serves(node.url)
  const [left] = await admin(
    `SELECT count(*)::integer AS memberships,
            has_database_privilege('public', current_database(), 'CONNECT, TEMPORARY') AS open,
            has_function_privilege('public', 'live.forget_claims(timestamptz, integer)', 'EXECUTE') AS callable
     FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member WHERE r.rolname IN ('${roles().join("', '")}')`,
  )
  expect(left).toEqual({ memberships: 0, open: false, callable: false })
})

test('a start with the right key, or that is refused, leaves the passwords alone', async () => {
  const before = await passwords()
  await prepareDatabase(database.url)
  const seats = openSeats(database.url, [randomBytes(32)])
  const check = async () => {
    throw new Error('this is not the key')
  }
  await expect(migrate(database.url, { seats, check })).rejects.toThrow('this is not the key')
  expect(await passwords()).toEqual(before)
})

test('whoever sits in a seat cannot keep a node from starting by holding the lock of migrations', async () => {
  const seat = await openClient(seatAt(database.url, 'sandbox'))
  seat.on('error', () => {})
  await seat.query('SELECT pg_advisory_lock(7415301)')
  await migrate(database.url, { seats: seatsAt(database.url), signal: AbortSignal.timeout(60_000) })
  await expect(seat.query('SELECT 1')).rejects.toThrow()
})

describe('a key that takes over from another', () => {
  const next = randomBytes(32)

  test('leaves those in who know the old one, and shuts out nobody who knows both', async () => {
    const both = openSeats(database.url, [next, TEST_KEY])
    const before = await passwords()
    await migrate(database.url, { seats: both })
    expect(await passwords()).toEqual(before)
    const pool = openPool({ ...both('live', 'both keys'), max: 1 })
    onTestFinished(() => pool.end())
    await pool.query('SELECT 1')
    // One that looks for its primary, as after a fail-over, comes in by the same passwords.
    const hosts = database.url.replace(/@([^/]+)/, '@$1,$1')
    const seeking = openPool({ ...openSeats(hosts, [next, TEST_KEY])('live', 'both keys'), max: 1 })
    onTestFinished(() => seeking.end())
    await seeking.query('SELECT 1')

    await expect(migrate(database.url, { seats: openSeats(database.url, [next]) })).rejects.toThrow(
      /^A node is connected as \w+ with another SECRET_KEY than this node/,
    )
    expect(await passwords()).toEqual(before)
    await migrate(database.url, { seats: both, renew: true })
    expect(await passwords()).not.toEqual(before)
    await admin(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'both keys' AND datname = current_database()`,
    )
    primaryOf(hosts).failed(new Error('Connection terminated unexpectedly'))
    for (const one of [pool, seeking]) expect((await one.query('SELECT 1 AS n')).rows[0].n).toBe(1)
    const only = await openClient(seatAt(database.url, 'live')).catch(sqlState)
    expect(only).toBe('28P01')
    await migrate(database.url, { seats: openSeats(database.url, [TEST_KEY, next]), renew: true })
  })
})

describe('a service without the owner', () => {
  const env = { MIGRATE: 'false' }
  /** The address as it is given to the service: nobody's. */
  const nobody = (url: string) => {
    const address = new URL(url)
    Object.assign(address, { username: '', password: '' })
    return address.href
  }

  test('works on what somebody else has migrated', async () => {
    const node = await startNode(nobody(database.url), env)
    onTestFinished(node.stop)
    await serves(node.url)
    expect((await guests()).map(({ user }) => user).sort()).toEqual(roles().sort())
  })

  test('does not start on what is behind it, and says what to do', async () => {
    const [gone] = await admin(
      `DELETE FROM sandbox.migrations WHERE name = '0001-baseline.sql' RETURNING name, checksum, additive`,
    )
    await expect(startNode(nobody(database.url), env)).rejects.toThrow(
      'Schema sandbox lacks 0001-baseline.sql, and MIGRATE is false. Run trilho migrate as the owner, then start again.',
    )
    await admin(
      `INSERT INTO sandbox.migrations (name, checksum, additive) VALUES ('${gone!.name}', '${gone!.checksum}', ${gone!.additive})`,
    )
  })
})
