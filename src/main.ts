import type { AddressInfo } from 'node:net'
import { type Logger, pino } from 'pino'
import { createGate, createHandlers, endpoints } from './api.ts'
import type { Config } from './config.ts'
import { type Clock, systemClock } from './core/clock.ts'
import { openHints } from './db/hints.ts'
import { migrate } from './db/migrate.ts'
import { startDatabase } from './db/open.ts'
import { openPool, type Pool } from './db/pool.ts'
import { createDemo, renderDemo } from './demo.ts'
import { buildOpenApi } from './docs/openapi.ts'
import { registerPages } from './docs/pages.ts'
import { registerHealth, registerMetrics, startMetricsServer } from './health.ts'
import { buildServer } from './http/server.ts'
import { openKeyring } from './keys/keyring.ts'
import { forgetOldCommits } from './ledger/commit.ts'
import { openLimiter } from './limits/limiter.ts'
import { createMetrics } from './metrics.ts'
import { openShared } from './partners/partners.ts'
import { version } from './version.ts'
import { openWorlds } from './worlds.ts'

/**
 * The composition root: config → database → two worlds → HTTP. Whatever is opened is noted with how to close it, and
 * closed in reverse, so that a stop leaves nothing behind and a start that fails half-way does neither.
 */
export type Service = { readonly url: string; stop(): Promise<void> }

export type StartOptions = {
  readonly config: Config
  /** Where the demo and the ready line are printed. */
  readonly print: (text: string) => void
  /** Told when the service cannot go on by itself. */
  readonly onFatal: (error: Error) => void
}

const CLOCK_MS = 30_000
const FORGET_COMMITS_MS = 600_000
const CLOCK_SKEW_WARNING_MS = 500

export const createLog = (level: string): Logger =>
  pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime })

export async function startService({ config, print, onFatal }: StartOptions): Promise<Service> {
  const log = createLog(config.log_level)
  const closing: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const close of closing.splice(0).reverse()) {
      await close().catch((error: unknown) => log.error({ err: error }, 'while stopping'))
    }
  }
  try {
    return { url: await open(), stop }
  } catch (error) {
    await stop()
    throw error
  }

  async function open(): Promise<string> {
    warnOfOldRuntime(log)
    const database = await startDatabase(config, (line) => log.debug({ postgres: line }), onFatal)
    closing.push(database.stop)
    const applied = await migrate(database.url)
    if (applied.length > 0) log.info({ applied }, 'database migrated')

    const metrics = createMetrics()
    const clock = systemClock()
    const sharedSeat = { url: database.url, schema: 'shared', application_name: 'trilho' } as const
    const sharedDb = openPool({ ...sharedSeat, max: 2 })
    closing.push(() => sharedDb.end())
    const { worlds, stop: stopWorlds } = openWorlds({
      url: database.url,
      clock,
      log,
      pool: config.database_pool,
      lanes: config.lanes,
      onBatch: metrics.committed,
    })
    closing.push(stopWorlds)
    await setClock(clock, sharedDb, log)
    every(CLOCK_MS, () => setClock(clock, sharedDb, log))
    every(FORGET_COMMITS_MS, () => Promise.all(Object.values(worlds).map(({ db }) => forgetOldCommits(db))))

    const hints = openHints(sharedSeat, log)
    closing.push(hints.stop)
    const keyring = openKeyring({ worlds, hints, log })
    closing.push(keyring.stop)
    const limiter = await openLimiter({ seat: sharedSeat, clock, hints, log })
    closing.push(limiter.stop)

    let serving = false
    const gate = createGate({ keyring, limiter, trusted_proxies: config.trusted_proxies })
    const server = { url: config.public_url ?? '' }
    const app = buildServer({
      handlers: createHandlers(limiter),
      gate,
      public_url: () => server.url,
      log,
      onAnswer: metrics.answered,
    })
    registerHealth(app, { db: sharedDb, readiness: { ready: () => serving } })
    registerPages(app, { openapi: () => buildOpenApi({ endpoints, public_url: server.url, version }) })
    if (config.metrics_port === undefined) registerMetrics(app, { metrics, token: config.metrics_token })
    else {
      const metricsServer = await startMetricsServer({
        metrics,
        token: config.metrics_token,
        host: config.host,
        port: config.metrics_port,
      })
      closing.push(() => metricsServer.close())
    }
    closing.push(() => app.close())
    await app.listen({ host: config.host, port: config.port })
    const { port } = app.server.address() as AddressInfo
    const local = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`
    server.url ||= local

    const demo =
      config.demo || database.embedded ? await createDemo(openShared(sharedDb), worlds.sandbox) : undefined
    if (demo) print(renderDemo(demo, local))
    serving = true
    closing.push(async () => {
      serving = false
    })
    print(`Trilho is ready at ${local}  (reference: ${local}/docs)\n`)
    return local
  }

  function every(ms: number, work: () => Promise<unknown>): void {
    const timer = setInterval(
      () => work().catch((error: unknown) => log.warn({ err: error }, 'in the background')),
      ms,
    )
    timer.unref()
    closing.push(async () => clearInterval(timer))
  }
}

/** How far this machine's clock is from the database's. Half of the round trip is the best guess of when it looked. */
async function setClock(clock: Clock, db: Pool, log: Logger): Promise<void> {
  const asked = Date.now()
  const { rows } = await db.query('SELECT clock_timestamp() AS now')
  const offset = rows[0].now.getTime() - (asked + Date.now()) / 2
  clock.adjust(Math.round(offset))
  if (Math.abs(offset) > CLOCK_SKEW_WARNING_MS)
    log.warn({ offset_ms: Math.round(offset) }, 'this clock differs from the database’s')
}

function warnOfOldRuntime(log: Logger): void {
  const major = Number(process.versions.node.split('.')[0])
  if (major < 22) log.warn(`Node ${process.versions.node} is out of support; run Node 24 in production`)
}
