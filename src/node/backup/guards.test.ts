import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { runCli } from '../../../test/support/cli.ts'
import { asAdmin } from '../../../test/support/database.ts'
import { type EmbeddedService, startEmbeddedService } from '../../../test/support/embedded-service.ts'
import { until } from '../../../test/support/wait.ts'
import { ROTATION_LOCK } from '../../control/secrets/rotate.ts'
import { keyIdOf } from '../../core/seal.ts'
import { withOwner } from '../../db/pool.ts'
import { readConfig } from '../config.ts'
import { createBackup } from './create.ts'
import { type BackupFile, type Manifest, readManifest, writeManifest } from './manifest.ts'
import { restoreBackup } from './restore.ts'
import { verifyBackup } from './verify.ts'

vi.setConfig({ testTimeout: 300_000 })

/** What a backup is guarded against: other keys, changed files, concurrent backups, running services. */
let folder: string
let service: EmbeddedService
const quietly = () => {}
const place = (name: string) => join(folder, name)
const sql = (...statements: string[]) => asAdmin(service.database.url, statements)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trilho-backup-'))
  // PostgreSQL may run as another user.
  await chmod(folder, 0o755)
  service = await startEmbeddedService(place('data'))
  const { api } = await service.partner()
  const endpoint = { url: 'https://example.com/hook', events: ['*'] }
  expect((await api.post('/v1/webhook_endpoints', endpoint)).status).toBe(201)
  await createBackup(service.config, place('backup'), quietly)
})
afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
})

/** Calls back once, when the copying has begun. */
function meanwhile(work: () => Promise<unknown>) {
  let working: Promise<unknown> | undefined
  return { onProgress: () => void (working ??= work()), done: async () => await working }
}

/** Settings with a data folder on which no service runs. */
const elsewhere = () =>
  readConfig({ DATA_DIR: place('elsewhere'), SECRET_KEY: service.secret_key.toString('hex') })

describe('a backup that was changed', () => {
  const backup = () => place('backup')
  const manifestFile = () => join(backup(), 'backup.json')
  const ranFile = () => place('ran')
  let written: string

  beforeAll(async () => {
    written = await readFile(manifestFile(), 'utf8')
  })
  afterAll(() => writeFile(manifestFile(), written))

  function listed(path: string, text: string): BackupFile {
    const sha256 = createHash('sha256').update(text).digest('hex')
    return { path, bytes: Buffer.byteLength(text), sha256 }
  }

  /** The manifest, with these files replaced. */
  function manifestWith(files: readonly BackupFile[]): Manifest {
    const { hmac: _, sha256: __, ...manifest } = JSON.parse(written)
    const others = manifest.files.filter(({ path }: BackupFile) => files.every((file) => file.path !== path))
    return { ...manifest, files: [...others, ...files] }
  }

  test('without the key is refused, and nothing of it is executed', async () => {
    const conf = `restore_command = 'touch ${ranFile()}; false'\n`
    const manifest = manifestWith([
      listed('database/postgresql.auto.conf', conf),
      listed('database/recovery.signal', ''),
    ])
    await writeFile(join(backup(), 'database/postgresql.auto.conf'), conf)
    await writeFile(join(backup(), 'database/recovery.signal'), '')
    const sha256 = createHash('sha256').update(JSON.stringify(manifest)).digest('hex')
    for (const seal of [{ sha256 }, { hmac: sha256 }, {}]) {
      await writeFile(manifestFile(), JSON.stringify({ ...manifest, ...seal }))
      await expect(verifyBackup(service.config, backup(), quietly)).rejects.toThrow(
        /was changed after it was written/,
      )
    }
    expect(existsSync(ranFile())).toBe(false)
    await rm(join(backup(), 'database/postgresql.auto.conf'))
    await rm(join(backup(), 'database/recovery.signal'))
  })

  test('with the key can contain only files of a database, in their places', async () => {
    const paths = [
      'database/../../payload',
      '/payload',
      'database//payload',
      'payload',
      'database/recovery.signal',
      'database/postgresql.auto.conf',
      'database/pg_hba.conf',
      'database/tablespace_map',
    ]
    await writeManifest(backup(), manifestWith(paths.map((path) => listed(path, ''))), service.secret_key)
    const { problems } = await verifyBackup(service.config, backup(), quietly)
    expect(problems).toEqual(paths.map((path) => `${path} has no place in a backup`).sort())
    const to = place('payload-to')
    expect((await restoreBackup(elsewhere(), { dir: backup(), to }, quietly)).problems).toHaveLength(8)
    expect(existsSync(to)).toBe(false)
  })
})

test('a restore is refused while the service runs, because both would pay', async () => {
  const to = place('beside')
  await expect(restoreBackup(service.config, { dir: place('backup'), to }, quietly)).rejects.toThrow(
    /A service runs on .*data.*pay.*twice.*--yes/s,
  )
  expect(existsSync(to)).toBe(false)
})

test('a restore into an existing empty folder, such as a mount, keeps the folder; a service can start only at the end', async () => {
  const to = place('mounted')
  await mkdir(to, { mode: 0o755 })
  const { ino } = await stat(to)
  const restoring = runCli(['backup', 'restore', place('backup'), '--to', to, '--yes'], {
    DATA_DIR: place('data'),
  })
  await until(() => existsSync(join(to, 'postgres')), 20_000)
  // A service that is started meanwhile does not create a new, empty database.
  await expect(startEmbeddedService(to)).rejects.toThrow(/exists but holds no PostgreSQL database/)
  expect((await restoring).out).toMatch(/to look at: everything until .*so none\nstarts on this one/)
  expect((await stat(to)).ino).toBe(ino)
  expect((await readdir(to)).sort()).toEqual([
    'postgres',
    'postgres.password',
    'secret.key',
    'superseded.json',
  ])
  expect((await runCli(['audit'], { DATA_DIR: to })).code).toBe(0)
})

test('of two backups into one folder at once, one succeeds and the other touches nothing', async () => {
  const to = place('twice')
  const ended = await Promise.allSettled([
    createBackup(service.config, to, quietly),
    createBackup(service.config, to, quietly),
  ])
  const refused = ended.filter((one) => one.status === 'rejected')
  expect(refused.map(({ reason }) => String(reason))).toEqual([expect.stringMatching(/is not empty/)])
  await readManifest(to, service.config)
  expect(existsSync(join(to, 'database/global/pg_control'))).toBe(true)
})

test('a target inside the data folder is refused, also through links', async () => {
  await symlink(place('data'), place('link'))
  for (const [data_dir, to] of [
    [place('data'), 'link/deep/backup'],
    [place('link'), 'data/backup'],
    [place('data'), 'data/postgres/backup'],
  ] as const)
    await expect(createBackup({ ...service.config, data_dir }, place(to), quietly)).rejects.toThrow(
      /lies in the data folder/,
    )
  // A cluster outside the data folder, as when root starts a service without user namespaces.
  await mkdir(place('linked'))
  await symlink(place('data/postgres'), place('linked/postgres'))
  const linked = { ...service.config, data_dir: place('linked') }
  await expect(createBackup(linked, place('data/postgres/b'), quietly)).rejects.toThrow(
    /lies in the data folder/,
  )
})

test('a lost connection is reported, and the WAL kept for a backup is limited', async () => {
  expect(await sql('SHOW max_slot_wal_keep_size')).toEqual([{ max_slot_wal_keep_size: '10GB' }])
  const { onProgress, done } = meanwhile(() =>
    sql(`SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots`),
  )
  await expect(createBackup(service.config, place('lost'), onProgress)).rejects.toThrow(
    /the service was stopped, or .* 10 GB/,
  )
  await done()
  expect(await readdir(place('lost'))).toEqual([])
})

describe('the secret key', () => {
  test('is not rotated while a backup is taken, nor a backup taken while it is rotated', async () => {
    const held = meanwhile(() =>
      sql(
        `SELECT count(*)::int AS held FROM pg_locks WHERE locktype = 'advisory' AND objid = ${ROTATION_LOCK}`,
      ),
    )
    await createBackup(service.config, place('locked'), held.onProgress)
    expect(await held.done()).toEqual([{ held: 1 }])
    await withOwner(service.database.url, async (owner) => {
      await owner.query('SELECT pg_advisory_lock($1)', [ROTATION_LOCK])
      await expect(createBackup(service.config, place('rotating'), quietly)).rejects.toThrow(
        /rotation of the secret key is under way/,
      )
    })
  })

  test('must open everything in a backup: a row under another key is found, and the backup not restored', async () => {
    const other = keyIdOf(Buffer.alloc(32, 7))
    const { onProgress, done } = meanwhile(() =>
      sql(`UPDATE sandbox.webhook_endpoints SET secret_key_id = '${other}', secret = secret || '\\x00'`),
    )
    await createBackup(service.config, place('two-keys'), onProgress)
    await done()
    const known = { ...elsewhere(), secret_keys_previous: [Buffer.alloc(32, 7)] }
    const { problems } = await verifyBackup(known, place('two-keys'), quietly)
    expect(problems).toEqual([expect.stringMatching(/1 webhook secret in sandbox .*cannot be opened/)])
    const to = place('two-keys-restored')
    await expect(restoreBackup(known, { dir: place('two-keys'), to }, quietly)).rejects.toThrow(
      /1 webhook secret in sandbox/,
    )
    expect(existsSync(to)).toBe(false)
    await sql(
      `UPDATE sandbox.webhook_endpoints SET secret_key_id = '${keyIdOf(service.secret_key)}',
         secret = substring(secret FROM 1 FOR length(secret) - 1)`,
    )
  })

  test('must be a single one: an interrupted rotation must be finished first', async () => {
    const env = { DATA_DIR: place('data') }
    const cut = await runCli(['secrets', 'rotate'], { ...env, CRASH_AT: 'after_key_named' })
    expect(cut.signal).toBe('SIGKILL')
    await expect(createBackup(service.config, place('between'), quietly)).rejects.toThrow(
      /was interrupted: run trilho secrets rotate to its end first/,
    )
    expect((await runCli(['secrets', 'rotate'], env)).code).toBe(0)
    await createBackup(service.config, place('after'), quietly)
  })
})
