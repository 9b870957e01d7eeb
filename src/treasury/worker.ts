import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Activity, alwaysActive } from '../core/activity.ts'
import { openLoop } from '../core/loop.ts'
import type { Asset } from '../core/money.ts'
import type { Pool } from '../db/pool.ts'
import type { World } from '../world.ts'
import { treasuryLimits, treasuryPositions } from './store.ts'
import { foldTrades, foldWaiting } from './treasury.ts'

/**
 * The house's side of conversions. Trades add entries to its accounts without waiting for anybody; this adds them up in
 * the background, and says whether there is room for another one.
 */
export type TreasuryWorker = {
  /** What may still be taken; judged on sums that are at most a second old. */
  room(): Promise<Room>
  stop(): Promise<void>
}

/** Whether the treasury may take so much of one asset for so much of another; undefined: what it knows is too old to say. */
export type Room = (trade: { taken: Holds; given: Holds }) => boolean | undefined
type Holds = { readonly asset: Asset; readonly amount: bigint }

const REST = { least_ms: 500, most_ms: 8000 }
const ROOM_MS = 900
/** A trade that waited for longer behind others is judged on newer sums (contract §10). */
const ROOM_LASTS_MS = 1000
/** A fold is whole or not at all, so a stop need not see its end. */
const STOP_MS = 3000

const endless: Room = () => true

/** Who does not fold leaves that to other nodes, but for what it must know to say whether there is room. */
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
        onError: (error) => log.warn({ err: error }, 'treasury: trades not added up yet'),
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
