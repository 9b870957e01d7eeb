import type { Purpose } from '../rail.ts'
import type { Spending } from './rail.ts'

/** Rates are in satoshis per 1,000 virtual bytes, as nodes have them; fees in satoshis. */
export type BitcoinRates = {
  /** Undefined while the node has not seen enough to estimate. */
  readonly estimated: bigint | undefined
  /** Below it the node's mempool takes nothing. */
  readonly mempool: bigint
}

/** The rate for a transaction that should be mined soon. `fallback` is used where nothing is estimated. */
export const todaysRate = ({ estimated, mempool }: BitcoinRates, fallback: bigint): bigint =>
  most(estimated ?? fallback, mempool)

export type BitcoinCaps = {
  /** The most that one transaction may cost. */
  readonly fee_most: bigint
  readonly rate_most: bigint
}

export type BitcoinOffered = { readonly purpose: Purpose; readonly fee: bigint; readonly vsize: number }

export type BitcoinFeeInput = BitcoinCaps & {
  readonly purpose: Purpose
  readonly vsize: number
  /** Today's rate. */
  readonly rate: bigint
  readonly unmined: Spending['unmined']
  /** Everything that was ever signed for these coins, oldest first. */
  readonly made: readonly BitcoinOffered[]
}

export type BitcoinFeeOffer =
  | { readonly kind: 'offer'; readonly fee: bigint }
  | { readonly kind: 'later'; readonly why: 'fee_above_cap' | 'not_worth_it' }

export function offerFee(input: BitcoinFeeInput): BitcoinFeeOffer {
  const { vsize, made, purpose } = input
  const newest = made.at(-1)
  // A first cancel is always worth its fee: it must take the place of the payment.
  if (newest?.purpose === purpose && !isWorthIt(todaysFee(input), newest))
    return { kind: 'later', why: 'not_worth_it' }
  const fee = leastFee(input)
  return isWithinCaps({ fee, vsize }, input)
    ? { kind: 'offer', fee }
    : { kind: 'later', why: 'fee_above_cap' }
}

/** The least fee with which a transaction is mined soon, and replaces all that were made before. */
export const leastFee = (input: Omit<BitcoinFeeInput, 'purpose'>): bigint =>
  input.made.reduce((fee, offered) => most(fee, replacing(offered, input.vsize)), todaysFee(input))

export const isWithinCaps = (
  { fee, vsize }: { readonly fee: bigint; readonly vsize: number },
  { fee_most, rate_most }: BitcoinCaps,
): boolean => fee <= fee_most && fee <= feeAt(rate_most, vsize)

/** Rounded up. */
export const feeAt = (rate: bigint, vsize: number): bigint => (rate * BigInt(vsize) + 999n) / 1000n

/** Miners value a transaction together with its unmined ancestors, so the fee includes what these lack at today's rate. */
function todaysFee({ rate, vsize, unmined }: Omit<BitcoinFeeInput, 'purpose'>): bigint {
  return most(feeAt(rate, vsize), feeAt(rate, vsize + unmined.vsize) - unmined.fee)
}

/** An eighth more: each replacement costs at least 1 satoshi per virtual byte. */
const isWorthIt = (today: bigint, offered: BitcoinOffered): boolean => today * 8n >= offered.fee * 9n

/**
 * The least fee that takes the place of a transaction in a mempool (BIP 125): its fee and 1 satoshi for each own virtual byte, and
 * a higher rate than its rate.
 */
function replacing(offered: BitcoinOffered, vsize: number): bigint {
  const above_rate = (offered.fee * BigInt(vsize)) / BigInt(offered.vsize) + 1n
  return most(offered.fee + BigInt(vsize), above_rate)
}

const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)
