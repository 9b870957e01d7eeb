import type { Logger } from 'pino'
import { type Activity, alwaysActive } from '../core/activity.ts'
import { openLoop } from '../core/loop.ts'
import type { World } from '../world.ts'
import { type AttemptEnded, openAttempts } from './attempts.ts'
import { openCanceling } from './canceling.ts'
import type { DeliveryOptions } from './delivery.ts'
import { tellDisabled } from './disabled.ts'
import { tellOfDeliveries } from './elsewhere.ts'
import { openLooks, REST } from './looks.ts'
import { openPace } from './pace.ts'
import { type Owned, openPosts } from './posts.ts'
import { endpointsWithPending, releaseTaken, takeDeliveries } from './queue.ts'
import { openRecorder } from './recorder.ts'

/**
 * Brings events to their receivers, at least once. Taken with a lease, posted outside of any transaction, recorded in
 * a new one; whoever dies in between leaves a lease that ends, and another one posts again. Any number of processes may
 * do this at once.
 *
 * A receiver that is dead, slow or endless is in nobody's way but its own: how many attempts an endpoint may have under
 * way is in lanes.ts, who gets room on this node in rooms.ts and pace.ts, what is taken and under way in post.ts.
 */
export type WebhookWorker = {
  /** There is something new: of whomever, or deliveries of these endpoints of a partner. */
  wake(fed?: { readonly partner_id: string; readonly endpoints: readonly string[] }): void
  /** Nothing goes to this endpoint any more: it was disabled or deleted. */
  abandon(endpoint_id: string): void
  stop(): Promise<void>
}

export type WebhookWorkerOptions = DeliveryOptions & {
  /** How many webhooks of one partner may begin in a second, over a while. */
  readonly per_second: number
  readonly log: Logger
  readonly activity?: Activity
  readonly onAttempt?: (attempt: AttemptEnded) => void
  /** Told when what came of an attempt could not be written down; `kept`: that it was made is known all the same. */
  readonly onLost?: (loss: { kept: boolean }) => void
}

/** Attempts of one partner in a second, over a while, at endpoints that fail or answer at length. */
const COSTLY_PER_SECOND = 25
/** Between two takes while deliveries pour in, so that they are taken together. */
const GATHER_MS = 5
/** Whoever waits for a place or for its pace is asked again after so long. */
const PACE_MS = 50
/** What is under way at a stop may take this long to end by itself. */
const STOP_MS = 1500

export function openWebhookWorker(world: World, options: WebhookWorkerOptions): WebhookWorker {
  const { log, onLost, timeout_ms, activity = alwaysActive } = options
  const { db, lease_ms } = world
  const warn = (error: unknown) => log.warn({ err: error }, 'webhooks')
  const timing = { poll_ms: () => activity.pollInterval(REST), gather_ms: GATHER_MS, onError: warn }
  const looks = openLooks(activity)
  let stopped = false

  const recorder = openRecorder(db, {
    log,
    tell: (tx, endpoint) => tellDisabled(tx, world, endpoint),
    onDisabled: abandon,
    ...(onLost ? { onLost } : {}),
  })
  const attempts = openAttempts(world, { ...options, recorder, onRetry: lookIn })
  const posts = openPosts({
    log,
    timeout_ms,
    pace: openPace(options.per_second),
    costly_pace: openPace(Math.min(options.per_second, COSTLY_PER_SECOND)),
    wait_ms: lease_ms / 2,
    deliver: attempts.make,
    release: (taken) => void releaseTaken(db, taken).catch(warn),
    onRoom: () => taking.wake(),
  })
  const canceling = openCanceling(db, timing)
  const taking = openLoop(take, {
    ...timing,
    poll_ms: () => Math.min(looks.restMs(), posts.isHungry() ? PACE_MS : Infinity),
    onError(error) {
      warn(error)
      looks.failed()
    },
  })
  activity.onActive(lookSoon)

  function feed(endpoints: readonly Owned[]): void {
    posts.expect(endpoints)
    taking.wake()
  }

  async function take(): Promise<void> {
    // Also when others keep waking us: what was to be tried again is told by nobody.
    if (looks.isTime()) await lookAround()
    for (let rooms = posts.rooms(); rooms.size > 0 && !stopped; rooms = posts.rooms())
      posts.take(rooms, await takeDeliveries(db, rooms, timeout_ms + lease_ms))
  }

  async function lookAround(): Promise<void> {
    looks.begin()
    posts.forgetIdle()
    const waiting = await endpointsWithPending(db, REST.most_ms)
    const due = waiting.filter(({ enabled, due_in_ms }) => enabled && due_in_ms === 0)
    posts.expect(due)
    for (const { endpoint_id, enabled } of waiting) if (!enabled) abandon(endpoint_id)
    for (const { due_in_ms } of waiting) if (due_in_ms > 0) looks.due(due_in_ms)
    looks.end(due.length > 0)
  }

  function lookSoon(): void {
    looks.news()
    taking.wake()
  }

  function lookIn(ms: number): void {
    looks.due(ms)
    // Rests anew, for no longer than that.
    taking.wake()
  }

  function abandon(endpoint_id: string): void {
    posts.drop(endpoint_id)
    canceling.add(endpoint_id)
  }

  return {
    wake(fed) {
      if (!fed) return lookSoon()
      const { partner_id, endpoints } = fed
      feed(endpoints.map((endpoint_id) => ({ endpoint_id, partner_id })))
    },
    abandon,
    async stop() {
      stopped = true
      await Promise.all([taking, canceling].map((part) => part.stop()))
      const timer = setTimeout(attempts.cut, STOP_MS)
      const untried = await posts.stop()
      clearTimeout(timer)
      if (untried.length > 0) {
        await releaseTaken(db, untried)
        await tellOfDeliveries(world).catch(warn)
      }
      await recorder.stop()
    },
  }
}
