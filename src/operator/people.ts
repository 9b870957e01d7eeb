import type { OperatorActor, OperatorRole, ShellActor } from '../core/actor.ts'
import { refuse } from '../core/errors.ts'
import type { Db } from '../db/pool.ts'
import type { Shared } from '../partners/partners.ts'
import { type FreshPassword, makePassword } from '../team/password.ts'
import {
  assertStanding,
  createUser,
  describeUser,
  findUser,
  isOperatorRole,
  type NewUser,
  operatorActor,
  type PersonRole,
  raises,
  removeUser,
  resetFactor,
  resetPassword,
  roleOf,
  setRole,
  type WithPassword,
} from '../team/people.ts'
import { lockHighest, selectOperators, sessionsGoingOn, type User } from '../team/store.ts'
import type { Change } from './changes.ts'
import { type Operators, type Rule, rules } from './rules.ts'

/** What an operator does to people. A password is in the result alone: whoever performs it sees it, and nobody again. */
type OfPerson = { readonly email: string }

/** `fresh`: a password that was hashed before the transaction began; `passwordFor` makes one where it is needed. */
type WithFresh = Shared & { readonly fresh?: FreshPassword | undefined }

const change = <Details, Result>(one: Change<WithFresh, Details, Result>) => one

/** Undefined: what is done makes no password. */
export const passwordFor = async (name: PeopleChangeName): Promise<FreshPassword | undefined> =>
  name === 'create_user' || name === 'reset_password' ? makePassword() : undefined

async function lookAtPerson({ db }: Shared, { email }: OfPerson): Promise<unknown> {
  return describeUser(await findUser(db, email))
}

export const peopleChanges = {
  create_user: change<NewUser, WithPassword>({
    object: ({ id }) => id,
    look: async () => null,
    made: ({ user }) => describeUser(user),
    async perform({ db, fresh }, wanted) {
      await assertAnAdmin({ db }, wanted)
      return createUser(db, wanted, fresh!)
    },
  }),
  reset_password: change<OfPerson & { readonly activation_hash?: string }, WithPassword>({
    object: (_, { user }) => user.id,
    look: lookAtPerson,
    perform: ({ db, fresh }, { email, activation_hash }) => resetPassword(db, email, fresh!, activation_hash),
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
  remove_user: change<OfPerson, { readonly user: User }>({
    object: (_, { user }) => user.id,
    look: lookAtPerson,
    made: async () => null,
    perform: async ({ db }, { email }) => ({ user: await removeUser(db, email) }),
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

/** What is done to whom, as far as the number of operators depends on it. */
export type Treatment = {
  readonly name: PeopleChangeName
  /** The role of the person before the act, or of the new person. */
  readonly role: PersonRole
  /** With `set_role`: the role afterwards. */
  readonly becomes?: PersonRole | undefined
  /** Whether the partner has an owner. */
  readonly has_owner: boolean
}

/**
 * What is done to an operator takes two. So does what would let one operator act as somebody of a partner that has an owner: a
 * password that the operator sees, an owner's second factor, a new owner. A partner without an owner gets its first people
 * from one operator.
 */
export function weighsAsOperator({ name, role, becomes, has_owner }: Treatment): boolean {
  if (isOperatorRole(role)) return true
  switch (rules[name].gives) {
    case 'identity':
    case 'password':
      return has_owner
    case 'factor':
      return role === 'owner'
    case 'role':
      return has_owner && becomes === 'owner' && role !== 'owner'
    default:
      return false
  }
}

export async function takesTwo({ db }: Pick<Shared, 'db'>, action: PeopleAction): Promise<boolean> {
  const { name, details } = action
  const of = name === 'create_user' ? details : describeUser(await findUser(db, details.email))
  const has_owner = of.partner_id !== null && (await hasOwner(db, of.partner_id))
  const becomes = name === 'set_role' ? details.role : undefined
  return weighsAsOperator({ name, role: of.role, becomes, has_owner })
}

/** Whether it only takes away from the person. */
export async function isLowering({ db }: Pick<Shared, 'db'>, action: PeopleAction): Promise<boolean> {
  const { name, details } = action
  if (name === 'set_role') return !raises(roleOf(await findUser(db, details.email)), details.role)
  return name === 'remove_user'
}

const hasOwner = async (db: Db, partner_id: string): Promise<boolean> =>
  (await lockHighest(db, partner_id)).length > 0

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
  const { session_id } = actor
  const signed_in = session_id === undefined || (await sessionsGoingOn(db, [session_id])).has(session_id)
  if (!user || !signed_in)
    refuse('not_signed_in', {
      message: 'You are not signed in as an operator any more; nothing was done.',
      shell: 'Sign in again: trilho login --operator EMAIL',
    })
  const now = { ...actor, ...operatorActor(user) }
  if (actor.proof) await assertStanding(db, now)
  return now
}

/** Who proposed something must still be one who may when another one approves it. */
export async function assertMayStill(
  db: Db,
  email: string,
  { what }: Pick<Rule, 'what'>,
  roles: readonly OperatorRole[],
): Promise<void> {
  const user = (await selectOperators(db)).find((one) => one.email === email)
  if (user && (roles as readonly string[]).includes(roleOf(user))) return
  refuse('not_possible', {
    message: `${email}, who proposed it, is not an operator any more who may decide ${what}. Propose it again.`,
  })
}

export async function countOperators({ db }: Pick<Shared, 'db'>): Promise<Operators> {
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
  refuse('not_possible', {
    message: `${email} would be the first operator, and with the role ${role} nobody could ever make another one or change a role.`,
    shell: 'Make an admin first: trilho users create --email EMAIL --operator',
  })
}
