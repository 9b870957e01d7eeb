import { createHash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { findUnopened, reachedBy } from '../../control/secrets/check.ts'
import { ROTATION_LOCK } from '../../control/secrets/rotate.ts'
import type { OnProgress } from '../../core/progress.ts'
import { createSealer } from '../../core/seal.ts'
import { hasCode } from '../../db/embedded/files.ts'
import { existingCluster } from '../../db/embedded/folder.ts'
import { presentKeysOf, reachDatabase } from '../../db/open.ts'
import { type Client, openOwner } from '../../db/pool.ts'
import { readSealing } from '../../db/sealing.ts'
import type { Config } from '../config.ts'
import { version } from '../version.ts'
import { isInstruction } from './contents.ts'
import { copyFile, each, isWithin, listBelow, notEmpty, syncBelow, takeEmptyFolder } from './files.ts'
import { withKey } from './keys.ts'
import {
  type BackupFile,
  DATABASE,
  type Manifest,
  PASSWORD,
  type RowCounts,
  writeManifest,
} from './manifest.ts'

/**
 * Copies the embedded database while it runs: PostgreSQL's backup mode is begun, the files are copied one after the other,
 * each at a different moment, and the WAL of that time makes them consistent at a restore (decision 0036).
 */
export async function createBackup(config: Config, dir: string, onProgress: OnProgress): Promise<Manifest> {
  if (config.database_url)
    throw new Error(
      'DATABASE_URL names a PostgreSQL of your own; this command backs up the embedded one. Use pg_basebackup with WAL archiving, or the backups of your provider. pg_dump does too, while nothing else is at hand.',
    )
  const cluster = await existingCluster(config.data_dir)
  const wanted = resolve(dir)
  if ((await isWithin(wanted, config.data_dir)) || (await isWithin(wanted, cluster)))
    throw new Error(`${wanted} lies in the data folder, which a backup is to outlive. Name another folder.`)
  const folder = await claimFolder(wanted)
  try {
    const database = await reachDatabase(config)
    try {
      const owner = await openOwner(database.url, 'trilho backup')
      let connected = true
      owner.once('end', () => {
        connected = false
      })
      try {
        return await backUp({ owner, config, cluster, folder, onProgress })
      } catch (error) {
        throw connected ? error : new Error(LOST, { cause: error })
      } finally {
        await owner.end()
      }
    } finally {
      await database.stop()
    }
  } catch (error) {
    for (const name of [DATABASE, PASSWORD]) await rm(join(folder, name), { recursive: true, force: true })
    if (hasCode(error, 'ENOSPC')) throw new Error(`There is no room left for a backup in ${folder}.`)
    throw error
  }
}

const LOST =
  "The connection to the database ended while the backup was taken: the service was stopped, or PostgreSQL's log grew by more than 10 GB meanwhile, and no more of it is kept for a backup. Nothing is left of this one. Take another."

/** Of two backups into the same empty folder, the second one is refused before it has touched anything. */
async function claimFolder(wanted: string): Promise<string> {
  const folder = await takeEmptyFolder(wanted)
  await mkdir(join(folder, DATABASE), { mode: 0o700 }).catch((error) => {
    throw hasCode(error, 'EEXIST') ? notEmpty(folder) : error
  })
  return folder
}

type Work = {
  readonly owner: Client
  readonly config: Config
  readonly cluster: string
  readonly folder: string
  readonly onProgress: OnProgress
}

async function backUp({ owner, config, cluster, folder, onProgress }: Work): Promise<Manifest> {
  const started_at = await timeOf(owner)
  const { secret_key, fingerprint } = await theOneKey(owner, config)
  const counts = await countRows(owner)
  // A temporary slot ends with this session, however it ends: no slot is left that would keep the WAL for ever.
  await owner.query(
    `SELECT pg_create_physical_replication_slot('trilho_backup_' || pg_backend_pid(), true, true)`,
  )
  const begun = await owner.query(`SELECT pg_walfile_name(pg_backup_start('trilho backup', true)) AS from`)
  const from: string = begun.rows[0].from
  const files = await copyCluster(cluster, join(folder, DATABASE), onProgress)
  const until = await timeOf(owner)
  const ended = await owner.query(
    `SELECT pg_walfile_name(lsn) AS to, labelfile AS label FROM pg_backup_stop(false)`,
  )
  const { to, label } = ended.rows[0]
  files.push(...(await copyLog(cluster, join(folder, DATABASE), { from, to })))
  files.push(await writeLabel(folder, label))
  files.push(await copyPassword(config, folder))
  const { rows } = await owner.query('SHOW server_version')
  await syncBelow(join(folder, DATABASE))
  const manifest: Manifest = {
    format: 1,
    version,
    postgres: rows[0].server_version,
    started_at,
    until,
    wal: { from, to },
    secret_key: { fingerprint, kept_in: config.secret_key ? 'setting' : 'data_dir' },
    counts,
    files: files.sort((a, b) => (a.path < b.path ? -1 : 1)),
  }
  await writeManifest(folder, manifest, secret_key)
  return manifest
}

const ROTATING =
  'A rotation of the secret key is under way or was interrupted: run trilho secrets rotate to its end first. A backup between two keys could not be restored with either of them.'

/** The key that everything is sealed under. Until this session ends, a lock prevents rotations. */
async function theOneKey(
  owner: Client,
  config: Config,
): Promise<{ secret_key: Buffer; fingerprint: string }> {
  const { rows } = await owner.query('SELECT pg_try_advisory_lock_shared($1) AS won', [ROTATION_LOCK])
  if (!rows[0].won) throw new Error(ROTATING)
  const fingerprint = (await readSealing(owner))?.key_id
  if (!fingerprint) throw new Error('The database is not set up yet: start the service once.')
  const { secret_key } = withKey(config, fingerprint)
  // A data folder has two keys while a rotation is under way.
  if (!config.secret_key && presentKeysOf(config).length > 1) throw new Error(ROTATING)
  const others = await findUnopened(reachedBy(owner), createSealer([secret_key]), [fingerprint])
  if (others.length > 0) throw new Error(ROTATING)
  return { secret_key, fingerprint }
}

async function timeOf(owner: Client): Promise<string> {
  const { rows } = await owner.query('SELECT clock_timestamp() AS now')
  return rows[0].now.toISOString()
}

/** Tables from which nothing is ever removed. */
export const COUNTED_TABLES = ['customers', 'entries', 'payouts', 'transfers'] as const

export async function countRows(owner: Client): Promise<RowCounts> {
  const counts: Record<string, Record<string, number>> = {}
  for (const schema of ['live', 'sandbox']) {
    const columns = COUNTED_TABLES.map(
      (table) => `(SELECT count(*) FROM ${schema}.${table})::float8 AS ${table}`,
    )
    const { rows } = await owner.query(`SELECT ${columns.join(', ')}`)
    counts[schema] = { ...rows[0] }
  }
  return counts
}

/** Files that PostgreSQL creates at every start, or that belong to the running server. These folders are kept empty. */
const EMPTIED = /^(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\//
const LEFT_OUT =
  /(^|\/)(postmaster\.(pid|opts)|pg_internal\.init.*|pgsql_tmp.*|backup_label.*|backup_manifest|current_logfiles.*|postgresql\.auto\.conf\.tmp)$/
/** Says where to start reading the WAL. Copied last, as PostgreSQL requires of a base backup. */
const CONTROL = 'global/pg_control'

async function copyCluster(cluster: string, to: string, onProgress: OnProgress): Promise<BackupFile[]> {
  const listed = await listBelow(
    cluster,
    (path) => EMPTIED.test(path) || LEFT_OUT.test(path) || isInstruction(path),
  )
  for (const path of [...listed.folders, 'pg_wal/archive_status', 'pg_wal/summaries'])
    await mkdir(join(to, path), { recursive: true, mode: 0o700 })
  const files: BackupFile[] = []
  const copy = async (path: string) => {
    const copied = await copyFile(join(cluster, path), join(to, path), { lasting: true })
    // The file was dropped meanwhile: the WAL contains that too.
    if (copied) files.push({ path: `${DATABASE}/${path}`, ...copied })
    onProgress({ what: 'copying', done: files.length, of: listed.files.length })
  }
  await each(
    listed.files.filter((path) => path !== CONTROL),
    copy,
  )
  await copy(CONTROL)
  return files
}

async function copyLog(
  cluster: string,
  to: string,
  { from, to: last }: Manifest['wal'],
): Promise<BackupFile[]> {
  const { files: names } = await listBelow(join(cluster, 'pg_wal'))
  const needed = names.filter(
    (name) => (/^[0-9A-F]{24}$/.test(name) && name >= from && name <= last) || name.endsWith('.history'),
  )
  if (!needed.includes(from) || !needed.includes(last))
    throw new Error(`PostgreSQL's log lacks ${from} or ${last}: no whole backup can be made. Try again.`)
  const files: BackupFile[] = []
  await each(needed, async (name) => {
    const copied = await copyFile(join(cluster, 'pg_wal', name), join(to, 'pg_wal', name), { lasting: true })
    if (!copied) throw new Error(`${name} of PostgreSQL's log has gone while it was copied. Try again.`)
    files.push({ path: `${DATABASE}/pg_wal/${name}`, ...copied })
  })
  return files
}

async function writeLabel(folder: string, label: string): Promise<BackupFile> {
  const path = `${DATABASE}/backup_label`
  await writeFile(join(folder, path), label, { mode: 0o600, flush: true })
  const sha256 = createHash('sha256').update(label).digest('hex')
  return { path, bytes: Buffer.byteLength(label), sha256 }
}

async function copyPassword({ data_dir }: Config, folder: string): Promise<BackupFile> {
  const copied = await copyFile(join(data_dir, PASSWORD), join(folder, PASSWORD), { lasting: true })
  if (!copied) throw new Error(`${join(data_dir, PASSWORD)} is missing.`)
  return { path: PASSWORD, ...copied }
}
