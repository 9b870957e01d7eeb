import { refuse } from '../core/errors.ts'
import { isId } from '../core/ids.ts'
import type { World } from '../world.ts'
import { eventById, lastPosition } from './store.ts'

/** Reading the log (contract §12). An event of another partner, or of the other environment, is none. */
export async function findEvent(world: World, where: { id: string; partner_id: string }, param = 'event_id') {
  const event = isId('event', where.id) ? await eventById(world.db, where) : undefined
  return event ?? refuse('event_not_found', { param })
}

/** The position behind which to read on; undefined: that of an event which has none yet. `now` is behind the last one. */
export async function positionAfter(
  world: World,
  partner_id: string,
  after: string,
  readCursor: (text: string, param: string) => bigint | undefined,
): Promise<bigint | undefined> {
  if (after === 'start') return 0n
  if (after === 'now') return lastPosition(world.db, partner_id)
  if (!after.startsWith('evt_')) return readCursor(after, 'after')
  return (await findEvent(world, { id: after, partner_id }, 'after')).position ?? undefined
}
