/**
 * Which coins a transfer spends. Mined coins come first; change of own transactions that are not mined yet is used only where
 * the mined coins do not suffice, and only behind few such transactions: a node refuses long chains of them.
 */
export type Selectable = {
  readonly id: string
  readonly amount: bigint
  /** Own transactions that are not mined and without which the coin does not exist; none for a mined coin. */
  readonly behind: readonly UnminedTransaction[]
}

export type UnminedTransaction = { readonly id: string; readonly vsize: number; readonly fee: bigint }

type Needs = {
  readonly amount: bigint
  readonly sat_per_vbyte: bigint
  /** Bytes of the script that is paid. */
  readonly script_bytes: number
}

/** Of native witness inputs and outputs with a public key hash, in virtual bytes, rounded up. */
const OVERHEAD_VBYTES = 11n
const INPUT_VBYTES = 68n
const CHANGE_VBYTES = 31n
/** Value and length of the script before an output. */
const OUTPUT_VBYTES = 9n

const INPUTS_MOST = 100
/** A chain of five: the new transaction and four before it. */
const BEHIND_MOST = 4

/** Undefined if the coins do not suffice. Preferably with room for a replacement at twice the rate. */
export function selectCoins<Coin extends Selectable>(
  coins: readonly Coin[],
  needs: Needs,
): readonly Coin[] | undefined {
  const { sat_per_vbyte } = needs
  // Leaves out coins that cost more to spend than they are worth.
  const useful = coins.filter(({ amount }) => amount > INPUT_VBYTES * sat_per_vbyte)
  const mined = useful.filter(({ behind }) => behind.length === 0)
  const with_room = { ...needs, sat_per_vbyte: 2n * sat_per_vbyte + 1n }
  return (
    selectFrom(mined, with_room) ??
    selectFrom(useful, with_room) ??
    selectFrom(mined, needs) ??
    selectFrom(useful, needs)
  )
}

/** The smallest coin that suffices alone; else the largest ones, mined ones first. */
function selectFrom<Coin extends Selectable>(
  coins: readonly Coin[],
  needs: Needs,
): readonly Coin[] | undefined {
  const alone = coins
    .filter((coin) => isAllowed([coin]) && coin.amount >= neededBy([coin], needs))
    .sort((a, b) => a.behind.length - b.behind.length || order(a.amount, b.amount))
  if (alone[0]) return [alone[0]]
  const chosen: Coin[] = []
  const by_size = [...coins].sort(
    (a, b) => Number(a.behind.length > 0) - Number(b.behind.length > 0) || order(b.amount, a.amount),
  )
  for (const coin of by_size) {
    if (chosen.length === INPUTS_MOST) return undefined
    if (!isAllowed([...chosen, coin])) continue
    chosen.push(coin)
    if (sumOf(chosen) >= neededBy(chosen, needs)) return chosen
  }
  return undefined
}

const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

const sumOf = (coins: readonly Selectable[]): bigint => coins.reduce((sum, { amount }) => sum + amount, 0n)

const isAllowed = (coins: readonly Selectable[]): boolean => allBehind(coins).length <= BEHIND_MOST

/** Each of the unmined transactions behind some coins, once. */
export const allBehind = (coins: readonly Pick<Selectable, 'behind'>[]): readonly UnminedTransaction[] => [
  ...new Map(coins.flatMap(({ behind }) => behind.map((one) => [one.id, one] as const))).values(),
]

/** What the coins must bring: the amount, the fee, and what the transactions behind them lack at this rate. */
export function neededBy(
  coins: readonly Selectable[],
  { amount, sat_per_vbyte, script_bytes }: Needs,
): bigint {
  const vsize =
    OVERHEAD_VBYTES +
    INPUT_VBYTES * BigInt(coins.length) +
    OUTPUT_VBYTES +
    BigInt(script_bytes) +
    CHANGE_VBYTES
  const behind = allBehind(coins).reduce(
    (sum, { vsize, fee }) => sum + sat_per_vbyte * BigInt(vsize) - fee,
    0n,
  )
  return amount + vsize * sat_per_vbyte + (behind > 0n ? behind : 0n)
}
