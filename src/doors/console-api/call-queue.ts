import { Refusal } from '../../core/errors.ts'
import { type FairSemaphore, openFairSemaphore, QueueFull } from '../../core/fair-semaphore.ts'

/**
 * Bounds the concurrent calls of one user on a node. A page makes about ten calls at once, several tabs more: calls
 * beyond the bound wait, and calls beyond the queue are refused, since no page makes so many.
 */
export type CallQueue = {
  /** Looks up a session, one call at a time per token: the lookup may update the session's row, so others would only hold connections. */
  lookUp<T>(token: string, work: () => Promise<T>): Promise<T>
  answer<T>(user_id: string, work: () => Promise<T>): Promise<T>
  /**
   * Answers a call that reads much: one at a time per person and per partner, and `HEAVY_AT_ONCE` on the node, partners in turn.
   * Operators have places of their own, one each. Of the places of `answer` a person's heavy calls take one at most, so they never block
   * other calls, such as revoking a key. Work whose caller has left is refused by `assertStaying` before it waits any further.
   */
  answerHeavy<T>(who: Caller, work: () => Promise<T>, assertStaying?: () => void): Promise<T>
}

type Caller = { readonly id: string; readonly partner_id: string | null }

export const AT_ONCE = 8
export const WAITING = 64
export const WAIT_MS = 5000
/** For all partners together, and again for all operators: other connections and the event loop are left to payouts. */
export const HEAVY_AT_ONCE = 2
/** A heavy call waits in three queues, and a call gets no answer after ten seconds. */
export const HEAVY_WAIT_MS = 4000
const RETRY_SECONDS = 1

export function openCallQueue(): CallQueue {
  const queue = { at_once: Infinity, waiting_per_name: WAITING, wait_ms: WAIT_MS }
  const sessions = openFairSemaphore({ ...queue, per_name: 1 })
  const people = openFairSemaphore({ ...queue, per_name: AT_ONCE })
  // A person waits for its own turn first, so that many calls of one person do not delay colleagues.
  const heavy = { ...queue, wait_ms: HEAVY_WAIT_MS, per_name: 1 }
  const readers = openFairSemaphore(heavy)
  const partners = openFairSemaphore({ ...heavy, at_once: HEAVY_AT_ONCE })
  const operators = openFairSemaphore({ ...heavy, at_once: HEAVY_AT_ONCE })
  return {
    lookUp: (token, work) => inTurn(sessions, token, work),
    answer: (user_id, work) => inTurn(people, user_id, work),
    answerHeavy({ id, partner_id }, work, assertStaying = () => {}) {
      const ofPartner = () => inTurn(partner_id ? partners : operators, partner_id ?? id, work, refuseReaders)
      const ofPerson = () => {
        assertStaying()
        return inTurn(people, id, ofPartner)
      }
      return inTurn(readers, id, ofPerson, refuseReaders)
    },
  }
}

/** The place is held until the work ends, even if the client has left. */
async function inTurn<T>(
  semaphore: FairSemaphore,
  name: string,
  work: () => Promise<T>,
  refuse: (error: unknown) => never = refuseCrowd,
): Promise<T> {
  const leave = await semaphore.take(name).catch(refuse)
  try {
    return await work()
  } finally {
    leave()
  }
}

const crowded =
  (message: string, limit: number) =>
  (error: unknown): never => {
    if (!(error instanceof QueueFull)) throw error
    throw new Refusal('rate_limit_exceeded', {
      message,
      retry_after_seconds: RETRY_SECONDS,
      details: { limit, retry_after_seconds: RETRY_SECONDS },
    })
  }

const refuseCrowd = crowded(
  `Too many requests at once: ${AT_ONCE} of yours are under way, and others wait. Wait for some of them to be answered, then try again.`,
  AT_ONCE,
)

const refuseReaders = crowded(
  'Too many searches, filtered lists, totals and overviews at once: they are answered one at a time for your team, and others wait. Wait a moment, then try again.',
  1,
)
