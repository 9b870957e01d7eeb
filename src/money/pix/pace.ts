import { backOffWithAge } from '../../rails/back-off.ts'

/**
 * Delay to the next status query: a quarter of the payout's age within bounds, longer for a payout that is open for hours, or
 * sooner if the rail says when to ask.
 */
const SOONEST_MS = 500
const LATEST_MS = 60_000

export function askAgainAfter(age_ms: number, ask_in_ms: number | undefined): number {
  const paced = Math.max(Math.min(LATEST_MS, Math.max(SOONEST_MS, age_ms / 4)), backOffWithAge(age_ms))
  return ask_in_ms === undefined ? paced : Math.min(paced, Math.max(SOONEST_MS / 2, ask_in_ms))
}
