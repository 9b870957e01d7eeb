/** When to try again (contract §12): later each time, so that a receiver in trouble is not held down. */
const JITTER = 0.2
const RETRY_AFTER_MAX_MS = 24 * 3600 * 1000

/**
 * How long to wait after so many tries; undefined when the schedule is used up. A receiver may ask for more time, but not
 * for less, and not for ever. The jitter spreads what failed together.
 */
export function retryDelay(options: {
  tries: number
  retry_ms: readonly number[]
  retry_after: string | undefined
  now: number
  random?: number
}): number | undefined {
  const { tries, retry_ms, retry_after, now, random = Math.random() } = options
  const planned = retry_ms[tries - 1]
  if (planned === undefined) return undefined
  const asked = Math.min(readRetryAfter(retry_after, now), RETRY_AFTER_MAX_MS)
  return Math.round(Math.max(planned, asked) * (1 + JITTER * random))
}

/** No date of HTTP is longer. Judged before any pattern: the text is the receiver's. */
const RETRY_AFTER_LENGTH_MAX = 40

/** Seconds, or a date; anything else asks for nothing. */
function readRetryAfter(text: string | undefined, now: number): number {
  if (text === undefined || text.length > RETRY_AFTER_LENGTH_MAX) return 0
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) * 1000
  const until = /^[A-Z][a-z]{2}, .*GMT$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(until) ? 0 : Math.max(0, until - now)
}
