import { Refusal } from '../../core/errors.ts'
import { type FairSemaphore, openFairSemaphore, QueueFull } from '../../core/fair-semaphore.ts'

/**
 * Bounds the concurrent calls of one user on a node. A page makes about ten calls at once, several tabs more: calls
 * beyond the bound wait, and calls beyond the queue are refused, since no page makes so many.
 */
export type CallQueue = {
  /**
   * Looks up a session, one call at a time per token: the lookup updates the session's row, so others would only hold
   * connections.
   */
  lookUp<T>(token: string, work: () => Promise<T>): Promise<T>
  answer<T>(user_id: string, work: () => Promise<T>): Promise<T>
}

export const AT_ONCE = 8
export const WAITING = 64
export const WAIT_MS = 5000
const RETRY_SECONDS = 1

export function openCallQueue(): CallQueue {
  const queue = { at_once: Infinity, waiting_per_name: WAITING, wait_ms: WAIT_MS }
  const sessions = openFairSemaphore({ ...queue, per_name: 1 })
  const people = openFairSemaphore({ ...queue, per_name: AT_ONCE })
  return {
    lookUp: (token, work) => inTurn(sessions, token, work),
    answer: (user_id, work) => inTurn(people, user_id, work),
  }
}

/** The place is held until the work ends, even if the client has left. */
async function inTurn<T>(semaphore: FairSemaphore, name: string, work: () => Promise<T>): Promise<T> {
  const leave = await semaphore.take(name).catch(refuseCrowd)
  try {
    return await work()
  } finally {
    leave()
  }
}

function refuseCrowd(error: unknown): never {
  if (!(error instanceof QueueFull)) throw error
  throw new Refusal('rate_limit_exceeded', {
    message: `Too many requests at once: ${AT_ONCE} of yours are under way, and others wait. Wait for some of them to be answered, then try again.`,
    retry_after_seconds: RETRY_SECONDS,
    details: { limit: AT_ONCE, retry_after_seconds: RETRY_SECONDS },
  })
}
