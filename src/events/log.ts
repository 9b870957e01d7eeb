import { setTimeout as sleep } from 'node:timers/promises'
import { refuse } from '../core/errors.ts'
import { isId } from '../core/ids.ts'
import type { World } from '../world.ts'
import type { Lookout } from './lookout.ts'
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

/** After the first event others may follow at once: they are answered together. */
const GATHER_MS = 50
/** What a filter leaves out wakes a caller for nothing: then it looks less and less often. */
const GATHER_MAX_MS = 800

/** Reads again and again until there is something, or the wait is over. */
export async function readOrWait<Found>(
  read: () => Promise<Found>,
  wait: {
    readonly isEmpty: (found: Found) => boolean
    readonly lookout: Lookout
    readonly partner_id: string
    readonly wait_ms: number
    readonly gone: AbortSignal
  },
): Promise<Found> {
  if (wait.wait_ms === 0) return read()
  const until = performance.now() + wait.wait_ms
  const watch = await wait.lookout.watch(wait.partner_id)
  try {
    let found = await read()
    for (let gather_ms = GATHER_MS; wait.isEmpty(found); gather_ms = Math.min(2 * gather_ms, GATHER_MAX_MS)) {
      if (!(await watch.news(until, wait.gone))) break
      await sleep(Math.max(0, Math.min(gather_ms, until - performance.now())))
      found = await read()
    }
    return found
  } finally {
    watch.end()
  }
}
