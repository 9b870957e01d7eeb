import type { Logger } from 'pino'
import { type Office, openOffice } from '../control/operator/office.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import type { Environment } from '../core/environment.ts'
import { type Network, networks } from '../core/networks.ts'
import { openHints } from '../db/hints.ts'
import type { Pool } from '../db/pool.ts'
import { openShared } from '../parties/partners/partners.ts'
import { openLogKey } from '../records/acts/log.ts'
import type { World, Worlds } from '../world.ts'
import { openActivityHints } from './activity-hints.ts'
import { setClock } from './clock.ts'
import { type Closing, openClosing } from './closing.ts'
import type { Config } from './config.ts'
import { type OpenDatabase, openDatabase } from './database.ts'
import { createDemo, showDemo } from './demo.ts'
import { drain, drainMsOf } from './drain.ts'
import { openFront } from './front.ts'
import { openHousekeeping } from './housekeeping.ts'
import { openHttp } from './http.ts'
import { createLog } from './log.ts'
import {
  logMetricQueries,
  mailMetricQuery,
  nodeMetricQueries,
  signerMetricQuery,
  worldMetricQueries,
} from './metric-queries.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { openNotifications } from './notifications.ts'
import { endPools, type NodePools, namedPools, openNodePools, sharesOf } from './pools.ts'
import { configuredNetworks, isPixConfigured, pixProviderOf } from './rails.ts'
import { type AssertReady, openReadiness } from './readiness.ts'
import { answersCalls } from './role.ts'
import { answerWaiting, drainWaiting, openRuntimes } from './runtime.ts'
import { type OpenWorlds, openWorlds } from './worlds.ts'

/** The composition root: config → database → two worlds → what runs in them → HTTP. */
export type Service = {
  readonly url: string
  /** Drains for DRAIN_MS; then answers requests under way and closes everything. */
  stop(): Promise<void>
}

type StartOptions = {
  readonly config: Config
  /** Prints the demo and the ready line. */
  readonly print: (text: string) => void
  /** Called when the service cannot go on by itself. */
  readonly onFatal: (error: Error) => void
  /** Aborts a start that waits. Everything that was opened is closed, and the start fails with the signal's reason. */
  readonly signal?: AbortSignal
  /** Ends the drain of a stop early, with the reason to log. */
  readonly hurry?: AbortSignal
}

export async function startService(options: StartOptions): Promise<Service> {
  const { log_level: level, log_format: format } = options.config
  const log = createLog({ level, format })
  const closing = openClosing(log)
  try {
    return await openNode(options, log, closing)
  } catch (error) {
    await closing.closeAll()
    throw error
  }
}

async function openNode(options: StartOptions, log: Logger, closing: Closing): Promise<Service> {
  const { config, print, onFatal, signal, hurry } = options
  warnOfSurroundings(log)
  const store = await openDatabase({ config, log, closing, onFatal, signal })
  const base = await openBase(store, { config, log, closing })
  const { shared, opened, worlds, office, clock, metrics } = base
  const { sealer } = store
  const seat = store.seats('shared', 'trilho')
  const hints = openHints(seat, log)
  closing.add({ hints: hints.stop })
  const activityHints = openActivityHints(hints, shared)
  const runtimes = openRuntimes({
    opened,
    office,
    hints,
    activityHints,
    config,
    sealer,
    metrics,
    log,
    closing,
  })
  const around = { config, worlds, clock, metrics, log, closing }
  const front = await openFront({ ...around, runtimes, activityHints, office, sealer, seat, hints, signal })
  let serving = false
  const assertReady = openReadiness({
    db: base.pools.readiness,
    readiness: { ready: () => serving },
    primary: () => store.primary.state(),
  })
  watchFigures(base, assertReady)
  const wakeWorkers = () => activityHints.mark('production')
  const { remote_signer } = opened
  const http = await openHttp({
    ...around,
    front,
    office,
    assertReady,
    wakeWorkers,
    remote_signer,
    database_url: store.database.url,
  })
  // Before the server waits for requests under way: long polls would keep it open.
  closing.add({ 'callers who wait': () => answerWaiting(runtimes) })
  const url = await http.listen()
  await welcome(url, { ...base, ...store, config, print })
  describeProduction(config, log)
  checkChains(base.worlds.production, log)
  if (isPixConfigured(config)) checkPix(base.worlds.production, pixProviderOf(config), log)
  remote_signer?.watch()
  // Exchanges are asked from now on, so that the first quote finds a price.
  void base.worlds.production.prices.latest()
  serving = true
  closing.add({
    readiness: async () => {
      serving = false
    },
  })
  print(readyLine(url, config))
  return {
    url,
    async stop() {
      serving = false
      http.drain()
      drainWaiting(runtimes)
      await drain({ drain_ms: drainMsOf(config), requests: http.underWay(), log, hurry })
      await closeAll(http.underWay(), log, closing)
    },
  }
}

type Base = {
  readonly shared: Pool
  readonly pools: NodePools
  readonly opened: OpenWorlds
  readonly worlds: Worlds
  readonly office: Office
  readonly clock: Clock
  readonly metrics: Metrics
}

/** What every role has: the worlds, a corrected clock, and housekeeping. */
async function openBase(
  { seats, sealer }: OpenDatabase,
  { config, log, closing }: { config: Config; log: Logger; closing: Closing },
): Promise<Base> {
  const { role, retention, database_pool: pool, database_wait_ms: wait_ms } = config
  const metrics = createMetrics({ role })
  const clock = systemClock()
  const pools = openNodePools(seats('shared', 'trilho'), wait_ms)
  const { operators: shared } = pools
  closing.add({ 'connections to the database': () => endPools(pools) })
  const logKey = openLogKey({ shared, sealer })
  const opened = openWorlds({ seats, clock, log, config, pool, logKey, onSignerCall: metrics.signerAsked })
  closing.add({ 'the worlds': opened.stop })
  const { worlds } = opened
  const office = openOffice({ shared: openShared(shared), worlds, sealer, shares: sharesOf(pools) })
  await office.log.begin()
  await setClock(clock, shared, log)
  const notifications = openNotifications({ config, shared, worlds, sealer, metrics, log, closing })
  const housekeeping = openHousekeeping({
    role,
    notifications,
    worlds,
    followers: opened.followers,
    sweepers: opened.sweepers,
    shared,
    office,
    retention,
    reconcile_every_ms: config.reconcile_every_ms,
    setClock: (db) => setClock(clock, db, log),
    log,
    onRun: metrics.kept,
  })
  closing.add({ housekeeping: housekeeping.stop })
  return { shared, pools, opened, worlds, office, clock, metrics }
}

function watchFigures({ pools: own, opened, office, metrics }: Base, assertReady: AssertReady): void {
  const { worlds, doors } = opened
  const ready = () =>
    assertReady().then(
      () => true,
      () => false,
    )
  const poolsOf = ({ db, reads, keys, environment }: World) => ({
    [environment]: db,
    [`${environment} reads`]: reads,
    [`${environment} keys`]: keys,
  })
  const pools = { ...namedPools(own), ...poolsOf(worlds.production), ...poolsOf(worlds.sandbox) }
  // The node's own facts first: the queries to the database would change them.
  for (const question of nodeMetricQueries({ ready, pools, doors })) metrics.watch(question)
  for (const world of Object.values(worlds) as World<Environment>[])
    for (const question of worldMetricQueries(world)) metrics.watch(question)
  for (const question of logMetricQueries(office)) metrics.watch(question)
  metrics.watch(mailMetricQuery(office.shared.db))
  if (opened.remote_signer) metrics.watch(signerMetricQuery(opened.remote_signer))
}

/** On a first start: creates the demo and prints it. */
async function welcome(
  url: string,
  to: Pick<Base, 'shared' | 'worlds'> &
    Pick<OpenDatabase, 'database'> &
    Pick<StartOptions, 'config' | 'print'>,
): Promise<void> {
  const { config, database, print } = to
  if (!answersCalls(config.role)) return
  await database.announce(url)
  if (!config.demo && !database.embedded) return
  const demo = await createDemo(openShared(to.shared), to.worlds.sandbox)
  const { demo_secrets: secrets, data_dir } = config
  if (demo) await showDemo(demo, { url, secrets, data_dir, print })
}

function readyLine(url: string, { role }: Config): string {
  const more = {
    all: `console: ${url}/console, reference: ${url}/docs`,
    api: `role api, console: ${url}/console, reference: ${url}/docs`,
    worker: 'role worker: health and metrics only',
  }
  return `Trilho is ready at ${url}  (${more[role]})\n`
}

/** Says what production can do with these settings, and what it refuses. */
function describeProduction(config: Config, log: Logger): void {
  const payable = configuredNetworks(config)
  const pays_pix = isPixConfigured(config)
  const transfers = payable.length === 0 ? 'transfers' : 'transfers on other networks'
  const refused = pays_pix ? transfers : `payouts and ${transfers}`
  const paid = [...(pays_pix ? [`Pix over ${pixProviderOf(config)}`] : []), ...payments(payable)]
  const pays = paid.length === 0 ? 'has no payment rails' : `pays ${paid.join(' and ')}`
  const has_prices = config.prices_from !== undefined || config.prices_file !== undefined
  const quotes = has_prices
    ? ''
    : ', and quotes with price_unavailable: neither PRICES_FROM nor PRICES_FILE is set'
  log.info(
    `production ${pays}: ${refused} are refused with rail_unavailable${quotes}. The sandbox has all of it`,
  )
}

const payments = (payable: readonly Network[]): string[] =>
  (['USDT', 'BTC'] as const).flatMap((asset) => {
    const of_asset = payable.filter((network) => networks[network].asset === asset)
    return of_asset.length === 0 ? [] : [`${asset} on ${of_asset.join(', ')}`]
  })

/** Wrong settings of a network show at the start, not at the first transfer. Nothing waits for the answer. */
function checkChains({ chains }: World<'production'>, log: Logger): void {
  for (const { network, is_configured, check } of Object.values(chains)) {
    if (!is_configured) continue
    check().then(
      () => log.info({ network }, `chain: ${network} is ready`),
      (error: Error) => log.warn({ network }, `chain: ${network} cannot be used now: ${error.message}`),
    )
  }
}

/** The same for Pix. */
function checkPix({ pix }: World<'production'>, provider: string, log: Logger): void {
  pix.ready().then(
    () => log.info(`pix: ${provider} is ready`),
    (error: Error) => log.warn(`pix: ${provider} cannot be used now: ${error.message}`),
  )
}

async function closeAll(requests: number, log: Logger, closing: Closing): Promise<void> {
  log.info({ requests }, `stopping: ${requests} ${requests === 1 ? 'request' : 'requests'} under way`)
  await closing.closeAll()
  log.info('stopped')
}

function warnOfSurroundings(log: Logger): void {
  const major = Number(process.versions.node.split('.')[0])
  if (major < 22) log.warn(`Node ${process.versions.node} is out of support; run Node 24 in production`)
  if (process.env.CRASH_AT)
    log.warn(`CRASH_AT is set: this process will kill itself at ${process.env.CRASH_AT}`)
}
