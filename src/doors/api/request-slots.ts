import type { Environment } from '../../core/environment.ts'
import { Refusal } from '../../core/errors.ts'
import { openFairSemaphore, QueueFull, type Release } from '../../core/fair-semaphore.ts'

/** How many requests of one partner may be under way on one node, per environment. */
type RequestSlots = {
  /** Resolves to a function that frees the place, or to a refusal when no place is free after a short wait. */
  enter(who: Entering): Promise<Release | Refusal>
}

type Entering = {
  readonly environment: Environment
  readonly partner_id: string
  /** A long poll: it counts against a separate limit, because it does no work while it waits. */
  readonly waits: boolean
}

/** How long a request beyond the limit waits for another one to end. */
const IN_FLIGHT_WAIT_MS = 1000
const WAITS_PER_PARTNER = 20

export function openRequestSlots(in_flight: number): RequestSlots {
  const working = openFairSemaphore({
    at_once: Infinity,
    per_name: in_flight,
    waiting_per_name: in_flight,
    wait_ms: IN_FLIGHT_WAIT_MS,
  })
  const waiting = openFairSemaphore({ at_once: Infinity, per_name: WAITS_PER_PARTNER, waiting_per_name: 0 })
  return {
    async enter({ environment, partner_id, waits }) {
      try {
        return await (waits ? waiting : working).take(`${environment} ${partner_id}`)
      } catch (error) {
        if (!(error instanceof QueueFull)) throw error
        return waits ? tooManyWaits() : tooManyAtOnce(in_flight)
      }
    },
  }
}

function tooManyWaits(): Refusal {
  const retry_after_seconds = 1
  return new Refusal('rate_limit_exceeded', {
    message: `At most ${WAITS_PER_PARTNER} calls may wait at once. Wait for one of them to be answered, or send wait=0.`,
    retry_after_seconds,
    details: { window: 'waits', limit: WAITS_PER_PARTNER, retry_after_seconds },
  })
}

function tooManyAtOnce(limit: number): Refusal {
  const retry_after_seconds = 1
  return new Refusal('rate_limit_exceeded', {
    message: `Too many requests at once: ${limit} of yours are under way. Wait for some of them to be answered, then try again.`,
    retry_after_seconds,
    details: { limit, retry_after_seconds },
  })
}
