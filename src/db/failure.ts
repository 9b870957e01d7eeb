import pg from 'pg'
import { NoPrimary } from './server-state.ts'
import { UntrustedServer } from './tls.ts'

/** What a failed statement or connection means. Judged by the SQLSTATE alone, for a server may speak any language. */

/** The server answered, and warned: it did not wait for its standby. What was written may be kept, or lost with it. */
export class Unconfirmed extends Error {
  override name = 'Unconfirmed'
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

/** A statement that took longer than it may, or that somebody ended. */
export const isCanceled = (error: unknown): boolean => sqlState(error) === QUERY_CANCELED

/** No connection to be had, or one that broke: the database may be restarting. Worth a retry by the caller. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return !isAnswer(error) || isServerTrouble(error)
  if (error instanceof NoPrimary || error instanceof Unconfirmed || error instanceof UntrustedServer)
    return true
  const { code = '', message = '', syscall } = error as NodeJS.ErrnoException
  const unconnected = NO_CONNECTION_CODES.has(code) || (syscall === 'connect' && NO_WAY_CODES.has(code))
  return unconnected || NO_CONNECTION.test(message)
}

/** A socket's file that is not there, and an address that is not: they mean a server only when one connects. */
const NO_WAY_CODES = new Set(['ENOENT', 'EADDRNOTAVAIL'])

const NO_CONNECTION_CODES = new Set(
  'ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT ENOTFOUND EAI_AGAIN EAI_FAIL EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ERR_STREAM_DESTROYED ERR_STREAM_WRITE_AFTER_END'.split(
    ' ',
  ),
)
/** The driver tells of its own connections in words only. */
const NO_CONNECTION =
  /^(Connection terminated|There was an error establishing an SSL connection|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|timeout expired|Query read timeout)/

/** Another server, or the same one a little later, would answer. */
export function isPassing(error: unknown): boolean {
  if (error instanceof UntrustedServer) return false
  return error instanceof pg.DatabaseError ? isServerTrouble(error) : isUnreachable(error)
}

const STALE_PLAN = '0A000'

/** The server looked at the statement and did nothing of it: it may write nothing, or its plan has become stale. */
export function isUnexecuted(error: unknown): boolean {
  const state = sqlState(error)
  return state === READ_ONLY || state === STALE_PLAN
}

const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK = '40P01'

/**
 * Another transaction held a lock for longer than it is waited for: a start that states triggers, a migration, a long
 * transaction. The server has rolled everything back, also when it says so in response to COMMIT.
 */
export function isContended(error: unknown): boolean {
  const state = sqlState(error)
  return state === LOCK_NOT_AVAILABLE || state === DEADLOCK
}

const IDLE_IN_TRANSACTION = '25P03'

/** The server ended the session between two statements of a transaction, because its node did not go on: a busy machine. */
export const isIdledOut = (error: unknown): boolean => sqlState(error) === IDLE_IN_TRANSACTION

export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505' && error.constraint === constraint
}
