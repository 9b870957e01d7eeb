import type { PartnerRole, PersonActor } from '../../core/actor.ts'
import { Refusal, refuse } from '../../core/errors.ts'
import { type Db, transaction } from '../../db/pool.ts'
import type { Shared } from '../partners/partners.ts'
import { accountOf, beginAttempt, limitsOfLink } from './attempts.ts'
import type { NotedTeam } from './factor.ts'
import { Busy, hashQueue, outsideShares } from './hashing.ts'
import { assertGoodPassword, type FreshPassword, freshPassword } from './password.ts'
import { addUser, emailIn, findColleague, voidPassword } from './people.ts'
import { hashToken, isToken, newToken } from './sessions.ts'
import type { Refused } from './sign-in.ts'
import {
  countTeam,
  deleteFailures,
  deleteInvitation,
  deleteSessions,
  insertLink,
  lockUser,
  type PasswordLink,
  selectInvitations,
  selectLink,
  selectUser,
  setPassword,
  takeLink,
  type User,
} from './store.ts'

/**
 * No e-mail is sent: the person who makes a link hands it on. The link lets one user choose a password once, within
 * 72 hours for an invitation and one hour for a reset. The token is shown once; only its hash is stored.
 */
export type ShownLink = { readonly link: PasswordLink; readonly token: string }

/** Each invitation is a row, and an owner could create them without end. */
const INVITATIONS_MOST = 100

/** People of a team and open invitations. The list of a team is one response, and owners could make it long without end. */
const TEAM_MOST = 500

type Invited = { readonly email: string; readonly name: string; readonly role: PartnerRole }

/** Runs in a transaction after `lockTeamAsOwner`. The newest invitation for an e-mail replaces earlier ones. */
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
  const { length: open } = await selectInvitations(db, partner_id)
  if ((await countTeam(db, partner_id)) + open >= TEAM_MOST)
    refuse('invalid_request', {
      message: `A team has at most ${TEAM_MOST} people, with those who are invited. Remove a person or withdraw an invitation first.`,
    })
  if (open >= INVITATIONS_MOST)
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

/** Invalidates the old password at once and ends all sessions of the user. */
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

export async function withdrawInvitation(db: Db, partner_id: string, id: string): Promise<PasswordLink> {
  return (await deleteInvitation(db, partner_id, id)) ?? refuse('link_not_valid')
}

/** For the page that asks for the new password. */
export async function readLink(db: Db, token: string): Promise<PasswordLink> {
  const link = isToken(token) ? await selectLink(db, hashToken(token)) : undefined
  return link ?? refuse('link_not_valid')
}

type UsedLink = { readonly outcome: 'known'; readonly user: User }

/**
 * Of concurrent uses of a link one sets the password. Attempts are counted by link: an invitation whose e-mail is
 * taken allows five attempts in 15 minutes and costs no hash.
 */
export async function useLink(
  team: NotedTeam,
  { token, password }: { readonly token: string; readonly password: string },
): Promise<UsedLink | Extract<Refused, { readonly outcome: 'busy' | 'too_many_failures' }>> {
  const { id, kind, email, name, user_id } = await readLink(team.db, token)
  assertGoodPassword(password, { email, name })
  const address = team.origin?.address
  const caller = address === undefined ? { kind: 'local' as const } : { kind: 'stranger' as const, address }
  const db = outsideShares(team.db)
  try {
    const fresh = await hashQueue.inTurn(caller, async (hasher) => {
      const attempt = await beginAttempt(db, limitsOfLink(id))
      if (typeof attempt === 'number') return attempt
      if (kind === 'invitation' && (await selectUser(db, email))) return refuse('link_not_valid')
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
    // Lock the user before the link, as every deletion of links does, to avoid deadlocks.
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

/** The holder of a link must not learn that the e-mail belongs to a user of another partner. */
function asUnusable(error: unknown): never {
  if (error instanceof Refusal && error.code === 'user_exists') refuse('link_not_valid')
  throw error
}

/** Failures with the old password do not count against the new one. */
async function chooseAnew(tx: Db, team: NotedTeam, link: PasswordLink, password_hash: string): Promise<User> {
  const user = await setPassword(tx, link.email, { password_hash, activation_hash: null })
  if (user?.id !== link.user_id) return refuse('link_not_valid')
  await deleteSessions(tx, user!.id)
  await deleteFailures(tx, accountOf(user!.email))
  await team.note(tx, 'use_reset', { user: user! }, { after: { reset_by: link.made_by } })
  return user!
}
