import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { answersCalls } from './role.ts'

/** No load balancer sends callers to a worker, so a worker does not drain. */
export const drainMsOf = ({ role, drain_ms }: Config): number => (answersCalls(role) ? drain_ms : 0)

/**
 * Contract §17.16: a stop first gives load balancers time to notice. `/readyz` already answers 503; requests under way and
 * new ones are served until the drain is over, and only then the listener closes.
 */
export async function drain(options: {
  readonly drain_ms: number
  readonly requests: number
  readonly log: Logger
  readonly hurry: AbortSignal | undefined
}): Promise<void> {
  const { drain_ms, requests, log, hurry } = options
  if (drain_ms === 0) return
  if (hurry?.aborted) return void log.info(`stopping: no drain (${hurry.reason})`)
  log.info(
    { requests, drain_ms },
    `stopping: draining for ${drain_ms / 1000} s (DRAIN_MS): /readyz answers 503, requests are still served`,
  )
  await sleep(drain_ms, undefined, hurry ? { signal: hurry } : {}).catch(() =>
    log.info(`stopping: drain cut short (${hurry?.reason})`),
  )
}
