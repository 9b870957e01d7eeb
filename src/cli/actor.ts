import type { OperatorActor, ShellActor } from '../core/actor.ts'
import type { Shared } from '../partners/partners.ts'
import { identifyOperator } from '../team/people.ts'
import { type Input, option } from './command.ts'

/** Who acts from this shell (contract §17.13): an operator, known by password, or somebody who did not sign in. */
export async function actorOf(input: Input, shared: Shared): Promise<OperatorActor | ShellActor> {
  // `users create --operator` says what is made, not by whom.
  const operator = input.options.operator === true ? undefined : option(input, 'operator')
  const email = option(input, 'as') ?? operator
  if (email === undefined) return { kind: 'shell' }
  const password = process.env.OPERATOR_PASSWORD
  if (!password)
    throw new Error('Set OPERATOR_PASSWORD to your password: in production it must be known who acts.')
  const { id } = await identifyOperator(shared, email, password)
  return { kind: 'operator', user_id: id, email: email.toLowerCase(), role: 'admin' }
}
