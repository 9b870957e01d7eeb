import {
  type OperatorActor,
  type OperatorRole,
  operatorRoles,
  type PartnerRole,
  type PersonActor,
  partnerRoles,
} from '../../core/actor.ts'
import { Refusal, refuse } from '../../core/errors.ts'
import { isUniqueViolation } from '../../db/failure.ts'
import type { Db } from '../../db/pool.ts'
import { accountOf } from './attempts.ts'
import { type FreshPassword, NOBODYS_HASH } from './password.ts'
import {
  changeRole,
  deleteFactor,
  deleteFailures,
  deleteLinksOf,
  deletePlaces,
  deleteSessions,
  type FoundSession,
  insertUser,
  lockHighest,
  lockUser,
  markRemoved,
  personOfSession,
  selectColleague,
  selectUser,
  setPassword,
  shutKeys,
  type User,
} from './store.ts'
import { deleteViewsOf } from './views-store.ts'

/** The role of a user of a partner or of an operator. The first role of each list may do everything. */
export type PersonRole = PartnerRole | OperatorRole

export type NewUser = {
  readonly id: string
  readonly email: string
  readonly name: string
  /** Null for an operator. */
  readonly partner_id: string | null
  readonly role: PersonRole
  readonly activation_hash?: string | undefined
}

/** The result shows the password once; only its hash is stored. */
export type WithPassword = { readonly user: User; readonly password: string }

export const isOperatorRole = (role: string): role is OperatorRole =>
  operatorRoles.includes(role as OperatorRole)

type Roles = Pick<User, 'role' | 'operator_role' | 'partner_role'>

/** A missing role counts as the lowest one. The service always writes a role. */
export function personRoleOf({ role, operator_role, partner_role }: Roles): PersonRole {
  if (role === 'operator') return operator_role ?? 'reader'
  return role === 'owner' ? role : (partner_role ?? 'viewer')
}

const columnsOfRole = (role: PersonRole): Roles => {
  if (isOperatorRole(role)) return { role: 'operator', operator_role: role, partner_role: null }
  if (role === 'owner') return { role, operator_role: null, partner_role: null }
  return { role: 'member', operator_role: null, partner_role: role }
}

/** Decodes the hash of `newActivation`. */
const bytesOf = (activation_hash: string | undefined) =>
  activation_hash === undefined ? null : Buffer.from(activation_hash, 'hex')

/** Takes a password that was hashed before the transaction began. */
export async function createUser(
  tx: Db,
  wanted: NewUser,
  { password, password_hash }: FreshPassword,
): Promise<WithPassword> {
  return { user: await addUser(tx, wanted, password_hash), password }
}

/** Returns the e-mail in lower case, the form in which it is stored. */
export function emailIn(text: string): string {
  if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text))
    refuse('invalid_request', { param: 'email', message: `${text} is not an e-mail address.` })
  return text.toLowerCase()
}

/** Creates a user who chose the password. */
export async function addUser(tx: Db, wanted: NewUser, password_hash: string): Promise<User> {
  const email = emailIn(wanted.email)
  assertRoleFits(wanted, wanted.role)
  try {
    return await insertUser(tx, {
      ...wanted,
      ...columnsOfRole(wanted.role),
      email,
      password_hash,
      activation_hash: bytesOf(wanted.activation_hash),
    })
  } catch (error) {
    if (isUniqueViolation(error, 'users_email'))
      refuse(wanted.partner_id === null ? 'not_possible' : 'user_exists', {
        message: `A user with the e-mail ${email} exists already.`,
      })
    throw error
  }
}

/** Ends all sessions of the user. Takes a password that was hashed before the transaction began. */
export async function resetPassword(
  tx: Db,
  email: string,
  { password, password_hash }: FreshPassword,
  activation?: string,
): Promise<WithPassword> {
  const hashes = { password_hash, activation_hash: bytesOf(activation) }
  const user = (await setPassword(tx, email.toLowerCase(), hashes)) ?? throwUnknown(email)
  await deleteSessions(tx, user.id)
  await deleteLinksOf(tx, user)
  await deleteFailures(tx, accountOf(email))
  await deletePlaces(tx, user.id)
  return { user, password }
}

/** Invalidates the password; the user needs a link to choose another one. */
export async function voidPassword(tx: Db, user: User): Promise<void> {
  await setPassword(tx, user.email, { password_hash: NOBODYS_HASH, activation_hash: null })
  await deleteSessions(tx, user.id)
  await deletePlaces(tx, user.id)
  await deleteLinksOf(tx, user)
}

/**
 * For a user who lost both the device and the recovery codes. The reset may be social engineering, so the user may
 * not create production keys for 24 hours.
 */
export async function resetFactor(tx: Db, email: string): Promise<User> {
  const user = await findUser(tx, email)
  await lockUser(tx, user.id)
  if (!(await deleteFactor(tx, user.id)))
    refuse('not_possible', { message: `${user.email} has no second factor.` })
  await deleteSessions(tx, user.id)
  await deleteLinksOf(tx, user)
  await shutKeys(tx, user.id)
  return user
}

/** The user cannot sign in any more. The e-mail becomes free; the id stays because the log names it. */
export async function removeUser(tx: Db, email: string): Promise<User> {
  const { partner_id } = await findUser(tx, email)
  const highest = await lockHighest(tx, partner_id)
  const user = await findUser(tx, email)
  await lockUser(tx, user.id)
  if (highest.length === 1 && highest[0]!.id === user.id) throw lastOf(user)
  const lowest = partner_id === null ? 'reader' : 'viewer'
  await markRemoved(tx, { id: user.id, ...columnsOfRole(lowest), password_hash: NOBODYS_HASH })
  await deleteViewsOf(tx, user.id)
  await deleteFactor(tx, user.id)
  await deleteLinksOf(tx, user)
  await deleteSessions(tx, user.id)
  await deleteFailures(tx, accountOf(user.email))
  await deletePlaces(tx, user.id)
  return user
}

/** Finds a member of the owner's team. */
export async function findColleague(db: Db, partner_id: string, user_id: string): Promise<User> {
  return (
    (await selectColleague(db, partner_id, user_id)) ??
    refuse('object_not_found', { message: 'There is no such person in your team.' })
  )
}

/**
 * Runs the acts of owners on their team one after the other. While an act waited, its actor may have stopped being an
 * owner; the act is refused then. The owners' rows are locked first, in one order, to avoid deadlocks.
 */
export async function lockTeamAsOwner(tx: Db, actor: PersonActor): Promise<void> {
  const owners = await lockHighest(tx, actor.partner_id)
  if (!owners.some(({ id }) => id === actor.user_id)) refuse('not_permitted')
  await assertStanding(tx, actor)
}

/** Refuses if the session has ended or the role has changed since the request was let in. */
export async function assertStanding(db: Db, actor: Standing): Promise<void> {
  const found = await personOfSession(db, actor.session_id!)
  if (found?.id !== actor.user_id || personRoleOf(found) !== actor.role) return refuse('not_signed_in')
  if (actor.proof) assertProved(found)
}

type Standing = Pick<PersonActor | OperatorActor, 'user_id' | 'role' | 'session_id' | 'proof'>

/** Requires a sign-in or a fresh proof within the last five minutes. */
export function assertProved({ proved_until, factor }: Omit<FoundSession, 'session_id'>): void {
  if (proved_until === null)
    throw new Refusal('proof_needed', { details: { with: factor ? 'code' : 'password' } })
}

export async function setRole(tx: Db, email: string, role: PersonRole): Promise<User> {
  const { partner_id } = await findUser(tx, email)
  const highest = await lockHighest(tx, partner_id)
  const user = await findUser(tx, email)
  assertRoleFits(user, role)
  if (personRoleOf(user) === role) return user
  if (highest.length === 1 && highest[0]!.id === user.id) throw lastOf(user)
  const changed = await changeRole(tx, { id: user.id, ...columnsOfRole(role) })
  await deleteSessions(tx, user.id)
  await deleteLinksOf(tx, user)
  return changed
}

function lastOf({ email, partner_id }: User): Refusal {
  const [message, role] =
    partner_id === null
      ? [
          `${email} is the only operator with the role admin, and only an admin can change the roles of operators. Make another admin first`,
          'admin',
        ]
      : [`${email} is the only owner of ${partner_id}. Make another owner first`, 'owner']
  return new Refusal(partner_id === null ? 'not_possible' : 'last_owner', {
    message: `${message}.`,
    shell: `Run: trilho users set-role EMAIL --role ${role}`,
  })
}

function assertRoleFits({ email, partner_id }: { email: string; partner_id: string | null }, role: string) {
  const [whose, roles] =
    partner_id === null ? (['the operator', operatorRoles] as const) : (['a partner', partnerRoles] as const)
  if (!(roles as readonly string[]).includes(role))
    refuse('invalid_request', {
      param: 'role',
      message: `${email} belongs to ${whose}: the role must be one of ${roles.join(', ')}.`,
    })
}

/** Whether `after` may do more than `before`. */
export function raises(before: PersonRole, after: PersonRole): boolean {
  const roles: readonly string[] = isOperatorRole(after) ? operatorRoles : partnerRoles
  return roles.indexOf(after) < roles.indexOf(before)
}

export async function findUser(db: Db, email: string): Promise<User> {
  return (await selectUser(db, email.toLowerCase())) ?? throwUnknown(email)
}

function throwUnknown(email: string): never {
  return refuse('object_not_found', {
    message: `No user with the e-mail ${email}.`,
    shell: 'See: trilho users list',
  })
}

/** The fields of a user that may be shown and logged. */
export function describeUser(user: User) {
  const { id, email, name, partner_id } = user
  return { id, email, name, role: personRoleOf(user), partner_id }
}

export function operatorActor(user: User): OperatorActor {
  const role = personRoleOf(user)
  if (!isOperatorRole(role)) throw new Error(`${user.email} is not an operator.`)
  return { kind: 'operator', user_id: user.id, email: user.email, role }
}
