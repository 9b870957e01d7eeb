import { type Network, networks } from '../../core/networks.ts'
import { backOffWithAge } from '../../rails/back-off.ts'

/**
 * Delay to the next status query of a transfer: a quarter of its age, up to a maximum that fits the chain's block time, and
 * longer for a transfer that is open for hours.
 */
const SOONEST_MS = 500

export const pollAgainAfter = (network: Network, age_ms: number): number =>
  Math.max(Math.min(networks[network].poll_most_ms, Math.max(SOONEST_MS, age_ms / 4)), backOffWithAge(age_ms))
