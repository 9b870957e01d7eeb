import type { OperatorActor, ShellActor } from '../core/actor.ts'
import type { Db } from '../db/pool.ts'
import type { Shared } from '../partners/partners.ts'
import {
  createUser,
  describeUser,
  findUser,
  isOperatorRole,
  type NewUser,
  operatorActor,
  type PersonRole,
  resetFactor,
  resetPassword,
  roleOf,
  setRole,
  type WithPassword,
} from '../team/people.ts'
import { hasSession, selectOperators, type User } from '../team/store.ts'
import type { Change } from './changes.ts'
import type { Operators, Rule } from './rules.ts'

/** What an operator does to people. A password is in the result alone: whoever performs it sees it, and nobody again. */
type OfPerson = { readonly email: string }

const change = <Details, Result>(one: Change<Shared, Details, Result>) => one

async function lookAtPerson({ db }: Shared, { email }: OfPerson): Promise<unknown> {
  return describeUser(await findUser(db, email))
}

export const peopleChanges = {
  create_user: change<NewUser, WithPassword>({
    object: ({ id }) => id,
    look: async () => null,
    made: ({ user }) => describeUser(user),
    async perform({ db }, wanted) {
      await assertAnAdmin({ db }, wanted)
      return createUser(db, wanted)
    },
  }),
  reset_password: change<OfPerson & { readonly activation_hash?: string }, WithPassword>({
    object: (_, { user }) => user.id,
    look: lookAtPerson,
    perform: ({ db }, { email, activation_hash }) => resetPassword(db, email, activation_hash),
  }),
  set_role: change<OfPerson & { readonly role: PersonRole }, { readonly user: User }>({
    object: (_, { user }) => user.id,
    look: lookAtPerson,
    perform: async ({ db }, { email, role }) => ({ user: await setRole(db, email, role) }),
  }),
  reset_factor: change<OfPerson, { readonly user: User }>({
    object: (_, { user }) => user.id,
    look: lookAtPerson,
    perform: async ({ db }, { email }) => ({ user: await resetFactor(db, email) }),
  }),
}

export type PeopleChangeName = keyof typeof peopleChanges
export type PeopleDetails<Name extends PeopleChangeName> = Parameters<
  (typeof peopleChanges)[Name]['perform']
>[1]
export type PeopleResult<Name extends PeopleChangeName> = Awaited<
  ReturnType<(typeof peopleChanges)[Name]['perform']>
>
export type PeopleAction = {
  [Name in PeopleChangeName]: { readonly name: Name; readonly details: PeopleDetails<Name> }
}[PeopleChangeName]

/** What a person's act came to: whom it was done to, and the password where one was made. */
export type Person = { readonly user: User; readonly password?: string }

export async function isAboutOperator({ db }: Pick<Shared, 'db'>, action: PeopleAction): Promise<boolean> {
  if (action.name === 'create_user') return isOperatorRole(action.details.role)
  return (await findUser(db, action.details.email)).role === 'operator'
}

/**
 * The operator as of now. Between the sign-in and the act somebody may have waited at a question, or for a lock: whose
 * session or role has ended meanwhile does not act any more.
 */
export async function standingOf(
  db: Db,
  actor: OperatorActor | ShellActor,
): Promise<OperatorActor | ShellActor> {
  if (actor.kind === 'shell') return actor
  const user = (await selectOperators(db)).find(({ id }) => id === actor.user_id)
  const signed_in = actor.session_id === undefined || (await hasSession(db, actor.session_id))
  if (!user || !signed_in)
    throw new Error(
      'You are not signed in as an operator any more; nothing was done. Sign in again: trilho login --operator EMAIL',
    )
  return { ...actor, ...operatorActor(user) }
}

/** Who proposed something must still be one who may when another one approves it. */
export async function assertMayStill(db: Db, email: string, { roles, what }: Rule): Promise<void> {
  const user = (await selectOperators(db)).find((one) => one.email === email)
  if (user && (roles as readonly string[]).includes(roleOf(user))) return
  throw new Error(
    `${email}, who proposed it, is not an operator any more who may decide ${what}. Propose it again.`,
  )
}

export async function countOperators({ db }: Pick<Shared, 'db'>): Promise<Operators & { admins: number }> {
  const roles = (await selectOperators(db)).map(roleOf)
  return {
    all: roles.length,
    deciding: roles.filter((role) => role !== 'reader').length,
    admins: roles.filter((role) => role === 'admin').length,
  }
}

/** An operator who is no admin could neither make another one nor be raised by anybody. */
async function assertAnAdmin(shared: Pick<Shared, 'db'>, { email, role }: NewUser): Promise<void> {
  if (!isOperatorRole(role) || role === 'admin' || (await countOperators(shared)).admins > 0) return
  throw new Error(
    `${email} would be the first operator, and with the role ${role} nobody could ever make another one or change a role. Make an admin first: trilho users create --email EMAIL --operator`,
  )
}
