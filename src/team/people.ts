import { type OperatorActor, type OperatorRole, operatorRoles } from '../core/actor.ts'
import { isUniqueViolation } from '../db/failure.ts'
import type { Db } from '../db/pool.ts'
import { hashPassword, newPassword } from './password.ts'
import { subjectOf } from './sign-in.ts'
import {
  changeRole,
  deleteFactor,
  deleteFailures,
  deleteSessions,
  insertUser,
  lockHighest,
  lockUser,
  selectUser,
  setPassword,
  type User,
} from './store.ts'

/** People: of a partner, or of the operator. What is done to them runs in the transaction that is handed in. */
export const partnerRoles = ['owner', 'member'] as const
export type PartnerRole = (typeof partnerRoles)[number]
/** What a person may do, in one word. The first of each list may do everything. */
export type PersonRole = PartnerRole | OperatorRole

export type NewUser = {
  readonly id: string
  readonly email: string
  readonly name: string
  /** Null: of the operator. */
  readonly partner_id: string | null
  readonly role: PersonRole
  readonly activation_hash?: string | undefined
}

/** The password is made here and told this once; only its hash is kept. */
export type WithPassword = { readonly user: User; readonly password: string }

export const isOperatorRole = (role: string): role is OperatorRole =>
  operatorRoles.includes(role as OperatorRole)

/** An operator without a role was made by the version before, beside the rules of this one: it looks until two raise it. */
export function roleOf({ role, operator_role }: Pick<User, 'role' | 'operator_role'>): PersonRole {
  return role === 'operator' ? (operator_role ?? 'reader') : role
}

/** In the two columns that hold it. */
const columnsOfRole = (role: PersonRole): Pick<User, 'role' | 'operator_role'> =>
  isOperatorRole(role) ? { role: 'operator', operator_role: role } : { role, operator_role: null }

/** Of `newActivation`. */
const bytesOf = (activation_hash: string | undefined) =>
  activation_hash === undefined ? null : Buffer.from(activation_hash, 'hex')

export async function createUser(tx: Db, wanted: NewUser): Promise<WithPassword> {
  const email = wanted.email.toLowerCase()
  if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email)) throw new Error(`${wanted.email} is not an e-mail address.`)
  assertRoleFits(wanted, wanted.role)
  const password = newPassword()
  const password_hash = await hashPassword(password)
  try {
    const user = await insertUser(tx, {
      ...wanted,
      ...columnsOfRole(wanted.role),
      email,
      password_hash,
      activation_hash: bytesOf(wanted.activation_hash),
    })
    return { user, password }
  } catch (error) {
    if (isUniqueViolation(error, 'users_email'))
      throw new Error(`A user with the e-mail ${email} exists already.`)
    throw error
  }
}

/** Whoever is signed in as this person is so no longer. */
export async function resetPassword(tx: Db, email: string, activation?: string): Promise<WithPassword> {
  const password = newPassword()
  const hashes = { password_hash: await hashPassword(password), activation_hash: bytesOf(activation) }
  const user = (await setPassword(tx, email.toLowerCase(), hashes)) ?? throwUnknown(email)
  await deleteSessions(tx, user.id)
  await deleteFailures(tx, subjectOf(email))
  return { user, password }
}

/** For somebody who lost both the device and the recovery codes. */
export async function resetFactor(tx: Db, email: string): Promise<User> {
  const user = await findUser(tx, email)
  await lockUser(tx, user.id)
  if (!(await deleteFactor(tx, user.id))) throw new Error(`${user.email} has no second factor.`)
  await deleteSessions(tx, user.id)
  return user
}

export async function setRole(tx: Db, email: string, role: PersonRole): Promise<User> {
  const { partner_id } = await findUser(tx, email)
  const highest = await lockHighest(tx, partner_id)
  const user = await findUser(tx, email)
  assertRoleFits(user, role)
  if (roleOf(user) === role) return user
  if (highest.length === 1 && highest[0]!.id === user.id) throw lastOf(user)
  const changed = await changeRole(tx, { id: user.id, ...columnsOfRole(role) })
  await deleteSessions(tx, user.id)
  return changed
}

function lastOf({ email, partner_id }: User): Error {
  return new Error(
    partner_id === null
      ? `${email} is the only operator with the role admin: without one nobody could change roles any more. Make another admin first: trilho users set-role EMAIL --role admin`
      : `${email} is the only owner of ${partner_id}. Make another owner first: trilho users set-role EMAIL --role owner`,
  )
}

function assertRoleFits({ email, partner_id }: { email: string; partner_id: string | null }, role: string) {
  const [whose, roles] =
    partner_id === null ? (['the operator', operatorRoles] as const) : (['a partner', partnerRoles] as const)
  if (!(roles as readonly string[]).includes(role))
    throw new Error(`${email} belongs to ${whose}: the role must be one of ${roles.join(', ')}.`)
}

/** Whether somebody who had the one role may do more with the other. */
export function raises(before: PersonRole, after: PersonRole): boolean {
  const roles: readonly string[] = isOperatorRole(after) ? operatorRoles : partnerRoles
  return roles.indexOf(after) < roles.indexOf(before)
}

export async function findUser(db: Db, email: string): Promise<User> {
  return (await selectUser(db, email.toLowerCase())) ?? throwUnknown(email)
}

function throwUnknown(email: string): never {
  throw new Error(`No user with the e-mail ${email}. See: trilho users list`)
}

/** What may be shown and written down of a person. */
export function describeUser(user: User) {
  const { id, email, name, partner_id } = user
  return { id, email, name, role: roleOf(user), partner_id }
}

export function operatorActor(user: User): OperatorActor {
  const role = roleOf(user)
  if (!isOperatorRole(role)) throw new Error(`${user.email} is not an operator.`)
  return { kind: 'operator', user_id: user.id, email: user.email, role }
}
