import { Type as T } from 'typebox'
import { environments } from '../../core/environment.ts'
import { type List, listOf } from '../../http/page.ts'
import type { World } from '../../world.ts'
import type { ConsoleEndpoint } from '../endpoint.ts'

export const Environment = T.Enum([...environments])

const PAGE = '50'

type ListCall = Parameters<typeof listOf>[1]

/** Which list a page reads, and how much of it. */
export const pageAsked = (endpoint: Pick<ConsoleEndpoint, 'name'>, call: ListCall): List =>
  listOf(endpoint as never, { ...call, query: { limit: PAGE, ...call.query } })

/** Pages that only look wait for no connection that money needs. */
export const looking = (world: World): World => ({ ...world, db: world.reads })
