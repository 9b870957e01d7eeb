import { operatorRoles, partnerRoles } from '../../core/actor.ts'
import { findPartner } from '../../parties/partners/partners.ts'
import {
  describeUser,
  isOperatorRole,
  type PersonRole,
  personRoleOf,
  type WithPassword,
} from '../../parties/team/people.ts'
import { selectUsers, type User } from '../../parties/team/store.ts'
import {
  argument,
  type Input,
  listed,
  type Output,
  option,
  type Reach,
  requiredOption,
  usage,
} from '../command.ts'
import { actFromShell } from './act-output.ts'

const roles: readonly PersonRole[] = [...operatorRoles, ...partnerRoles]

function roleFrom(given: string, among: readonly PersonRole[]): PersonRole {
  if (!among.includes(given as PersonRole)) usage(`--role must be one of ${among.join(', ')}.`)
  return given as PersonRole
}

/** The role of a new user: an operator's role with --operator, otherwise a partner's. */
function newRole(input: Input): PersonRole {
  const operator = input.options.operator === true
  return roleFrom(
    option(input, 'role') ?? (operator ? 'admin' : 'owner'),
    operator ? operatorRoles : partnerRoles,
  )
}

export function shownOnce({ user, password }: WithPassword) {
  const { id, email, operator_role, partner_id } = user
  // JSON keeps `role: operator` for operators; their own role is in `operator_role`.
  const role = partner_id === null ? user.role : personRoleOf(user)
  return {
    json: { id, email, role, operator_role, partner_id, password },
    text: `${email} (${personRoleOf(user)})\n${password}\n\nThis password is shown once.${seenByAnother(user)}\n`,
  }
}

/**
 * A hint for an operator created by one person alone. If two operators created the user, the first sign-in forces a new
 * password.
 */
function seenByAnother({ email, role, activation_hash }: User): string {
  if (role !== 'operator' || activation_hash !== null) return ''
  return ` If the account is not yours, its owner must replace the password at once: trilho login --operator ${email}, then trilho password`
}

export async function usersCreate(input: Input, reach: Reach): Promise<Output> {
  const email = requiredOption(input, 'email')
  const role = newRole(input)
  const partner_id = isOperatorRole(role)
    ? null
    : (await findPartner(reach.shared, option(input, 'partner'))).id
  const details = { email, name: option(input, 'name') ?? email, partner_id, role }
  return actFromShell(input, reach, { name: 'create_user', details }, shownOnce)
}

export async function usersList(_: Input, { shared }: Reach): Promise<Output> {
  const users = await selectUsers(shared.db)
  const data = users.map((user) => ({ ...describeUser(user), second_factor: user.second_factor }))
  const rows = data.map(({ email, name, role, partner_id, second_factor }) => ({
    email,
    name,
    role,
    of: partner_id ?? 'the operator',
    second_factor: second_factor ? 'yes' : 'no',
  }))
  return listed({ data }, rows)
}

export async function usersSetRole(input: Input, reach: Reach): Promise<Output> {
  const role = roleFrom(requiredOption(input, 'role'), roles)
  const details = { email: argument(input, 0, 'EMAIL'), role }
  return actFromShell(input, reach, { name: 'set_role', details }, ({ user }) => ({
    json: describeUser(user),
    text: `${user.email} is ${role} now.\n`,
  }))
}

export async function usersResetPassword(input: Input, reach: Reach): Promise<Output> {
  const details = { email: argument(input, 0, 'EMAIL') }
  return actFromShell(input, reach, { name: 'reset_password', details }, shownOnce)
}

export async function usersResetFactor(input: Input, reach: Reach): Promise<Output> {
  const details = { email: argument(input, 0, 'EMAIL') }
  return actFromShell(input, reach, { name: 'reset_factor', details }, ({ user }) => ({
    json: { ...describeUser(user), second_factor: false },
    text: `${user.email} signs in with the password alone now. A new second factor is added with: trilho factor enroll\n`,
  }))
}

export async function usersRemove(input: Input, reach: Reach): Promise<Output> {
  const details = { email: argument(input, 0, 'EMAIL') }
  return actFromShell(input, reach, { name: 'remove_user', details }, ({ user }) => ({
    json: { id: user.id, removed: true },
    text: `${user.email} is removed, and signed out everywhere.\n`,
  }))
}
