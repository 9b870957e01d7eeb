import type { Logger } from 'pino'
import { type AuditWorker, openAuditWorker } from '../control/audit/worker.ts'
import type { Office } from '../control/operator/office.ts'
import { logChecks } from '../control/operator/verify.ts'
import type { Environment } from '../core/environment.ts'
import type { Sealer } from '../core/seal.ts'
import type { Hints } from '../db/hints.ts'
import { type LogPoller, openLogPoller } from '../db/log-poller.ts'
import type { Worker } from '../db/worker.ts'
import { openDepositPlayer } from '../doors/sandbox/chain-deposits.ts'
import { type ChargeWorker, openChargeWorker } from '../money/charges/worker.ts'
import { type DailyWorker, openDailyWorker } from '../money/daily/worker.ts'
import { openTransferWorker } from '../money/onchain/worker.ts'
import { openPayoutWorker, type PayoutWorker } from '../money/pix/worker.ts'
import { openTreasuryWorker, type TreasuryWorker } from '../money/treasury/worker.ts'
import { eventLogSource } from '../records/events/log-store.ts'
import { requestLogSource } from '../records/requests/store.ts'
import { openStepRecorder, type StepRecorder } from '../records/steps/recorder.ts'
import { isAllowedAddress } from '../webhooks/address.ts'
import type { Webhooks } from '../webhooks/endpoints.ts'
import { dnsResolver, type Egress, openEgress } from '../webhooks/outside.ts'
import { listenForWakeUps, openRemoteWorker } from '../webhooks/remote-worker.ts'
import { openWebhookWorker, type WebhookWorker } from '../webhooks/worker.ts'
import type { World } from '../world.ts'
import type { ActivityHints } from './activity-hints.ts'
import type { Closing } from './closing.ts'
import type { Config } from './config.ts'
import type { Metrics } from './metrics.ts'
import { runsWorkers } from './role.ts'
import { type OpenWorlds, sliceChecks } from './worlds.ts'

/** One environment on this node: the world, and the workers in it. */
type Runtime<E extends Environment = Environment> = {
  readonly world: World<E>
  /** Sends the payouts that this node accepted. With the role of a worker it also takes over payouts of other nodes. */
  readonly payouts: PayoutWorker
  /** Registers the charges that this node accepted. With the role of a worker it also takes over those of other nodes. */
  readonly charges: ChargeWorker
  readonly steps: StepRecorder
  /** Says whether the treasury's limits allow a trade. With the role of a worker it also adds up the trades. */
  readonly treasury: TreasuryWorker
  readonly webhooks: Webhooks
  readonly newEvents: LogPoller
  readonly newRequests: LogPoller
  readonly deposit_step_ms: number
  /** Only with the role of a worker. */
  readonly transfers: Worker | undefined
  readonly audit: AuditWorker | undefined
  readonly daily: DailyWorker | undefined
}

export type Runtimes = { readonly [E in Environment]: Runtime<E> }

type RuntimeOptions = {
  readonly opened: OpenWorlds
  readonly office: Office
  readonly activityHints: ActivityHints
  readonly config: Config
  readonly sealer: Sealer
  readonly hints: Hints
  readonly metrics: Metrics
  readonly log: Logger
  readonly closing: Closing
}

export function openRuntimes(options: RuntimeOptions): Runtimes {
  const { opened, config, closing } = options
  const { allow_private, denied, timeout_ms, dns } = config.webhooks
  const reach = { allow_private, denied }
  const egress = openEgress({
    resolve: dnsResolver({ servers: dns, allow_private }),
    allows: (address) => isAllowedAddress(address, reach),
    connect_ms: timeout_ms,
  })
  closing.add({ 'connections to receivers of webhooks': egress.stop })
  const parts = { ...options, reach, egress }
  const runtimes: Runtimes = {
    production: openRuntime(opened.worlds.production, parts),
    sandbox: openRuntime(opened.worlds.sandbox, parts),
  }
  if (runsWorkers(config.role))
    listenForWakeUps(options.hints, {
      production: runtimes.production.webhooks.worker,
      sandbox: runtimes.sandbox.webhooks.worker,
    })
  if (runsWorkers(config.role)) {
    const { confirm_ms } = config.sandbox
    const activity = options.activityHints.of.sandbox
    const player = openDepositPlayer(runtimes.sandbox.world, options.log, { confirm_ms, activity })
    closing.add({ 'deposits (sandbox)': player.stop })
  }
  // Closed after the workers, because it records their last exchanges.
  closing.add({
    'steps (production)': runtimes.production.steps.stop,
    'steps (sandbox)': runtimes.sandbox.steps.stop,
  })
  closing.add({ ...workersOf(runtimes.production), ...workersOf(runtimes.sandbox) })
  return runtimes
}

type Parts = RuntimeOptions & Pick<Webhooks, 'reach'> & { readonly egress: Egress }

function openRuntime<E extends Environment>(world: World<E>, parts: Parts): Runtime<E> {
  const { opened, activityHints, config, sealer, metrics, log, reach } = parts
  const activity = activityHints.of[world.environment]
  const works = runsWorkers(config.role)
  const newEvents = openLogPoller(eventLogSource(world.db), log)
  const worker = works ? openDeliveries(world, parts) : openRemoteWorker(world, log)
  const wakeEventReaders = () => {
    newEvents.wake()
    worker.wake()
  }
  opened.onBatch(world.environment, (batch) => {
    metrics.committed(world.environment, batch)
    wakeEventReaders()
    activityHints.mark(world.environment)
  })
  opened.onEventsCommitted(world.environment, wakeEventReaders)
  const { environment } = world
  const steps = openStepRecorder(world, { log, onLost: (count) => metrics.stepsLost(environment, count) })
  return {
    world,
    steps,
    payouts: openPayoutWorker(world, log, { follows: works, steps, activity }),
    charges: openChargeWorker(world, log, { follows: works, activity }),
    treasury: openTreasuryWorker(world, log, { folds: works, activity }),
    webhooks: { sealer, reach, worker, retry_ms: config.webhooks.retry_ms },
    newEvents,
    newRequests: openLogPoller(requestLogSource(world.db), log),
    deposit_step_ms: config.sandbox.confirm_ms,
    transfers: works ? openTransferWorker(world, log, { steps, activity }) : undefined,
    audit: works ? openAudit(world, parts) : undefined,
    daily: works ? openDailyWorker(world, log, activity) : undefined,
  }
}

function openAudit(world: World, { office, config, log }: Parts): AuditWorker {
  const at_end = logChecks(office, world.environment)
  return openAuditWorker(world, { checks: sliceChecks, at_end, log, ...config.audit })
}

function openDeliveries(world: World, parts: Parts): WebhookWorker {
  const { egress, sealer, log, metrics, config } = parts
  const { timeout_ms, per_second, retry_ms } = config.webhooks
  return openWebhookWorker(world, {
    egress,
    sealer,
    log,
    timeout_ms,
    per_second,
    retry_ms,
    activity: parts.activityHints.of[world.environment],
    onAttempt: (attempt) => metrics.attempted(world.environment, attempt),
    onLost: (loss) => metrics.unrecorded(world.environment, loss),
  })
}

const pollersOf = (runtimes: Runtimes) =>
  Object.values<Runtime>(runtimes).flatMap((one) => [one.newEvents, one.newRequests])

/** Answers long polls now; later ones wait a second at most. */
export function drainWaiting(runtimes: Runtimes): void {
  for (const poller of pollersOf(runtimes)) poller.drain()
}

/** Answers long polls now, and stops polling. */
export async function answerWaiting(runtimes: Runtimes): Promise<void> {
  await Promise.all(pollersOf(runtimes).map((poller) => poller.stop()))
}

/** Workers that must end before their world is closed, by the names that a stop logs. */
function workersOf(runtime: Runtime): Record<string, () => Promise<void>> {
  const { world, payouts, charges, treasury, webhooks, transfers, audit, daily } = runtime
  const workers = { payouts, charges, treasury, webhooks: webhooks.worker, transfers, audit, daily }
  return Object.fromEntries(
    Object.entries(workers).flatMap(([name, worker]) =>
      worker ? [[`${name} (${world.environment})`, () => worker.stop()]] : [],
    ),
  )
}
