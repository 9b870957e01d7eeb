import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Asset } from '../core/money.ts'
import type { GoOn } from '../db/chore.ts'
import { type Pool, transaction } from '../db/pool.ts'
import type { World } from '../world.ts'
import { move, nothing } from './average-cost.ts'
import {
  lockFold,
  lockPositions,
  type Position,
  positionId,
  savePositions,
  takeUnfolded,
  treasuryLimits,
  treasuryPositions,
  type UnfoldedTrade,
} from './store.ts'

/**
 * The house's side of conversions. Trades add entries to its accounts without waiting for anybody; this adds them up in
 * the background, and says whether there is room for another one.
 */
export type Treasury = {
  /** What may still be taken; judged on sums that are at most a second old. */
  room(): Promise<Room>
  stop(): Promise<void>
}

/** Whether the treasury may take so much of one asset for so much of another; undefined: what it knows is too old to say. */
export type Room = (trade: { taken: Holds; given: Holds }) => boolean | undefined
type Holds = { readonly asset: Asset; readonly amount: bigint }

const FOLD_MS = 500
const FOLD_AT_ONCE = 1000
const ROOM_MS = 900
/** A trade that waited for longer behind others is judged on newer sums (contract §10). */
const ROOM_LASTS_MS = 1000
/** A fold is whole or not at all, so a stop need not see its end. */
const STOP_MS = 3000

const endless: Room = () => true

export function openTreasury(world: World, log: Logger): Treasury {
  let known: { room: Room; at: number } | undefined
  let asking: Promise<Room> | undefined
  let folding: Promise<void> | undefined
  let stopped = false
  // Each takes up all there is: while one waits for the database, more of them would only queue behind it.
  const timer = setInterval(() => {
    folding ??= foldTrades(world.db, () => !stopped)
      .catch((error: unknown) => log.warn({ err: error }, 'treasury: trades not added up yet'))
      .finally(() => {
        folding = undefined
      })
  }, FOLD_MS)
  timer.unref()

  async function look(): Promise<Room> {
    const at = performance.now()
    const room = await currentRoom(world.db)
    known = { room, at }
    return room
  }

  return {
    async room() {
      if (world.environment === 'sandbox') return endless
      if (known && performance.now() - known.at < ROOM_MS) return known.room
      asking ??= look().finally(() => {
        asking = undefined
      })
      return asking
    },
    async stop() {
      stopped = true
      clearInterval(timer)
      const enough = new AbortController()
      const late = sleep(STOP_MS, undefined, { signal: enough.signal }).catch(() => {})
      await Promise.race([folding, late])
      enough.abort()
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

/** Adds the trades that are not in the sums yet. Whoever finds another at it leaves it to that one. */
export async function foldTrades(db: Pool, goOn: GoOn = () => true): Promise<void> {
  for (let taken = FOLD_AT_ONCE; taken === FOLD_AT_ONCE && goOn(); ) {
    taken = await transaction(db, async (tx) => {
      if (!(await lockFold(tx))) return 0
      const trades = await takeUnfolded(tx, FOLD_AT_ONCE)
      if (trades.length === 0) return 0
      const ids = [...new Set(trades.flatMap((trade) => changesOf(trade).map(({ position }) => position.id)))]
      const held = await lockPositions(tx, ids)
      await savePositions(tx, fold(held, trades))
      return trades.length
    })
  }
}

/** The order of the trades matters: what is closed is closed at the average of that moment. */
export function fold(held: readonly Position[], trades: readonly UnfoldedTrade[]): Position[] {
  const positions = new Map(held.map((position) => [position.id, position]))
  for (const { position, change, worth } of trades.flatMap(changesOf)) {
    const before = positions.get(position.id) ?? position
    positions.set(position.id, { ...before, ...move(before, change, worth) })
  }
  return [...positions.values()]
}

type Change = { readonly position: Position; readonly change: bigint; readonly worth: bigint }

/** What a trade does to the sums. A partner's fee has no cost: it is owed, not held. */
function changesOf(trade: UnfoldedTrade): Change[] {
  const { from_asset, to_asset, to_amount, partner_fee, service_fee, worth_brl } = trade
  const at = (account: Position['account'], owner: string, asset: Asset): Position => {
    const place = { account, owner, asset }
    return { id: positionId(place), ...place, ...nothing }
  }
  const taken = trade.from_amount - partner_fee - service_fee
  const changes = [
    { position: at('treasury', '', from_asset), change: taken, worth: worth_brl },
    { position: at('treasury', '', to_asset), change: -to_amount, worth: worth_brl },
  ]
  if (partner_fee > 0n)
    changes.push({
      position: at('partner_fees', trade.partner_id, from_asset),
      change: partner_fee,
      worth: 0n,
    })
  return changes
}
