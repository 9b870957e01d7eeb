import type { Asset } from '../../core/money.ts'
import type { ShouldContinue } from '../../db/chore.ts'
import { type Db, type Pool, transaction } from '../../db/pool.ts'
import { emptyHolding, move } from './average-cost.ts'
import {
  hasUnfolded,
  lockFold,
  lockPositions,
  type Position,
  positionId,
  savePositions,
  takeUnfolded,
  tryLockFold,
  type UnfoldedTrade,
} from './store.ts'

const FOLD_AT_ONCE = 1000

/**
 * Folds all waiting trades into the positions, before a caller reads these. Waits for a fold of another node, so every trade
 * that was acknowledged before is included.
 */
export async function foldTrades(db: Pool): Promise<void> {
  const wait = async (tx: Db) => {
    await lockFold(tx)
    return true
  }
  if (await hasUnfolded(db)) await foldAll(db, wait, () => true)
}

/** The same in the background. Does nothing if another node is folding. */
export async function foldWaiting(db: Pool, shouldContinue: ShouldContinue): Promise<void> {
  if (await hasUnfolded(db)) await foldAll(db, tryLockFold, shouldContinue)
}

async function foldAll(
  db: Pool,
  takeLock: (tx: Db) => Promise<boolean>,
  shouldContinue: ShouldContinue,
): Promise<void> {
  for (let taken = FOLD_AT_ONCE; taken === FOLD_AT_ONCE && shouldContinue(); ) {
    taken = await transaction(db, async (tx) => {
      if (!(await takeLock(tx))) return 0
      const trades = await takeUnfolded(tx, FOLD_AT_ONCE)
      if (trades.length === 0) return 0
      const ids = [...new Set(trades.flatMap((trade) => changesOf(trade).map(({ position }) => position.id)))]
      const held = await lockPositions(tx, ids)
      await savePositions(tx, foldIntoPositions(held, trades))
      return trades.length
    })
  }
}

/** The order of the trades matters: a position is closed at its average cost of that moment. */
export function foldIntoPositions(held: readonly Position[], trades: readonly UnfoldedTrade[]): Position[] {
  const positions = new Map(held.map((position) => [position.id, position]))
  for (const { position, change, worth } of trades.flatMap(changesOf)) {
    const before = positions.get(position.id) ?? position
    positions.set(position.id, { ...before, ...move(before, change, worth) })
  }
  return [...positions.values()]
}

type Change = { readonly position: Position; readonly change: bigint; readonly worth: bigint }

/** The changes of a trade to the positions. A partner's fee has no cost: it is owed, not held. */
function changesOf(trade: UnfoldedTrade): Change[] {
  const { from_asset, to_asset, to_amount, partner_fee, service_fee, worth_brl } = trade
  const at = (account: Position['account'], owner: string, asset: Asset): Position => {
    const place = { account, owner, asset }
    return { id: positionId(place), ...place, ...emptyHolding }
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
