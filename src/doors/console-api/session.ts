import { createHash, timingSafeEqual } from 'node:crypto'
import type { OperatorActor, PartnerRole, PersonActor } from '../../core/actor.ts'
import type { Db } from '../../db/pool.ts'
import { operatorActor, personRoleOf } from '../../parties/team/people.ts'
import { findSession, isToken } from '../../parties/team/sessions.ts'
import type { User } from '../../parties/team/store.ts'

/** A live session of the console, found by its cookie. */
export type Signed = {
  readonly token: string
  readonly session_id: string
  readonly user: User
  readonly factor: boolean
  /** Until then no fresh proof is needed; null if one is. */
  readonly proved_until: Date | null
}

/** The prefix makes browsers require TLS, this host and the path /. */
const COOKIE = '__Host-sid'

/** A session cookie: it ends with the browser, and the server ends the session sooner. */
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict'

export const cookieOf = (token: string | undefined): string =>
  token === undefined ? `${COOKIE}=; ${ATTRIBUTES}; Max-Age=0` : `${COOKIE}=${token}; ${ATTRIBUTES}`

/** The session token in a Cookie header, if one has the right form. */
export function tokenIn(header: string | undefined): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const [name, value] = part.trim().split('=')
    if (name === COOKIE && isToken(value)) return value
  }
  return undefined
}

export async function signedBy(db: Db, token: string, attended = true): Promise<Signed | undefined> {
  const session = await findSession(db, token, { door: 'browser', attended })
  if (!session) return undefined
  const { id: session_id, user, factor, proved_until } = session
  return { token, session_id, user, factor, proved_until }
}

/** The CSRF token: the page of this session gets it, a site that only makes the browser send the cookie does not. */
export const csrfTokenOf = ({ token }: Pick<Signed, 'token'>): string =>
  createHash('sha256').update(`csrf ${token}`).digest('base64url')

export function isCsrfToken(signed: Signed, given: unknown): boolean {
  const expected = Buffer.from(csrfTokenOf(signed))
  const shown = Buffer.from(typeof given === 'string' ? given : '')
  return expected.length === shown.length && timingSafeEqual(expected, shown)
}

export function actorOfSession({ user, session_id }: Signed, address: string): PersonActor | OperatorActor {
  if (user.partner_id === null) return { ...operatorActor(user), session_id, address }
  const { id: user_id, email, partner_id } = user
  return {
    kind: 'person',
    user_id,
    email,
    partner_id,
    role: personRoleOf(user) as PartnerRole,
    session_id,
    address,
  }
}
