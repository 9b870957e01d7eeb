import type { Logger } from 'pino'
import { openLoop } from '../core/loop.ts'
import type { World } from '../world.ts'
import { type DeliveryOptions, tryDelivery } from './delivery.ts'
import { tellDisabled } from './disabled.ts'
import { openPace } from './pace.ts'
import { type Made, type Owned, openPosts } from './posts.ts'
import {
  cancelPending,
  dispatchFresh,
  endpointsWithPending,
  releaseTaken,
  type TakenDelivery,
  takeDeliveries,
} from './queue.ts'
import { openRecorder } from './recorder.ts'
import { ownersOf } from './store.ts'

/**
 * Brings events to their receivers, at least once. Taken with a lease, posted outside of any transaction, recorded in
 * a new one; whoever dies in between leaves a lease that ends, and another one posts again. Any number of processes may
 * do this at once.
 *
 * A receiver that is dead, slow or endless is in nobody's way but its own: how many attempts an endpoint may have under
 * way is in lanes.ts, who gets room on this node in rooms.ts and pace.ts, what is taken and under way in posts.ts.
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
  readonly onAttempt?: (attempt: {
    outcome: 'delivered' | 'failed' | 'exhausted'
    lag_seconds: number | null
  }) => void
  /** Told when events have got their places in the log. */
  readonly onPlaced?: () => void
  /** Told when what came of an attempt could not be written down; `kept`: that it was made is known all the same. */
  readonly onLost?: (loss: { kept: boolean }) => void
}

const DISPATCH_BATCH = 500
const CANCEL_BATCH = 1000
/** How often to look without being told. */
const POLL_MS = 250
/** Between two looks while events pour in, so that they are placed together; and while deliveries do. */
const GATHER_EVENTS_MS = 20
const GATHER_DELIVERIES_MS = 5
/** What is under way at a stop may take this long to end by itself. */
const STOP_MS = 1500
const OWNERS_KEPT = 10_000

export function openWebhookWorker(world: World, options: WebhookWorkerOptions): WebhookWorker {
  const { log, onAttempt, onLost, timeout_ms } = options
  const lease_ms = timeout_ms + world.lease_ms
  /** Of what is under way. */
  const cutters = new Set<AbortController>()
  let cut = false
  let stopped = false
  /** When endpoints with something pending were last looked for. */
  let looked_at = Number.NEGATIVE_INFINITY
  /** Disabled and deleted endpoints that may have something pending. */
  const abandoned = new Set<string>()
  /** Which partner an endpoint belongs to never changes. */
  const owners = new Map<string, string>()

  const recorder = openRecorder(world.db, {
    log,
    tell: (tx, endpoint) => tellDisabled(tx, world, endpoint),
    onDisabled: abandon,
    ...(onLost ? { onLost } : {}),
  })
  const posts = openPosts({
    log,
    timeout_ms,
    pace: openPace(options.per_second),
    wait_ms: world.lease_ms / 2,
    deliver,
    release: (taken) =>
      void releaseTaken(world.db, taken).catch((error: unknown) => log.warn({ err: error }, 'webhooks')),
    onRoom: () => taking.wake(),
  })
  const timing = { poll_ms: POLL_MS, onError: (error: unknown) => log.warn({ err: error }, 'webhooks') }
  const dispatching = openLoop(dispatch, { ...timing, gather_ms: GATHER_EVENTS_MS })
  const taking = openLoop(take, { ...timing, gather_ms: GATHER_DELIVERIES_MS })
  const canceling = openLoop(cancel, { ...timing, gather_ms: GATHER_DELIVERIES_MS })

  async function dispatch(): Promise<void> {
    for (let placed = DISPATCH_BATCH; placed === DISPATCH_BATCH && !stopped; ) {
      const done = await dispatchFresh(world.db, DISPATCH_BATCH)
      placed = done.placed
      if (placed > 0) options.onPlaced?.()
      if (done.endpoints.length > 0) feed(await withOwners(done.endpoints))
    }
  }

  function feed(endpoints: readonly Owned[]): void {
    posts.expect(endpoints)
    taking.wake()
  }

  async function withOwners(endpoints: readonly string[]): Promise<Owned[]> {
    const unknown = endpoints.filter((id) => !owners.has(id))
    if (owners.size > OWNERS_KEPT) owners.clear()
    const asked = unknown.length === 0 ? [] : await ownersOf(world.db, unknown)
    for (const { endpoint_id, partner_id } of asked) owners.set(endpoint_id, partner_id)
    return endpoints.flatMap((endpoint_id) => {
      const partner_id = owners.get(endpoint_id)
      return partner_id === undefined ? [] : [{ endpoint_id, partner_id }]
    })
  }

  async function take(): Promise<void> {
    // Also when others keep waking us: what was to be tried again is told by nobody.
    if (performance.now() - looked_at > POLL_MS / 2) {
      looked_at = performance.now()
      posts.forgetIdle()
      const waiting = await endpointsWithPending(world.db)
      posts.expect(waiting.filter(({ enabled }) => enabled))
      for (const { endpoint_id } of waiting.filter(({ enabled }) => !enabled)) abandon(endpoint_id)
    }
    for (let rooms = posts.rooms(); rooms.size > 0 && !stopped; rooms = posts.rooms())
      posts.take(rooms, await takeDeliveries(world.db, rooms, lease_ms))
  }

  function abandon(endpoint_id: string): void {
    posts.drop(endpoint_id)
    abandoned.add(endpoint_id)
    canceling.wake()
  }

  /** Ends what is pending for endpoints that nothing goes to, step by step: there may be any number. */
  async function cancel(): Promise<void> {
    const endpoints = [...abandoned]
    abandoned.clear()
    for (let ended = CANCEL_BATCH; endpoints.length > 0 && ended === CANCEL_BATCH && !stopped; )
      ended = await cancelPending(world.db, endpoints, CANCEL_BATCH)
  }

  async function deliver(taken: TakenDelivery): Promise<Made | undefined> {
    const cutter = new AbortController()
    cutters.add(cutter)
    const outcome = await tryDelivery(world, taken, { ...options, cutter }).finally(() =>
      cutters.delete(cutter),
    )
    // Cut off by our own stop: nobody's fault, and nothing is known.
    if (cut && outcome.error !== null) {
      await releaseTaken(world.db, [taken])
      return undefined
    }
    const { delivered, duration_ms: took_ms } = outcome
    const lag_ms = outcome.started_at.getTime() - taken.created_at.getTime()
    onAttempt?.({
      outcome: delivered ? 'delivered' : outcome.retry_ms === null ? 'exhausted' : 'failed',
      lag_seconds: taken.attempts === 1 ? lag_ms / 1000 : null,
    })
    await recorder.record(outcome, {
      gone: outcome.status === 410,
      was_failing: taken.failing_since !== null,
    })
    return { took_ms, delivered }
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
      await Promise.all([dispatching, taking, canceling].map((loop) => loop.stop()))
      const timer = setTimeout(() => {
        cut = true
        for (const cutter of cutters) cutter.abort()
      }, STOP_MS)
      const untried = await posts.stop()
      clearTimeout(timer)
      if (untried.length > 0) await releaseTaken(world.db, untried)
      await recorder.stop()
    },
  }
}
