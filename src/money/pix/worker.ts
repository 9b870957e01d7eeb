import type { Logger } from 'pino'
import { type Activity, alwaysActive } from '../../core/activity.ts'
import { openFairSemaphore, QueueFull, type Release } from '../../core/fair-semaphore.ts'
import { type Due, takeDue } from '../../db/due.ts'
import { openWorker } from '../../db/worker.ts'
import { takeFollowUps } from '../../records/desk/resolutions.ts'
import { noSteps, type StepRecorder } from '../../records/steps/recorder.ts'
import type { World } from '../../world.ts'
import type { PayoutWatch } from './responses.ts'
import { RAIL, type Settled } from './settle.ts'
import { isLeft, payoutSteps } from './steps.ts'
import { type Payout, payoutColumns } from './store.ts'

/**
 * Brings accepted payouts to their end. The node that accepts a payout sends it at once, unless many of the partner's payouts wait for
 * their turns: then it is left to a worker. When the lease ends and the payout is not final, any worker node takes it and asks the rail
 * first. It sends again, under the same id, only if the rail is sure that it never received the payout, and only after it has stored that
 * it will send.
 */
export type PayoutWorker = {
  /**
   * A place among the first sends of the partner on this node; the caller must give it back. Undefined: as many wait as may, and the
   * payout must be accepted as one that is left to a worker.
   */
  admit(partner_id: string): Promise<Release | undefined>
  /**
   * First send, by the node that accepted the payout. `since`: when accepting began, on this process's monotonic clock; the
   * lease began no earlier. Resolves to undefined if the outcome is not known yet.
   */
  send(payout: Payout, since: number): Promise<Settled | undefined>
  /** Waits for this process to settle the payout. The caller must stop the watch. */
  watch(payout_id: string): PayoutWatch
  stop(): Promise<void>
}

const POLL_INTERVAL = { least_ms: 500, most_ms: 5000 }
const FOLLOW_UP_POLL_INTERVAL = { least_ms: 2000, most_ms: 16_000 }
/** Concurrent payouts per kind of work, on one node. */
const SLOTS = { per_rail: 40, per_partner: 32 }

/**
 * On a rail that takes only so many payments at once: first sends of one partner that may wait on the node that accepted them. More would
 * only hold requests and memory: a worker takes the others in the order of their acceptance, and partners in turn.
 */
const FIRST_SENDS = { at_once: Infinity, per_name: 8, waiting_max: 0 }

const payouts = { table: 'payouts', columns: payoutColumns } as const
/** Payouts that were not sent yet, or whose first send has no known outcome; `asked` below are the others. */
const left: Due = { ...payouts, name: 'payouts left', followed: false }
const asked: Due = { ...payouts, name: 'payouts asked', followed: true }

/** Without `follows` (role `api`) a node sends the payouts it accepts, and leaves status queries to `worker` nodes. */
export function openPayoutWorker(
  world: World,
  log: Logger,
  {
    follows = true,
    steps = noSteps,
    activity = alwaysActive,
  }: { readonly follows?: boolean; readonly steps?: StepRecorder; readonly activity?: Activity } = {},
): PayoutWorker {
  const watches = openWatches()
  const { send, sendLeft, queryThenSend, compare } = payoutSteps(world, log, watches.notify, steps)

  const common = { log, activity, rails: [RAIL], slots: SLOTS, stop_ms: world.rail_timeout_ms }
  const follow = (due: Due) =>
    openWorker<Payout>({
      ...common,
      name: due.name,
      poll_interval: POLL_INTERVAL,
      slotOf: ({ partner_id }) => ({ rail: RAIL, partner_id }),
      take: (free) => takeDue<Payout>(world.db, due, world.lease_ms, free),
      work: (payout) => (isLeft(world, payout) ? sendLeft(payout) : queryThenSend(payout)),
    })
  const openWorkers = () => [
    follow(left),
    follow(asked),
    openWorker({
      ...common,
      name: 'resolved payouts',
      poll_interval: FOLLOW_UP_POLL_INTERVAL,
      slotOf: ({ resource_id }) => ({ rail: RAIL, partner_id: resource_id }),
      take: ({ rails }) => takeFollowUps(world.db, 'payout', rails[0]!.free),
      work: compare,
    }),
  ]
  const workers = follows ? openWorkers() : []
  const first_sends = openFairSemaphore(FIRST_SENDS)
  const isUnbounded = world.pix.sending.at_once === undefined

  return {
    admit: async (partner_id) =>
      isUnbounded ? () => {} : first_sends.take(partner_id).catch(undefinedIfFull),
    send: (payout, since) => send(payout, since + world.lease_ms),
    watch: watches.watch,
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()))
    },
  }
}

function undefinedIfFull(error: unknown): undefined {
  if (!(error instanceof QueueFull)) throw error
}

/** Callers in this process that wait for a payout. */
function openWatches() {
  const waiting = new Map<string, Set<(settled: Settled) => void>>()
  return {
    notify(settled: Settled): void {
      for (const resolve of waiting.get(settled.payout.id) ?? []) resolve(settled)
    },
    watch(payout_id: string): PayoutWatch {
      let notify: (settled: Settled) => void = () => {}
      const settled = new Promise<Settled>((resolve) => {
        notify = resolve
      })
      const watchers = waiting.get(payout_id) ?? new Set()
      waiting.set(payout_id, watchers.add(notify))
      const stop = () => {
        watchers.delete(notify)
        if (watchers.size === 0) waiting.delete(payout_id)
      }
      return { settled, stop }
    },
  }
}
