import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openPump } from '../core/batching.ts'
import { type Environment, environments } from '../core/environment.ts'
import { type Hints, sendHint } from '../db/hints.ts'
import type { World } from '../world.ts'
import type { WebhookWorker } from './worker.ts'

const CHANNEL = 'deliveries_waiting'
/** Least time between two wake-ups. */
const GATHER_MS = 20

/** Wakes the webhook workers of other nodes. The wake-up carries no data: they read the new deliveries from the database. */
export const wakeOtherNodes = ({ db, environment }: Pick<World, 'db' | 'environment'>): Promise<void> =>
  sendHint(db, CHANNEL, environment)

/** Wakes this node's workers when another node sends a wake-up, and when wake-ups may have been lost. */
export function listenForWakeUps(
  hints: Hints,
  workers: Readonly<Record<Environment, Pick<WebhookWorker, 'wake'>>>,
): void {
  hints.on(CHANNEL, (environment) => workers[environment as Environment]?.wake())
  hints.onLost(() => {
    for (const environment of environments) workers[environment].wake()
  })
}

/**
 * The webhook worker of a node that delivers no webhooks: it wakes the nodes that do. A lost wake-up only delays a delivery,
 * because those nodes also poll.
 */
export function openRemoteWorker(world: Pick<World, 'db' | 'environment'>, log: Logger): WebhookWorker {
  const stopping = new AbortController()
  let woken = false
  const sending = openPump({
    hasMore: () => woken && !stopping.signal.aborted,
    async step() {
      woken = false
      await wakeOtherNodes(world).catch((error: unknown) =>
        log.debug({ err: error }, 'webhooks: wake-up not sent; other nodes find the deliveries by polling'),
      )
      await sleep(GATHER_MS, undefined, { signal: stopping.signal }).catch(() => {})
    },
  })
  function wake(): void {
    woken = true
    sending.start()
  }

  return {
    wake,
    abandon: wake,
    stop() {
      stopping.abort()
      return sending.idle()
    },
  }
}
