import { backOffWithAge } from '../../rails/back-off.ts'
import type { Network } from './address.ts'

/**
 * Delay to the next status query of a transfer: a quarter of its age, up to a maximum that fits the chain's block time, and
 * longer for a transfer that is open for hours.
 */
const SOONEST_MS = 500

const latest_ms: Readonly<Record<Network, number>> = {
  polygon: 15_000,
  arbitrum: 15_000,
  optimism: 15_000,
  tron: 15_000,
  ethereum: 30_000,
  bitcoin: 60_000,
}

export const pollAgainAfter = (network: Network, age_ms: number): number =>
  Math.max(Math.min(latest_ms[network], Math.max(SOONEST_MS, age_ms / 4)), backOffWithAge(age_ms))

const MINUTE_MS = 60_000

/** Extra time before a transfer counts as late, on top of the general setting. */
export const patience_ms: Readonly<Record<Network, number>> = {
  polygon: 0,
  arbitrum: 0,
  optimism: 0,
  tron: 0,
  ethereum: 15 * MINUTE_MS,
  bitcoin: 180 * MINUTE_MS,
}
