import type { Looks } from '../../../control/operator/looks.ts'
import type { OperatorActor, PersonActor } from '../../../core/actor.ts'
import { findPartner } from '../../../parties/partners/partners.ts'
import type { World } from '../../../world.ts'
import { chargesRoutes } from '../charges/routes.ts'
import { conversionsRoutes } from '../conversions/routes.ts'
import { developersRoutes } from '../developers/routes.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import { moneyRoutes } from '../money/routes.ts'
import type { ConsoleParts } from '../parts.ts'
import { getPartnerName, viewed } from './view-contract.ts'

type ViewCall = {
  readonly world: World
  readonly actor: OperatorActor
  readonly params: Readonly<Record<string, string>>
}

/** The handlers of the partner's pages, called for the partner in the address; personal data leaves a line in the act log. */
export function viewRoutes(parts: ConsoleParts, looks: Looks): ConsoleHandler[] {
  const { office } = parts
  const own = [
    ...moneyRoutes(parts),
    ...chargesRoutes(parts),
    ...conversionsRoutes(parts),
    ...developersRoutes(parts),
  ]
  const views = viewed.map(({ of, view, personal }): ConsoleHandler => {
    const { run } = own.find(({ endpoint }) => endpoint === of)!
    return {
      endpoint: view,
      async run(call) {
        const { world, actor, params } = call as unknown as ViewCall
        const { partner_id } = params as { partner_id: string }
        await findPartner(office.shared, partner_id)
        const seen = await run({ ...call, actor: readerOf(actor, partner_id) } as never)
        // Before the reply leaves: what cannot be logged is not shown.
        if (personal) {
          const object_id = params[personal.param]!
          await looks.note(world, actor, { object_id, partner_id, what: personal.what })
        }
        return seen
      },
    }
  })
  const named = answer(getPartnerName, async ({ params }) => {
    const { id, name } = await findPartner(office.shared, params.partner_id)
    return { id, name }
  })
  return [named, ...views]
}

/** The handlers of a partner's reads find everything by the partner of the actor, and write nothing. */
const readerOf = (
  { user_id, email, session_id = '', address = '' }: OperatorActor,
  partner_id: string,
): PersonActor => ({
  kind: 'person',
  role: 'viewer',
  user_id,
  email,
  partner_id,
  session_id,
  address,
})
