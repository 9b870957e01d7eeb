import { createHash, randomBytes } from 'node:crypto'
import { refuse } from '../core/errors.ts'
import type { Db } from '../db/pool.ts'
import type { Shared } from '../partners/partners.ts'
import type { NotedTeam } from './factor.ts'
import {
  changeToken,
  deleteSession,
  deleteSessions,
  type FoundSession,
  insertSession,
  keepNewestSessions,
  type Looking,
  type SessionOrigin,
  touchSession,
  type User,
} from './store.ts'

/**
 * Who signed in has a token, of which the database knows the hash. A session ends when it was left alone for 30 minutes,
 * after 12 hours, when its person signs out, when password, role or second factor of the person change, and when the person
 * has 20 newer ones.
 */
export type Session = { readonly id: string; readonly user: User } & Omit<FoundSession, 'session_id'>

const SESSIONS_MAX = 20
const TOKEN_BYTES = 32
export const newToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url')
const TOKEN = /^[A-Za-z0-9_-]{43}$/

export const isToken = (text: unknown): text is string => typeof text === 'string' && TOKEN.test(text)

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

/** In the transaction in which the person was found to be the one. */
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

/** Undefined when it has ended, or belongs to the other door. Looking counts as using it. */
export async function findSession(
  db: Db,
  token: string,
  { door = 'terminal', attended = true }: Partial<Looking> = {},
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

/** The person was just shown to be the one: the session goes on under another token, and the one before opens nothing. */
export async function renewSession(tx: Db, token: string): Promise<string> {
  const renewed = newToken()
  if (!(await changeToken(tx, hashToken(token), hashToken(renewed)))) refuse('not_signed_in')
  return renewed
}

/** All sessions of a person but the one that is named. */
export const endOthers = (tx: Db, user_id: string, token: string | undefined): Promise<number> =>
  deleteSessions(tx, user_id, token === undefined ? undefined : hashToken(token))
