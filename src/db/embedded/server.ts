import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rename, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode, readIfThere } from './files.ts'
import { DataDirBusy, readConnection } from './folder.ts'
import type { Installation } from './installation.ts'
import { isAnswered, listenIfAble } from './presence.ts'
import { failure, hasArgument, type Running, startServer } from './process.ts'

const OLD_SERVER_WAIT_MS = 10_000
const STOP_WAIT_MS = 30_000
const PORTS_TO_TRY = 5

const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  wal_level: 'replica',
  max_wal_size: '2GB',
  min_wal_size: '256MB',
  // A backup that hangs must not fill the disk: it loses its replication slot instead.
  max_slot_wal_keep_size: '10GB',
  checkpoint_timeout: '15min',
  shared_buffers: '128MB',
  // Reading the queue of open payouts walks past the dead rows of all payouts that went through it.
  autovacuum_naptime: '10s',
  max_connections: '100',
  jit: 'off',
  max_logical_replication_workers: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_line_prefix: '[%p] ',
  log_checkpoints: 'off',
  // Values of statements must not reach the log, and error messages quote them. The server's own messages have the
  // levels log, fatal and panic; the error of a statement goes to its client only.
  log_min_messages: 'log',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_statement: 'none',
  log_min_duration_statement: '-1',
  log_lock_waits: 'off',
}

export type Plan = {
  installation: Installation
  /** PostgreSQL settings, over the ones above. */
  settings: Record<string, string>
  /** Shuts down the server, at whatever stage it is. */
  signal: AbortSignal
  log: (line: string) => void
}

/** Starts the server, on a free port when none is given, and waits until it accepts connections. */
export async function bringUp(plan: Plan, fixed_port?: number): Promise<{ server: Running; port: number }> {
  const { data_dir, cluster } = plan.installation
  const deadline = Date.now() + OLD_SERVER_WAIT_MS
  for (let ports_tried = 1; ; ) {
    const port = fixed_port ?? (await freePort())
    const old_pid = await oldServerGone(data_dir, cluster, deadline)
    plan.signal.throwIfAborted()
    const server = await launch(plan, port, old_pid)
    if (await becomesReady(cluster, server)) return { server, port }
    const ending = await server.ended
    plan.signal.throwIfAborted()
    if (fixed_port === undefined && ports_tried < PORTS_TO_TRY && /could not bind/.test(ending.output)) {
      ports_tried += 1
    } else if (/still in use|lock file .* already exists/.test(ending.output) && Date.now() < deadline) {
      await sleep(200) // processes of the old server are still ending
    } else {
      throw failure(`PostgreSQL did not start on ${cluster}`, ending)
    }
  }
}

async function launch(plan: Plan, port: number, old_pid: number | undefined): Promise<Running> {
  const { installation, signal, log } = plan
  const address = { port: String(port), listen_addresses: '127.0.0.1', unix_socket_directories: '' }
  const settings = Object.entries({ ...SETTINGS, ...plan.settings, ...address })
  const argv = settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const presence = await presenceFor(installation.data_dir)
  // Stopped meanwhile: the listener that stops the server is added below, and would miss this abort.
  if (signal.aborted) presence?.close()
  signal.throwIfAborted()
  const server = startServer(
    installation.run_as,
    [join(installation.bin, 'postgres'), '-D', installation.cluster, ...argv],
    {
      log,
      // PostgreSQL does not start while any process has the pid of a left-over postmaster.pid, even another program.
      // For the pid in this variable PostgreSQL skips that check alone; oldServerGone found that the pid is no server.
      env: old_pid === undefined ? {} : { PG_GRANDPARENT_PID: String(old_pid) },
      keep: (presence as (Server & { _handle: { fd: number } }) | undefined)?._handle.fd,
    },
  )
  presence?.close()
  const stop = () => halt(server)
  signal.addEventListener('abort', stop)
  void server.ended.then(() => signal.removeEventListener('abort', stop))
  return server
}

/**
 * PostgreSQL can outlive the process that started it, and a server in another container is not visible by its pid. So
 * PostgreSQL inherits a socket that stays open while one of its processes lives. The socket's file is renamed, because
 * closing the listener here removes the file by its first name.
 */
async function presenceFor(data_dir: string): Promise<Server | undefined> {
  const draft = `${serverSocket(data_dir)}.${randomUUID()}`
  const presence = await listenIfAble(draft)
  if (presence) await rename(draft, serverSocket(data_dir))
  return presence
}

/** Call it once the server has ended. */
export async function removePresence(data_dir: string): Promise<void> {
  await rm(serverSocket(data_dir), { force: true })
}

const serverSocket = (data_dir: string) => join(data_dir, 'postgres.sock')

async function halt(server: Running): Promise<void> {
  server.signal('SIGINT')
  const timer = setTimeout(() => server.signal('SIGQUIT'), STOP_WAIT_MS)
  await server.ended
  clearTimeout(timer)
}

async function becomesReady(cluster: string, server: Running): Promise<boolean> {
  try {
    while (!server.hasEnded()) {
      const { pid, ready } = await postmasterFile(cluster)
      if (pid === server.pid && ready) return true
      await sleep(20)
    }
    return false
  } catch (error) {
    await halt(server)
    throw error
  }
}

/**
 * Waits until the PostgreSQL server of a killed process has ended. It ends by itself, unless its watcher was killed as
 * well. Returns its pid.
 */
export async function oldServerGone(
  data_dir: string,
  cluster: string,
  deadline = Date.now() + OLD_SERVER_WAIT_MS,
): Promise<number | undefined> {
  const { pid } = await postmasterFile(cluster)
  const is_ours = pid !== undefined && (await readConnection(data_dir))?.pid === pid
  for (let round = 0; ; round += 1) {
    const is_seen = pid !== undefined && hasArgument(pid, cluster)
    if (!is_seen && !(await isAnswered(serverSocket(data_dir)))) return pid
    const left = deadline - Date.now()
    if (left < 0) throw new DataDirBusy(is_seen ? stillRuns(cluster, pid) : runsElsewhere(cluster))
    if (is_ours && is_seen && round === 0) kill(pid, 'SIGINT')
    if (is_ours && is_seen && left < 2000) kill(pid, 'SIGQUIT')
    await sleep(50)
  }
}

const stillRuns = (cluster: string, pid: number) =>
  `A PostgreSQL server (pid ${pid}) still runs on ${cluster}. Stop it with "kill -INT ${pid}", ` +
  'or start on another data folder.'

const runsElsewhere = (cluster: string) =>
  `A PostgreSQL server that cannot be seen from here, such as one in another container, still runs on ${cluster}. ` +
  'Stop that container, or start on another data folder.'

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

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  await new Promise((done) => listener.close(done))
  return port
}
