import { findOwned, type OwnedId } from '../../core/owned.ts'
import { readOrWait, type Wait } from '../../http/wait.ts'
import type { World } from '../../world.ts'
import { type LogFilter, type LogPage, lastPosition, selectEvents } from './log-store.ts'
import { eventById } from './store.ts'

/** Reading the log (contract §12). An event of another partner or environment is not found. */
export const findEvent = (world: World, where: OwnedId, param?: string) =>
  findOwned('event', where, () => eventById(world.db, where), param)

type FollowEventsFrom = {
  readonly after: string
  /** Decodes the position at which an earlier page ended. */
  readonly readCursor: (text: string) => bigint | undefined
}

type FollowedEvents = LogPage & {
  /** Undefined: the caller reads after an event that is committed but has no position yet. */
  readonly after: bigint | undefined
}

/** Events after a point of the log, oldest first. If there are none, waits for the next. */
export async function followEvents(
  world: World,
  filter: Omit<LogFilter, 'from'>,
  from: FollowEventsFrom,
  wait: Wait,
): Promise<FollowedEvents> {
  const { partner_id } = filter
  let after: bigint | undefined
  const read = async (): Promise<LogPage> => {
    after ??= await positionAfter(world, partner_id, from)
    return after === undefined ? { rows: [] } : selectEvents(world.db, { ...filter, from: { after } })
  }
  return { ...(await readOrWait(read, partner_id, wait)), after }
}

/** The position to read after; undefined if the named event has none yet. `now` is the position of the last event. */
async function positionAfter(
  world: World,
  partner_id: string,
  { after, readCursor }: FollowEventsFrom,
): Promise<bigint | undefined> {
  if (after === 'start') return 0n
  if (after === 'now') return lastPosition(world.db, partner_id)
  if (!after.startsWith('evt_')) return readCursor(after)
  return (await findEvent(world, { id: after, partner_id }, 'after')).position ?? undefined
}
