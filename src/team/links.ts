import type { PartnerRole, PersonActor } from '../core/actor.ts'
import { Refusal, refuse } from '../core/errors.ts'
import { type Db, transaction } from '../db/pool.ts'
import type { Shared } from '../partners/partners.ts'
import { accountOf, beginAttempt, limitsOfLink } from './attempts.ts'
import type { NotedTeam } from './factor.ts'
import { Busy, hashQueue } from './hashing.ts'
import { assertGoodPassword, type FreshPassword, freshPassword } from './password.ts'
import { addUser, emailIn, findColleague, voidPassword } from './people.ts'
import { hashToken, isToken, newToken } from './sessions.ts'
import type { Refused } from './sign-in.ts'
import {
  deleteFailures,
  deleteInvitation,
  deleteSessions,
  insertLink,
  type Link,
  lockUser,
  selectInvitations,
  selectLink,
  selectUser,
  setPassword,
  takeLink,
  type User,
} from './store.ts'

/**
 * No e-mail is sent: whoever makes a link hands it on. It lets one person choose a password that nobody else has seen, once,
 * for 72 hours as an invitation and for one hour as a reset. The token is told once; only its hash is kept.
 */
export type ShownLink = { readonly link: Link; readonly token: string }

/** Each is a row, and an owner could make them all day. */
const INVITATIONS_MOST = 100

export type Invited = { readonly email: string; readonly name: string; readonly role: PartnerRole }

/** In the transaction of an owner's turn. The newest invitation of an e-mail counts. */
export async function invite(
  shared: Shared,
  actor: Pick<PersonActor, 'partner_id' | 'email'>,
  invited: Invited,
): Promise<ShownLink> {
  const { db, newId } = shared
  const { partner_id } = actor
  const email = emailIn(invited.email)
  if ((await selectUser(db, email))?.partner_id === partner_id)
    refuse('user_exists', { message: `${email} is in your team already.` })
  if ((await selectInvitations(db, partner_id)).length >= INVITATIONS_MOST)
    refuse('invalid_request', {
      message: `${INVITATIONS_MOST} invitations are open. Withdraw one, or wait until one has expired.`,
    })
  const token = newToken()
  const link = await insertLink(db, {
    id: newId('link'),
    kind: 'invitation',
    token_hash: hashToken(token),
    ...invited,
    email,
    partner_id,
    user_id: null,
    made_by: actor.email,
  })
  return { link, token }
}

/** The password of before is void at once, and whoever is signed in as this person is so no longer. */
export async function makeReset(shared: Shared, actor: PersonActor, user_id: string): Promise<ShownLink> {
  const { db, newId } = shared
  const user = await findColleague(db, actor.partner_id, user_id)
  if (user.id === actor.user_id)
    refuse('invalid_request', { message: 'Your own password is changed under your name.' })
  await voidPassword(db, user)
  const token = newToken()
  const link = await insertLink(db, {
    id: newId('link'),
    kind: 'reset',
    token_hash: hashToken(token),
    partner_id: actor.partner_id,
    email: user.email,
    name: user.name,
    role: null,
    user_id: user.id,
    made_by: actor.email,
  })
  return { link, token }
}

export async function withdrawInvitation(db: Db, partner_id: string, id: string): Promise<Link> {
  return (await deleteInvitation(db, partner_id, id)) ?? refuse('link_not_valid')
}

/** For the page that asks for the password. */
export async function lookAtLink(db: Db, token: string): Promise<Link> {
  const link = isToken(token) ? await selectLink(db, hashToken(token)) : undefined
  return link ?? refuse('link_not_valid')
}

export type UsedLink = { readonly outcome: 'known'; readonly user: User }

/**
 * Of several who come with a link at once, one chooses the password. Attempts are counted by link: one that cannot be used,
 * because its e-mail belongs to somebody, costs five looks in 15 minutes and no hash.
 */
export async function useLink(
  team: NotedTeam,
  { token, password }: { readonly token: string; readonly password: string },
): Promise<UsedLink | Extract<Refused, { readonly outcome: 'busy' | 'too_many_failures' }>> {
  const { id, kind, email, name, user_id } = await lookAtLink(team.db, token)
  assertGoodPassword(password, { email, name })
  const address = team.origin?.address
  const caller = address === undefined ? { kind: 'local' as const } : { kind: 'stranger' as const, address }
  try {
    const fresh = await hashQueue.inTurn(caller, async (hasher) => {
      const attempt = await beginAttempt(team.db, limitsOfLink(id))
      if (typeof attempt === 'number') return attempt
      if (kind === 'invitation' && (await selectUser(team.db, email))) return refuse('link_not_valid')
      return freshPassword(hasher, password)
    })
    if (typeof fresh === 'number') return { outcome: 'too_many_failures', wait_seconds: fresh }
    return { outcome: 'known', user: await choose(team, token, user_id, fresh) }
  } catch (error) {
    if (error instanceof Busy) return { outcome: 'busy', wait_seconds: error.wait_seconds }
    throw error
  }
}

function choose(
  team: NotedTeam,
  token: string,
  user_id: string | null,
  { password_hash }: FreshPassword,
): Promise<User> {
  return transaction(team.db, async (tx) => {
    // The person before the link, as everybody who takes links away: so nobody waits in a circle.
    if (user_id !== null) await lockUser(tx, user_id)
    const link = (await takeLink(tx, hashToken(token))) ?? refuse('link_not_valid')
    if (link.kind === 'reset') return chooseAnew(tx, team, link, password_hash)
    const { partner_id, name, role } = link
    const id = team.newId('user')
    const wanted = { id, email: link.email, name, partner_id, role: role! }
    const user = await addUser(tx, wanted, password_hash).catch(asUnusable)
    await team.note(tx, 'use_invitation', { user }, { after: { role, invited_by: link.made_by } })
    return user
  })
}

/** Who holds a link learns nothing of the people of others, not even that the e-mail is one of theirs. */
function asUnusable(error: unknown): never {
  if (error instanceof Refusal && error.code === 'user_exists') refuse('link_not_valid')
  throw error
}

/** Whoever guessed at the password of before has not guessed at this one. */
async function chooseAnew(tx: Db, team: NotedTeam, link: Link, password_hash: string): Promise<User> {
  const user = await setPassword(tx, link.email, { password_hash, activation_hash: null })
  if (user?.id !== link.user_id) return refuse('link_not_valid')
  await deleteSessions(tx, user!.id)
  await deleteFailures(tx, accountOf(user!.email))
  await team.note(tx, 'use_reset', { user: user! }, { after: { reset_by: link.made_by } })
  return user!
}
