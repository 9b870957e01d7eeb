import { refuse } from '../core/errors.ts'
import type { Lookout } from '../db/lookout.ts'
import { selectNewest } from '../db/newest.ts'
import { type Handler, handle } from '../http/endpoint.ts'
import { decodeCursor, encodeCursor, filterOf, listOf, pageOf } from '../http/page.ts'
import { readOrWait } from '../http/wait.ts'
import type { World } from '../world.ts'
import * as contract from './contract.ts'
import { findEvent, positionAfter } from './log.ts'
import { eventList, type LogPage, type StoredEvent, selectEvents } from './store.ts'

export const eventsRoutes = (lookout: Lookout): Handler[] => [
  handle(contract.listEvents, async (call) => {
    const { world, actor, query } = call
    const { type, object_id } = query
    const { partner_id } = actor
    const list = listOf(contract.listEvents, call)
    const { limit, tag } = list
    const filter = { partner_id, type, object_id, limit: limit + 1 }
    const behind = query.after ?? (query.wait === undefined ? undefined : 'now')
    if (behind === undefined) {
      if (list.after || list.before) {
        const found = await selectNewest<StoredEvent>(world.db, eventList, {
          partner_id,
          filters: { type, object_id },
          ...filterOf(list, 'evt'),
        })
        return pageOf(list, found, (event) => contract.renderEvent(event, world.environment))
      }
      const before = readPosition(list.cursor, { tag })
      return logPage(world, await selectEvents(world.db, { ...filter, from: { before } }), { limit, tag })
    }
    refuseBeside(query)
    let after: bigint | undefined
    const read = async (): Promise<LogPage> => {
      after ??= await positionAfter(world, partner_id, behind, (text, param) => readPosition(text, { param }))
      return after === undefined ? { rows: [] } : selectEvents(world.db, { ...filter, from: { after } })
    }
    const { wait_ms, gone } = call
    const page = await readOrWait(read, {
      isEmpty: ({ rows, stopped_at }) => rows.length === 0 && stopped_at === undefined,
      lookout,
      partner_id,
      wait_ms,
      gone,
    })
    // Committed, but not in the log yet: nothing is behind it, and it is where to go on from.
    if (after === undefined) return { data: [], has_more: false, next_cursor: behind }
    return logPage(world, page, { limit, after })
  }),

  handle(contract.getEvent, async ({ world, actor, params }) =>
    contract.renderEvent(
      await findEvent(world, { id: params.event_id, partner_id: actor.partner_id }),
      world.environment,
    ),
  ),
]

/** Whoever reads on from a point has said where to begin. */
function refuseBeside(query: Readonly<Record<string, string | undefined>>): void {
  for (const param of ['cursor', 'created_after', 'created_before'])
    if (query[param] !== undefined)
      refuse('invalid_request', { param, message: `Send after or ${param}, not both.` })
}

function readPosition(
  cursor: string | undefined,
  options: { tag?: string; param?: string },
): bigint | undefined {
  const position = decodeCursor(cursor, { position: /^[0-9]{1,18}$/ }, options)?.position
  return position === undefined ? undefined : BigInt(position)
}

/**
 * A page in the order of the log. Whoever reads oldest first comes back later, with whatever filters, so that page says
 * where to go on even when it was the last.
 */
function logPage(
  world: World,
  { rows, stopped_at }: LogPage,
  { limit, after, tag }: { limit: number; after?: bigint; tag?: string },
) {
  const shown = rows.slice(0, limit)
  const more = rows.length > limit
  const last = shown.at(-1)?.position ?? after
  const position = more ? last : (stopped_at ?? (after === undefined ? undefined : last))
  return {
    data: shown.map((event) => contract.renderEvent(event, world.environment)),
    has_more: more || stopped_at !== undefined,
    next_cursor: position === undefined ? null : encodeCursor({ position: position.toString() }, tag),
  }
}
