import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openPump } from '../core/batching.ts'
import { type Environment, environments } from '../core/environment.ts'
import { type Hints, sendHint } from '../db/hints.ts'
import type { World } from '../world.ts'
import type { WebhookWorker } from './worker.ts'

const CHANNEL = 'deliveries_waiting'
/** Between two hints, however much there is to tell. */
const GATHER_MS = 20

/** Lets the nodes that bring webhooks know that there is something new; they find it in the database. */
export const tellOfDeliveries = ({ db, environment }: Pick<World, 'db' | 'environment'>): Promise<void> =>
  sendHint(db, CHANNEL, environment)

/** Wakes a worker of this node when another one tells of deliveries in its world, or may have done so unheard. */
export function hearOfDeliveries(
  hints: Hints,
  workers: Readonly<Record<Environment, Pick<WebhookWorker, 'wake'>>>,
): void {
  hints.on(CHANNEL, (environment) => workers[environment as Environment]?.wake())
  hints.onLost(() => {
    for (const environment of environments) workers[environment].wake()
  })
}

/** What a node has that does not bring webhooks itself. A hint that is not sent costs a moment: others look by themselves. */
export function openElsewhere(world: Pick<World, 'db' | 'environment'>, log: Logger): WebhookWorker {
  const stopping = new AbortController()
  let news = false
  const telling = openPump({
    hasMore: () => news && !stopping.signal.aborted,
    async step() {
      news = false
      await tellOfDeliveries(world).catch((error: unknown) => log.debug({ err: error }, 'webhooks: not told'))
      await sleep(GATHER_MS, undefined, { signal: stopping.signal }).catch(() => {})
    },
  })
  function wake(): void {
    news = true
    telling.start()
  }

  return {
    wake,
    abandon: wake,
    stop() {
      stopping.abort()
      return telling.idle()
    },
  }
}
