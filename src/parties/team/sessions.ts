import { createHash, randomBytes } from 'node:crypto'
import { refuse } from '../../core/errors.ts'
import type { Db } from '../../db/pool.ts'
import type { Shared } from '../partners/partners.ts'
import type { NotedTeam } from './factor.ts'
import {
  changeToken,
  deleteSession,
  deleteSessions,
  type FoundSession,
  insertSession,
  keepNewestSessions,
  type SessionLookup,
  type SessionOrigin,
  touchSession,
  type User,
} from './store.ts'

/**
 * A session has a token, of which the database stores the hash. A session ends after 30 minutes without use, after 12
 * hours, at sign-out, when the user's password, role or second factor changes, and when the user has 20 newer
 * sessions.
 */
export type Session = { readonly id: string; readonly user: User } & Omit<FoundSession, 'session_id'>

const SESSIONS_MAX = 20
const TOKEN_BYTES = 32
export const newToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url')
const TOKEN = /^[A-Za-z0-9_-]{43}$/

export const isToken = (text: unknown): text is string => typeof text === 'string' && TOKEN.test(text)

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

/** Runs in the transaction that checked the credentials. */
export async function openSession(
  tx: Db,
  { newId }: Pick<Shared, 'newId'>,
  user: User,
  origin: SessionOrigin = {},
): Promise<{ readonly session_id: string; readonly token: string }> {
  const session_id = newId('session')
  const token = newToken()
  await insertSession(tx, { id: session_id, token_hash: hashToken(token), user_id: user.id, ...origin })
  await keepNewestSessions(tx, { id: session_id, user_id: user.id }, SESSIONS_MAX)
  return { session_id, token }
}

/** Undefined if the session has ended or belongs to the other kind of client. An attended call counts as a use. */
export async function findSession(
  db: Db,
  token: string,
  { door = 'terminal', attended = true }: Partial<SessionLookup> = {},
): Promise<Session | undefined> {
  const found = await touchSession(db, hashToken(token), { door, attended })
  if (!found) return undefined
  const { session_id, factor, proved_until, ...user } = found
  return { id: session_id, factor, proved_until, user }
}

export async function endSession(tx: Db, { note }: Pick<NotedTeam, 'note'>, token: string): Promise<void> {
  const ended = await deleteSession(tx, hashToken(token))
  if (!ended) return
  const { session_id, ...user } = ended
  await note(tx, 'sign_out', { user, session_id })
}

/** Gives the session a new token after a fresh proof; the old token stops working. */
export async function renewSession(tx: Db, token: string): Promise<string> {
  const renewed = newToken()
  if (!(await changeToken(tx, hashToken(token), hashToken(renewed)))) refuse('not_signed_in')
  return renewed
}

/** Ends all sessions of the user but the named one. */
export const endOthers = (tx: Db, user_id: string, token: string | undefined): Promise<number> =>
  deleteSessions(tx, user_id, token === undefined ? undefined : hashToken(token))
