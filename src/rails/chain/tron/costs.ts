import type { TronPrices, TronResources } from './calls.ts'

/**
 * What a payment costs. Energy pays for the run of the contract, bandwidth for the bytes. Staked energy is used first; the rest is
 * bought with TRX that the network burns. Bandwidth is paid whole: by staked bandwidth, else by the free one of a day, else by TRX.
 */
export type TronCost = {
  /** Estimated, with the reserve. */
  readonly energy: bigint
  /** Bytes. */
  readonly bandwidth: bigint
  /** The most that the energy may cost, in sun. The network compares it with all energy, also the staked one. */
  readonly fee_limit: bigint
  /** TRX that the wallet must have for it, in sun. */
  readonly burn: bigint
  /** The most that the transaction can cost, in sun. */
  readonly most: bigint
}

/** Three tenths more than estimated: the recipient may spend its last USDT meanwhile, and contracts that are used a lot get dearer. */
const RESERVE = { times: 13n, over: 10n }

/** What a node adds to the bytes of a transaction for its result. */
const RESULT_BYTES = 64n

export function costOf(
  { energy: estimated, bytes }: { readonly energy: bigint; readonly bytes: bigint },
  prices: TronPrices,
  own: TronResources,
): TronCost {
  const energy = (estimated * RESERVE.times + RESERVE.over - 1n) / RESERVE.over
  const bandwidth = bytes + RESULT_BYTES
  const fee_limit = energy * prices.energy
  const is_covered = own.staked_bandwidth >= bandwidth || own.free_bandwidth >= bandwidth
  const for_bytes = is_covered ? 0n : bandwidth * prices.byte
  const missing = energy > own.energy ? energy - own.energy : 0n
  return {
    ...{ energy, bandwidth, fee_limit },
    burn: missing * prices.energy + for_bytes,
    most: fee_limit + for_bytes,
  }
}

export type CostProblem = 'fee_above_cap' | 'gas_coin_too_low'

export function costProblem(
  { burn, most }: TronCost,
  { fee_most, sun }: { readonly fee_most: bigint; readonly sun: bigint },
): CostProblem | undefined {
  if (most > fee_most) return 'fee_above_cap'
  return sun < burn ? 'gas_coin_too_low' : undefined
}
