import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import {
  access,
  chown,
  lchown,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { binariesPackage, copyBinaries, prepareBinaries } from './embedded-binaries.ts'
import { hasArgument, hasCode, type Lock, lockHolder, readIfThere, takeLock } from './embedded-lock.ts'
import { NOBODY, type RunAs, type Running, run, startServer } from './embedded-process.ts'

const MAJOR_VERSION = '18'
const OLD_SERVER_WAIT_MS = 10_000
const GIVE_UP_AFTER = 5
const GIVE_UP_WITHIN_MS = 60_000

export type EmbeddedDatabase = { readonly url: string; stop(): Promise<void> }

export type EmbeddedOptions = {
  data_dir: string
  log?: ((line: string) => void) | undefined
  /** PostgreSQL settings, over the ones below. */
  settings?: Record<string, string> | undefined
  /** The server had died and accepts connections again; all the old connections are broken. */
  onRestart?: (() => void) | undefined
  /** The server keeps dying and is not started any more. */
  onGiveUp?: ((error: Error) => void) | undefined
  /** How root starts PostgreSQL; found out by itself when left out. */
  run_as?: 'unshare' | 'nobody' | undefined
}

export class DataDirBusy extends Error {
  override name = 'DataDirBusy'
}

type Place = { data_dir: string; cluster: string; bin: string; run_as: RunAs }

const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  wal_level: 'replica',
  max_wal_size: '2GB',
  min_wal_size: '256MB',
  checkpoint_timeout: '15min',
  shared_buffers: '128MB',
  max_connections: '100',
  jit: 'off',
  max_logical_replication_workers: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_line_prefix: '[%p] ',
  log_checkpoints: 'off',
  // Values that a statement carries must not reach the log, and errors quote them. The server's own messages
  // are of the levels log, fatal and panic; what goes wrong in a statement, its sender is told.
  log_min_messages: 'log',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
}

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const data_dir = await openFolder(options.data_dir)
  const lock = await lockFolder(data_dir)
  try {
    return await startLocked(data_dir, lock, options)
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** The connection string of a server that is running on this folder right now, or undefined. */
export async function runningEmbedded(data_dir: string): Promise<string | undefined> {
  try {
    const folder = await realpath(resolve(data_dir))
    const connection = await readConnection(folder)
    if (!connection || (await lockHolder(lockFile(folder))) !== connection.server_pid) return undefined
    return hasArgument(connection.pid, await clusterFolder(folder)) ? connection.url : undefined
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

async function startLocked(
  data_dir: string,
  lock: Lock,
  options: EmbeddedOptions,
): Promise<EmbeddedDatabase> {
  const log = options.log ?? (() => {})
  await oldServerGone(data_dir, await clusterFolder(data_dir), Date.now() + OLD_SERVER_WAIT_MS)
  const place = await choosePlace(data_dir, options.run_as, log)
  const password = await createCluster(place)
  const settings = { ...SETTINGS, wal_compression: await walCompression(place), ...options.settings }

  let server: Running | undefined
  let port = await freePort()
  let stopping = false
  let wake = () => {}
  const stop_asked = new Promise<void>((done) => {
    wake = done
  })

  /** Starts the server and waits until it accepts connections. */
  async function bringUp(may_change_port: boolean): Promise<void> {
    const deadline = Date.now() + OLD_SERVER_WAIT_MS
    for (let ports_tried = 1; ; ) {
      const old_pid = await oldServerGone(data_dir, place.cluster, deadline)
      if (stopping) throw new Error('stopped')
      server = launch(place, port, settings, old_pid, log)
      if (await becomesReady(place, server)) return
      const { how, output } = await server.ended
      if (stopping) throw new Error('stopped')
      if (may_change_port && ports_tried < 5 && /could not bind/.test(output)) {
        ports_tried += 1
        port = await freePort()
      } else if (/still in use|lock file .* already exists/.test(output) && Date.now() < deadline) {
        await sleep(200) // processes of the old server are still ending
      } else {
        throw new Error(
          `PostgreSQL did not start on ${place.cluster} (${how}). ${adviceOn(output)}It says:\n${output}`,
        )
      }
    }
  }

  async function keepUp(): Promise<void> {
    let deaths: number[] = []
    let reason = await howItEnds()
    while (!stopping) {
      deaths = [...deaths.filter((time) => time > Date.now() - GIVE_UP_WITHIN_MS), Date.now()]
      if (deaths.length >= GIVE_UP_AFTER) return giveUp(reason)
      const pause = 100 * 3 ** (deaths.length - 1)
      log(`PostgreSQL ended unexpectedly (${reason}), starting it again in ${pause} ms`)
      await Promise.race([sleep(pause), stop_asked])
      const failure = await bringUp(false).catch(messageOf)
      if (failure === undefined) await announceRestart()
      reason = failure ?? (await howItEnds())
    }
  }

  async function howItEnds(): Promise<string | undefined> {
    return (await server?.ended)?.how
  }

  async function announceRestart(): Promise<void> {
    await writeConnection(place, urlFor(password, port, 'trilho'), server).catch((error) => {
      log(`Could not write ${connectionFile(data_dir)}: ${messageOf(error)}`)
    })
    if (stopping) return
    log('PostgreSQL runs again')
    options.onRestart?.()
  }

  async function giveUp(reason: string | undefined): Promise<void> {
    await rm(connectionFile(data_dir), { force: true })
    const error = new Error(
      `PostgreSQL on ${place.cluster} ended ${GIVE_UP_AFTER} times within a minute and is not started ` +
        `again. The last time: ${reason}`,
    )
    log(error.message)
    options.onGiveUp?.(error)
  }

  try {
    await bringUp(true)
    await createDatabase(urlFor(password, port, 'postgres'), data_dir)
    await writeConnection(place, urlFor(password, port, 'trilho'), server)
  } catch (error) {
    if (server) await halt(server)
    throw error
  }
  const kept_up = keepUp()

  let stopped: Promise<void> | undefined
  async function stop(): Promise<void> {
    stopping = true
    wake()
    try {
      if (server) await halt(server)
      await kept_up
    } finally {
      await rm(connectionFile(data_dir), { force: true })
      await lock.release()
    }
  }
  return { url: urlFor(password, port, 'trilho'), stop: () => (stopped ??= stop()) }
}

async function openFolder(path: string): Promise<string> {
  const folder = resolve(path)
  try {
    await mkdir(dirname(folder), { recursive: true })
    await mkdir(folder, { mode: 0o700 }).catch((error) => {
      if (!hasCode(error, 'EEXIST')) throw error
    })
    if (!(await stat(folder)).isDirectory()) throw new Error('it is not a folder')
    await access(folder, constants.W_OK | constants.X_OK)
    return await realpath(folder)
  } catch (error) {
    throw unusableFolder(folder, error)
  }
}

function unusableFolder(folder: string, error: unknown): Error {
  const advice = hasCode(error, 'EACCES', 'EPERM', 'EROFS')
    ? `It must be writable for the user that runs this server (uid ${process.getuid?.()}).`
    : hasCode(error, 'ENOSPC')
      ? 'The disk is full.'
      : 'Choose another folder.'
  return new Error(`The data folder ${folder} cannot be used: ${messageOf(error)}. ${advice}`, {
    cause: error,
  })
}

async function lockFolder(data_dir: string): Promise<Lock> {
  const taken = await takeLock(lockFile(data_dir)).catch((error) => {
    throw unusableFolder(data_dir, error)
  })
  if ('release' in taken) return taken
  const holder = taken.held_by === process.pid ? 'this very process' : 'another server'
  throw new DataDirBusy(
    `The data folder ${data_dir} is in use by ${holder} (pid ${taken.held_by}). ` +
      'Stop that server first, or start this one on another data folder.',
  )
}

/** Where the cluster and the binaries are, and which user can run them there. */
async function choosePlace(data_dir: string, wish: RunAs | undefined, log: (line: string) => void) {
  const package_dir = binariesPackage()
  const native = await prepareBinaries(package_dir, join(data_dir, 'postgres-bin'))
  const cluster = await clusterFolder(data_dir)
  const place: Place = { data_dir, cluster, bin: join(native, 'bin'), run_as: 'self' }
  await mustRun(place)
  if (process.getuid?.() !== 0) {
    if (!hasName() && (await tryOut({ ...place, run_as: 'unshare' })).ok) place.run_as = 'unshare'
    return place
  }
  if (process.platform !== 'linux') {
    throw new Error('PostgreSQL does not run as root. Start as another user, or set DATABASE_URL instead.')
  }
  const owner = await ownerOf(cluster)
  if (owner !== undefined && owner !== NOBODY && owner !== 0) {
    throw new Error(`The data folder ${data_dir} belongs to uid ${owner}. Start the server as that user.`)
  }
  const in_namespace = owner !== NOBODY && (await tryOut({ ...place, run_as: 'unshare' })).ok
  place.run_as = wish ?? (in_namespace ? 'unshare' : 'nobody')
  if (place.run_as === 'nobody') {
    place.cluster = await clusterForNobody(data_dir, cluster, owner, log)
    if (!(await tryOut(place)).ok) {
      const copy_dir = join(dirname(place.cluster), 'postgres-bin')
      place.bin = join(await copyBinaries(package_dir, copy_dir), 'bin')
      await handOver(copy_dir)
    }
  }
  await mustRun(place)
  return place
}

/** initdb wants to know the name of its user, and in a container the uid may have none. */
function hasName(): boolean {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}

function tryOut(place: Place) {
  const script = 'cd "$1" && exec "$2" --version'
  const folder = dirname(place.cluster)
  return run(place.run_as, ['/bin/sh', '-c', script, 'sh', folder, join(place.bin, 'postgres')])
}

async function mustRun(place: Place): Promise<void> {
  const { ok, how, output } = await tryOut(place)
  if (ok) return
  throw new Error(
    `The bundled PostgreSQL does not run on this machine (${how}): ${output}\n` +
      'Set DATABASE_URL instead to use a PostgreSQL server of your own.',
  )
}

/**
 * Without user namespaces, the files must belong to nobody and lie where nobody may go: in the data folder,
 * or, when that lies in a private folder, elsewhere with a link. Not under a temporary folder, which the
 * system cleans of old files.
 */
async function clusterForNobody(
  data_dir: string,
  cluster: string,
  owner: number | undefined,
  log: (line: string) => void,
): Promise<string> {
  const enters = async (folder: string) =>
    (await run('nobody', ['/bin/sh', '-c', 'cd "$1"', 'sh', folder])).ok
  if (!(await enters('/'))) {
    throw new Error(
      'PostgreSQL does not run as root, and this process may neither make user namespaces nor change its ' +
        'user. Start as another user, or set DATABASE_URL instead.',
    )
  }
  if (owner === NOBODY) return cluster
  if (!(await enters(dirname(cluster)))) {
    const names = await readdir(data_dir)
    const only_ours = names.every((name) => /^(lock|connection\.json|postgres)/.test(name))
    if (dirname(cluster) === data_dir && only_ours && (await enters(dirname(data_dir)))) {
      await chown(data_dir, NOBODY, NOBODY)
    } else if (dirname(cluster) === data_dir && owner === undefined) {
      return newHomeForNobody(data_dir, log)
    } else {
      throw new Error(
        `Without user namespaces (unshare failed), PostgreSQL runs as nobody, who may not go to ${cluster}. ` +
          'Make namespaces available, move the data folder to where other users may go, or start the server ' +
          'as another user that owns the data folder.',
      )
    }
  }
  if (owner === 0) await handOver(cluster)
  return cluster
}

async function newHomeForNobody(data_dir: string, log: (line: string) => void): Promise<string> {
  const home = await mkdtemp('/var/lib/trilho-').catch((error) => {
    throw new Error(
      `PostgreSQL does not run as root, and other users may not go to ${data_dir}: ${messageOf(error)}. ` +
        'Start as another user, choose another data folder, or set DATABASE_URL instead.',
    )
  })
  await chown(home, NOBODY, NOBODY)
  await symlink(join(home, 'postgres'), join(data_dir, 'postgres'))
  log(`The database files are in ${home}, as PostgreSQL runs as nobody, who may not go to ${data_dir}`)
  return join(home, 'postgres')
}

/** The folder itself goes last: until it has another owner, an interrupted change is done again. */
async function handOver(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    await lchown(join(entry.parentPath, entry.name), NOBODY, NOBODY)
  }
  await lchown(folder, NOBODY, NOBODY)
}

async function clusterFolder(data_dir: string): Promise<string> {
  const path = join(data_dir, 'postgres')
  try {
    return resolve(data_dir, await readlink(path))
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EINVAL')) return path
    throw error
  }
}

async function ownerOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).uid
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Makes the cluster if there is none. Returns the password of its superuser. */
async function createCluster(place: Place): Promise<string> {
  const { data_dir, cluster } = place
  const password_file = join(data_dir, 'postgres.password')
  const known_password = (await readIfThere(password_file))?.trim()
  if ((await ownerOf(cluster)) !== undefined) {
    const version = (await readIfThere(join(cluster, 'PG_VERSION')))?.trim()
    if (version === undefined) throw new Error(`${cluster} exists but holds no PostgreSQL database.`)
    if (version !== MAJOR_VERSION) {
      throw new Error(
        `The database in ${cluster} was made by PostgreSQL ${version}, and this server has PostgreSQL ` +
          `${MAJOR_VERSION}. Move it over with pg_dump of version ${version}, or start on another data folder.`,
      )
    }
    if (!known_password) {
      throw new Error(`The password of the database in ${cluster} is lost: ${password_file} is missing.`)
    }
    return known_password
  }

  // The password is safe on disk before the cluster that needs it comes into being.
  const password = known_password || randomBytes(32).toString('base64url')
  if (!known_password) await writePrivately(password_file, password)
  for (const name of await readdir(dirname(cluster))) {
    if (!name.startsWith(`${basename(cluster)}.new`)) continue
    await rm(join(dirname(cluster), name), { recursive: true, maxRetries: 5 })
  }
  // A name of its own: initdb of a process killed a moment ago may still be at work on its folder.
  const draft = await mkdtemp(`${cluster}.new-`)
  const pwfile = `${draft}.pwfile`
  try {
    await writeFile(pwfile, password, { flag: 'wx', mode: 0o600 })
    if (place.run_as === 'nobody') for (const path of [draft, pwfile]) await chown(path, NOBODY, NOBODY)
    const { ok, how, output } = await run(place.run_as, [
      join(place.bin, 'initdb'),
      `--pgdata=${draft}`,
      '--username=trilho',
      `--pwfile=${pwfile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--data-checksums',
    ])
    if (!ok) {
      throw new Error(
        `PostgreSQL could not make its files in ${draft} (${how}). ${adviceOn(output)}It says:\n${output}`,
      )
    }
    await rename(draft, cluster)
    await syncFolder(dirname(cluster))
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  } finally {
    await rm(pwfile, { force: true })
  }
  return password
}

function adviceOn(output: string): string {
  if (/No space left|free disk space/.test(output)) return 'The disk is full. '
  if (!/could not look up effective user/.test(output)) return ''
  return 'Its user needs an entry in /etc/passwd; without one, set DATABASE_URL instead. '
}

async function walCompression(place: Place): Promise<string> {
  const question = ['-C', 'wal_compression', '-D', place.cluster, '-c', 'wal_compression=lz4']
  return (await run(place.run_as, [join(place.bin, 'postgres'), ...question])).ok ? 'lz4' : 'off'
}

function launch(
  place: Place,
  port: number,
  settings: Record<string, string>,
  old_pid: number | undefined,
  log: (line: string) => void,
): Running {
  const all = { ...settings, port: String(port), listen_addresses: '127.0.0.1', unix_socket_directories: '' }
  const argv = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return startServer(place.run_as, [join(place.bin, 'postgres'), '-D', place.cluster, ...argv], {
    log,
    // PostgreSQL does not start when the pid in a left-over postmaster.pid lives, even as something else. It
    // skips that check, and only that one, for the pid in this variable: it is known not to be a server.
    env: old_pid === undefined ? {} : { PG_GRANDPARENT_PID: String(old_pid) },
  })
}

async function becomesReady(place: Place, server: Running): Promise<boolean> {
  while (!server.hasEnded()) {
    const status = await postmasterFile(place.cluster)
    if (status.pid === server.pid && status.ready) return true
    await sleep(20)
  }
  return false
}

/**
 * Waits until the server of a killed process has ended. It ends by itself, unless its watcher was killed as
 * well. Returns the pid it had.
 */
async function oldServerGone(
  data_dir: string,
  cluster: string,
  deadline: number,
): Promise<number | undefined> {
  const { pid } = await postmasterFile(cluster)
  if (pid === undefined) return undefined
  const is_ours = (await readConnection(data_dir))?.pid === pid
  for (let round = 0; hasArgument(pid, cluster); round += 1) {
    const left = deadline - Date.now()
    if (left < 0) {
      throw new DataDirBusy(
        `A PostgreSQL server (pid ${pid}) still runs on ${cluster}. Stop it with "kill -INT ${pid}", ` +
          'or start on another data folder.',
      )
    }
    if (is_ours && round === 0) kill(pid, 'SIGINT')
    if (is_ours && left < 2000) kill(pid, 'SIGQUIT')
    await sleep(50)
  }
  return pid
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error
  }
}

async function postmasterFile(cluster: string): Promise<{ pid: number | undefined; ready: boolean }> {
  const lines = (await readIfThere(join(cluster, 'postmaster.pid')))?.split('\n') ?? []
  const pid = Number(lines[0])
  return { pid: pid > 0 ? pid : undefined, ready: lines[7]?.trim() === 'ready' }
}

async function halt(server: Running): Promise<void> {
  if (server.hasEnded()) return
  server.signal('SIGINT')
  const timer = setTimeout(() => server.signal('SIGQUIT'), 30_000)
  await server.ended
  clearTimeout(timer)
}

async function createDatabase(url: string, data_dir: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, ssl: false })
  client.on('error', () => {}) // a lost connection also fails the query
  try {
    await client.connect()
    const found = await client.query("select from pg_database where datname = 'trilho'")
    if (found.rowCount === 0) await client.query('create database trilho')
  } catch (error) {
    if (!hasCode(error, '28P01')) throw error
    throw new Error(`The password in ${join(data_dir, 'postgres.password')} is not that of the database.`)
  } finally {
    await client.end()
  }
}

function urlFor(password: string, port: number, database: string): string {
  return `postgresql://trilho:${password}@127.0.0.1:${port}/${database}`
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const listener = createServer()
    listener.on('error', fail)
    listener.listen(0, '127.0.0.1', () => {
      const address = listener.address()
      listener.close(() => done(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

type Connection = { url: string; pid: number; server_pid: number }

async function readConnection(data_dir: string): Promise<Connection | undefined> {
  const text = await readIfThere(connectionFile(data_dir))
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

async function writeConnection(place: Place, url: string, server: Running | undefined): Promise<void> {
  const connection = { url, pid: server?.pid, server_pid: process.pid }
  await writePrivately(connectionFile(place.data_dir), `${JSON.stringify(connection, null, 2)}\n`)
}

async function writePrivately(path: string, text: string): Promise<void> {
  const draft = `${path}.new`
  await rm(draft, { force: true })
  await writeFile(draft, text, { flag: 'wx', mode: 0o600, flush: true })
  await rename(draft, path)
  await syncFolder(dirname(path))
}

/** A rename survives a power cut only once its folder is on disk. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

const lockFile = (data_dir: string) => join(data_dir, 'lock')
const connectionFile = (data_dir: string) => join(data_dir, 'connection.json')

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
