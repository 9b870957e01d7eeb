import type { Logger } from 'pino'
import { type Activity, alwaysActive } from '../core/activity.ts'
import { openLoop } from '../core/loop.ts'
import type { World } from '../world.ts'
import { type AttemptOptions, openAttempts } from './attempts.ts'
import { openCanceling } from './canceling.ts'
import { recordDisabled } from './disabled.ts'
import { openEndpointSenders } from './endpoint-senders.ts'
import { openPace } from './pace.ts'
import { openPolling, POLL_INTERVAL } from './polling.ts'
import { endpointsWithPending, releaseTaken, takeDeliveries } from './queue.ts'
import { openRecorder } from './recorder.ts'
import { wakeOtherNodes } from './remote-worker.ts'

/**
 * Delivers events to webhook endpoints, at least once. The worker takes due deliveries with a lease, posts them outside of any
 * transaction, and records the results in a new one. If a node dies in between, the lease ends and another node posts again.
 * Any number of nodes may run this worker.
 *
 * A receiver that is dead, slow or endless delays no other receiver: lanes.ts limits the concurrent attempts per endpoint,
 * capacity.ts and pace.ts share this node between partners, endpoint-sender.ts holds what is taken and under way.
 */
export type WebhookWorker = {
  /** There are new deliveries: to these endpoints of a partner, or to unknown ones. */
  wake(known?: { readonly partner_id: string; readonly endpoints: readonly string[] }): void
  /** The endpoint was disabled or deleted: cancels its pending deliveries. */
  abandon(endpoint_id: string): void
  stop(): Promise<void>
}

type WebhookWorkerOptions = AttemptOptions & {
  /** Sustained rate of attempts per partner. */
  readonly per_second: number
  readonly log: Logger
  readonly activity?: Activity
  /** Called when a result could not be recorded. `kept`: only the response is missing, the attempt is recorded. */
  readonly onLost?: (loss: { kept: boolean }) => void
}

/** Sustained rate of attempts per partner at endpoints that fail or send long responses. */
const COSTLY_PER_SECOND = 25
/** Between two takes while wake-ups keep coming, so that deliveries are taken in batches. */
const GATHER_MS = 5
/** How soon backlogged endpoints are tried again for a free slot. */
const PACE_MS = 50
/** How long a stop waits for attempts under way before it cuts them off. */
const STOP_MS = 1500

export function openWebhookWorker(world: World, options: WebhookWorkerOptions): WebhookWorker {
  const { log, onLost, timeout_ms, activity = alwaysActive } = options
  const { db, lease_ms } = world
  const warn = (error: unknown) =>
    log.warn({ err: error }, 'webhooks: a query of the delivery queue failed; trying again')
  const timing = { poll_ms: () => activity.pollInterval(POLL_INTERVAL), gather_ms: GATHER_MS, onError: warn }
  const polling = openPolling(activity)
  let stopped = false

  const recorder = openRecorder(db, {
    log,
    tell: (tx, endpoint) => recordDisabled(tx, world, endpoint),
    onDisabled: abandon,
    ...(onLost ? { onLost } : {}),
  })
  const attempts = openAttempts(world, { ...options, recorder, onRetry: pollIn })
  const senders = openEndpointSenders({
    log,
    timeout_ms,
    pace: openPace(options.per_second),
    costly_pace: openPace(Math.min(options.per_second, COSTLY_PER_SECOND)),
    wait_ms: lease_ms / 2,
    deliver: attempts.make,
    release: (taken) => void releaseTaken(db, taken).catch(warn),
    onSlotFree: () => taking.wake(),
  })
  const canceling = openCanceling(db, timing)
  const taking = openLoop(take, {
    ...timing,
    poll_ms: () => Math.min(polling.delayMs(), senders.hasBacklog() ? PACE_MS : Infinity),
    onError(error) {
      warn(error)
      polling.failed()
    },
  })
  activity.onActive(pollSoon)

  async function take(): Promise<void> {
    // Polls also while wake-ups keep coming: a retry that becomes due sends no wake-up.
    if (polling.isDue()) await poll()
    for (let slots = senders.reserveSlots(); slots.size > 0 && !stopped; slots = senders.reserveSlots())
      senders.start(slots, await takeDeliveries(db, slots, timeout_ms + lease_ms))
  }

  async function poll(): Promise<void> {
    polling.begin()
    senders.forgetIdle()
    const waiting = await endpointsWithPending(db, POLL_INTERVAL.most_ms)
    const due = waiting.filter(({ enabled, due_in_ms }) => enabled && due_in_ms === 0)
    senders.addBacklog(due)
    for (const { endpoint_id, enabled } of waiting) if (!enabled) abandon(endpoint_id)
    for (const { due_in_ms } of waiting) if (due_in_ms > 0) polling.dueIn(due_in_ms)
    polling.end(due.length > 0)
  }

  function pollSoon(): void {
    polling.wake()
    taking.wake()
  }

  function pollIn(ms: number): void {
    polling.dueIn(ms)
    // The loop may be waiting for longer than `ms`: after a wake-up it computes its delay again.
    taking.wake()
  }

  function abandon(endpoint_id: string): void {
    senders.drop(endpoint_id)
    canceling.add(endpoint_id)
  }

  return {
    wake(known) {
      if (!known) return pollSoon()
      const { partner_id, endpoints } = known
      senders.addBacklog(endpoints.map((endpoint_id) => ({ endpoint_id, partner_id })))
      taking.wake()
    },
    abandon,
    async stop() {
      stopped = true
      await Promise.all([taking, canceling].map((part) => part.stop()))
      const timer = setTimeout(attempts.cut, STOP_MS)
      const untried = await senders.stop()
      clearTimeout(timer)
      if (untried.length > 0) {
        await releaseTaken(db, untried)
        await wakeOtherNodes(world).catch(warn)
      }
      await recorder.stop()
    },
  }
}
