import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import { sharedGrants, worldGrants, worldGrantsOnShared } from './grants.ts'
import { openOwner, roleOf, type SchemaName } from './pool.ts'
import { cut } from './pulse.ts'

const MIGRATION_LOCK = 7_415_301
const OLDEST_POSTGRES = 15

/** The database user may not do something that only its administrator can: the message holds the SQL to run. */
export class MigrationBlocked extends Error {}

type Migration = {
  readonly name: string
  readonly sql: string
  readonly checksum: string
  /** Nodes of the version before work on with it. Noted in the database, where those nodes can read it. */
  readonly additive: boolean
}

/** What each schema gained, and whether it has what only a newer version knows. */
type Brought = { readonly applied: readonly string[]; readonly newer: boolean }

/** The first line of a file that only adds. */
const ADDITIVE = /^-- additive\b/

const folders: Record<SchemaName, string> = { shared: 'shared', live: 'world', sandbox: 'world' }
const schemas = Object.keys(folders) as SchemaName[]

/**
 * Brings the three schemas up to date. Forward only, one transaction per file; nodes that start together wait for each
 * other on an advisory lock. Returns what was applied.
 */
export async function migrate(url: string, signal?: AbortSignal): Promise<string[]> {
  const client = await openOwner(url, 'trilho migrate')
  // Another node may be at it for long; whoever is told to stop does not wait for that.
  const leave = () => cut(client, new Error('told to stop'))
  signal?.addEventListener('abort', leave)
  try {
    signal?.throwIfAborted()
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK])
    await checkServer(client)
    await prepare(client, url)
    const applied: string[] = []
    let newer = false
    for (const schema of schemas) {
      await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
      const brought = await migrateSchema(client, schema)
      for (const name of brought.applied) applied.push(`${schema}/${name}`)
      newer ||= brought.newer
    }
    // The rights that a newer version has stated hold for its own tables too, of which this one knows nothing.
    if (!newer) await grant(client, url)
    return applied
  } finally {
    signal?.removeEventListener('abort', leave)
    await client.end()
  }
}

async function checkServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query('SHOW server_version_num')
  const major = Math.floor(Number(rows[0].server_version_num) / 10_000)
  if (major < OLDEST_POSTGRES) {
    throw new MigrationBlocked(`PostgreSQL ${OLDEST_POSTGRES} or newer is needed; this server is ${major}.`)
  }
}

/** What the migrations themselves take for granted: a role per schema, and the right to make schemas. */
async function prepare(client: pg.Client, url: string): Promise<void> {
  const needed: string[] = []
  const { rows } = await client.query(
    `SELECT current_user AS user, current_database() AS database,
            has_database_privilege(current_database(), 'CREATE') AS may_create`,
  )
  const { user, database, may_create } = rows[0]
  if (!may_create) needed.push(`GRANT CREATE ON DATABASE ${quoted(database)} TO ${quoted(user)}`)
  for (const schema of schemas) {
    const role = roleOf(url, schema)
    const { rows } = await client.query(
      `SELECT coalesce((SELECT true FROM pg_roles WHERE rolname = $1), false) AS exists,
              coalesce((SELECT pg_has_role(current_user, oid, 'MEMBER') FROM pg_roles WHERE rolname = $1), false) AS member`,
      [role],
    )
    if (!rows[0].exists) needed.push(`CREATE ROLE ${quoted(role)} NOLOGIN`)
    if (!rows[0].member) needed.push(`GRANT ${quoted(role)} TO ${quoted(user)}`)
  }
  const blocked = () =>
    new MigrationBlocked(
      `The database user may not do what is needed. Let an administrator run this once, then start again:\n\n${needed.map((sql) => `  ${sql};\n`).join('')}`,
    )
  if (!may_create) throw blocked()
  try {
    // All or nothing: who has made a role counts as a member of it, even before the grant that lets it enter.
    await inTransaction(client, async () => {
      for (const sql of needed) await client.query(sql)
    })
  } catch (error) {
    throw error instanceof pg.DatabaseError && error.code === '42501' ? blocked() : error
  }
}

async function migrateSchema(client: pg.Client, schema: SchemaName): Promise<Brought> {
  const table = `${schema}.migrations`
  await client.query(
    `CREATE TABLE IF NOT EXISTS ${table} (
       name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp())`,
  )
  await client.query(`ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS additive boolean NOT NULL DEFAULT false`)
  const { rows } = await client.query(`SELECT name, checksum, additive FROM ${table}`)
  const done = new Map<string, string>(rows.map((row) => [row.name, row.checksum]))
  const migrations = await readMigrations(folders[schema])
  const known = new Set(migrations.map(({ name }) => name))
  const unknown = rows.filter(({ name }) => !known.has(name))
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
    await inTransaction(client, async () => {
      await client.query(`SET LOCAL search_path = ${schema}; SET LOCAL lock_timeout = '5s'`)
      await client.query(sql)
      await client.query(`INSERT INTO ${table} (name, checksum, additive) VALUES ($1, $2, $3)`, [
        name,
        checksum,
        additive,
      ])
    })
    applied.push(name)
  }
  return { applied, newer: unknown.length > 0 }
}

async function readMigrations(folder: string): Promise<Migration[]> {
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

/** Said anew at every start, so that the rights are always those of `grants.ts`, whatever was granted by hand. */
async function grant(client: pg.Client, url: string): Promise<void> {
  await inTransaction(client, async () => {
    for (const schema of schemas) {
      for (const other of schemas) {
        const role = quoted(roleOf(url, other))
        await client.query(`REVOKE ALL ON ALL TABLES IN SCHEMA ${schema} FROM ${role}`)
        await client.query(`REVOKE ALL ON SCHEMA ${schema} FROM ${role}`)
      }
    }
    await allow(client, roleOf(url, 'shared'), 'shared', sharedGrants)
    for (const schema of ['live', 'sandbox'] as const) {
      await allow(client, roleOf(url, schema), schema, worldGrants)
      await allow(client, roleOf(url, schema), 'shared', worldGrantsOnShared)
    }
  })
}

async function allow(
  client: pg.Client,
  role: string,
  schema: SchemaName,
  grants: Record<string, string>,
): Promise<void> {
  await client.query(`GRANT USAGE ON SCHEMA ${schema} TO ${quoted(role)}`)
  for (const [table, rights] of Object.entries(grants)) {
    await client.query(`GRANT ${rights} ON ${schema}.${table} TO ${quoted(role)}`)
  }
}

async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('BEGIN')
  try {
    await work()
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  }
}

function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`
}
