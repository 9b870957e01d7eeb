import type { Logger } from 'pino'
import type { EndpointLoad } from './capacity.ts'
import { isSlow, type Lanes, lanesAfter, newLanes } from './lanes.ts'
import type { TakenDelivery } from './queue.ts'

/**
 * Sends the deliveries of one endpoint. Knows which attempts are under way, which deliveries wait for a lane, and how quickly
 * the endpoint has answered of late.
 */
export type EndpointSender = {
  load(): EndpointLoad
  /** Starts these deliveries, or queues them until a lane is free. */
  add(taken: readonly TakenDelivery[]): void
  /** For an endpoint that was disabled or deleted: forgets the deliveries that wait for a lane. */
  drop(): void
  /** Whether nothing waits, and no attempt was under way in the last `ms`. */
  isIdleFor(ms: number): boolean
  /** Starts no further attempt. */
  stop(): void
  /** Waits for the attempts under way, and returns the deliveries that were taken and never tried. */
  ended(): Promise<TakenDelivery[]>
}

export type AttemptAnswer = {
  readonly took_ms: number
  readonly delivered: boolean
  /** The response was longer than the part of it that is stored. */
  readonly lengthy: boolean
  /** The receiver answered 410 Gone: it wants no more deliveries. */
  readonly gone: boolean
}

export type EndpointSenderOptions = {
  readonly log: Logger
  readonly timeout_ms: number
  /** How long a delivery that was taken may wait for a lane. */
  readonly wait_ms: number
  /**
   * Resolves when the result is recorded; rejects only because of a bug. The call of `onAnswer`, before that, frees the lane.
   * A stop cuts attempts off: they resolve without a call of `onAnswer`.
   */
  deliver(taken: TakenDelivery, onAnswer: (answer: AttemptAnswer) => void): Promise<void>
  /** Ends the lease of these deliveries, so that any node may take them. */
  release(taken: readonly TakenDelivery[]): void
}

type WaitingDelivery = { readonly taken: TakenDelivery; readonly taken_at: number }

export function openEndpointSender(
  endpoint: { readonly endpoint_id: string; readonly partner_id: string },
  options: EndpointSenderOptions & {
    /** The endpoint has due deliveries that this node does not hold. */
    onBacklog(): void
    /** An attempt has ended. */
    onEnd(): void
  },
): EndpointSender {
  const { endpoint_id, partner_id } = endpoint
  const { log, timeout_ms, wait_ms, deliver, release, onBacklog, onEnd } = options
  /** Attempts whose result is not recorded yet. */
  const under_way = new Set<Promise<void>>()
  let lanes: Lanes = newLanes
  let lanes_used = 0
  /** Answers of 410 Gone that are not recorded yet. Until they are, no attempt starts. */
  let unrecorded_gone = 0
  let queue: WaitingDelivery[] = []
  let ended_at = 0
  let stopped = false

  function pump(): void {
    while (!stopped && unrecorded_gone === 0 && lanes_used < lanes.count && queue.length > 0)
      begin(queue.shift()!.taken)
    if (!stopped) giveBack()
  }

  /** Frees the lane in the next turn of the event loop: only then can its connection be used again. */
  function leaveLane(): void {
    setImmediate(() => {
      lanes_used--
      pump()
    })
  }

  function begin(taken: TakenDelivery): void {
    let answer: AttemptAnswer | undefined
    lanes_used++
    const job = deliver(taken, (answered) => {
      answer = answered
      lanes = lanesAfter(lanes, answered, timeout_ms)
      if (answered.gone) unrecorded_gone++
      leaveLane()
    })
      .catch((error: unknown) =>
        log.error(
          { err: error, endpoint_id },
          'webhooks: attempt failed before its result was recorded; it is repeated when its lease ends',
        ),
      )
      .finally(() => {
        under_way.delete(job)
        ended_at = performance.now()
        if (!answer) lanes_used--
        if (answer?.gone) unrecorded_gone--
        pump()
        onEnd()
      })
    under_way.add(job)
  }

  /** Releases deliveries whose lease would end before a slow endpoint gets to them: another node may be quicker. */
  function giveBack(): void {
    const overdue = performance.now() - wait_ms
    // The queue is in the order of taking, so the overdue deliveries are its first ones.
    const first = isSlow(lanes) ? queue.length : queue.findIndex(({ taken_at }) => taken_at > overdue)
    const given = queue.splice(0, first === -1 ? queue.length : first)
    if (given.length === 0) return
    release(given.map(({ taken }) => taken))
    onBacklog()
  }

  return {
    load: () => ({ partner_id, lanes, held: under_way.size + queue.length }),
    add(taken) {
      const taken_at = performance.now()
      for (const one of taken) queue.push({ taken: one, taken_at })
      pump()
    },
    drop() {
      queue = []
    },
    isIdleFor: (ms) => under_way.size === 0 && queue.length === 0 && ended_at < performance.now() - ms,
    stop() {
      stopped = true
    },
    async ended() {
      await Promise.all(under_way)
      return queue.map(({ taken }) => taken)
    },
  }
}
