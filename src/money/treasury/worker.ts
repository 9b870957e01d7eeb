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
  limitCheck(): Promise<TradeLimitCheck>
  stop(): Promise<void>
}

/** Whether the treasury's limits allow the trade; undefined if the known positions are too old to say. */
export type TradeLimitCheck = (trade: { taken: Holds; given: Holds }) => boolean | undefined
type Holds = { readonly asset: Asset; readonly amount: bigint }

const POLL_INTERVAL = { least_ms: 500, most_ms: 8000 }
const CHECK_CACHED_MS = 900
/** A trade that waited longer than this is judged again on newer positions (contract §10). */
const CHECK_VALID_MS = 1000
/** A fold is one transaction, so a stop need not wait for its end. */
const STOP_MS = 3000

const withoutLimits: TradeLimitCheck = () => true

/** Without `folds` (role `api`) a node folds only when it needs current positions for the limits. */
export function openTreasuryWorker(
  world: World,
  log: Logger,
  { folds, activity = alwaysActive }: { readonly folds: boolean; readonly activity?: Activity } = {
    folds: true,
  },
): TreasuryWorker {
  let known: { check: TradeLimitCheck; at: number } | undefined
  let asking: Promise<TradeLimitCheck> | undefined
  let stopped = false
  const folding = folds
    ? openLoop(() => foldWaiting(world.db, () => !stopped), {
        poll_ms: () => activity.pollInterval(POLL_INTERVAL),
        first_ms: POLL_INTERVAL.least_ms,
        onError: (error) =>
          log.warn({ err: error }, 'treasury: cannot fold trades into the positions; trying again'),
      })
    : undefined

  if (folding) activity.onActive(folding.wake)

  async function readLimitCheck(): Promise<TradeLimitCheck> {
    const at = performance.now()
    const check = await currentLimitCheck(world.db)
    known = { check, at }
    return check
  }

  return {
    async limitCheck() {
      if (!world.treasury_limits) return withoutLimits
      if (known && performance.now() - known.at < CHECK_CACHED_MS) return known.check
      asking ??= readLimitCheck().finally(() => {
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

async function currentLimitCheck(db: Pool): Promise<TradeLimitCheck> {
  const since = performance.now()
  const limits = await treasuryLimits(db)
  if (limits.length === 0) return withoutLimits
  await foldTrades(db)
  const positions = new Map((await treasuryPositions(db)).map(({ asset, amount }) => [asset, amount]))
  const bounds = new Map(limits.map((limit) => [limit.asset, limit]))
  const ends = since + CHECK_VALID_MS
  return ({ taken, given }) => {
    if (performance.now() > ends) return undefined
    const highest = bounds.get(taken.asset)?.highest ?? null
    const lowest = bounds.get(given.asset)?.lowest ?? null
    if (highest !== null && (positions.get(taken.asset) ?? 0n) + taken.amount > highest) return false
    return lowest === null || (positions.get(given.asset) ?? 0n) - given.amount >= lowest
  }
}
