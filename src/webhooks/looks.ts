import type { Activity } from '../core/activity.ts'

/**
 * When to look for endpoints that have something due: soon after somebody told of something new, when something is known to
 * become due, and every so often for what nobody told.
 */
export type Looks = {
  /** Whether it is time for one. */
  isTime(): boolean
  /** How long until then. */
  restMs(): number
  /** A look begins: what comes from now on may be missed by it. */
  begin(): void
  /** It has ended well, and found something that is due, or nothing. */
  end(found: boolean): void
  /** There is something new. */
  news(): void
  /** Something becomes due in so long. */
  due(in_ms: number): void
  /** What was found could not be taken. */
  failed(): void
}

/** How long it may rest without being told. What becomes due within that time must be told. */
export const REST = { least_ms: 1000, most_ms: 4000 }
/** Between two looks, whatever is told. */
const LEAST_MS = 10
/** The same when what is told is for nobody, again and again: most who pay have no endpoint. */
const IN_VAIN = { looks: 5, least_ms: 50 }
/** After something failed. */
const AGAIN_MS = 250

export function openLooks(
  activity: Pick<Activity, 'pollInterval'>,
  now: () => number = () => performance.now(),
): Looks {
  let began_at = Number.NEGATIVE_INFINITY
  let rested_at = Number.NEGATIVE_INFINITY
  let due_at = Number.POSITIVE_INFINITY
  let in_vain = 0
  const leastMs = () => (in_vain < IN_VAIN.looks ? LEAST_MS : IN_VAIN.least_ms)
  const at = () => Math.max(Math.min(rested_at, due_at), began_at + leastMs())
  const due = (in_ms: number) => {
    due_at = Math.min(due_at, now() + in_ms)
  }
  return {
    isTime: () => now() >= at(),
    restMs: () => Math.max(0, at() - now()),
    begin() {
      began_at = now()
      rested_at = began_at + AGAIN_MS
      due_at = Number.POSITIVE_INFINITY
    },
    end(found) {
      in_vain = found ? 0 : in_vain + 1
      rested_at = began_at + activity.pollInterval(REST)
    },
    news() {
      due_at = Number.NEGATIVE_INFINITY
    },
    due,
    failed: () => due(AGAIN_MS),
  }
}
