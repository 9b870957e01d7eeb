import { crashPoint } from '../core/crash-point.ts'
import type { Sealer } from '../core/seal.ts'
import { eventText } from '../records/events/contract.ts'
import type { World } from '../world.ts'
import { attempt, type Cut, isDelivered, type ReceiverResponse } from './attempt.ts'
import type { AttemptResult } from './attempt-results.ts'
import type { Egress } from './outside.ts'
import type { TakenDelivery } from './queue.ts'
import { retryDelay } from './schedule.ts'
import type { SecretsOf } from './secrets.ts'
import { signatureHeaders } from './signature.ts'

export type DeliveryOptions = {
  readonly egress: Egress
  readonly sealer: Sealer
  /** Time-out of one attempt, from connecting to the last byte. */
  readonly timeout_ms: number
  /** Backoff after the first failure, the second, and so on. */
  readonly retry_ms: readonly number[]
}

/** Makes one attempt: signs the event, posts it while no transaction is open, and judges the response. */
export async function tryDelivery(
  world: World,
  taken: TakenDelivery,
  options: Omit<DeliveryOptions, 'sealer'> & { readonly secretsOf: SecretsOf; readonly cuts: Set<Cut> },
): Promise<AttemptResult> {
  const { egress, timeout_ms, cuts } = options
  const { url } = taken
  const body = eventText(taken, world.environment)
  const started_at = new Date(world.clock.now())
  const secrets = options.secretsOf(taken, started_at)
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Trilho-Webhooks/1',
    ...signatureHeaders({ id: taken.id, body, at: started_at, secrets }),
  }
  const begun = performance.now()
  const answer = await attempt(egress.agent, { url, headers, body, timeout_ms, cuts })
  if (isDelivered(answer)) crashPoint('after_delivery')
  return {
    event_id: taken.id,
    endpoint_id: taken.endpoint_id,
    partner_id: taken.partner_id,
    attempt: taken.attempts,
    tries: taken.tries,
    url,
    headers: JSON.stringify(headers),
    status: answer.status,
    answer_headers: answer.headers && JSON.stringify(answer.headers),
    answer_body: answer.body,
    error: answer.error,
    lengthy: answer.lengthy,
    started_at,
    duration_ms: Math.round(performance.now() - begun),
    ...resultOf(taken, answer, { retry_ms: options.retry_ms, now: world.clock.now() }),
  }
}

function resultOf(
  { tries }: TakenDelivery,
  answer: ReceiverResponse,
  { retry_ms, now }: { retry_ms: readonly number[]; now: number },
): Pick<AttemptResult, 'delivered' | 'retry_ms'> {
  if (isDelivered(answer)) return { delivered: true, retry_ms: null }
  const retry_after = answer.headers?.['retry-after']
  return { delivered: false, retry_ms: retryDelay({ tries, retry_ms, retry_after, now }) ?? null }
}
