import type { Activity } from '../core/activity.ts'

/**
 * When to poll the database for endpoints with due deliveries: soon after a wake-up, when a retry becomes due, and
 * regularly, for deliveries without a wake-up.
 */
type Polling = {
  /** Whether a poll is due now. */
  isDue(): boolean
  /** Time until the next poll. */
  delayMs(): number
  /** A poll begins. It may miss what is committed from now on. */
  begin(): void
  /** The poll succeeded. `found`: at least one delivery was due. */
  end(found: boolean): void
  /** Poll as soon as possible: there may be new deliveries. */
  wake(): void
  /** Poll in `ms` at the latest: a delivery becomes due then. */
  dueIn(ms: number): void
  /** Taking the due deliveries failed: poll again soon. */
  failed(): void
}

/** Time between polls without a wake-up. A delivery that becomes due sooner must be announced with `dueIn`. */
export const POLL_INTERVAL = { least_ms: 1000, most_ms: 4000 }
/** Time between two polls, however many wake-ups there are. */
const LEAST_MS = 10
/** A longer minimum after several polls that found nothing: most events belong to partners without endpoints. */
const EMPTY = { polls: 5, least_ms: 50 }
/** Time to the next poll after a failure. */
const RETRY_MS = 250

export function openPolling(
  activity: Pick<Activity, 'pollInterval'>,
  now: () => number = () => performance.now(),
): Polling {
  let began_at = Number.NEGATIVE_INFINITY
  let rested_at = Number.NEGATIVE_INFINITY
  let due_at = Number.POSITIVE_INFINITY
  let empty_polls = 0
  const leastMs = () => (empty_polls < EMPTY.polls ? LEAST_MS : EMPTY.least_ms)
  const at = () => Math.max(Math.min(rested_at, due_at), began_at + leastMs())
  const dueIn = (ms: number) => {
    due_at = Math.min(due_at, now() + ms)
  }
  return {
    isDue: () => now() >= at(),
    delayMs: () => Math.max(0, at() - now()),
    begin() {
      began_at = now()
      rested_at = began_at + RETRY_MS
      due_at = Number.POSITIVE_INFINITY
    },
    end(found) {
      empty_polls = found ? 0 : empty_polls + 1
      rested_at = began_at + activity.pollInterval(POLL_INTERVAL)
    },
    wake() {
      due_at = Number.NEGATIVE_INFINITY
    },
    dueIn,
    failed: () => dueIn(RETRY_MS),
  }
}
