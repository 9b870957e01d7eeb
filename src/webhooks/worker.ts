import type { Logger } from 'pino'
import { openLoop } from '../core/loop.ts'
import type { World } from '../world.ts'
import { type AttemptEnded, openAttempts } from './attempts.ts'
import { openCanceling } from './canceling.ts'
import type { DeliveryOptions } from './delivery.ts'
import { tellDisabled } from './disabled.ts'
import { tellOfDeliveries } from './elsewhere.ts'
import { openOwners } from './owners.ts'
import { openPace } from './pace.ts'
import { type Owned, openPosts } from './posts.ts'
import { dispatchFresh, endpointsWithPending, releaseTaken, takeDeliveries } from './queue.ts'
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
  /** There is something new: fresh events, or deliveries of these endpoints of a partner. */
  wake(fed?: { readonly partner_id: string; readonly endpoints: readonly string[] }): void
  /** Nothing goes to this endpoint any more: it was disabled or deleted. */
  abandon(endpoint_id: string): void
  stop(): Promise<void>
}

export type WebhookWorkerOptions = DeliveryOptions & {
  /** How many webhooks of one partner may begin in a second, over a while. */
  readonly per_second: number
  readonly log: Logger
  readonly onAttempt?: (attempt: AttemptEnded) => void
  /** Told when events have got their places in the log. */
  readonly onPlaced?: () => void
  /** Told when what came of an attempt could not be written down; `kept`: that it was made is known all the same. */
  readonly onLost?: (loss: { kept: boolean }) => void
}

const DISPATCH_BATCH = 500
/** How often to look without being told; earlier for what is known to become due. */
const POLL_MS = 2000
/** Between two looks while events pour in, so that they are placed together; and while deliveries do. */
const GATHER_EVENTS_MS = 20
const GATHER_DELIVERIES_MS = 5
/** Between two looks while somebody wakes us all the time: what is taken from meanwhile needs none. */
const LOOK_MS = 10
/** After a look that failed. */
const AGAIN_MS = 250
/** What is under way at a stop may take this long to end by itself. */
const STOP_MS = 1500

export function openWebhookWorker(world: World, options: WebhookWorkerOptions): WebhookWorker {
  const { log, onLost, timeout_ms } = options
  const { db, lease_ms } = world
  const warn = (error: unknown) => log.warn({ err: error }, 'webhooks')
  const timing = { poll_ms: POLL_MS, gather_ms: GATHER_DELIVERIES_MS, onError: warn }
  let stopped = false
  /** When endpoints with something pending were last looked for, and when to look again. */
  let looked_at = Number.NEGATIVE_INFINITY
  let look_at = Number.NEGATIVE_INFINITY

  const recorder = openRecorder(db, {
    log,
    tell: (tx, endpoint) => tellDisabled(tx, world, endpoint),
    onDisabled: abandon,
    ...(onLost ? { onLost } : {}),
  })
  const attempts = openAttempts(world, { ...options, recorder })
  const posts = openPosts({
    log,
    timeout_ms,
    pace: openPace(options.per_second),
    wait_ms: lease_ms / 2,
    deliver: attempts.make,
    release: (taken) => void releaseTaken(db, taken).catch(warn),
    onRoom: () => taking.wake(),
  })
  const withOwners = openOwners(db)
  const canceling = openCanceling(db, timing)
  const taking = openLoop(take, { ...timing, poll_ms: () => Math.max(0, look_at - performance.now()) })
  const dispatching = openLoop(dispatch, { ...timing, gather_ms: GATHER_EVENTS_MS })

  async function dispatch(): Promise<void> {
    for (let placed = DISPATCH_BATCH; placed === DISPATCH_BATCH && !stopped; ) {
      const done = await dispatchFresh(db, DISPATCH_BATCH)
      placed = done.placed
      if (placed > 0) options.onPlaced?.()
      if (done.endpoints.length > 0) feed(await withOwners(done.endpoints))
    }
  }

  function feed(endpoints: readonly Owned[]): void {
    posts.expect(endpoints)
    taking.wake()
  }

  async function take(): Promise<void> {
    // Also when others keep waking us: what was to be tried again is told by nobody.
    if (performance.now() >= look_at) await lookAround()
    for (let rooms = posts.rooms(); rooms.size > 0 && !stopped; rooms = posts.rooms())
      posts.take(rooms, await takeDeliveries(db, rooms, timeout_ms + lease_ms))
  }

  async function lookAround(): Promise<void> {
    looked_at = performance.now()
    look_at = looked_at + AGAIN_MS
    posts.forgetIdle()
    const waiting = await endpointsWithPending(db, POLL_MS)
    const due = waiting.filter(({ enabled, due_in_ms }) => enabled && due_in_ms === 0)
    posts.expect(due)
    for (const { endpoint_id, enabled } of waiting) if (!enabled) abandon(endpoint_id)
    const next_ms = Math.min(...waiting.flatMap(({ due_in_ms }) => (due_in_ms > 0 ? [due_in_ms] : [])))
    look_at = looked_at + Math.min(POLL_MS, Math.max(next_ms, LOOK_MS))
  }

  function abandon(endpoint_id: string): void {
    posts.drop(endpoint_id)
    canceling.add(endpoint_id)
  }

  return {
    wake(fed) {
      if (!fed) return dispatching.wake()
      const { partner_id, endpoints } = fed
      feed(endpoints.map((endpoint_id) => ({ endpoint_id, partner_id })))
    },
    abandon,
    async stop() {
      stopped = true
      await Promise.all([dispatching, taking, canceling].map((part) => part.stop()))
      const timer = setTimeout(attempts.cut, STOP_MS)
      const untried = await posts.stop()
      clearTimeout(timer)
      if (untried.length > 0) await releaseTaken(db, untried).then(() => tellOfDeliveries(world))
      await recorder.stop()
    },
  }
}
