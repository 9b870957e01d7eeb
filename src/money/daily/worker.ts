import type { Logger } from 'pino'
import { type Activity, alwaysActive } from '../../core/activity.ts'
import { openLoop } from '../../core/loop.ts'
import type { ShouldContinue } from '../../db/chore.ts'
import { type Pool, transaction } from '../../db/pool.ts'
import type { World } from '../../world.ts'
import { addUpBalances, foldNext, isBehind } from './store.ts'

/**
 * Adds up, for the console, what ended on each day. It follows the event log, which has every end exactly once. The log position
 * is stored in the transaction that adds, so a crash leaves both or neither. One node at a time does this.
 */
export type DailyWorker = { stop(): Promise<void> }

const POLL_INTERVAL = { least_ms: 3000, most_ms: 12_000 }
const EVENTS_AT_ONCE = 5000
/** Least time between two sums of all balances. It grows with their number, by BALANCE_MS each: every balance is read. */
const BALANCES_MS = 5000
/** In a world that seems idle: the hint of a change may have been lost. */
const IDLE_BALANCES_MS = 60_000
const BALANCE_MS = 0.2

export function openDailyWorker(world: World, log: Logger, activity: Activity = alwaysActive): DailyWorker {
  let stopped = false
  let balances = { at: Number.NEGATIVE_INFINITY, dear_ms: 0 }

  async function work(): Promise<void> {
    await foldEnds(world.db, () => !stopped)
    const rest_ms = activity.isActiveSince(balances.at) ? BALANCES_MS : IDLE_BALANCES_MS
    const at = performance.now()
    if (at - balances.at < Math.max(rest_ms, balances.dear_ms)) return
    const read = await foldBalances(world.db)
    balances = { at, dear_ms: read * BALANCE_MS }
  }

  const loop = openLoop(work, {
    poll_ms: () => activity.pollInterval(POLL_INTERVAL),
    first_ms: POLL_INTERVAL.least_ms,
    onError: (error) => log.warn({ err: error }, 'daily: cannot add up the day; trying again'),
  })
  activity.onActive(loop.wake)
  return {
    async stop() {
      stopped = true
      await loop.stop()
    },
  }
}

/** Adds the new events of the log to the sums. Does nothing if another node is doing it. */
export async function foldEnds(db: Pool, shouldContinue: ShouldContinue = () => true): Promise<void> {
  if (!(await isBehind(db))) return
  for (let taken = EVENTS_AT_ONCE; taken === EVENTS_AT_ONCE && shouldContinue(); )
    taken = await transaction(db, (tx) => foldNext(tx, EVENTS_AT_ONCE))
}

export const foldBalances = (db: Pool): Promise<number> => transaction(db, addUpBalances)
