import type { Logger } from 'pino'
import { isSlow, type Lanes, lanesAfter, newLanes } from './lanes.ts'
import type { TakenDelivery } from './queue.ts'

/**
 * One endpoint, as this process has it: how many attempts are under way, what was taken and waits for a lane, and how the
 * endpoint has been doing.
 */
export type Post = {
  seen(): Seen
  /** These were taken for it. */
  add(taken: readonly TakenDelivery[]): void
  /** Nothing more goes there: what waits for a lane is let go. */
  drop(): void
  /** Nothing waits, and nothing was under way for so long. */
  hasRested(ms: number): boolean
  /** Begins nothing more. */
  stop(): void
  /** Lets what is under way end, and returns what was taken and never tried. */
  ended(): Promise<TakenDelivery[]>
}

export type Seen = { readonly partner_id: string; readonly lanes: Lanes; readonly held: number }

export const unseen = (partner_id: string): Seen => ({ partner_id, lanes: newLanes, held: 0 })

export type Made = {
  readonly took_ms: number
  readonly delivered: boolean
  /** The answer was longer than what is kept of one. */
  readonly lengthy: boolean
  /** The receiver asked for no more. */
  readonly gone: boolean
}

export type PostOptions = {
  readonly log: Logger
  readonly timeout_ms: number
  /** How long something taken may wait for a lane. */
  readonly wait_ms: number
  /**
   * Resolves when what came of it is written down, and rejects only for a bug. The lane is free before that, from the call
   * of `onAnswer`; without one nothing was learned.
   */
  deliver(taken: TakenDelivery, onAnswer: (made: Made) => void): Promise<void>
  /** Somebody else may have these. */
  release(taken: readonly TakenDelivery[]): void
}

type WaitingDelivery = { readonly taken: TakenDelivery; readonly taken_at: number }

export function openPost(
  endpoint: { readonly endpoint_id: string; readonly partner_id: string },
  options: PostOptions & {
    /** It may have more to give than was taken. */
    onHungry(): void
    /** An attempt has ended. */
    onEnd(): void
  },
): Post {
  const { endpoint_id, partner_id } = endpoint
  const { log, timeout_ms, wait_ms, deliver, release, onHungry, onEnd } = options
  /** Until they are written down. */
  const under_way = new Set<Promise<void>>()
  let lanes: Lanes = newLanes
  let lanes_used = 0
  /** Answers that ask for no more, and are not written down yet: until then nothing begins. */
  let goodbyes = 0
  let queue: WaitingDelivery[] = []
  let ended_at = 0
  let stopped = false

  function pump(): void {
    while (!stopped && goodbyes === 0 && lanes_used < lanes.count && queue.length > 0)
      begin(queue.shift()!.taken)
    if (!stopped) giveBack()
  }

  /** Free from the next round of the process on, each for itself: until then its connection cannot be used again. */
  function leaveLane(): void {
    setImmediate(() => {
      lanes_used--
      pump()
    })
  }

  function begin(taken: TakenDelivery): void {
    let answer: Made | undefined
    lanes_used++
    const job = deliver(taken, (made) => {
      answer = made
      lanes = lanesAfter(lanes, made, timeout_ms)
      if (made.gone) goodbyes++
      leaveLane()
    })
      .catch((error: unknown) => log.error({ err: error, endpoint_id }, 'webhooks: not tried'))
      .finally(() => {
        under_way.delete(job)
        ended_at = performance.now()
        if (!answer) lanes_used--
        if (answer?.gone) goodbyes--
        pump()
        onEnd()
      })
    under_way.add(job)
  }

  /** What waits behind an endpoint in trouble would lose its lease here: whoever has time may take it. */
  function giveBack(): void {
    const overdue = performance.now() - wait_ms
    // In the order in which they were taken.
    const first = isSlow(lanes) ? queue.length : queue.findIndex(({ taken_at }) => taken_at > overdue)
    const given = queue.splice(0, first === -1 ? queue.length : first)
    if (given.length === 0) return
    release(given.map(({ taken }) => taken))
    onHungry()
  }

  return {
    seen: () => ({ partner_id, lanes, held: under_way.size + queue.length }),
    add(taken) {
      const taken_at = performance.now()
      for (const one of taken) queue.push({ taken: one, taken_at })
      pump()
    },
    drop() {
      queue = []
    },
    hasRested: (ms) => under_way.size === 0 && queue.length === 0 && ended_at < performance.now() - ms,
    stop() {
      stopped = true
    },
    async ended() {
      await Promise.all(under_way)
      return queue.map(({ taken }) => taken)
    },
  }
}
