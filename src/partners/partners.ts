import { type IdKind, newId } from '../core/ids.ts'
import { isUniqueViolation, type Pool } from '../db/pool.ts'
import { hashPassword, newPassword, passwordFits } from './password.ts'
import {
  changePartner,
  countOperators,
  insertPartner,
  insertUser,
  type Partner,
  type PartnerChange,
  selectPartners,
  selectUser,
  setPassword,
  type User,
} from './store.ts'

/** What both worlds have in common: the tenants and their people. No money here. */
export type Shared = { readonly db: Pool; newId(kind: IdKind): string }

export const openShared = (db: Pool): Shared => ({ db, newId: (kind) => newId(kind, Date.now()) })

export function createPartner(shared: Shared, name: string): Promise<Partner> {
  return insertPartner(shared.db, { id: shared.newId('partner'), name })
}

export function listPartners(shared: Shared): Promise<Partner[]> {
  return selectPartners(shared.db)
}

export async function editPartner(shared: Shared, id: string, change: PartnerChange): Promise<Partner> {
  const partner = await changePartner(shared.db, id, change)
  if (!partner) throw new Error(`No partner ${id}. See: trilho partners list`)
  return partner
}

/** By its id; without one, the only partner there is. */
export async function findPartner(shared: Shared, id: string | undefined): Promise<Partner> {
  const partners = await selectPartners(shared.db)
  if (id !== undefined) {
    const partner = partners.find((candidate) => candidate.id === id)
    if (!partner) throw new Error(`No partner ${id}. See: trilho partners list`)
    return partner
  }
  if (partners.length === 0)
    throw new Error('There is no partner yet. Create one: trilho partners create --name NAME')
  if (partners.length > 1)
    throw new Error('There are several partners: say which one with --partner ID (trilho partners list)')
  return partners[0]!
}

export type NewUser = {
  readonly email: string
  readonly name: string
  readonly partner_id: string | null
  readonly role: User['role']
}

/** A console user with a password made here, shown once. */
export async function createUser(shared: Shared, wanted: NewUser): Promise<{ user: User; password: string }> {
  const email = wanted.email.toLowerCase()
  if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email)) throw new Error(`${wanted.email} is not an e-mail address.`)
  const password = newPassword()
  try {
    const user = await insertUser(shared.db, {
      ...wanted,
      email,
      id: shared.newId('user'),
      password_hash: await hashPassword(password),
    })
    return { user, password }
  } catch (error) {
    if (isUniqueViolation(error, 'users_email'))
      throw new Error(`A user with the e-mail ${email} exists already.`)
    throw error
  }
}

export async function resetPassword(
  shared: Shared,
  email: string,
): Promise<{ user: User; password: string }> {
  const password = newPassword()
  const user = await setPassword(shared.db, email.toLowerCase(), await hashPassword(password))
  if (!user) throw new Error(`No user with the e-mail ${email}.`)
  return { user, password }
}

/** An operator, known by password: who proposes and who approves must be two people. */
export async function identifyOperator(shared: Shared, email: string, password: string): Promise<User> {
  const user = await selectUser(shared.db, email.toLowerCase())
  if (!user || !(await passwordFits(user.password_hash, password)) || user.role !== 'operator') {
    throw new Error('No operator with this e-mail and password.')
  }
  return user
}

/** One alone could never get anything approved: better said before than after. */
export async function assertTwoOperators(shared: Shared): Promise<void> {
  if ((await countOperators(shared.db)) >= 2) return
  throw new Error(
    'In production one operator proposes and another one approves, and there are not two yet. Make them: trilho users create --email EMAIL --operator',
  )
}
