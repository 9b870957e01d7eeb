import pg from 'pg'
import { NoPrimary } from './server-state.ts'
import { UntrustedServer } from './tls.ts'

/** Classifies failed statements and connections. Server errors by SQLSTATE alone: messages may be in any language. */

/** The server committed with a warning: it did not wait for its standby. A fail-over may lose the write. */
export class Unconfirmed extends Error {
  override name = 'Unconfirmed'
}

/**
 * SQLSTATEs after which the server closes the connection. Severities would say the same, but in the language of the server.
 * 57P is a shutdown, 08 a broken connection, 25P03 and 25P04 a session that took too long.
 */
const ENDS_CONNECTION = /^(08|57P|25P03|25P04|28|3D000|53300)/

/** The server refused a statement and keeps the connection; any other error means that the connection broke or will. */
export function isAnswer(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && !ENDS_CONNECTION.test(error.code ?? '')
}

const QUERY_CANCELED = '57014'
const READ_ONLY = '25006'

/**
 * The server as a whole cannot work: disk full, shutting down, a standby that accepts no writes. The statement is not at
 * fault, and the next statement on the same connection would fail too.
 */
export function isServerTrouble(error: unknown): boolean {
  const state = sqlState(error)
  return (
    state !== undefined && state !== QUERY_CANCELED && (/^(08|53|57|58)/.test(state) || state === READ_ONLY)
  )
}

/** The statement hit its timeout, or was cancelled. */
export const isCanceled = (error: unknown): boolean => sqlState(error) === QUERY_CANCELED

/** No connection could be opened, or it broke: the database may be restarting. The caller may retry. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return !isAnswer(error) || isServerTrouble(error)
  if (error instanceof NoPrimary || error instanceof Unconfirmed || error instanceof UntrustedServer)
    return true
  const { code = '', message = '', syscall } = error as NodeJS.ErrnoException
  const unconnected = NO_CONNECTION_CODES.has(code) || (syscall === 'connect' && NO_WAY_CODES.has(code))
  return unconnected || NO_CONNECTION.test(message)
}

/** A missing socket file, and an unavailable address: they tell of the database only when `connect` reports them. */
const NO_WAY_CODES = new Set(['ENOENT', 'EADDRNOTAVAIL'])

const NO_CONNECTION_CODES = new Set(
  'ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT ENOTFOUND EAI_AGAIN EAI_FAIL EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ERR_STREAM_DESTROYED ERR_STREAM_WRITE_AFTER_END'.split(
    ' ',
  ),
)
/** Errors of the driver itself have no code, only a message. */
const NO_CONNECTION =
  /^(Connection terminated|There was an error establishing an SSL connection|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|timeout expired|Query read timeout)/

/** A retry may succeed: on another server, or on the same one a little later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof UntrustedServer) return false
  return error instanceof pg.DatabaseError ? isServerTrouble(error) : isUnreachable(error)
}

const STALE_PLAN = '0A000'

/** The server refused the statement without executing it: the server is read-only, or the prepared plan is stale. */
export function isUnexecuted(error: unknown): boolean {
  const state = sqlState(error)
  return state === READ_ONLY || state === STALE_PLAN
}

const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK = '40P01'

/**
 * Another transaction held a lock for longer than `lock_timeout`: a start that creates triggers, a migration, a long
 * transaction. The server has rolled this transaction back, also when it says so in response to COMMIT.
 */
export function isContended(error: unknown): boolean {
  const state = sqlState(error)
  return state === LOCK_NOT_AVAILABLE || state === DEADLOCK
}

/** The statement or its wait for a lock took too long, and was rolled back: the database is busy. A retry may succeed. */
export const isTooSlow = (error: unknown): boolean => isCanceled(error) || isContended(error)

const IDLE_IN_TRANSACTION = '25P03'

/** The server ended the session between two statements of a transaction, because the node was too slow: a busy machine. */
export const isIdledOut = (error: unknown): boolean => sqlState(error) === IDLE_IN_TRANSACTION

export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505' && error.constraint === constraint
}
