import type { Logger } from 'pino'
import { openLoop } from '../core/loop.ts'
import type { Quiet } from '../core/quiet.ts'
import type { World } from '../world.ts'

/**
 * Gives places in the log to events that were written beside the door, once they are committed. Any number of nodes may do
 * it. There are few of them: what moves money gives its events their places itself.
 */
export type Placing = {
  /** One was written, and may not be committed yet. */
  wake(): void
  stop(): Promise<void>
}

/** How soon to look after one was written: its transaction is short, and may still take a while. */
const SOON_MS = [10, 50, 250, 1000]
/** For what other nodes left. */
const REST = { least_ms: 1000, most_ms: 4000 }

export function openPlacing(
  { db }: World,
  { log, quiet, onPlaced }: { readonly log: Logger; readonly quiet: Quiet; readonly onPlaced: () => void },
): Placing {
  let looks = SOON_MS.length

  async function place(): Promise<void> {
    const { rows } = await db.query({
      name: 'unplaced events',
      text: 'SELECT EXISTS (SELECT FROM events WHERE position IS NULL) AS waiting',
    })
    if (!rows[0].waiting) return
    await db.query({ name: 'place events', text: 'SELECT place_events()' })
    onPlaced()
  }

  const loop = openLoop(place, {
    poll_ms: () => SOON_MS[looks++] ?? quiet.rest(REST),
    onError: (error) => log.warn({ err: error }, 'events: not placed yet'),
  })
  quiet.onStir(loop.wake)
  return {
    wake() {
      looks = 0
      loop.wake()
    },
    stop: loop.stop,
  }
}
