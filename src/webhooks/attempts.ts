import { crashPoint } from '../core/crash-point.ts'
import type { Sealer } from '../core/seal.ts'
import { eventText } from '../records/events/contract.ts'
import type { World } from '../world.ts'
import { attempt, type Cut, isDelivered } from './attempt.ts'
import { type AttemptResult, isGone } from './attempt-results.ts'
import type { AttemptAnswer } from './endpoint-sender.ts'
import type { Egress } from './outside.ts'
import { releaseTaken, type TakenDelivery } from './queue.ts'
import type { Recorder } from './recorder.ts'
import { retryDelay } from './schedule.ts'
import { openSecrets } from './secrets.ts'
import { signatureHeaders } from './signature.ts'

/**
 * Makes attempts: signs the event, posts it while no transaction is open, reports the answer, records the result. A
 * delivery is `taken` when this node has its lease. Its `attempts` counts all attempts, its `tries` those since the last
 * redelivery, by which the backoff is chosen.
 */
type Attempts = {
  /** Resolves when the result is recorded. Calls `onAnswer` before that, unless the attempt was cut off. */
  make(taken: TakenDelivery, onAnswer: (answer: AttemptAnswer) => void): Promise<void>
  /** Aborts all attempts under way, because this node stops. */
  cut(): void
}

export type AttemptOptions = {
  readonly egress: Egress
  readonly sealer: Sealer
  /** Time-out of one attempt, from connecting to the last byte. */
  readonly timeout_ms: number
  /** Backoff after the first failure, the second, and so on. */
  readonly retry_ms: readonly number[]
  readonly onAttempt?: (attempt: AttemptEnded) => void
}

/** For the metrics. */
type AttemptEnded = {
  readonly outcome: 'delivered' | 'failed' | 'exhausted'
  /** Time from the event to its first attempt; null for later attempts. */
  readonly lag_seconds: number | null
}

export function openAttempts(
  world: World,
  options: AttemptOptions & {
    readonly recorder: Recorder
    /** Called with the time until the retry. */
    readonly onRetry: (in_ms: number) => void
  },
): Attempts {
  const { egress, timeout_ms, recorder, onAttempt, onRetry } = options
  const secretsOf = openSecrets(world.environment, options.sealer)
  /** One function for each attempt under way, which aborts it. */
  const cuts = new Set<Cut>()
  let cut = false

  async function post(taken: TakenDelivery): Promise<AttemptResult> {
    const { url, tries } = taken
    const body = eventText(taken, world.environment)
    const started_at = new Date(world.clock.now())
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Trilho-Webhooks/1',
      ...signatureHeaders({ id: taken.id, body, at: started_at, secrets: secretsOf(taken, started_at) }),
    }
    const begun = performance.now()
    const answer = await attempt(egress.agent, { url, headers, body, timeout_ms, cuts })
    const delivered = isDelivered(answer)
    if (delivered) crashPoint('after_delivery')
    const duration_ms = Math.round(performance.now() - begun)
    const retry_after = answer.headers?.['retry-after']
    const backoff = { tries, retry_ms: options.retry_ms, retry_after, now: world.clock.now() }
    return {
      event_id: taken.id,
      endpoint_id: taken.endpoint_id,
      partner_id: taken.partner_id,
      attempt: taken.attempts,
      tries,
      url,
      headers: JSON.stringify(headers),
      status: answer.status,
      answer_headers: answer.headers && JSON.stringify(answer.headers),
      answer_body: answer.body,
      error: answer.error,
      lengthy: answer.lengthy,
      started_at,
      duration_ms,
      delivered,
      retry_ms: delivered ? null : (retryDelay(backoff) ?? null),
    }
  }

  return {
    async make(taken, onAnswer) {
      const result = await post(taken)
      // This node aborted the request because it stops. The receiver did not fail, so no attempt is recorded.
      if (cut && result.error !== null) return releaseTaken(world.db, [taken])
      const { duration_ms: took_ms, delivered, lengthy } = result
      onAnswer({ took_ms, delivered, lengthy, gone: isGone(result) })
      onAttempt?.(endOf(taken, result))
      await recorder.record(result)
      if (result.retry_ms !== null) onRetry(result.retry_ms)
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
