import type { Logger } from 'pino'
import { type Activity, alwaysActive } from '../../core/activity.ts'
import { networkNames } from '../../core/networks.ts'
import { type Due, takeDue } from '../../db/due.ts'
import { openWorker, type Worker } from '../../db/worker.ts'
import { takeFollowUps } from '../../records/desk/resolutions.ts'
import { noSteps, type StepRecorder } from '../../records/steps/recorder.ts'
import type { World } from '../../world.ts'
import type { PauseRail } from '../custody/guard.ts'
import { transferSteps } from './steps.ts'
import { type Transfer, transferColumns } from './store.ts'

/**
 * Brings accepted transfers to their end: signs a payment, stores its bytes, broadcasts them until the network knows them, replaces them
 * if they wait for too long, and waits for confirmations. After a crash the worker goes on with the stored bytes.
 */
const POLL_INTERVAL = { least_ms: 250, most_ms: 5000 }
const FOLLOW_UP_POLL_INTERVAL = { least_ms: 2000, most_ms: 16_000 }
/** Concurrent transfers per kind of work and network, on one node. */
const SLOTS = { per_rail: 40, per_partner: 32 }

/** Transfers that have ended share the slots of one pseudo-rail: each is asked about a few times, until its block is finalized. */
const RESOLVED = 'resolved'

const transfers = { table: 'transfers', columns: transferColumns } as const
/** Transfers that are not broadcast yet; `followed` below are the broadcast ones. */
const fresh: Due = { ...transfers, name: 'transfers new', followed: false }
const followed: Due = { ...transfers, name: 'transfers followed', followed: true }

export function openTransferWorker(
  world: World,
  log: Logger,
  {
    steps = noSteps,
    activity = alwaysActive,
    pauseRail,
  }: { readonly steps?: StepRecorder; readonly activity?: Activity; readonly pauseRail?: PauseRail } = {},
): Worker {
  const { carry, compare } = transferSteps(world, log, steps, pauseRail)

  const common = { log, activity, slots: SLOTS, stop_ms: world.rail_timeout_ms }
  const carrying = (due: Due) =>
    openWorker({
      ...common,
      name: due.name,
      poll_interval: POLL_INTERVAL,
      rails: networkNames,
      slotOf: ({ network, partner_id }) => ({ rail: network, partner_id }),
      take: (free) => takeDue<Transfer>(world.db, due, world.lease_ms, free),
      work: carry,
    })
  const workers = [
    carrying(fresh),
    carrying(followed),
    openWorker({
      ...common,
      name: 'resolved transfers',
      poll_interval: FOLLOW_UP_POLL_INTERVAL,
      rails: [RESOLVED],
      slotOf: ({ resource_id }) => ({ rail: RESOLVED, partner_id: resource_id }),
      take: ({ rails }) => takeFollowUps(world.db, 'transfer', rails[0]!.free),
      work: compare,
    }),
  ]
  return {
    wake() {
      for (const worker of workers) worker.wake()
    },
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()))
    },
  }
}
