import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Environment } from '../core/environment.ts'
import { parseAddress } from './address.ts'
import { isContended, isIdledOut, isPassing, isUnexecuted, Unconfirmed } from './failure.ts'
import { PoolGrowth } from './growth.ts'
import type { Login } from './login.ts'
import { isPlainRead } from './plain-read.ts'
import { primaryOf } from './primary.ts'
import { PrimaryClient, type PrimaryConfig } from './primary-client.ts'
import { CONNECT_MS } from './probe.ts'

export type Pool = pg.Pool
export type Client = pg.Client
/** Anything that runs a statement: a pool, or a connection inside a transaction. */
export type Db = Pick<pg.Client, 'query'>

export type SchemaName = 'live' | 'sandbox' | 'shared'
export const schemas: Readonly<Record<Environment, SchemaName>> = { production: 'live', sandbox: 'sandbox' }

/** The role that a connection logs in as, and its schema. Made by `openSeats`. */
export type Seat = {
  readonly url: string
  readonly login: Login
  readonly schema: SchemaName
  readonly application_name: string
}

const INT8 = 20
const NUMERIC = 1700

/** Money comes out of the database as bigint: not as a float, and not as text, which `+` would concatenate. */
const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8) return BigInt
    if (oid === NUMERIC) return BigInt
    return pg.types.getTypeParser(oid, format as 'text')
  },
}

export function databaseName(url: string): string {
  return parseAddress(url).database
}

/** Each schema has its own role, which may touch no other schema: a query cannot mix the worlds even by mistake. */
export function databaseRoleOf(url: string, schema: SchemaName): string {
  return `${databaseName(url)}_${schema}`
}

/**
 * Every statement of a request must find its rows by an index. Plans are cached: a plan that was made while a table was
 * small must not scan the table after it has grown.
 */
const byKey = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' }

/** For the server's side of the connection: a node whose machine vanishes must not keep its locks for hours. */
const vanishing = {
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '10s',
}

/**
 * Settings travel in the connection's first packet, so a connection is never open without them. `synchronous_commit` is
 * asserted again when the server starts.
 */
function connectionConfig(
  { url, login, schema, application_name }: Seat,
  more: Record<string, string> = {},
): PrimaryConfig {
  const settings = {
    search_path: schema,
    timezone: 'UTC',
    default_transaction_isolation: 'read committed',
    statement_timeout: '5s',
    lock_timeout: '500ms',
    idle_in_transaction_session_timeout: '2s',
    // Whatever the server's default is: a connection that holds a lock sets its own limit (`limitIdle`).
    idle_session_timeout: '0',
    plan_cache_mode: 'force_generic_plan',
    jit: 'off',
    ...byKey,
    ...vanishing,
    ...more,
  }
  return {
    primary: primaryOf(url),
    login,
    schema,
    application_name,
    options: optionsOf(settings),
    keepAlive: true,
    keepAliveInitialDelayMillis: 1000,
    types,
  }
}

const optionsOf = (settings: Record<string, string>) =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`)
    .join(' ')

/**
 * The limit for a server that accepts a statement and never answers. Longer than any statement may run, shorter than a
 * request may wait.
 */
const QUERY_TIMEOUT_MS = 7000

/** How long a caller waits for a primary, by default. */
export const WAIT_MS = 6000
const PAUSE_MS = 100

export function openPool(seat: Seat & { readonly max: number; readonly wait_ms?: number }): Pool {
  const { max, wait_ms = WAIT_MS } = seat
  const pool = new WaitingPool({
    ...connectionConfig(seat),
    max,
    idleTimeoutMillis: 30_000,
    // The pool gives up a connection that takes longer to open, so this must be at least CONNECT_MS.
    connectionTimeoutMillis: Math.max(wait_ms, CONNECT_MS),
    wait_ms,
    query_timeout: QUERY_TIMEOUT_MS,
    Client: PrimaryClient as unknown as new () => pg.ClientBase,
  })
  // A broken connection is replaced at its next use; without a listener the 'error' event would end the process.
  pool.on('error', () => {})
  return pool
}

/**
 * A watched connection asks something every second, so one that is silent for this long belongs to a process that stands still, as in a
 * paused container. The server closes the connection, and its advisory locks are free for other nodes.
 */
const WATCHED_IDLE = '30s'

/** The server closes this connection, and so releases its locks, when nothing is asked over it for so long. 0: never, the default. */
export async function limitIdle(db: Db, ms: number): Promise<void> {
  await db.query(`SELECT set_config('idle_session_timeout', $1, false)`, [String(ms)])
}

export async function openClient(
  seat: Seat,
  options: { pipeline?: boolean; settings?: Record<string, string>; query_timeout_ms?: number } = {},
): Promise<Client> {
  const query_timeout = options.query_timeout_ms ?? (options.pipeline ? QUERY_TIMEOUT_MS : undefined)
  const client = new PrimaryClient({
    ...connectionConfig(seat, { idle_session_timeout: WATCHED_IDLE, ...options.settings }),
    watched: true,
    ...(options.pipeline ? { pipeline: true } : {}),
    ...(query_timeout ? { query_timeout } : {}),
  } as PrimaryConfig)
  await client.connect()
  return client
}

/** Connects as the user of the address, who owns the tables: only for migrations. */
export async function openOwner(url: string, application_name: string): Promise<Client> {
  const client = new PrimaryClient({
    primary: primaryOf(url),
    application_name,
    options: optionsOf({ timezone: 'UTC', idle_session_timeout: '0', ...vanishing }),
    keepAlive: true,
    keepAliveInitialDelayMillis: 1000,
    types,
  })
  await client.connect()
  return client
}

export async function withOwner<T>(url: string, work: (owner: Client) => Promise<T>): Promise<T> {
  const owner = await openOwner(url, 'trilho start')
  try {
    return await work(owner)
  } finally {
    await owner.end()
  }
}

/**
 * Waits for a primary instead of failing at once, so that a switch-over shows as latency. It retries only what is safe to
 * repeat: opening a connection, a statement that the server refused unexecuted, and a plain read.
 */
class WaitingPool extends pg.Pool {
  readonly wait_ms: number
  readonly #growth: PoolGrowth

  constructor(config: pg.PoolConfig & PrimaryConfig & { max: number; wait_ms: number }) {
    super(config)
    this.wait_ms = config.wait_ms
    this.#growth = new PoolGrowth(this, config.max)
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): unknown {
    const taking = patiently(this.wait_ms, () => this.#growth.take(() => super.connect()), isPassing)
    if (!callback) return taking
    taking.then(
      (client) => callback(undefined, client, (broken) => client.release(broken as Error | undefined)),
      (error: Error) => callback(error, undefined, () => {}),
    )
  }

  // The driver has a dozen forms of this call; all of them are passed on.
  override query(...asked: any[]): any {
    if (typeof asked.at(-1) === 'function') return super.query(...(asked as [string]))
    const text: string = typeof asked[0] === 'string' ? asked[0] : asked[0].text
    const repeatable = (error: unknown) =>
      isUnexecuted(error) || ((isPassing(error) || isContended(error)) && isPlainRead(text))
    const work = isPlainRead(text) ? () => super.query(...(asked as [string])) : () => this.#write(asked)
    return patiently(this.wait_ms, work, repeatable)
  }

  async #write(asked: any[]): Promise<unknown> {
    const client = await this.connect()
    let broken: Error | undefined
    try {
      return await confirmed(client, () => client.query(...(asked as [string])))
    } catch (error) {
      broken = error as Error
      throw error
    } finally {
      client.release(broken)
    }
  }
}

/** SQLSTATE class 01 is a warning; a shutdown in the middle of a commit (57P) arrives as a warning too. */
const WARNING = /^(01|57P)/

/** Runs `work` and returns the first warning that the server sends meanwhile. */
export async function withWarnings<T>(
  client: Pick<pg.Client, 'on' | 'off'>,
  work: () => Promise<T>,
): Promise<{ result: T; warning: unknown }> {
  let warning: unknown
  const listen = (notice: { code?: string | undefined }) => {
    if (WARNING.test(notice.code ?? '')) warning ??= notice
  }
  client.on('notice', listen)
  try {
    return { result: await work(), warning }
  } finally {
    client.off('notice', listen)
  }
}

async function confirmed<T>(client: pg.PoolClient, work: () => Promise<T>): Promise<T> {
  const { result, warning } = await withWarnings(client as unknown as pg.Client, work)
  if (warning)
    throw new Unconfirmed(
      'the server committed without waiting for its standby: a fail-over may lose the write',
      { cause: warning },
    )
  return result
}

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void

/** Retries `work` while there is time and `passes` says that the failure is temporary. */
async function patiently<T>(
  wait_ms: number,
  work: () => Promise<T>,
  passes: (error: unknown) => boolean,
): Promise<T> {
  const until = performance.now() + wait_ms
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!passes(error) || performance.now() + PAUSE_MS > until) throw error
      await sleep(PAUSE_MS)
    }
  }
}

/**
 * One transaction on a connection of the pool; a throw rolls it back. Not for money: that goes through ledger/commit.ts.
 * When the server is lost before COMMIT was sent, or a lock timed out, nothing has happened, and `work` runs again: it must
 * touch nothing but the database.
 */
export async function transaction<T>(pool: Pool, work: (tx: Db) => Promise<T>): Promise<T> {
  const { joined } = pool as Partial<JoinedPool>
  if (joined) return work(joined)
  let committing = false
  const attempt = async () => {
    committing = false
    const client = await pool.connect()
    let broken: Error | undefined
    try {
      await client.query('BEGIN')
      const following: (() => void)[] = []
      committed.set(client, following)
      await (pool as Partial<CheckedPool>).check?.(client)
      const result = await work(client)
      committing = true
      await confirmed(client, () => client.query('COMMIT'))
      for (const call of following) call()
      return result
    } catch (error) {
      // A connection that does not answer is closed instead of rolled back.
      if (isPassing(error)) broken = error as Error
      else
        await client.query('ROLLBACK').catch((failure: Error) => {
          broken = failure
        })
      throw error
    } finally {
      committed.delete(client)
      client.release(broken)
    }
  }
  const { wait_ms = WAIT_MS } = pool as Partial<WaitingPool>
  const isUndone = (error: unknown) =>
    isContended(error) || (!committing && (isPassing(error) || isUnexecuted(error) || isIdledOut(error)))
  return patiently(wait_ms, attempt, isUndone)
}

/** Callbacks to run once an open transaction is committed. */
const committed = new WeakMap<Db, (() => void)[]>()

/** Runs the callback after the transaction of `tx` commits, and never when it rolls back. Outside of `transaction`, at once. */
export function afterCommit(tx: Db, call: () => void): void {
  const following = committed.get(tx)
  if (following) following.push(call)
  else call()
}

/** A pool that wraps one running transaction: its statements, and whole transactions, run inside that transaction. */
type JoinedPool = Pool & { readonly joined: Db }

export function poolOf(tx: Db): Pool {
  return { joined: tx, query: tx.query.bind(tx) } as unknown as JoinedPool
}

/** A pool that runs a check before every write, in the same transaction. When the check throws, the write is rolled back. */
type CheckedPool = Pool & { readonly check: (tx: Db) => Promise<void> }

export function checkedPool(pool: Pool, check: CheckedPool['check']): Pool {
  const { wait_ms } = pool as Partial<WaitingPool>
  const checked = { check, wait_ms, connect: () => pool.connect(), query } as unknown as CheckedPool
  function query(...asked: any[]): any {
    const text: string = typeof asked[0] === 'string' ? asked[0] : asked[0].text
    if (isPlainRead(text)) return pool.query(...(asked as [string]))
    return transaction(checked, (tx) => tx.query(...(asked as [string])))
  }
  return checked
}
