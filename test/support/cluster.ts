import { execFileSync } from 'node:child_process'
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { ensureCluster, ensureDatabase } from '../../src/db/embedded/cluster.ts'
import { chooseInstallation, type Installation } from '../../src/db/embedded/installation.ts'
import { type Running, startServer } from '../../src/db/embedded/process.ts'
import { freePort } from './free-port.ts'
import { openSilencingProxy, type SilencingProxy } from './silencing-proxy.ts'
import { until } from './wait.ts'

/**
 * A primary and a synchronous standby, made of nothing but the embedded programs. Each is reached by a way that can
 * vanish; the address names both. Somebody else decides who is promoted, as Patroni would.
 */
export type Cluster = {
  readonly url: string
  /** The one that takes writes, past the way: for looking at it. */
  sql(statement: string): Promise<Record<string, unknown>[]>
  /** The primary's processes are gone, its connections are reset. */
  kill(): void
  /** Its machine is gone: nothing is answered, and nothing is closed. */
  lose(): void
  /** It stands still, with everything it holds, and may go on later. */
  pause(): void
  /** The standby takes over. Returns when it did, by the clock of `performance`. */
  promote(): Promise<number>
  /** What was paused goes on, believing that it is the primary. */
  resume(): void
  /** The one that was replaced becomes the standby of the other. */
  rebuild(): Promise<void>
  /** Copies the primary into a new folder while it runs, with the log that makes the copy consistent: a base backup. */
  backUp(folder: string): Promise<void>
  /** Both servers and their files are gone; the backup becomes the primary, and the other one its standby. */
  restore(folder: string): Promise<void>
  stop(): Promise<void>
}

type Member = {
  readonly name: string
  readonly folder: string
  readonly port: number
  readonly hole: SilencingProxy
  server: Running | undefined
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '64MB',
  wal_keep_size: '256MB',
  max_wal_size: '1GB',
  hot_standby: 'on',
  synchronous_commit: 'on',
  fsync: 'on',
  logging_collector: 'off',
  log_min_messages: 'fatal',
  timezone: 'UTC',
}

export async function startCluster(): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'trilho-pair-'))
  const place = await chooseInstallation(folder, undefined, () => {})
  const password = await ensureCluster(place)
  const members = await Promise.all(
    ['a', 'b'].map(async (name): Promise<Member> => {
      const port = await freePort()
      const data = name === 'a' ? place.cluster : join(folder, name)
      return { name, folder: data, port, hole: await openSilencingProxy(port), server: undefined }
    }),
  )
  let [primary, other] = members as [Member, Member]
  const hosts = members.map(({ hole }) => `127.0.0.1:${hole.port}`).join(',')

  await startMember(place, primary, password)
  await ensureDatabase(folder, password, primary.port)
  await makeStandby(place, primary, other, password)
  return {
    url: `postgresql://trilho:${password}@${hosts}/trilho?target_session_attrs=read-write`,
    sql: (statement) => ask(primary, password, statement, 'trilho'),
    kill: () => signalAll(primary, 'SIGKILL'),
    lose() {
      primary.hole.silence()
      signalAll(primary, 'SIGKILL')
    },
    pause: () => signalAll(primary, 'SIGSTOP'),
    async promote() {
      await ask(other, password, 'SELECT pg_promote(true, 30)')
      const at = performance.now()
      ;[primary, other] = [other, primary]
      return at
    },
    resume: () => signalAll(other, 'SIGCONT'),
    async rebuild() {
      signalAll(other, 'SIGKILL')
      await other.server?.ended
      await rm(other.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
      other.hole.restore()
      await makeStandby(place, primary, other, password)
    },
    backUp: (backup) => copyRunning(primary, backup, password),
    async restore(backup) {
      for (const member of members) {
        signalAll(member, 'SIGKILL')
        await member.server?.ended
        await rm(member.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
        member.hole.restore()
      }
      execFileSync('cp', ['-a', backup, primary.folder])
      await configure(place, primary, `synchronous_standby_names = ''`)
      await startMember(place, primary, password)
      await makeStandby(place, primary, other, password)
    },
    async stop() {
      for (const member of members) {
        signalAll(member, 'SIGKILL')
        await member.server?.ended
        await member.hole.stop()
      }
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    },
  }
}

async function startMember(place: Installation, member: Member, password: string): Promise<void> {
  const settings = Object.entries({ ...SETTINGS, port: String(member.port), cluster_name: member.name })
  const argv = settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])
  member.server = startServer(place.run_as, [join(place.bin, 'postgres'), '-D', member.folder, ...argv], {})
  await until(async () => (await ask(member, password, 'SELECT 1').catch(() => [])).length === 1, 30_000)
}

/** Files come and go while they are copied; the log, which is copied at the end, makes up for it. */
async function copyRunning(primary: Member, folder: string, password: string): Promise<void> {
  const client = await connectTo(primary, password)
  const copy = (from: string, to: string) =>
    execFileSync('sh', ['-c', `cp -a "$1" "$2" 2>/dev/null || true`, 'sh', from, to])
  let label: string
  try {
    await client.query(`SELECT pg_backup_start('copy', true)`)
    copy(primary.folder, folder)
    label = (await client.query('SELECT labelfile FROM pg_backup_stop(false)')).rows[0].labelfile
    copy(`${primary.folder}/pg_wal/.`, `${folder}/pg_wal`)
  } finally {
    await client.end()
  }
  await rm(join(folder, 'postmaster.pid'), { force: true })
  await writeFile(join(folder, 'backup_label'), label)
}

/** The last line about a setting counts. */
async function configure(place: Installation, { folder }: Member, lines: string): Promise<void> {
  await appendFile(join(folder, 'postgresql.auto.conf'), `\n${lines}\n`)
  if (place.run_as === 'nobody') execFileSync('chown', ['-R', '65534:65534', folder])
}

/** A copy of the running primary, which follows it from then on and must confirm every commit. */
async function makeStandby(
  place: Installation,
  primary: Member,
  standby: Member,
  password: string,
): Promise<void> {
  await copyRunning(primary, standby.folder, password)
  await writeFile(join(standby.folder, 'standby.signal'), '')
  await configure(
    place,
    standby,
    `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=trilho password=${password} application_name=${standby.name}'\nsynchronous_standby_names = ''`,
  )
  await startMember(place, standby, password)
  const streaming = `SELECT 1 FROM pg_stat_replication WHERE application_name = '${standby.name}' AND state = 'streaming'`
  await until(async () => (await ask(primary, password, streaming)).length === 1, 30_000)
  await ask(primary, password, `ALTER SYSTEM SET synchronous_standby_names = '${standby.name}'`)
  await ask(primary, password, 'SELECT pg_reload_conf()')
  const sync = `SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`
  await until(async () => (await ask(primary, password, sync)).length === 1, 30_000)
}

async function connectTo(member: Member, password: string, database = 'postgres'): Promise<pg.Client> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port: member.port,
    user: 'trilho',
    password,
    database,
    connectionTimeoutMillis: 60_000,
  })
  client.on('error', () => {})
  await client.connect()
  return client
}

async function ask(member: Member, password: string, statement: string, database?: string) {
  const client = await connectTo(member, password, database)
  try {
    return (await client.query(statement)).rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}

/** The server and all its processes at once, as a machine would take them. */
function signalAll({ server }: Member, signal: NodeJS.Signals): void {
  if (!server?.pid || server.hasEnded()) return
  const children = execFileSync('ps', ['-e', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, parent]) => parent === server.pid)
    .map(([pid]) => pid!)
  for (const pid of [server.pid, ...children]) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended by itself.
    }
  }
}
