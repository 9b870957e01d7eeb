import { act } from '../../../control/operator/act.ts'
import { countOperators } from '../../../control/operator/people.ts'
import { refuse } from '../../../core/errors.ts'
import type { Shared } from '../../../parties/partners/partners.ts'
import { selectUsers } from '../../../parties/team/store.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import { renderPerson } from './partners-routes.ts'
import {
  createOperator,
  listOperators,
  resetFactorByOperator,
  resetPasswordByOperator,
  setRoleByOperator,
} from './people-contract.ts'
import { renderActed } from './shared-schemas.ts'

export const peopleOfOperatorRoutes = ({ office }: ConsoleParts): ConsoleHandler[] => [
  answer(listOperators, async () => {
    const users = await selectUsers(office.shared.db, { role: 'operator' })
    const { deciding } = await countOperators(office.shared)
    return {
      data: users.map(renderPerson),
      by_two: deciding >= 2,
    }
  }),

  answer(createOperator, async ({ actor, body }) => {
    const acted = await act(office, actor, { name: 'create_user', details: { ...body, partner_id: null } })
    return { ...renderActed(acted), ...passwordOf(acted) }
  }),

  answer(setRoleByOperator, async ({ actor, params, body }) => {
    const details = { email: await emailOf(office.shared, params.user_id), role: body.role }
    return renderActed(await act(office, actor, { name: 'set_role', details }))
  }),

  answer(resetPasswordByOperator, async ({ actor, params }) => {
    const details = { email: await emailOf(office.shared, params.user_id) }
    const acted = await act(office, actor, { name: 'reset_password', details })
    return { ...renderActed(acted), ...passwordOf(acted) }
  }),

  answer(resetFactorByOperator, async ({ actor, params }) => {
    const details = { email: await emailOf(office.shared, params.user_id) }
    return renderActed(await act(office, actor, { name: 'reset_factor', details }))
  }),
]

/** The new password, if the act was performed at once. If it was proposed, the operator who approves gets the password. */
const passwordOf = (acted: { done: { password: string } } | object) =>
  'done' in acted ? { password: acted.done.password } : {}

async function emailOf({ db }: Shared, id: string): Promise<string> {
  const [user] = await selectUsers(db, { id })
  return user?.email ?? refuse('object_not_found', { message: 'There is no such person.' })
}
