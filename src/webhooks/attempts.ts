import type { World } from '../world.ts'
import type { Cut } from './attempt.ts'
import type { AttemptResult } from './attempt-results.ts'
import { type DeliveryOptions, tryDelivery } from './delivery.ts'
import type { AttemptAnswer } from './endpoint-sender.ts'
import { releaseTaken, type TakenDelivery } from './queue.ts'
import type { Recorder } from './recorder.ts'
import { openSecrets } from './secrets.ts'

/** Makes attempts: posts the delivery, reports the answer, records the result. */
type Attempts = {
  /** Resolves when the result is recorded. Calls `onAnswer` before that, unless the attempt was cut off. */
  make(taken: TakenDelivery, onAnswer: (answer: AttemptAnswer) => void): Promise<void>
  /** Cuts off all attempts under way. */
  cut(): void
}

/** For the metrics. */
export type AttemptEnded = {
  readonly outcome: 'delivered' | 'failed' | 'exhausted'
  /** Time from the event to its first attempt; null for later attempts. */
  readonly lag_seconds: number | null
}

export function openAttempts(
  world: World,
  options: DeliveryOptions & {
    readonly recorder: Recorder
    readonly onAttempt?: (attempt: AttemptEnded) => void
    /** Called with the time until the retry. */
    readonly onRetry: (in_ms: number) => void
  },
): Attempts {
  const { recorder, onAttempt, onRetry } = options
  const cuts = new Set<Cut>()
  const trying = { ...options, secretsOf: openSecrets(world.environment, options.sealer), cuts }
  let cut = false
  return {
    async make(taken, onAnswer) {
      const outcome = await tryDelivery(world, taken, trying)
      // Cut off by the stop of this node: not a failure of the receiver, so no attempt is recorded.
      if (cut && outcome.error !== null) {
        await releaseTaken(world.db, [taken])
        return
      }
      const { duration_ms: took_ms, delivered, lengthy } = outcome
      const gone = outcome.status === 410
      onAnswer({ took_ms, delivered, lengthy, gone })
      onAttempt?.(endOf(taken, outcome))
      await recorder.record(outcome, { gone })
      if (outcome.retry_ms !== null) onRetry(outcome.retry_ms)
    },
    cut() {
      cut = true
      for (const cutOff of cuts) cutOff()
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
