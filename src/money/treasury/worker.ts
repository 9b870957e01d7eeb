import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Activity, alwaysActive } from '../../core/activity.ts'
import { openLoop } from '../../core/loop.ts'
import type { Asset } from '../../core/money.ts'
import type { Pool } from '../../db/pool.ts'
import type { World } from '../../world.ts'
import { treasuryLimits, treasuryPositions } from './store.ts'
import { foldTrades, foldWaiting } from './treasury.ts'

/**
 * The house's side of conversions. Trades add entries to its accounts without a lock. This worker adds them up in the background,
 * and says whether the treasury's limits allow another trade.
 */
export type TreasuryWorker = {
  /** Judges trades on positions that are at most a second old. */
  room(): Promise<Room>
  stop(): Promise<void>
}

/** Whether the treasury's limits allow the trade; undefined if the known positions are too old to say. */
export type Room = (trade: { taken: Holds; given: Holds }) => boolean | undefined
type Holds = { readonly asset: Asset; readonly amount: bigint }

const REST = { least_ms: 500, most_ms: 8000 }
const ROOM_MS = 900
/** A trade that waited longer than this is judged again on newer positions (contract §10). */
const ROOM_LASTS_MS = 1000
/** A fold is one transaction, so a stop need not wait for its end. */
const STOP_MS = 3000

const endless: Room = () => true

/** Without `folds` (role `api`) a node folds only when it needs current positions for the limits. */
export function openTreasuryWorker(
  world: World,
  log: Logger,
  { folds, activity = alwaysActive }: { readonly folds: boolean; readonly activity?: Activity } = {
    folds: true,
  },
): TreasuryWorker {
  let known: { room: Room; at: number } | undefined
  let asking: Promise<Room> | undefined
  let stopped = false
  const folding = folds
    ? openLoop(() => foldWaiting(world.db, () => !stopped), {
        poll_ms: () => activity.pollInterval(REST),
        first_ms: REST.least_ms,
        onError: (error) =>
          log.warn({ err: error }, 'treasury: cannot fold trades into the positions; trying again'),
      })
    : undefined

  if (folding) activity.onActive(folding.wake)

  async function readRoom(): Promise<Room> {
    const at = performance.now()
    const room = await currentRoom(world.db)
    known = { room, at }
    return room
  }

  return {
    async room() {
      if (!world.treasury_limits) return endless
      if (known && performance.now() - known.at < ROOM_MS) return known.room
      asking ??= readRoom().finally(() => {
        asking = undefined
      })
      return asking
    },
    async stop() {
      stopped = true
      await Promise.race([folding?.stop(), sleep(STOP_MS, undefined, { ref: false })])
    },
  }
}

async function currentRoom(db: Pool): Promise<Room> {
  const since = performance.now()
  const limits = await treasuryLimits(db)
  if (limits.length === 0) return endless
  await foldTrades(db)
  const positions = new Map((await treasuryPositions(db)).map(({ asset, amount }) => [asset, amount]))
  const bounds = new Map(limits.map((limit) => [limit.asset, limit]))
  const ends = since + ROOM_LASTS_MS
  return ({ taken, given }) => {
    if (performance.now() > ends) return undefined
    const highest = bounds.get(taken.asset)?.highest ?? null
    const lowest = bounds.get(given.asset)?.lowest ?? null
    if (highest !== null && (positions.get(taken.asset) ?? 0n) + taken.amount > highest) return false
    return lowest === null || (positions.get(given.asset) ?? 0n) - given.amount >= lowest
  }
}
