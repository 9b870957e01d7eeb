import type { World } from '../world.ts'
import { type DeliveryOptions, tryDelivery } from './delivery.ts'
import type { Outcome } from './outcomes.ts'
import type { Made } from './post.ts'
import { type Claimed, releaseClaims } from './queue.ts'
import type { Recorder } from './recorder.ts'

/** Attempts that are under way: each is tried, told of and recorded. */
export type Attempts = {
  /** Undefined: it was cut off, and nothing was learned. */
  make(claimed: Claimed): Promise<Made | undefined>
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
    async make(claimed) {
      const cutter = new AbortController()
      cutters.add(cutter)
      const outcome = await tryDelivery(world, claimed, { ...options, cutter }).finally(() =>
        cutters.delete(cutter),
      )
      // Cut off by our own stop: nobody's fault, and nothing is known.
      if (cut && outcome.error !== null) {
        await releaseClaims(world.db, [claimed])
        return undefined
      }
      onAttempt?.(endOf(claimed, outcome))
      await recorder.record(outcome, {
        gone: outcome.status === 410,
        was_failing: claimed.failing_since !== null,
      })
      return { took_ms: outcome.duration_ms, delivered: outcome.delivered }
    },
    cut() {
      cut = true
      for (const cutter of cutters) cutter.abort()
    },
  }
}

function endOf(claimed: Claimed, { delivered, retry_ms, started_at }: Outcome): AttemptEnded {
  const lag_ms = started_at.getTime() - claimed.created_at.getTime()
  return {
    outcome: delivered ? 'delivered' : retry_ms === null ? 'exhausted' : 'failed',
    lag_seconds: claimed.attempts === 1 ? lag_ms / 1000 : null,
  }
}
