import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import * as contract from './contract.ts'
import { cryDesk, cryEvents, openCriers } from './hints.ts'
import { search } from './search.ts'
import { searchAll } from './search-all.ts'
import { streamOf } from './streams.ts'

export const findingRoutes = ({ office, runtimes }: ConsoleParts): ConsoleHandler[] => {
  const { shared } = office
  const criers = openCriers()

  return [
    answer(contract.search, async ({ world, actor, query }) => ({
      data: await search(world, actor.partner_id, query.q),
    })),

    answer(contract.searchAsOperator, async ({ world, query }) => ({
      data: await searchAll(office, world, query.q),
    })),

    answer(contract.stream, async ({ world, actor, gone }) => {
      const { environment } = world
      const { partner_id } = actor
      const { newEvents } = runtimes[environment]
      const inbox = criers.listen(`${environment} ${partner_id}`, (tell, until, begun) =>
        cryEvents(world, newEvents, { partner_id, tell, until, begun }),
      )
      return streamOf(inbox, gone)
    }),

    answer(contract.streamToOperator, async ({ world, gone }) => {
      const inbox = criers.listen(`${world.environment} desk`, (tell, until, begun) =>
        cryDesk(world, shared.db, { tell, until, begun }),
      )
      return streamOf(inbox, gone)
    }),
  ]
}
