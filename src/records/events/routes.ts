import type { LogPoller } from '../../db/log-poller.ts'
import { type Handler, handle } from '../../http/endpoint.ts'
import { decodeCursor, encodeCursor, type List, listOf, renderPage } from '../../http/page.ts'
import { followedFrom } from '../../http/wait.ts'
import type { World } from '../../world.ts'
import * as contract from './contract.ts'
import { findEvent, followEvents } from './log.ts'
import { type LogFilter, type LogPage, selectEvents } from './log-store.ts'
import type { StoredEvent } from './store.ts'

export const eventsRoutes = (poller: LogPoller): Handler[] => [
  handle(contract.listEvents, async (call) => {
    const { world, query, wait_ms, gone } = call
    const { type, object_id } = query
    const { partner_id } = call.actor
    const list = listOf(contract.listEvents, call)
    const { limit } = list
    const filter = { partner_id, type, object_id, limit: limit + 1 }
    const after = followedFrom(query)
    if (after !== undefined) {
      const from = { after, readCursor: (text: string) => readPosition(text, { param: 'after' }) }
      const page = await followEvents(world, filter, from, { poller, wait_ms, gone })
      // The event has no position yet, so nothing is after it. Its id is the cursor to continue from.
      if (page.after === undefined) return { data: [], has_more: false, next_cursor: after }
      return logPage(world, page, { limit, after: page.after })
    }
    return newestEvents(world, list, { partner_id, type, object_id })
  }),

  handle(contract.getEvent, async ({ world, actor, params }) =>
    contract.renderEvent(
      await findEvent(world, { id: params.event_id, partner_id: actor.partner_id }),
      world.environment,
    ),
  ),
]

/** A page of the log by time. */
export async function newestEvents(
  world: World,
  list: List,
  filter: Pick<LogFilter, 'partner_id' | 'type' | 'object_id'>,
) {
  const { limit, tag } = list
  const page = await eventsOf(world, list, filter, readPosition(list.cursor, { tag }), limit + 1)
  return logPage(world, page, { limit, tag })
}

/** The events of a list that follow a position in its order. */
export const eventsOf = (
  { db }: Pick<World, 'db'>,
  { after, before, order }: Pick<List, 'after' | 'before' | 'order'>,
  filter: Pick<LogFilter, 'partner_id' | 'type' | 'object_id'>,
  position: bigint | undefined,
  limit: number,
): Promise<LogPage> => {
  const from = order === 'oldest' ? { after: position ?? 0n } : { before: position }
  return selectEvents(db, { ...filter, from, time: { after, before }, limit })
}

function readPosition(
  cursor: string | undefined,
  options: { tag?: string; param?: string },
): bigint | undefined {
  const position = decodeCursor(cursor, { position: /^[0-9]{1,18}$/ }, options)?.position
  return position === undefined ? undefined : BigInt(position)
}

/**
 * A page in the order of the log. A caller that reads oldest first comes back later, so such a page has a cursor even if it is
 * the last.
 */
function logPage(
  world: World,
  { rows, stopped_at }: LogPage,
  { limit, after, tag }: { limit: number; after?: bigint; tag?: string },
) {
  const textOf = (event: StoredEvent) => contract.eventText(event, world.environment)
  const texts = renderPage(rows.slice(0, limit), textOf, Buffer.byteLength)
  const more = rows.length > texts.length
  const last = rows[texts.length - 1]?.position ?? after
  const position = more ? last : (stopped_at ?? (after === undefined ? undefined : last))
  return {
    data: texts.map((text) => JSON.parse(text)),
    has_more: more || stopped_at !== undefined,
    next_cursor: position === undefined ? null : encodeCursor({ position: position.toString() }, tag),
  }
}
