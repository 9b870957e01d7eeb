import type { OperatorActor, OperatorRole, ShellActor } from '../../core/actor.ts'
import { refuse } from '../../core/errors.ts'
import type { Db } from '../../db/pool.ts'
import type { Shared } from '../../parties/partners/partners.ts'
import { type FreshPassword, makePassword } from '../../parties/team/password.ts'
import {
  assertStanding,
  createUser,
  describeUser,
  findUser,
  isOperatorRole,
  type NewUser,
  operatorActor,
  type PersonRole,
  personRoleOf,
  raises,
  removeUser,
  resetFactor,
  resetPassword,
  setRole,
  type WithPassword,
} from '../../parties/team/people.ts'
import { liveSessionIds, lockHighest, selectOperators, type User } from '../../parties/team/store.ts'
import type { Change } from './changes.ts'
import { type Operators, type Rule, rules } from './rules.ts'

/** An act on a person. Only the result holds a new password, so only the performer sees it, once. */
type OfPerson = { readonly email: string }

/** `fresh`: a password that `passwordFor` made and hashed before the transaction began. */
type WithFresh = Shared & { readonly fresh?: FreshPassword | undefined }

const change = <Details, Result>(one: Change<WithFresh, Details, Result>) =>
  ({ kind: 'person', ...one }) as const

/** Undefined if the act sets no password. */
export const passwordFor = async (name: PeopleChangeName): Promise<FreshPassword | undefined> =>
  name === 'create_user' || name === 'reset_password' ? makePassword() : undefined

async function readPersonState({ db }: Shared, { email }: OfPerson): Promise<unknown> {
  return describeUser(await findUser(db, email))
}

export const peopleChanges = {
  create_user: change<NewUser, WithPassword>({
    object: ({ id }) => id,
    readState: async () => null,
    made: ({ user }) => describeUser(user),
    async perform({ db, fresh }, wanted) {
      await assertAnAdmin({ db }, wanted)
      return createUser(db, wanted, fresh!)
    },
  }),
  reset_password: change<OfPerson & { readonly activation_hash?: string }, WithPassword>({
    object: (_, { user }) => user.id,
    readState: readPersonState,
    perform: ({ db, fresh }, { email, activation_hash }) => resetPassword(db, email, fresh!, activation_hash),
  }),
  set_role: change<OfPerson & { readonly role: PersonRole }, { readonly user: User }>({
    object: (_, { user }) => user.id,
    readState: readPersonState,
    perform: async ({ db }, { email, role }) => ({ user: await setRole(db, email, role) }),
  }),
  reset_factor: change<OfPerson, { readonly user: User }>({
    object: (_, { user }) => user.id,
    readState: readPersonState,
    perform: async ({ db }, { email }) => ({ user: await resetFactor(db, email) }),
  }),
  remove_user: change<OfPerson, { readonly user: User }>({
    object: (_, { user }) => user.id,
    readState: readPersonState,
    made: async () => null,
    perform: async ({ db }, { email }) => ({ user: await removeUser(db, email) }),
  }),
}

export type PeopleChangeName = keyof typeof peopleChanges
type PeopleDetails<Name extends PeopleChangeName> = Parameters<(typeof peopleChanges)[Name]['perform']>[1]
export type PeopleAction = {
  [Name in PeopleChangeName]: { readonly name: Name; readonly details: PeopleDetails<Name> }
}[PeopleChangeName]

/** The person an act was about, and the new password if the act made one. */
export type Person = { readonly user: User; readonly password?: string }

/** The facts that decide whether an act on a person takes two operators. */
type Treatment = {
  readonly name: PeopleChangeName
  /** The person's role before the act; the wanted role for a new person. */
  readonly role: PersonRole
  /** The new role, with `set_role`. */
  readonly becomes?: PersonRole | undefined
  readonly has_owner: boolean
}

/**
 * An act on an operator takes two. So does an act that would let one operator act as a user of a partner that has an
 * owner: a password that the operator sees, the reset of an owner's second factor, a new owner. One operator alone
 * creates the first users of a partner without an owner.
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

/** Whether the act only removes the person or lowers the role. */
export async function isLowering({ db }: Pick<Shared, 'db'>, action: PeopleAction): Promise<boolean> {
  const { name, details } = action
  if (name === 'set_role') return !raises(personRoleOf(await findUser(db, details.email)), details.role)
  return name === 'remove_user'
}

const hasOwner = async (db: Db, partner_id: string): Promise<boolean> =>
  (await lockHighest(db, partner_id)).length > 0

/**
 * The operator's present role, looked up in `operators`, the list of all operators. Between the sign-in and the act the operator may have
 * waited at a prompt or for a lock; an operator whose session or role has ended meanwhile is refused.
 */
export async function standingOf(
  db: Db,
  actor: OperatorActor | ShellActor,
  operators: readonly User[],
): Promise<OperatorActor | ShellActor> {
  if (actor.kind === 'shell') return actor
  const user = operators.find(({ id }) => id === actor.user_id)
  const { session_id } = actor
  const signed_in = session_id === undefined || (await liveSessionIds(db, [session_id])).has(session_id)
  if (!user || !signed_in)
    refuse('not_signed_in', {
      message: 'You are not signed in as an operator any more; nothing was done.',
      shell: 'Sign in again: trilho login --operator EMAIL',
    })
  const now = { ...actor, ...operatorActor(user) }
  if (actor.proof) await assertStanding(db, now)
  return now
}

/** The proposer must still have a role that may propose the act when another operator approves it. */
export async function assertMayStill(
  db: Db,
  email: string,
  { what }: Pick<Rule, 'what'>,
  roles: readonly OperatorRole[],
): Promise<void> {
  const user = (await selectOperators(db)).find((one) => one.email === email)
  if (user && (roles as readonly string[]).includes(personRoleOf(user))) return
  refuse('not_possible', {
    message: `${email}, who proposed it, is not an operator any more who may decide ${what}. Propose it again.`,
    details: { reason: 'proposer_lost_role' },
  })
}

export const countOperators = async ({ db }: Pick<Shared, 'db'>): Promise<Operators> =>
  countsOf(await selectOperators(db))

export function countsOf(operators: readonly User[]): Operators {
  const roles = operators.map(personRoleOf)
  return {
    all: roles.length,
    deciding: roles.filter((role) => role !== 'reader').length,
    admins: roles.filter((role) => role === 'admin').length,
  }
}

/** The first operator must be an admin: operators of other roles can neither create operators nor be raised by anyone. */
async function assertAnAdmin(shared: Pick<Shared, 'db'>, { email, role }: NewUser): Promise<void> {
  if (!isOperatorRole(role) || role === 'admin' || (await countOperators(shared)).admins > 0) return
  refuse('not_possible', {
    message: `${email} would be the first operator, and with the role ${role} nobody could ever make another one or change a role.`,
    details: { reason: 'first_must_be_admin' },
    shell: 'Make an admin first: trilho users create --email EMAIL --operator',
  })
}
