import { operatorRoles } from '../core/actor.ts'
import { transaction } from '../db/pool.ts'
import { findPartner } from '../partners/partners.ts'
import {
  createUser,
  describeUser,
  isOperatorRole,
  type PersonRole,
  partnerRoles,
  resetFactor,
  resetPassword,
  roleOf,
  setRole,
  type WithPassword,
} from '../team/people.ts'
import { selectUsers } from '../team/store.ts'
import {
  argument,
  type CliCommand,
  type Input,
  type Output,
  option,
  requiredOption,
  table,
  usage,
} from './command.ts'

const roles: readonly PersonRole[] = [...operatorRoles, ...partnerRoles]

function roleFrom(text: string, among: readonly PersonRole[]): PersonRole {
  if (!among.includes(text as PersonRole)) usage(`--role must be one of ${among.join(', ')}.`)
  return text as PersonRole
}

/** What --operator makes is of the operator, everybody else of a partner. */
function newRole(input: Input): PersonRole {
  const operator = input.options.operator === true
  return roleFrom(
    option(input, 'role') ?? (operator ? 'admin' : 'owner'),
    operator ? operatorRoles : partnerRoles,
  )
}

function newPassword({ user, password }: WithPassword): Output {
  const { id, email, role, operator_role, partner_id } = user
  return {
    json: { id, email, role, operator_role, partner_id, password },
    text: `${email} (${roleOf(user)})\n${password}\n\nThis password is shown once.\n`,
  }
}

export const peopleCommands: CliCommand[] = [
  {
    name: 'users create',
    about: 'Create a person of a partner, or of the operator; the password is shown this once',
    options: {
      email: { type: 'string', value: 'ADDRESS', about: 'To sign in with', required: true },
      name: { type: 'string', value: 'TEXT', about: 'Full name' },
      partner: { type: 'string', value: 'ID', about: 'Which partner; the only one when absent' },
      operator: { type: 'boolean', about: 'A person of the operator, of no partner' },
      role: {
        type: 'string',
        value: 'ROLE',
        about: `${partnerRoles.join('|')}, owner when absent; with --operator ${operatorRoles.join('|')}, admin when absent`,
      },
    },
    async runWith(input, { shared }) {
      const email = requiredOption(input, 'email')
      const role = newRole(input)
      const partner_id = isOperatorRole(role)
        ? null
        : (await findPartner(shared, option(input, 'partner'))).id
      const wanted = {
        id: shared.newId('user'),
        email,
        name: option(input, 'name') ?? email,
        partner_id,
        role,
      }
      return newPassword(await transaction(shared.db, (tx) => createUser(tx, wanted)))
    },
  },
  {
    name: 'users list',
    about: 'List the people: who they are, what they may do, whether they have a second factor',
    async runWith(_, { shared }) {
      const users = await selectUsers(shared.db)
      const data = users.map((user) => ({ ...describeUser(user), second_factor: user.second_factor }))
      const rows = data.map(({ email, name, role, partner_id, second_factor }) => ({
        email,
        name,
        role,
        of: partner_id ?? 'the operator',
        second_factor: second_factor ? 'yes' : 'no',
      }))
      return { json: { data }, text: table(rows) }
    },
  },
  {
    name: 'users set-role',
    takes: 'EMAIL',
    about: 'Change what a person may do; whoever is signed in as that person must sign in again',
    options: { role: { type: 'string', value: roles.join('|'), about: 'The new role', required: true } },
    async runWith(input, { shared }) {
      const role = roleFrom(requiredOption(input, 'role'), roles)
      const user = await transaction(shared.db, (tx) => setRole(tx, argument(input, 0, 'EMAIL'), role))
      return { json: describeUser(user), text: `${user.email} is ${role} now.\n` }
    },
  },
  {
    name: 'users reset-password',
    takes: 'EMAIL',
    about: 'Give a person a new password, shown this once; ends all sessions of that person',
    async runWith(input, { shared }) {
      return newPassword(await transaction(shared.db, (tx) => resetPassword(tx, argument(input, 0, 'EMAIL'))))
    },
  },
  {
    name: 'users reset-factor',
    takes: 'EMAIL',
    about: 'Take a person’s second factor away, when both device and recovery codes are lost',
    async runWith(input, { shared }) {
      const user = await transaction(shared.db, (tx) => resetFactor(tx, argument(input, 0, 'EMAIL')))
      return {
        json: { ...describeUser(user), second_factor: false },
        text: `${user.email} signs in with the password alone now. A new one is added with: trilho factor enroll\n`,
      }
    },
  },
]
