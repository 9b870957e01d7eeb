/** Backoff of deliveries (contract §12). */
const JITTER = 0.2
const RETRY_AFTER_MAX_MS = 24 * 3600 * 1000

/**
 * The delay after `tries` attempts; undefined when the schedule is used up. Retry-After can lengthen the delay, up to a day, and
 * never shortens it. The jitter spreads deliveries that failed together.
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

/** Longer than any HTTP date. Checked before the patterns run, because the receiver controls the text. */
const RETRY_AFTER_LENGTH_MAX = 40

/** Retry-After as seconds or as an HTTP date; anything else counts as 0. */
function readRetryAfter(text: string | undefined, now: number): number {
  if (text === undefined || text.length > RETRY_AFTER_LENGTH_MAX) return 0
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) * 1000
  const until = /^[A-Z][a-z]{2}, .*GMT$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(until) ? 0 : Math.max(0, until - now)
}
