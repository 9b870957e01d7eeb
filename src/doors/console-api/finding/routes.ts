import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import * as contract from './contract.ts'
import { openHintHub, publishDesk, publishEvents } from './hints.ts'
import { searchPartner } from './search.ts'
import { searchAll } from './search-all.ts'
import { streamOf } from './streams.ts'

export const findingRoutes = ({ office, runtimes }: ConsoleParts): ConsoleHandler[] => {
  const { shared } = office
  const hub = openHintHub()

  return [
    answer(contract.searchInConsole, async ({ world, actor, query }) => ({
      data: await searchPartner(world, actor.partner_id, query.q),
    })),

    answer(contract.searchAsOperator, async ({ world, query }) => ({
      data: await searchAll(office, world, query.q),
    })),

    answer(contract.streamInConsole, async ({ world, actor, gone }) => {
      const { environment } = world
      const { partner_id } = actor
      const { newEvents } = runtimes[environment]
      const inbox = hub.subscribe(`${environment} ${partner_id}`, (send, until, begun) =>
        publishEvents(world, newEvents, { partner_id, send, until, begun }),
      )
      return streamOf(inbox, gone)
    }),

    answer(contract.streamToOperator, async ({ world, gone }) => {
      const inbox = hub.subscribe(`${world.environment} desk`, (send, until, begun) =>
        publishDesk(world, shared.db, { send, until, begun }),
      )
      return streamOf(inbox, gone)
    }),
  ]
}
