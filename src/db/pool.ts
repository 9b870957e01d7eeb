import type { Socket } from 'node:net'
import pg from 'pg'

export type Pool = pg.Pool
export type Client = pg.Client
/** Anything that runs a statement: a pool, or a connection inside a transaction. */
export type Db = Pick<pg.Client, 'query'>

export type SchemaName = 'live' | 'sandbox' | 'shared'
export type Seat = { readonly url: string; readonly schema: SchemaName; readonly application_name: string }

const INT8 = 20
const NUMERIC = 1700

/** Money comes out of the database as bigint, never as a float and never as text to be added up by mistake. */
const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8) return BigInt
    if (oid === NUMERIC) return BigInt
    return pg.types.getTypeParser(oid, format as 'text')
  },
}

export function databaseName(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1)) || decodeURIComponent(new URL(url).username)
}

/** Each world enters its own role, which may touch only its own schema: a query cannot mix worlds even by mistake. */
export function roleOf(url: string, schema: SchemaName): string {
  return `${databaseName(url)}_${schema}`
}

/**
 * Every statement of a request finds its rows by an index. Plans are kept, and one that was made while a table was small
 * must not scan it when it has grown.
 */
const byKey = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' }

/**
 * Settings travel in the connection's first packet, so there is no moment at which a connection is open without them.
 * `synchronous_commit` is asserted again when the server starts.
 */
export function connectionConfig(
  { url, schema, application_name }: Seat,
  more: Record<string, string> = {},
): pg.ClientConfig {
  const settings = {
    role: roleOf(url, schema),
    search_path: schema,
    timezone: 'UTC',
    default_transaction_isolation: 'read committed',
    statement_timeout: '5s',
    lock_timeout: '500ms',
    idle_in_transaction_session_timeout: '2s',
    plan_cache_mode: 'force_generic_plan',
    jit: 'off',
    ...byKey,
    ...more,
  }
  const options = Object.entries(settings).map(
    ([name, value]) => `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`,
  )
  return {
    connectionString: url,
    application_name,
    options: options.join(' '),
    connectionTimeoutMillis: 3000,
    keepAlive: true,
    types,
  }
}

/** A server that takes a question and never answers must not take the caller with it. */
const QUERY_TIMEOUT_MS = 15_000

export function openPool(seat: Seat & { readonly max: number }): Pool {
  const pool = new pg.Pool({
    ...connectionConfig(seat),
    max: seat.max,
    idleTimeoutMillis: 30_000,
    query_timeout: QUERY_TIMEOUT_MS,
  })
  // A connection that breaks is replaced at its next use; without listeners it would end the process. The pool itself
  // listens only while a connection is idle: one that breaks between two statements of a transaction is nobody's.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

export async function openClient(
  seat: Seat,
  options: { pipeline?: boolean; settings?: Record<string, string> } = {},
): Promise<Client> {
  const client = new pg.Client({
    ...connectionConfig(seat, options.settings),
    ...(options.pipeline ? { pipeline: true, query_timeout: QUERY_TIMEOUT_MS } : {}),
  } as pg.ClientConfig)
  client.on('error', () => {})
  await client.connect()
  return client
}

/**
 * Holds back what is sent on a pipelining connection until the returned function is called: one write of one buffer. A
 * corked stream would hand the system many small ones, which costs more than copying them.
 */
export function gather(client: Client): () => void {
  const { stream } = (client as Client & { connection: { stream: Socket } }).connection
  const parts: Uint8Array[] = []
  stream.write = (part: Uint8Array | string) => {
    parts.push(typeof part === 'string' ? Buffer.from(part) : part)
    return true
  }
  return () => {
    Reflect.deleteProperty(stream, 'write')
    stream.write(Buffer.concat(parts))
  }
}

/** Waits for every answer, also after one has failed, and throws the first failure: the later ones only follow from it. */
export async function allOf(answers: readonly Promise<unknown>[]): Promise<void> {
  const settled = await Promise.allSettled(answers)
  const failed = settled.find((answer) => answer.status === 'rejected')
  if (failed) throw failed.reason
}

/** One transaction on a connection of the pool; a throw rolls it back. Not for money: that goes through ledger/commit.ts. */
export async function transaction<T>(pool: Pool, work: (tx: Db) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('BEGIN')
    const result = await work(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch((failure: Error) => {
      broken = failure
    })
    throw error
  } finally {
    client.release(broken)
  }
}

/**
 * SQLSTATEs after which the server closes the connection. Severities would tell the same, but they come in the language of
 * the server: 57P is a shutdown, 08 a broken connection, 25P03 and 25P04 a session that took too long.
 */
const ENDS_CONNECTION = /^(08|57P|25P03|25P04|28|3D000|53300)/

/** The server refused a statement and goes on; anything else is a connection that broke or is about to. */
export function isAnswer(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && !ENDS_CONNECTION.test(error.code ?? '')
}

const QUERY_CANCELED = '57014'
const READ_ONLY = '25006'

/**
 * The server as a whole cannot do its work: disk full, shutting down, a standby that takes no writes. Nothing is wrong
 * with the statement, and the next one on the same connection would fare no better.
 */
export function isServerTrouble(error: unknown): boolean {
  const state = sqlState(error)
  return (
    state !== undefined && state !== QUERY_CANCELED && (/^(08|53|57|58)/.test(state) || state === READ_ONLY)
  )
}

/** No connection to be had, or one that broke: the database may be restarting. Worth a retry by the caller. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return !isAnswer(error) || isServerTrouble(error)
  const { code, message } = error as NodeJS.ErrnoException
  return NO_CONNECTION_CODES.has(code ?? '') || NO_CONNECTION.test(message ?? '')
}

const NO_CONNECTION_CODES = new Set(
  'ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT ENOTFOUND EAI_AGAIN EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ERR_STREAM_DESTROYED ERR_STREAM_WRITE_AFTER_END'.split(
    ' ',
  ),
)
/** The driver tells of its own connections in words only. */
const NO_CONNECTION =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|timeout expired|Query read timeout)/

export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505' && error.constraint === constraint
}
