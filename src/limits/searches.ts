import type { Clock } from '../core/clock.ts'
import { Refusal } from '../core/errors.ts'
import { SEARCHES_PER_SECOND } from './tiers.ts'

/**
 * Limits searches of the docs on this node, over all addresses together: a search takes milliseconds of the thread that also answers
 * payments, and many addresses may each send their 1,200 visits a minute.
 */
export type SearchLimit = {
  /** Counts a search, or throws and counts nothing. */
  take(): void
}

export function openSearchLimit(clock: Clock): SearchLimit {
  let second = 0
  let count = 0
  return {
    take() {
      const now = Math.floor(clock.now() / 1000)
      if (now !== second) {
        second = now
        count = 0
      }
      if (count >= SEARCHES_PER_SECOND) throw tooManySearches()
      count++
    },
  }
}

function tooManySearches(): Refusal {
  const retry_after_seconds = 1
  return new Refusal('rate_limit_exceeded', {
    message: `Too many searches of the docs: this server answers ${SEARCHES_PER_SECOND} a second. Wait ${retry_after_seconds} s, then try again.`,
    retry_after_seconds,
    details: { limit: SEARCHES_PER_SECOND, retry_after_seconds },
  })
}
