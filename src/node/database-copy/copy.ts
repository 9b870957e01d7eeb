import { keyCheckOf } from '../../control/secrets/check.ts'
import type { OnProgress } from '../../core/progress.ts'
import { withoutPasswords } from '../../db/address.ts'
import { existingCluster } from '../../db/embedded/folder.ts'
import { runningEmbedded } from '../../db/embedded/running.ts'
import { startEmbedded } from '../../db/embedded/start.ts'
import { supersede } from '../../db/embedded/superseded.ts'
import { MIGRATION_LOCK, migrate } from '../../db/migrate.ts'
import { seatsOf, secretKeysOf } from '../../db/open.ts'
import { type Client, databaseName, databaseRoleOf, openOwner } from '../../db/pool.ts'
import { rolesInUse } from '../../db/roles.ts'
import { schemaNames } from '../../db/seat.ts'
import { auditDatabase, type DatabaseAudit } from '../audit-database.ts'
import type { Config } from '../config.ts'
import { pipeRows } from './pipe.ts'
import { quotedColumns, sequencesOf, type Table, tableDigest, tablesOf, usedTables } from './tables.ts'

type DatabaseCopy = {
  readonly tables: number
  readonly rows: bigint
  readonly audit: DatabaseAudit
}

/**
 * Copies the whole embedded database into another PostgreSQL server: from one snapshot, in one transaction, so the copy is
 * whole or absent. The source is only read, and its folder is marked as superseded (decision 0036).
 */
export async function copyDatabase(
  config: Config,
  to: string,
  onProgress: OnProgress,
): Promise<DatabaseCopy> {
  await checkSource(config)
  const source = await startEmbedded({ data_dir: config.data_dir })
  try {
    await migrate(source.url, { seats: await seatsOf(source.url, config), check: await keyCheckOf(config) })
    return await withClients(source.url, to, async (clients) => {
      await prepareTarget(clients.target, to, config)
      // Before the commit: a mark without a copy can be removed, but a copy without a mark could pay orders twice.
      const beforeCommit = () => supersede(config.data_dir, { how: 'copied', to: withoutPasswords(to) })
      const copied = await copyAll(clients, { onProgress, beforeCommit })
      onProgress({ what: 'auditing', done: 0, of: 1 })
      return { ...copied, audit: await auditDatabase(to, config) }
    })
  } finally {
    await source.stop()
  }
}

async function checkSource(config: Config): Promise<void> {
  if (config.database_url)
    throw new Error(
      'DATABASE_URL is set: this command copies from the embedded database. Unset it, and name the target with --to.',
    )
  await existingCluster(config.data_dir)
  if (await runningEmbedded(config.data_dir))
    throw new Error(
      `The service runs on ${config.data_dir}. Stop it first: what it does meanwhile would be missing in the copy.`,
    )
  if ((await secretKeysOf(config)).length > 1 && !config.secret_key)
    throw new Error('A rotation of SECRET_KEY is not finished. Finish it first: trilho secrets rotate')
}

type Clients = { readonly source: Client; readonly target: Client }

async function withClients<T>(from: string, to: string, work: (clients: Clients) => Promise<T>): Promise<T> {
  const target = await openOwner(to, 'trilho database copy')
  try {
    const source = await openOwner(from, 'trilho database copy')
    try {
      return await work({ source, target })
    } finally {
      await source.end()
    }
  } finally {
    await target.end()
  }
}

/** Ensures an empty target of this version, and locks out services until the connection ends. */
async function prepareTarget(target: Client, to: string, config: Config): Promise<void> {
  await assertUnicode(target, to)
  await assertUnused(target, to)
  await migrate(to, { seats: await seatsOf(to, config) })
  await target.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK])
}

/** Names are in any script: another encoding cannot store them, or stores bytes without checking them. */
async function assertUnicode(target: Client, to: string): Promise<void> {
  const { rows } = await target.query('SHOW server_encoding')
  const { server_encoding } = rows[0]
  if (server_encoding === 'UTF8') return
  const name = databaseName(to)
  throw new Error(
    `The target keeps text as ${server_encoding}, and must keep it as UTF8. Make it anew: CREATE DATABASE ${name} ENCODING 'UTF8' LOCALE 'C.UTF-8' TEMPLATE template0. Nothing was changed.`,
  )
}

async function assertUnused(target: Client, to: string): Promise<void> {
  const roles = schemaNames.map((schema) => databaseRoleOf(to, schema))
  const [role] = await rolesInUse(target, roles)
  if (role !== undefined)
    throw new Error(
      `A service runs on the target: somebody is connected as ${role}. Stop it first. Nothing was changed.`,
    )
  const used = await usedTables(target)
  if (used.length > 0)
    throw new Error(
      `The target has rows already, in ${listOf(used)}. A copy goes into an empty database only. Name another one, or, if nobody needs what is there, drop the schemas ${schemaNames.join(', ')} of ${databaseName(to)}. Nothing was changed.`,
    )
}

const SHOWN = 5
const listOf = (names: readonly string[]) =>
  names.slice(0, SHOWN).join(', ') + (names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '')

/** Makes both servers print values in the same format. */
const SAME_TEXT = `SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL intervalstyle = 'postgres';
  SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1; SET LOCAL statement_timeout = 0`

async function copyAll(
  clients: Clients,
  { onProgress, beforeCommit }: { onProgress: OnProgress; beforeCommit: () => Promise<void> },
): Promise<Pick<DatabaseCopy, 'tables' | 'rows'>> {
  const { source, target } = clients
  await source.query(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${SAME_TEXT}`)
  await target.query(`BEGIN; ${SAME_TEXT}; SET LOCAL lock_timeout = '5s'`)
  try {
    const tables = await sameTables(clients)
    await target.query(`LOCK TABLE ${tables.map(({ name }) => name).join(', ')} IN ACCESS EXCLUSIVE MODE`)
    const used = await usedTables(target)
    if (used.length > 0)
      throw new Error(
        `Another process wrote into ${listOf(used)} during the copy. Nothing was copied. Stop it, then run this again.`,
      )
    // Triggers would queue each event and add up each trade again: their results are copied as rows.
    await onEach(target, tables, 'ALTER TABLE % DISABLE TRIGGER USER')
    await onEach(target, [...tables].reverse(), 'DELETE FROM %')
    let done = 0
    for (const table of tables) {
      await copyTable(clients, table)
      onProgress({ what: 'copying tables', done: ++done, of: tables.length })
    }
    await onEach(target, tables, 'ALTER TABLE % ENABLE TRIGGER USER')
    for (const { name, last, called } of await sequencesOf(source))
      await target.query('SELECT setval($1::regclass, $2, $3)', [name, last, called])
    const rows = await compareAll(clients, tables, onProgress)
    await beforeCommit()
    await commit(target)
    // If this fails, autovacuum analyzes the tables later.
    await onEach(target, tables, 'ANALYZE %').catch(() => {})
    return { tables: tables.length, rows }
  } catch (error) {
    await target.query('ROLLBACK').catch(() => {})
    throw error
  } finally {
    await source.query('ROLLBACK').catch(() => {})
  }
}

async function commit(target: Client): Promise<void> {
  try {
    await target.query('COMMIT')
  } catch (error) {
    throw new Error(
      'COMMIT got no reply from the target: either all rows are there or none. Run this again. If the target has rows, the copy is complete: run trilho audit there.',
      { cause: error },
    )
  }
}

/** The tables of the source. Throws when the target's tables differ. */
async function sameTables({ source, target }: Clients): Promise<Table[]> {
  const tables = await tablesOf(source)
  const theirs = new Map((await tablesOf(target)).map((table) => [table.name, quotedColumns(table)]))
  const other = tables.find((table) => theirs.get(table.name) !== quotedColumns(table))
  if (other || theirs.size !== tables.length)
    throw new Error(
      `The tables of the two databases differ${other ? `, in ${other.name}` : ''}: one was made by another version. Use the version that the service runs.`,
    )
  return tables
}

async function onEach(target: Client, tables: readonly Table[], statement: string): Promise<void> {
  for (const { name } of tables) await target.query(statement.replace('%', name))
}

function copyTable({ source, target }: Clients, table: Table): Promise<void> {
  const columns = quotedColumns(table)
  return pipeRows(
    { client: source, sql: `COPY (SELECT ${columns} FROM ${table.name}) TO STDOUT` },
    { client: target, sql: `COPY ${table.name} (${columns}) FROM STDIN` },
  )
}

/** Compares all tables by digest. Returns the number of rows. */
async function compareAll(
  { source, target }: Clients,
  tables: readonly Table[],
  onProgress: OnProgress,
): Promise<bigint> {
  let rows = 0n
  let done = 0
  for (const table of tables) {
    const [ours, theirs] = await Promise.all([tableDigest(source, table), tableDigest(target, table)])
    if (ours.rows !== theirs.rows || ours.hash !== theirs.hash)
      throw new Error(
        `${table.name} is not the same after the copy: ${ours.rows} rows here, ${theirs.rows} there. Nothing was changed.`,
      )
    rows += ours.rows
    onProgress({ what: 'comparing tables', done: ++done, of: tables.length })
  }
  return rows
}
