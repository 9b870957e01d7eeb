import { createHash, randomBytes } from 'node:crypto'
import type { Db } from '../db/pool.ts'
import type { Shared } from '../partners/partners.ts'
import type { NotedTeam } from './factor.ts'
import { deleteSession, deleteSessions, insertSession, touchSession, type User } from './store.ts'

/**
 * Who signed in has a token, of which the database knows the hash. A session ends when it was left alone for 30 minutes,
 * after 12 hours, when its person signs out, and when password, role or second factor of the person change.
 */
export type Session = { readonly id: string; readonly user: User }

const TOKEN_BYTES = 32
const TOKEN = /^[A-Za-z0-9_-]{43}$/

export const isToken = (text: unknown): text is string => typeof text === 'string' && TOKEN.test(text)

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

/** In the transaction in which the person was found to be the one. */
export async function openSession(
  tx: Db,
  { newId }: Pick<Shared, 'newId'>,
  user: User,
): Promise<{ readonly session_id: string; readonly token: string }> {
  const session_id = newId('session')
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  await insertSession(tx, { id: session_id, token_hash: hashToken(token), user_id: user.id })
  return { session_id, token }
}

/** Undefined when it has ended. Looking counts as using it. */
export async function findSession(db: Db, token: string): Promise<Session | undefined> {
  const found = await touchSession(db, hashToken(token))
  if (!found) return undefined
  const { session_id, ...user } = found
  return { id: session_id, user }
}

export async function endSession(tx: Db, { note }: Pick<NotedTeam, 'note'>, token: string): Promise<void> {
  const ended = await deleteSession(tx, hashToken(token))
  if (!ended) return
  const { session_id, ...user } = ended
  await note(tx, 'sign_out', { user, session_id })
}

/** All sessions of a person but the one that is named. */
export const endOthers = (tx: Db, user_id: string, token: string | undefined): Promise<void> =>
  deleteSessions(tx, user_id, token === undefined ? undefined : hashToken(token))
