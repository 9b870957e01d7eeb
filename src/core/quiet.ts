/**
 * For how long nothing has happened in a world. Whoever looks again and again whether there is something to do looks
 * quickly while there is life, and the more slowly the longer there is none: a sixteenth of the silence, so that whatever is
 * due after a while is found late by little of that while.
 */
export type Quiet = {
  /** Something happened here, or another node says so: who rests for long looks now. */
  stir(): void
  /** How long to rest after a look that found nothing. `found_at`: when the one who asks last found something. */
  rest(between: Rest, found_at?: number): number
  /** Whether anything happened since then, as far as is known here. */
  stirredSince(at: number): boolean
  /** Told when it is quiet no longer. */
  onStir(listener: () => void): void
}

export type Rest = { readonly least_ms: number; readonly most_ms: number }

const SHARE = 16
/** As long as somebody stirs so often, everybody looks as quickly as they ever do. */
const QUIET_AFTER_MS = 2000

export function openQuiet(now: () => number = () => performance.now()): Quiet {
  const listeners: (() => void)[] = []
  let stirred_at = now()
  return {
    stir() {
      const silence = now() - stirred_at
      stirred_at = now()
      if (silence > QUIET_AFTER_MS) for (const listener of listeners) listener()
    },
    rest({ least_ms, most_ms }, found_at = 0) {
      const silence = now() - Math.max(stirred_at, found_at)
      return Math.max(least_ms, Math.min(most_ms, silence / SHARE))
    },
    stirredSince: (at) => stirred_at >= at,
    onStir(listener) {
      listeners.push(listener)
    },
  }
}

/** A world that is never quiet: for whoever works beside a service. */
export const neverQuiet: Quiet = {
  stir() {},
  rest: ({ least_ms }) => least_ms,
  stirredSince: () => true,
  onStir() {},
}
