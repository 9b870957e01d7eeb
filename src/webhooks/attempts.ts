import type { World } from '../world.ts'
import type { AttemptResult } from './attempt-results.ts'
import { type DeliveryOptions, tryDelivery } from './delivery.ts'
import type { Made } from './post.ts'
import { releaseTaken, type TakenDelivery } from './queue.ts'
import type { Recorder } from './recorder.ts'

/** Attempts that are under way: each is tried, told of and recorded. */
export type Attempts = {
  /** Undefined: it was cut off, and nothing was learned. */
  make(taken: TakenDelivery): Promise<Made | undefined>
  /** Ends what is under way, now. */
  cut(): void
}

/** For the metrics. */
export type AttemptEnded = {
  readonly outcome: 'delivered' | 'failed' | 'exhausted'
  /** From the event to the first attempt; null for the others. */
  readonly lag_seconds: number | null
}

export function openAttempts(
  world: World,
  options: DeliveryOptions & {
    readonly recorder: Recorder
    readonly onAttempt?: (attempt: AttemptEnded) => void
  },
): Attempts {
  const { recorder, onAttempt } = options
  const cutters = new Set<AbortController>()
  let cut = false
  return {
    async make(taken) {
      const cutter = new AbortController()
      cutters.add(cutter)
      const outcome = await tryDelivery(world, taken, { ...options, cutter }).finally(() =>
        cutters.delete(cutter),
      )
      // Cut off by our own stop: nobody's fault, and nothing is known.
      if (cut && outcome.error !== null) {
        await releaseTaken(world.db, [taken])
        return undefined
      }
      onAttempt?.(endOf(taken, outcome))
      await recorder.record(outcome, {
        gone: outcome.status === 410,
        was_failing: taken.failing_since !== null,
      })
      return { took_ms: outcome.duration_ms, delivered: outcome.delivered }
    },
    cut() {
      cut = true
      for (const cutter of cutters) cutter.abort()
    },
  }
}

function endOf(taken: TakenDelivery, { delivered, retry_ms, started_at }: AttemptResult): AttemptEnded {
  const lag_ms = started_at.getTime() - taken.created_at.getTime()
  return {
    outcome: delivered ? 'delivered' : retry_ms === null ? 'exhausted' : 'failed',
    lag_seconds: taken.attempts === 1 ? lag_ms / 1000 : null,
  }
}
