import type { AddressInfo, Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import { endpoints } from '../api/endpoints.ts'
import { createGate } from '../api/gate.ts'
import { handlersOf } from '../api/handlers.ts'
import { auditDetails } from '../audit/state.ts'
import { openAuditWorker } from '../audit/worker.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import type { Environment } from '../core/environment.ts'
import { reportError } from '../core/error-report.ts'
import { awaitPrimary } from '../db/await-primary.ts'
import { measureOffset } from '../db/clock.ts'
import { openHints } from '../db/hints.ts'
import { type Lookout, openLookout } from '../db/lookout.ts'
import { assertMigrated, migrate } from '../db/migrate.ts'
import { openSealer, seatsOf, secretKeysOf, startDatabase } from '../db/open.ts'
import { type Db, openClient, openOwner, openPool } from '../db/pool.ts'
import { primaryOf } from '../db/primary.ts'
import { eventLookout } from '../events/store.ts'
import { buildServer } from '../http/server.ts'
import { openKeyring } from '../keys/keyring.ts'
import { openLimiter } from '../limits/limiter.ts'
import { openTransferWorker } from '../onchain/worker.ts'
import { openOffice } from '../operator/office.ts'
import { logChecks } from '../operator/verify.ts'
import { openShared } from '../partners/partners.ts'
import { openPayoutWorker } from '../pix/worker.ts'
import { buildOpenApi } from '../reference/openapi.ts'
import { registerPages } from '../reference/pages.ts'
import { openRequestRecorder } from '../requests/recorder.ts'
import { requestLookout } from '../requests/store.ts'
import { eventSamples } from '../sandbox/samples.ts'
import { checkSecretKey, type Reached, reachedBy, withReach } from '../secrets/check.ts'
import { openTreasuryWorker } from '../treasury/worker.ts'
import { isAllowedAddress } from '../webhooks/address.ts'
import { dnsResolver, openOutside } from '../webhooks/outside.ts'
import { openWebhookWorker, type WebhookWorker } from '../webhooks/worker.ts'
import type { World } from '../world.ts'
import type { Config } from './config.ts'
import { createDemo, showDemo } from './demo.ts'
import { questionsOf, questionsOfLog, questionsOfNode } from './figures.ts'
import { openReadiness, registerHealth, registerMetrics, startMetricsServer } from './health.ts'
import { openHousekeeping } from './housekeeping.ts'
import { createMetrics } from './metrics.ts'
import { version } from './version.ts'
import { openWorlds, sliceChecks } from './worlds.ts'

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
  /** Ends a start that waits for something. What was opened is closed, and the start fails with the signal's reason. */
  readonly signal?: AbortSignal
}

const CLOCK_SKEW_WARNING_MS = 500
const DRAIN_MS = 10_000
/** No request is left open for longer, whatever becomes of the database. */
const ANSWER_MS = 9500
const ANSWER_AFTER_WAIT_MS = 5000

/** Errors are reported, whatever they are called: what the database says of them may quote rows. */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const report = (value: unknown) => (value instanceof Error ? reportError(value) : value)
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    // Instead of pino's own, which takes whatever has a message for an error as it came.
    serializers: { err: (reported: unknown) => reported },
    formatters: {
      log: (line) => Object.fromEntries(Object.entries(line).map(([name, value]) => [name, report(value)])),
    },
    hooks: {
      // An error alone would have its message taken for the line's.
      logMethod(line, method) {
        method.apply(this, line[0] instanceof Error ? [{ err: line[0] }, line[1] ?? 'error'] : line)
      },
    },
  }
  return destination ? pino(options, destination) : pino(options)
}

export async function startService({ config, print, onFatal, signal }: StartOptions): Promise<Service> {
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
    if (process.env.CRASH_AT)
      log.warn(`CRASH_AT is set: this process will kill itself at ${process.env.CRASH_AT}`)
    const database = await startDatabase(config, (line) => log.debug({ postgres: line }), onFatal)
    closing.push(database.stop)
    const sealer = openSealer(config, await secretKeysOf(config))
    const seats = await seatsOf(database.url, config)
    const primary = primaryOf(database.url)
    const unlisten = primary.onEpoch((news) => log.warn(news, 'connections to the database are renewed'))
    closing.push(async () => unlisten())
    // The owner migrates and leaves; from then on everybody comes in as the role of their seat.
    const migrates = config.migrate || database.embedded
    const knock = () =>
      migrates ? openOwner(database.url, 'trilho start') : openClient(seats('shared', 'trilho start'))
    await awaitPrimary(knock, { log, signal, give_up_ms: config.start_wait_ms })
    const check = async (reached: Reached) => {
      const in_force = await checkSecretKey(reached, sealer)
      if (in_force !== sealer.keyIds()[0])
        log.warn({ in_force, known: sealer.keyIds() }, 'another key is in force; run: trilho secrets rotate')
    }
    if (migrates) {
      const applied = await migrate(database.url, {
        seats,
        signal,
        check: (owner) => check(reachedBy(owner)),
      })
      if (applied.length > 0) log.info({ applied }, 'database migrated')
    } else {
      await assertMigrated(seats)
      await withReach(seats, check)
    }
    signal?.throwIfAborted()

    const metrics = createMetrics()
    const clock = systemClock()
    const couriers: Partial<Record<Environment, WebhookWorker>> = {}
    const lookouts: Partial<Record<Environment, Lookout>> = {}
    const sharedSeat = seats('shared', 'trilho')
    const wait_ms = config.database_wait_ms
    const sharedDb = openPool({ ...sharedSeat, max: 2, wait_ms })
    closing.push(() => sharedDb.end())
    const {
      worlds,
      doors,
      stop: stopWorlds,
    } = openWorlds({
      seats,
      clock,
      log,
      config,
      pool: config.database_pool,
      onBatch(environment, batch) {
        metrics.committed(environment, batch)
        couriers[environment]?.wake()
      },
    })
    closing.push(stopWorlds)
    const office = openOffice({ shared: openShared(sharedDb), worlds, sealer })
    await office.log.begin()
    await setClock(clock, sharedDb, log)
    const housekeeping = openHousekeeping({
      worlds,
      shared: sharedDb,
      office,
      retention: config.retention,
      setClock: (db) => setClock(clock, db, log),
      log,
      onRun: metrics.kept,
    })
    closing.push(housekeeping.stop)

    const hints = openHints(sharedSeat, log)
    closing.push(hints.stop)
    const keyring = openKeyring({ worlds, hints, log })
    closing.push(keyring.stop)
    const limiter = await openLimiter({
      seat: sharedSeat,
      clock,
      hints,
      log,
      wait_ms,
      ...(signal ? { signal } : {}),
    })
    closing.push(limiter.stop)

    const senders = {
      production: openPayoutWorker(worlds.production, log),
      sandbox: openPayoutWorker(worlds.sandbox, log),
    }
    const treasuries = {
      production: openTreasuryWorker(worlds.production, log),
      sandbox: openTreasuryWorker(worlds.sandbox, log),
    }
    const workers = [
      ...Object.values(treasuries),
      ...Object.values(senders),
      openTransferWorker(worlds.production, log),
      openTransferWorker(worlds.sandbox, log),
    ]
    closing.push(() => Promise.all(workers.map((worker) => worker.stop())))
    const auditors = Object.values<World>(worlds).map((world) =>
      openAuditWorker(world, {
        checks: sliceChecks,
        at_end: logChecks(office, world.environment),
        log,
        ...config.audit,
      }),
    )
    closing.push(() => Promise.all(auditors.map((auditor) => auditor.stop())))

    const { allow_private, denied, timeout_ms, per_second, retry_ms, dns } = config.webhooks
    const reach = { allow_private, denied }
    const resolve = dnsResolver({ servers: dns, allow_private })
    const allows = (address: string) => isAllowedAddress(address, reach)
    const outside = openOutside({ resolve, allows, connect_ms: timeout_ms })
    closing.push(outside.stop)
    for (const world of Object.values(worlds) as World[]) {
      const { environment } = world
      const onAttempt = metrics.attempted.bind(undefined, environment)
      const onLost = metrics.unrecorded.bind(undefined, environment)
      const lookout = openLookout(eventLookout(world.db), log)
      lookouts[environment] = lookout
      const onPlaced = lookout.wake
      const courier = openWebhookWorker(world, {
        outside,
        sealer,
        log,
        timeout_ms,
        per_second,
        retry_ms,
        onAttempt,
        onLost,
        onPlaced,
      })
      couriers[environment] = courier
      closing.push(courier.stop)
    }

    const requestLookouts = {
      production: openLookout(requestLookout(worlds.production.db), log),
      sandbox: openLookout(requestLookout(worlds.sandbox.db), log),
    }
    const recorder = openRequestRecorder({
      worlds,
      log,
      per_day: config.requests_per_day,
      onLeftOut: metrics.unlogged,
      onWritten: (environment) => requestLookouts[environment].wake(),
    })
    closing.push(recorder.stop)

    let serving = false
    const { trusted_proxies, in_flight } = config
    const gate = createGate({ keyring, limiter, clock, trusted_proxies, in_flight })
    const handlersIn = (environment: Environment) =>
      handlersOf({
        payouts: senders[environment],
        treasury: treasuries[environment],
        webhooks: { sealer, reach, worker: couriers[environment]! },
        newEvents: lookouts[environment]!,
        newRequests: requestLookouts[environment],
        limiter,
      })
    const server = { url: config.public_url ?? '' }
    const app = buildServer({
      endpoints,
      handlers: { production: handlersIn('production'), sandbox: handlersIn('sandbox') },
      gate,
      public_url: () => server.url,
      log,
      onAnswer: metrics.answered,
      record: recorder.record,
      answer_ms: Math.max(ANSWER_MS, config.pix_wait_ms + ANSWER_AFTER_WAIT_MS),
      sockets: config.connections,
    })
    const assertReady = openReadiness({
      db: sharedDb,
      readiness: { ready: () => serving },
      primary: () => primary.state(),
    })
    registerHealth(app, { assertReady, details: () => auditDetails(worlds) })
    const ready = () =>
      assertReady().then(
        () => true,
        () => false,
      )
    const pools = {
      shared: sharedDb,
      production: worlds.production.db,
      'production reads': worlds.production.reads,
      'production keys': worlds.production.keys,
      sandbox: worlds.sandbox.db,
      'sandbox reads': worlds.sandbox.reads,
      'sandbox keys': worlds.sandbox.keys,
    }
    // First what the node itself knows: the questions to the database would show in it.
    for (const question of questionsOfNode({ ready, pools, doors })) metrics.watch(question)
    for (const world of Object.values(worlds) as World[])
      for (const question of questionsOf(world)) metrics.watch(question)
    for (const question of questionsOfLog(office)) metrics.watch(question)
    registerPages(app, {
      openapi: () =>
        buildOpenApi({ endpoints, events: eventSamples(endpoints), public_url: server.url, version }),
    })
    if (config.metrics_port === undefined)
      registerMetrics(app, { metrics, token: config.metrics_token, open_to: () => false })
    else {
      const metricsServer = await startMetricsServer({
        metrics,
        token: config.metrics_token,
        host: config.host,
        port: config.metrics_port,
      })
      closing.push(() => metricsServer.close())
    }
    closing.push(closerOf(app))
    // Before the server waits for what is under way: whoever waits for events would keep it open.
    for (const lookout of [...Object.values(lookouts), ...Object.values(requestLookouts)])
      closing.push(lookout.stop)
    await app.listen({ host: config.host, port: config.port })
    const { port } = app.server.address() as AddressInfo
    const local = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`
    server.url ||= local
    await database.announce(local)

    const demo =
      config.demo || database.embedded ? await createDemo(openShared(sharedDb), worlds.sandbox) : undefined
    const { demo_secrets: secrets, data_dir } = config
    if (demo) await showDemo(demo, { url: local, secrets, data_dir, print })
    serving = true
    closing.push(async () => {
      serving = false
    })
    print(`Trilho is ready at ${local}  (reference: ${local}/docs)\n`)
    return local
  }
}

/**
 * Answers what is under way and lets go of everybody else. Node closes idle connections once: those that fall idle after
 * their last answer, or never carried a request, would keep the server open until the client leaves.
 */
function closerOf(app: FastifyInstance): () => Promise<void> {
  const sockets = new Set<Socket>()
  app.server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return async () => {
    const closed = app.close()
    const sweep = setInterval(() => {
      app.server.closeIdleConnections()
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    }, 20)
    const cut = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS)
    await closed.finally(() => {
      clearInterval(sweep)
      clearTimeout(cut)
    })
  }
}

async function setClock(clock: Clock, db: Db, log: Logger): Promise<void> {
  const { offset_ms } = await measureOffset(db)
  clock.adjust(offset_ms)
  if (Math.abs(offset_ms) > CLOCK_SKEW_WARNING_MS)
    log.warn({ offset_ms }, 'this clock differs from the database’s')
}

function warnOfOldRuntime(log: Logger): void {
  const major = Number(process.versions.node.split('.')[0])
  if (major < 22) log.warn(`Node ${process.versions.node} is out of support; run Node 24 in production`)
}
