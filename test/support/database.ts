import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import type { SchemaName, Seat } from '../../src/db/pool.ts'
import { openSeats, type Seats } from '../../src/db/seat.ts'
import { TEMPLATE } from './template.ts'

export type TestDatabase = { readonly url: string; drop(): Promise<void> }

/** SECRET_KEY of every test that does not say otherwise. */
export const TEST_KEY: Buffer = Buffer.alloc(32)

/** The places that a server with these keys would take in the database behind an address. */
export const seatsAt = (url: string, keys: readonly Buffer[] = [TEST_KEY]): Seats => openSeats(url, keys)
export const seatAt = (url: string, schema: SchemaName, application_name = 'test'): Seat =>
  seatsAt(url)(schema, application_name)

/** Tables, rights and logins, as a start makes them. */
export const prepareDatabase = (url: string): Promise<string[]> => migrate(url, { seats: seatsAt(url) })

/** A migrated database of the caller's own. `prepared: false`: its tables are there, the rest is left to the start of a node. */
export async function createDatabase(
  options: { migrated?: boolean; prepared?: boolean } = {},
): Promise<TestDatabase> {
  const { migrated = true, prepared = migrated } = options
  const admin_url = inject('postgres_url')
  const name = `t_${randomBytes(6).toString('hex')}`
  // Copied as files: through the log, every page of it would be written twice.
  const from = migrated ? ` TEMPLATE ${TEMPLATE} STRATEGY file_copy` : ''
  await asAdmin(admin_url, [`CREATE DATABASE ${name}${from}`])
  const url = new URL(admin_url)
  url.pathname = `/${name}`
  if (prepared) await prepareDatabase(url.href)
  return {
    url: url.href,
    async drop() {
      const roles = ['live', 'sandbox', 'shared'].map((schema) => `DROP ROLE IF EXISTS ${name}_${schema}`)
      await asAdmin(admin_url, [`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`, ...roles])
    },
  }
}

/** As the owner of everything, past all rights: for looking at, and for breaking, what the service must not. */
export async function asAdmin(
  url: string,
  statements: readonly string[],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    let rows: Record<string, unknown>[] = []
    for (const statement of statements) rows = (await client.query(statement)).rows
    return rows
  } finally {
    await client.end()
  }
}

/** Keeps everybody else off a table, reading included, until the returned function is called. */
export async function holdLock(url: string, table: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
  return () => client.end()
}

/** How many are kept waiting for a lock in this database. */
export async function lockWaits(url: string): Promise<number> {
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  return (await asAdmin(url, [waiting])).length
}

export const isLockAwaited = async (url: string): Promise<boolean> => (await lockWaits(url)) > 0
