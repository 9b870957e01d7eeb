/**
 * When something last happened in a world, and from it how often its workers poll. Workers poll quickly while a world is
 * active and back off while it is idle: the interval is a sixteenth of the idle time, so work that falls due after some
 * time is found at most a sixteenth of that time late.
 */
export type Activity = {
  /** Records activity on this node, or on another node that sent a hint. Ends the back-off of the workers that poll. */
  mark(): void
  /** Milliseconds until the next poll, after one that found nothing. `found_at`: when this worker last found work. */
  pollInterval(range: PollRange, found_at?: number): number
  /** Whether this node knows of activity at or after `at`. */
  isActiveSince(at: number): boolean
  /** Calls the listener at the first activity after an idle time. */
  onActive(listener: () => void): void
}

export type PollRange = { readonly least_ms: number; readonly most_ms: number }

const SHARE = 16
/** A world is idle after this time without activity. Before, workers poll at their shortest interval and need no wake-up. */
const IDLE_AFTER_MS = 2000

export function openActivity(now: () => number = () => performance.now()): Activity {
  const listeners: (() => void)[] = []
  let active_at = now()
  return {
    mark() {
      const idle_ms = now() - active_at
      active_at = now()
      if (idle_ms > IDLE_AFTER_MS) for (const listener of listeners) listener()
    },
    pollInterval({ least_ms, most_ms }, found_at = 0) {
      const idle_ms = now() - Math.max(active_at, found_at)
      return Math.max(least_ms, Math.min(most_ms, idle_ms / SHARE))
    },
    isActiveSince: (at) => active_at >= at,
    onActive(listener) {
      listeners.push(listener)
    },
  }
}

/** Never backs off: for workers that run without a service around them, as in tests. */
export const alwaysActive: Activity = {
  mark() {},
  pollInterval: ({ least_ms }) => least_ms,
  isActiveSince: () => true,
  onActive() {},
}
