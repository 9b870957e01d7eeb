import { refuse } from '../core/errors.ts'
import { type Handler, handle } from '../http/endpoint.ts'
import { decodeCursor, encodeCursor, limitOf } from '../http/page.ts'
import { type Lookouts, readOrWait } from '../http/wait.ts'
import type { World } from '../world.ts'
import * as contract from './contract.ts'
import { findEvent, positionAfter } from './log.ts'
import { type PlacedEvent, selectEvents } from './store.ts'

export const eventsRoutes = (lookouts: Lookouts): Handler[] => [
  handle(contract.listEvents, async ({ world, caller, query, wait_ms, gone }) => {
    const { partner_id } = caller
    const { type, object_id } = query
    const limit = limitOf(query)
    const filter = { partner_id, type, object_id, limit: limit + 1 }
    const after = query.after ?? (query.wait === undefined ? undefined : 'now')
    if (after === undefined) {
      const before = readPosition(query.cursor, 'cursor')
      return pageOf(world, await selectEvents(world.db, { ...filter, from: { before } }), limit, null)
    }
    if (query.cursor !== undefined)
      refuse('invalid_request', { param: 'cursor', message: 'Send after or cursor, not both.' })
    let position: bigint | undefined
    const read = async () => {
      position ??= await positionAfter(world, partner_id, after, readPosition)
      return position === undefined ? [] : selectEvents(world.db, { ...filter, from: { after: position } })
    }
    const lookout = lookouts[world.environment]
    const events = await readOrWait(read, {
      isEmpty: (found) => found.length === 0,
      lookout,
      partner_id,
      wait_ms,
      gone,
    })
    // Committed, but not in the log yet: nothing is behind it, and it is where to go on from.
    if (position === undefined) return { data: [], has_more: false, next_cursor: after }
    return pageOf(world, events, limit, position)
  }),

  handle(contract.getEvent, async ({ world, caller, params }) =>
    contract.renderEvent(
      await findEvent(world, { id: params.event_id, partner_id: caller.partner_id }),
      world.environment,
    ),
  ),
]

function readPosition(cursor: string | undefined, param: string): bigint | undefined {
  const position = decodeCursor(cursor, { position: /^[0-9]{1,18}$/ }, param)?.position
  return position === undefined ? undefined : BigInt(position)
}

/** Whoever reads oldest first comes back later, so that page says where to go on even when it was the last. */
function pageOf(world: World, events: readonly PlacedEvent[], limit: number, after: bigint | null) {
  const shown = events.slice(0, limit)
  const has_more = events.length > limit
  const position = shown.at(-1)?.position ?? after
  const goes_on = position !== null && (has_more || after !== null)
  return {
    data: shown.map((event) => contract.renderEvent(event, world.environment)),
    has_more,
    next_cursor: goes_on ? encodeCursor({ position: position.toString() }) : null,
  }
}
