import { mulDiv, mulDivTowardsZero } from '../../core/money.ts'

/**
 * A position at average cost. A short position has a negative amount and a negative cost: what was received for it.
 * `realised` is the gain of the parts that were closed.
 */
export type Holding = { readonly amount: bigint; readonly cost: bigint; readonly realised: bigint }

export const emptyHolding: Holding = { amount: 0n, cost: 0n, realised: 0n }

const abs = (n: bigint): bigint => (n < 0n ? -n : n)

/** Adds `change` to the position (negative: takes it away) for something worth `worth`. */
export function move({ amount, cost, realised }: Holding, change: bigint, worth: bigint): Holding {
  if (change === 0n) return { amount, cost, realised }
  const sign = change < 0n ? -1n : 1n
  if (amount * sign >= 0n) return { amount: amount + change, cost: cost + sign * worth, realised }
  const closed = abs(change) < abs(amount) ? abs(change) : abs(amount)
  // The remainder of the division stays with the part that is not closed.
  const closedCost = mulDivTowardsZero(cost, closed, abs(amount))
  const closedWorth = mulDiv(worth, closed, abs(change), 'down')
  return {
    amount: amount + change,
    // A change beyond zero opens a position in the other direction.
    cost: cost - closedCost + sign * (worth - closedWorth),
    realised: realised - sign * closedWorth - closedCost,
  }
}
