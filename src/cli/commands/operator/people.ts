import { operatorRoles, partnerRoles } from '../../../core/actor.ts'
import type { CliCommand } from '../../command.ts'
import { partner } from '../options.ts'

const load = () => import('../../operator/people.ts')

export const peopleCommands: CliCommand[] = [
  {
    name: 'users create',
    about: 'Create a user of a partner, or an operator; the password is shown once',
    options: {
      email: { type: 'string', value: 'ADDRESS', about: 'To sign in with', required: true },
      name: { type: 'string', value: 'TEXT', about: 'Full name' },
      partner,
      operator: { type: 'boolean', about: 'Create an operator, not a user of a partner' },
      role: {
        type: 'string',
        value: 'ROLE',
        about: `${partnerRoles.join('|')}, owner when absent; with --operator ${operatorRoles.join('|')}, admin when absent`,
      },
    },
    examples: [
      'trilho users create --email ana@acme.example --partner $PARTNER --role finance',
      'trilho users create --email maria@operator.example --operator',
    ],
    who: 'operator',
    runWith: async (input, reach) => (await load()).usersCreate(input, reach),
  },
  {
    name: 'users list',
    about: 'List the people: who they are, what they may do, whether they have a second factor',
    examples: ['trilho users list'],
    who: 'operator',
    lists: true,
    runWith: async (input, reach) => (await load()).usersList(input, reach),
  },
  {
    name: 'users set-role',
    takes: 'EMAIL',
    about: 'Change the role of a person, whose sessions end',
    options: {
      role: {
        type: 'string',
        value: [...operatorRoles, ...partnerRoles].join('|'),
        about: 'The new role',
        required: true,
      },
    },
    examples: ['trilho users set-role ana@acme.example --role viewer'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).usersSetRole(input, reach),
  },
  {
    name: 'users reset-password',
    takes: 'EMAIL',
    about: 'Reset a person’s password, shown once; ends all sessions of that person',
    examples: ['trilho users reset-password ana@acme.example'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).usersResetPassword(input, reach),
  },
  {
    name: 'users reset-factor',
    takes: 'EMAIL',
    about: 'Remove a person’s second factor, when both device and recovery codes are lost',
    examples: ['trilho users reset-factor ana@acme.example'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).usersResetFactor(input, reach),
  },
  {
    name: 'users remove',
    takes: 'EMAIL',
    about: 'Remove a person, who cannot sign in any more; what they did stays in the log',
    examples: ['trilho users remove ana@acme.example'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).usersRemove(input, reach),
  },
]
