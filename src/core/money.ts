import assert from 'node:assert/strict'
import { refuse } from './errors.ts'

/** Interface §2.1. The only list of assets; every other list is derived from it. */
export const assets = {
  BRL: { decimals: 2 },
  USDT: { decimals: 6 },
  BTC: { decimals: 8 },
} as const

export type Asset = keyof typeof assets
export const assetNames = Object.keys(assets) as Asset[]

/** A quantity of one asset in its smallest unit. Never negative, never a float: direction belongs to the ledger line. */
export type Money<A extends Asset = Asset> = { readonly asset: A; readonly units: bigint }

/** The largest amount, and the most that a customer's available + in transit may reach (contract §2). */
export const UNITS_MAX = 10n ** 18n - 1n

/** The form of an amount on the wire. `BigInt` alone would also accept '', '+5', ' 12 ' and '0x10'. */
export const AMOUNT_PATTERN = '^[1-9][0-9]{0,17}$'
const amount = new RegExp(AMOUNT_PATTERN)

export function money<A extends Asset>(asset: A, units: bigint): Money<A> {
  assert(units >= 0n, 'money is never negative')
  return { asset, units }
}

export function parseMoney<A extends Asset>(asset: A, text: string): Money<A> {
  if (!amount.test(text)) refuse('invalid_amount', { param: 'amount' })
  return money(asset, BigInt(text))
}

/** Who keeps the remainder is a business decision, so the caller must say it. */
export function mulDiv(units: bigint, times: bigint, over: bigint, rounding: keyof typeof roundings): bigint {
  assert(units >= 0n && times >= 0n && over > 0n)
  return roundings[rounding](units * times, over)
}

const roundings = {
  down: (product: bigint, over: bigint) => product / over,
  up: (product: bigint, over: bigint) => (product + over - 1n) / over,
  half_up: (product: bigint, over: bigint) => (2n * product + over) / (2n * over),
} as const

/**
 * For the books of the house, where debts are negative: rounds towards zero, so that a debt is worth as much as a holding of
 * the same size.
 */
export function mulDivTowardsZero(amount: bigint, times: bigint, over: bigint): bigint {
  assert(over !== 0n)
  return (amount * times) / over
}

/**
 * The worth of a holding of the house: rounds against the house, a debt up and a holding down. The amounts of trades are
 * rounded the same way, so a trade at the market price shows no gain.
 */
export function mulDivAgainstHouse(amount: bigint, times: bigint, over: bigint): bigint {
  assert(over > 0n)
  const product = amount * times
  const cut = product / over
  return cut * over > product ? cut - 1n : cut
}

/** A human reading of an amount, for the terminal and for documentation: 12345 BRL → "123.45 BRL". */
export function formatMoney({ asset, units }: Money): string {
  const { decimals } = assets[asset]
  const digits = units.toString().padStart(decimals + 1, '0')
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)} ${asset}`
}
