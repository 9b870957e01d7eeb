import { type OperatorRole, operatorRoles } from '../core/actor.ts'
import { type Db, isUniqueViolation } from '../db/pool.ts'
import type { Shared } from '../partners/partners.ts'
import { hashPassword, newPassword, passwordFits } from './password.ts'
import { insertUser, selectUser, setPassword, type User } from './store.ts'

/** People: of a partner, or of the operator. What is done to them runs in the transaction that is handed in. */
export const partnerRoles = ['owner', 'member'] as const
/** What a person may do, in one word. The first of each list may do everything. */
export type PersonRole = (typeof partnerRoles)[number] | OperatorRole

export type NewUser = {
  readonly id: string
  readonly email: string
  readonly name: string
  /** Null: of the operator. */
  readonly partner_id: string | null
  readonly role: PersonRole
}

/** The password is made here and told this once; only its hash is kept. */
export type WithPassword = { readonly user: User; readonly password: string }

export const isOperatorRole = (role: string): role is OperatorRole =>
  operatorRoles.includes(role as OperatorRole)

export const roleOf = ({ role }: Pick<User, 'role'>): PersonRole => (role === 'operator' ? 'admin' : role)

export async function createUser(tx: Db, wanted: NewUser): Promise<WithPassword> {
  const email = wanted.email.toLowerCase()
  if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email)) throw new Error(`${wanted.email} is not an e-mail address.`)
  const password = newPassword()
  const password_hash = await hashPassword(password)
  const role = isOperatorRole(wanted.role) ? 'operator' : wanted.role
  try {
    return { user: await insertUser(tx, { ...wanted, role, email, password_hash }), password }
  } catch (error) {
    if (isUniqueViolation(error, 'users_email'))
      throw new Error(`A user with the e-mail ${email} exists already.`)
    throw error
  }
}

export async function resetPassword(tx: Db, email: string): Promise<WithPassword> {
  const password = newPassword()
  const user =
    (await setPassword(tx, email.toLowerCase(), await hashPassword(password))) ?? throwUnknown(email)
  return { user, password }
}

export async function resetFactor(tx: Db, email: string): Promise<User> {
  const user = await findUser(tx, email)
  throw new Error(`${user.email} has no second factor.`)
}

export async function setRole(tx: Db, email: string, role: PersonRole): Promise<User> {
  const user = await findUser(tx, email)
  if (roleOf(user) === role) return user
  throw new Error(`${user.email} cannot have the role ${role}.`)
}

export async function findUser(db: Db, email: string): Promise<User> {
  return (await selectUser(db, email.toLowerCase())) ?? throwUnknown(email)
}

function throwUnknown(email: string): never {
  throw new Error(`No user with the e-mail ${email}.`)
}

/** What may be shown and written down of a person. */
export function describeUser(user: User) {
  const { id, email, name, partner_id } = user
  return { id, email, name, role: roleOf(user), partner_id }
}

/** An operator, known by password: who proposes and who approves must be two people. */
export async function identifyOperator(shared: Shared, email: string, password: string): Promise<User> {
  const user = await selectUser(shared.db, email.toLowerCase())
  if (!user || !(await passwordFits(user.password_hash, password)) || user.role !== 'operator') {
    throw new Error('No operator with this e-mail and password.')
  }
  return user
}
