import { Type as T } from 'typebox'
import { operatorRoles, partnerRoles } from '../../../core/actor.ts'
import { Fields, Id, Text } from '../../../http/schema.ts'
import { type ConsoleEndpoint, consoleEndpoint } from '../endpoint.ts'
import { PersonObject } from './partners-contract.ts'
import { ActedObject, inWorld } from './shared-schemas.ts'

const base = '/console/api/operator/{environment}' as const
const ofPerson = T.Object({ ...inWorld, user_id: Id('user') })

export const listOperators = consoleEndpoint({
  name: 'console.operator.people.list',
  route: `GET ${base}/people`,
  summary: 'The operators: what each may do, and whether they have a second factor',
  permit: 'operator.read',
  params: T.Object(inWorld),
  reply: {
    status: 200,
    schema: T.Object({
      data: T.Array(PersonObject),
      by_two: T.Boolean({ description: 'Whether what changes an operator is proposed to another one' }),
    }),
  },
})

export const createOperator = consoleEndpoint({
  name: 'console.operator.people.create',
  route: `POST ${base}/people`,
  summary: 'Make an operator; where there are two, another one approves and sees the password',
  permit: 'operator.rule',
  params: T.Object(inWorld),
  body: Fields({
    email: T.String({ minLength: 3, maxLength: 254, format: 'email', description: 'To sign in with' }),
    name: Text(120, 'Full name'),
    role: T.Enum([...operatorRoles]),
  }),
  reply: { status: 201, schema: ActedObject },
  errors: ['not_possible'],
})

export const setRoleByOperator = consoleEndpoint({
  name: 'console.operator.people.set_role',
  route: `PATCH ${base}/people/{user_id}`,
  summary: 'Change what a person may do; they have to sign in again',
  permit: 'operator.rule',
  params: ofPerson,
  body: Fields({ role: T.Enum([...operatorRoles, ...partnerRoles]) }),
  reply: { status: 200, schema: ActedObject },
  errors: ['object_not_found', 'not_possible'],
})

export const resetPasswordByOperator = consoleEndpoint({
  name: 'console.operator.people.reset_password',
  route: `POST ${base}/people/{user_id}/password`,
  summary: 'Give a person a new password, which is in this answer alone',
  permit: 'operator.rule',
  params: ofPerson,
  reply: { status: 200, schema: ActedObject },
  errors: ['object_not_found'],
})

export const resetFactorByOperator = consoleEndpoint({
  name: 'console.operator.people.reset_factor',
  route: `DELETE ${base}/people/{user_id}/factor`,
  summary: 'Take a person’s second factor away, when device and recovery codes are lost',
  permit: 'operator.rule',
  params: ofPerson,
  reply: { status: 200, schema: ActedObject },
  errors: ['object_not_found', 'not_possible'],
})

export const peopleOfOperatorEndpoints: readonly ConsoleEndpoint[] = [
  listOperators,
  createOperator,
  setRoleByOperator,
  resetPasswordByOperator,
  resetFactorByOperator,
]
