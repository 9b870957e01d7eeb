import { Type as T } from 'typebox'
import { environments } from '../../../core/environment.ts'
import { type List, listOf } from '../../../http/page.ts'
import type { World } from '../../../world.ts'
import type { ConsoleEndpoint } from '../endpoint.ts'

export const EnvironmentName = T.Enum([...environments])

const PAGE = '50'

type ListCall = Parameters<typeof listOf>[1]

/** The list of a call, with the page size of the console. */
export const pageAsked = (endpoint: Pick<ConsoleEndpoint, 'name'>, call: ListCall): List =>
  listOf(endpoint as never, { ...call, query: { limit: PAGE, ...call.query } })

/** Read-only pages use `reads`, so that they take no connection that money needs. */
export const onReadPool = (world: World): World => ({ ...world, db: world.reads })
