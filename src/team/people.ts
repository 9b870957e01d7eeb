import { isUniqueViolation } from '../db/failure.ts'
import type { Shared } from '../partners/partners.ts'
import { hashPassword, newPassword, passwordFits } from './password.ts'
import { countOperators, insertUser, selectUser, setPassword, type User } from './store.ts'

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
