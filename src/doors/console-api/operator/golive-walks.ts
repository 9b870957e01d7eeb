import type { GoliveReport } from '../../../control/golive/report.ts'
import { describeError } from '../../../core/error-report.ts'

/** A walk asks rails, exchanges and alerts, so a node has one at a time, and its result is good for a minute. */
const GOLIVE_KEPT_MS = 60_000

export type GoliveWalks = {
  /** Starts a walk if the last one is too old. Does not wait for it. */
  look(): {
    readonly running: boolean
    readonly report: GoliveReport | undefined
    readonly failure: string | undefined
  }
}

export function openGoliveWalks(
  walk: () => Promise<GoliveReport>,
  now: () => number = () => performance.now(),
): GoliveWalks {
  let running = false
  let ended_at = Number.NEGATIVE_INFINITY
  let report: GoliveReport | undefined
  let failure: string | undefined

  function start(): void {
    running = true
    void walk()
      .then(
        (made) => {
          report = made
          failure = undefined
        },
        (error: unknown) => {
          failure = describeError(error)
        },
      )
      .finally(() => {
        running = false
        ended_at = now()
      })
  }

  return {
    look() {
      if (!running && now() - ended_at > GOLIVE_KEPT_MS) start()
      return { running, report, failure }
    },
  }
}
