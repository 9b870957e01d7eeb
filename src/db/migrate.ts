import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { BASELINE, isBeforeBaseline, isReplaced } from './baseline.ts'
import { sqlState } from './failure.ts'
import { functionsFault, haveNewerFunctions, stateFunctions } from './functions.ts'
import { cut } from './heartbeat.ts'
import { type Client, databaseRoleOf, limitIdle, openClient, openOwner, type SchemaName } from './pool.ts'
import { type Retention, stateRetention } from './retention.ts'
import { grantTables, stateRights } from './rights.ts'
import { missingLogins, missingRoles, quoted, rolesInUse } from './roles.ts'
import { type Seats, schemaNames } from './seat.ts'

/** Advisory lock of a migration. While it is held, no other service starts on the database. */
export const MIGRATION_LOCK = 7_415_301
const OLDEST_POSTGRES = 15

/** The migration cannot go on without an operator. Where rights are missing, the message contains the SQL to run. */
export class MigrationBlocked extends Error {}

type Migration = {
  readonly name: string
  readonly sql: string
  readonly checksum: string
  /** Nodes of the version before can work with the change. Stored in the database, where those nodes read it. */
  readonly additive: boolean
}

/** Migrations applied to a schema, and whether it already has migrations of a newer version. */
type Brought = { readonly applied: readonly string[]; readonly newer: boolean }

/** The first line of an additive migration. */
const ADDITIVE = /^-- additive\b/

const folders: Record<SchemaName, 'shared' | 'world'> = { shared: 'shared', live: 'world', sandbox: 'world' }

type MigrateOptions = {
  /** The roles whose logins are set up too. */
  readonly seats?: Seats
  /** Runs after the tables are up to date and before a password is changed. Throws to refuse the start. */
  readonly check?: (owner: Client) => Promise<void>
  /** A rotation of SECRET_KEY: the roles get the new password while nodes that know both keys are connected. */
  readonly renew?: boolean
  /** The configured retention. Absent: the figures of the last start stay. */
  readonly retention?: Retention
  readonly signal?: AbortSignal | undefined
}

/**
 * Brings the three schemas and the roles of the service up to date. Forward only, one transaction per file; nodes that start
 * together wait for each other on an advisory lock. Returns the names of the applied files.
 */
export async function migrate(
  url: string,
  { seats, check, renew = false, retention, signal }: MigrateOptions = {},
): Promise<string[]> {
  const client = await openOwner(url, 'trilho migrate')
  // Another node may migrate for a long time; an aborted start does not wait for it.
  const leave = () => cut(client, new Error('the start was aborted'))
  signal?.addEventListener('abort', leave)
  try {
    signal?.throwIfAborted()
    await limitStanding(client)
    await lockMigrations(client, url)
    await checkServer(client)
    const made = await prepare(client, url, seats)
    for (const schema of schemaNames) await refuseOlder(client, schema)
    const applied: string[] = []
    let newer = false
    for (const schema of schemaNames) {
      await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
      const brought = await migrateSchema(client, schema)
      for (const name of brought.applied) applied.push(`${schema}/${name}`)
      newer ||= brought.newer
    }
    for (const schema of schemaNames) newer ||= await haveNewerFunctions(client, schema)
    // The functions and rights of a newer version also cover tables that this version does not know.
    if (!newer) await stateAnew(client, url)
    await check?.(client)
    if (retention) await inTransaction(client, () => stateRetention(client, retention))
    if (seats) await setLogins(client, seats, { made, renew })
    return applied
  } finally {
    signal?.removeEventListener('abort', leave)
    await client.end()
  }
}

/** Longer than `givingWay` pauses. A start that stands still keeps neither the lock nor, in a transaction, tables. */
const IDLE_MOST_MS = 90_000

async function limitStanding(client: Client): Promise<void> {
  await limitIdle(client, IDLE_MOST_MS)
  await client.query(`SELECT set_config('idle_in_transaction_session_timeout', $1, false)`, [
    String(IDLE_MOST_MS),
  ])
}

/** At every start: sets functions, triggers and rights to those of this version, whatever was changed by hand. */
async function stateAnew(client: pg.Client, url: string): Promise<void> {
  await inTransaction(client, () => grantTables(client, url))
  for (const schema of schemaNames)
    await givingWay(() => inTransaction(client, () => stateFunctions(client, schema)))
  await inTransaction(client, () => stateRights(client, url))
}

/** The longest wait for one lock. PostgreSQL cancels an autovacuum that holds the lock within this time. */
const WAITING = `SET LOCAL lock_timeout = '2s'`
const GIVE_WAY_MS = 300
const GIVE_UP_MS = 60_000
const LOCKED = new Set(['55P03', '40P01'])

/**
 * Changing a table or creating a trigger locks the table, and payments queue up behind a transaction that waits for that
 * lock. So the work waits only briefly, rolls back, pauses for as long as it has kept others waiting, and starts over.
 */
async function givingWay(work: () => Promise<void>): Promise<void> {
  const until = performance.now() + GIVE_UP_MS
  for (;;) {
    const began = performance.now()
    try {
      return await work()
    } catch (error) {
      if (!LOCKED.has(sqlState(error) ?? '')) throw error
      if (performance.now() > until)
        throw new MigrationBlocked(
          'Another session has held locks on tables of the service for over a minute (VACUUM, CREATE INDEX, a forgotten transaction). Find the session in pg_locks and pg_stat_activity, end it, then start again.',
        )
      await sleep(Math.max(GIVE_WAY_MS, performance.now() - began))
    }
  }
}

const LOCK_PAUSE_MS = 100

/** Any role may take any advisory lock. Sessions of service roles that hold this lock are ended: only the owner migrates. */
async function lockMigrations(client: pg.Client, url: string): Promise<void> {
  const roles = schemaNames.map((schema) => databaseRoleOf(url, schema))
  for (;;) {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS won', [MIGRATION_LOCK])
    if (rows[0].won) return
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
       WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND classid = 0 AND objid = $1 AND objsubid = 1
         AND usename = ANY ($2) AND pg_has_role(current_user, usesysid, 'USAGE')`,
      [MIGRATION_LOCK, roles],
    )
    await sleep(LOCK_PAUSE_MS)
  }
}

/** Long enough for connections of nodes that have just been stopped to end. */
const LEAVING_MS = 3000

/** A node with another SECRET_KEY must not change the passwords of the nodes that are running. */
async function setLogins(
  client: pg.Client,
  seats: Seats,
  { made, renew }: { made: readonly string[]; renew: boolean },
): Promise<void> {
  const { needed, strange } = await missingLogins(client, seats, { made, renew })
  const until = performance.now() + LEAVING_MS
  for (;;) {
    const [role] = renew ? [] : await rolesInUse(client, strange)
    if (role === undefined) return runOrBlock(client, needed)
    if (performance.now() > until)
      throw new MigrationBlocked(
        `A node is connected as ${role} with another SECRET_KEY than this node. Give all nodes the same SECRET_KEY, ` +
          'or stop the other nodes first.',
      )
    await sleep(100)
  }
}

const MIGRATE_FIRST = 'Run trilho migrate as the owner, then start again.'

/** For a service that does not migrate: throws unless the schemas were migrated with this version or a newer one. */
export async function assertMigrated(seats: Seats): Promise<void> {
  for (const schema of schemaNames) {
    const client = await openClient(seats(schema, 'trilho start'))
    try {
      const { rows } = await client.query('SELECT name FROM migrations')
      const done = new Set(rows.map(({ name }) => name))
      const missing = (await readMigrations(folders[schema])).find(({ name }) => !done.has(name))
      if (missing)
        throw new MigrationBlocked(
          `Schema ${schema} lacks ${missing.name}, and MIGRATE is false. ${MIGRATE_FIRST}`,
        )
      const fault = await functionsFault(client, schema)
      if (fault) throw new MigrationBlocked(`${fault}, and MIGRATE is false. ${MIGRATE_FIRST}`)
    } finally {
      await client.end()
    }
  }
}

async function checkServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query('SHOW server_version_num')
  const major = Math.floor(Number(rows[0].server_version_num) / 10_000)
  if (major < OLDEST_POSTGRES) {
    throw new MigrationBlocked(`PostgreSQL ${OLDEST_POSTGRES} or newer is needed; this server is ${major}.`)
  }
}

/** Ensures what the migrations need: a role per schema, and the right to create schemas. Returns the roles it created. */
async function prepare(client: pg.Client, url: string, seats: Seats | undefined): Promise<readonly string[]> {
  const { rows } = await client.query(
    `SELECT current_user AS user, current_database() AS database,
            has_database_privilege(current_database(), 'CREATE') AS may_create`,
  )
  const { user, database, may_create } = rows[0]
  const { needed, made } = await missingRoles(client, url, seats)
  if (!may_create)
    throw blockedBy([`GRANT CREATE ON DATABASE ${quoted(database)} TO ${quoted(user)}`, ...needed])
  await runOrBlock(client, needed)
  return made
}

const blockedBy = (statements: readonly string[]) =>
  new MigrationBlocked(
    `The database user lacks rights for the migration. Let an administrator run this once, then start again:\n\n${statements.map((sql) => `  ${sql};\n`).join('')}`,
  )

const DENIED = '42501'

/** All or nothing: after CREATE ROLE alone, its creator counts as a member, and the missing GRANT would go unnoticed. */
async function runOrBlock(client: pg.Client, statements: readonly string[]): Promise<void> {
  if (statements.length === 0) return
  try {
    await inTransaction(client, async () => {
      for (const sql of statements) await client.query(sql)
    })
  } catch (error) {
    throw error instanceof pg.DatabaseError && error.code === DENIED ? blockedBy(statements) : error
  }
}

async function migrateSchema(client: pg.Client, schema: SchemaName): Promise<Brought> {
  const table = `${schema}.migrations`
  await client.query(
    `CREATE TABLE IF NOT EXISTS ${table} (
       name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
       additive boolean NOT NULL DEFAULT false)`,
  )
  const { rows } = await client.query(`SELECT name, checksum, additive FROM ${table}`)
  const done = new Map<string, string>(rows.map((row) => [row.name, row.checksum]))
  const migrations = await readMigrations(folders[schema])
  const known = new Set(migrations.map(({ name }) => name))
  const unknown = rows.filter(({ name }) => !known.has(name) && !isReplaced(name))
  const breaking = unknown.find(({ additive }) => !additive)
  if (breaking) {
    throw new MigrationBlocked(
      `Schema ${schema} has ${breaking.name}, which this version does not know: it was made by a newer one.`,
    )
  }
  const applied: string[] = []
  for (const { name, sql, checksum, additive } of migrations) {
    const before = done.get(name)
    if (before === checksum) continue
    if (before !== undefined) {
      throw new MigrationBlocked(
        `Migration ${name} was changed after it ran in schema ${schema}. Add a new file instead.`,
      )
    }
    const apply = async () => {
      await client.query(`SET LOCAL search_path = ${schema}; ${WAITING}`)
      await client.query(sql)
      await client.query(`INSERT INTO ${table} (name, checksum, additive) VALUES ($1, $2, $3)`, [
        name,
        checksum,
        additive,
      ])
    }
    await givingWay(() => inTransaction(client, apply))
    applied.push(name)
  }
  return { applied, newer: unknown.length > 0 }
}

/** This version cannot upgrade a schema without the baseline. Judged for all schemas before the first one is changed. */
async function refuseOlder(client: pg.Client, schema: SchemaName): Promise<void> {
  const table = `${schema}.migrations`
  const { rows: found } = await client.query('SELECT to_regclass($1) IS NOT NULL AS there', [table])
  if (!found[0].there) return
  const { rows } = await client.query(`SELECT name FROM ${table}`)
  if (isBeforeBaseline(rows))
    throw new MigrationBlocked(
      `Schema ${schema} has no ${BASELINE}: it was made by a build before 0.1.0, which no release can upgrade. Use a new database or another DATA_DIR.`,
    )
}

/** A cache: the files never change while a process runs, and two schemas have the same ones. */
const read = new Map<string, Promise<readonly Migration[]>>()

function readMigrations(folder: string): Promise<readonly Migration[]> {
  const migrations = read.get(folder) ?? readFolder(folder)
  read.set(folder, migrations)
  return migrations
}

async function readFolder(folder: string): Promise<readonly Migration[]> {
  const place = new URL(`./migrations/${folder}/`, import.meta.url)
  const names = (await readdir(place)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, place), 'utf8')
      const checksum = createHash('sha256').update(sql).digest('hex')
      return { name, sql, checksum, additive: ADDITIVE.test(sql) }
    }),
  )
}

async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('BEGIN')
  try {
    await work()
    await client.query('COMMIT')
  } catch (error) {
    // On a broken connection ROLLBACK fails too; the first error is the one to report.
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}
