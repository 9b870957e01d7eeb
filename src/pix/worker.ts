import type { Logger } from 'pino'
import { type Activity, alwaysActive } from '../core/activity.ts'
import { type Due, takeDue } from '../db/due.ts'
import { openWorker } from '../db/worker.ts'
import { takeFollowUps } from '../desk/resolutions.ts'
import { noSteps, type StepRecorder } from '../steps/recorder.ts'
import type { World } from '../world.ts'
import type { Watch } from './responses.ts'
import { RAIL, type Settled } from './settle.ts'
import { payoutSteps } from './steps.ts'
import { type Payout, payoutColumns } from './store.ts'

/**
 * Brings accepted payouts to their end. The first try is made by whoever accepted the payout, at once. Whatever is not
 * final when its lease ends is taken up by any node, which asks before it does anything: only what the rail is sure it
 * never got is sent again, under the same id, and only after it was said that it will be.
 */
export type PayoutWorker = {
  /**
   * The first try, by whoever accepted it. `since` is when accepting began, by this process's own steady clock: the lease
   * has run since then at most. Resolves to the end if it came at once, to undefined if the outcome is not known yet.
   */
  send(payout: Payout, since: number): Promise<Settled | undefined>
  /** Tells when a payout is settled by this process, until it is told to stop. */
  watch(payout_id: string): Watch
  stop(): Promise<void>
}

const REST = { least_ms: 500, most_ms: 5000 }
const FOLLOW_UP_REST = { least_ms: 2000, most_ms: 16_000 }
/** Of each kind of work, on one node. */
const SLOTS = { per_rail: 40, per_partner: 32 }

const payouts = { table: 'payouts', columns: payoutColumns } as const
/** Nobody has looked at it since it was accepted. */
const left: Due = { ...payouts, name: 'payouts left', followed: false }
const asked: Due = { ...payouts, name: 'payouts asked', followed: true }

/** Who does not follow sends what it accepted, and leaves what comes after to other nodes. */
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
  const { send, lookAfter, compare } = payoutSteps(world, log, watches.tell, steps)

  const common = { log, activity, rails: [RAIL], slots: SLOTS, stop_ms: world.rail_timeout_ms }
  const follow = (due: Due) =>
    openWorker({
      ...common,
      name: due.name,
      rest: REST,
      placeOf: ({ partner_id }) => ({ rail: RAIL, partner_id }),
      take: (room) => takeDue<Payout>(world.db, due, world.lease_ms, room),
      work: lookAfter,
    })
  const openWorkers = () => [
    follow(left),
    follow(asked),
    openWorker({
      ...common,
      name: 'resolved payouts',
      rest: FOLLOW_UP_REST,
      placeOf: ({ resource_id }) => ({ rail: RAIL, partner_id: resource_id }),
      take: ({ rails }) => takeFollowUps(world.db, 'payout', rails[0]!.free),
      work: compare,
    }),
  ]
  const workers = follows ? openWorkers() : []

  return {
    send: (payout, since) => send(payout, since + world.lease_ms),
    watch: watches.watch,
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()))
    },
  }
}

/** Who in this process waits for which payout. */
function openWatches() {
  const waiting = new Map<string, Set<(settled: Settled) => void>>()
  return {
    tell(settled: Settled): void {
      for (const tell of waiting.get(settled.payout.id) ?? []) tell(settled)
    },
    watch(payout_id: string): Watch {
      let tell: (settled: Settled) => void = () => {}
      const settled = new Promise<Settled>((resolve) => {
        tell = resolve
      })
      const watchers = waiting.get(payout_id) ?? new Set()
      waiting.set(payout_id, watchers.add(tell))
      const stop = () => {
        watchers.delete(tell)
        if (watchers.size === 0) waiting.delete(payout_id)
      }
      return { settled, stop }
    },
  }
}
