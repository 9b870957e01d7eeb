import type { Logger } from 'pino'
import type { Office } from '../control/operator/office.ts'
import type { Clock } from '../core/clock.ts'
import type { Sealer } from '../core/seal.ts'
import type { Hints } from '../db/hints.ts'
import type { Seat } from '../db/pool.ts'
import { endpoints } from '../doors/api/endpoints.ts'
import { createClosedGate, createGate } from '../doors/api/gate.ts'
import { handlersOf } from '../doors/api/handlers.ts'
import type { ConsoleHandler } from '../doors/console-api/endpoint.ts'
import { consoleHandlersOf } from '../doors/console-api/handlers.ts'
import type { ConsoleParts } from '../doors/console-api/parts.ts'
import { openReads, type Reads } from '../doors/console-api/reads.ts'
import { openWrites, type Writes } from '../doors/console-api/writes.ts'
import type { ServerOptions } from '../http/server.ts'
import { openLimiter } from '../limits/limiter.ts'
import { openReceiptPrinter } from '../money/receipts/printer.ts'
import { openKeyring } from '../parties/keys/keyring.ts'
import { openRequestRecorder } from '../records/requests/recorder.ts'
import type { Worlds } from '../world.ts'
import type { ActivityHints } from './activity-hints.ts'
import type { Closing } from './closing.ts'
import type { Config } from './config.ts'
import type { Metrics } from './metrics.ts'
import { answersCalls } from './role.ts'
import type { Runtimes } from './runtime.ts'
import { version } from './version.ts'
import { sliceChecks } from './worlds.ts'

/** What API callers reach: the endpoints with their handlers, and the gate before them. */
export type Front = Pick<ServerOptions, 'endpoints' | 'handlers' | 'gate' | 'record'> & {
  /** The handlers of the console's endpoints, and the counters of what people change and read there. */
  readonly console: (more: Pick<ConsoleParts, 'public_url' | 'stopping' | 'walkGolive'>) => FrontOfConsole
}

type FrontOfConsole = {
  readonly handlers: readonly ConsoleHandler[]
  readonly writes: Writes
  readonly reads: Reads
}

type FrontOptions = {
  readonly config: Config
  readonly worlds: Worlds
  readonly runtimes: Runtimes
  readonly office: Office
  readonly sealer: Sealer
  readonly seat: Seat
  readonly hints: Hints
  readonly activityHints: ActivityHints
  readonly clock: Clock
  readonly metrics: Metrics
  readonly log: Logger
  readonly closing: Closing
  readonly signal: AbortSignal | undefined
}

export async function openFront(options: FrontOptions): Promise<Front> {
  const { clock, config } = options
  if (answersCalls(config.role)) return openApi(options)
  const gate = createClosedGate({ clock, trusted_proxies: config.trusted_proxies })
  const closed = () => {
    throw new Error('a node with the role worker has no console')
  }
  return { endpoints: [], handlers: { production: [], sandbox: [] }, gate, console: closed }
}

async function openApi(options: FrontOptions): Promise<Front> {
  const {
    config,
    worlds,
    runtimes,
    activityHints,
    office,
    sealer,
    seat,
    hints,
    clock,
    metrics,
    log,
    closing,
    signal,
  } = options
  const { database_wait_ms: wait_ms, trusted_proxies, in_flight, requests_per_day: per_day } = config
  const keyring = openKeyring({ worlds, hints, log })
  closing.add({ 'last uses of keys': keyring.stop })
  const limiter = await openLimiter({ seat, clock, hints, log, wait_ms, ...(signal ? { signal } : {}) })
  closing.add({ 'counts of the limits': limiter.stop })
  const recorder = openRequestRecorder({
    worlds,
    log,
    per_day,
    onLeftOut: metrics.unlogged,
    onWritten: (environment) => runtimes[environment].newRequests.wake(),
  })
  closing.add({ 'the log of requests': recorder.stop })
  const receipts = openReceiptPrinter()
  closing.add({ 'the printing of receipts': receipts.stop })
  const parts = {
    production: { ...runtimes.production, limiter, receipts },
    sandbox: { ...runtimes.sandbox, limiter, receipts },
  }
  return {
    endpoints,
    handlers: { production: handlersOf(parts.production), sandbox: handlersOf(parts.sandbox) },
    console: (more) => {
      const { record } = recorder
      const node = { role: config.role, version }
      const handlers = consoleHandlersOf({
        office,
        sealer,
        runtimes: parts,
        checks: sliceChecks,
        node,
        record,
        ...more,
      })
      const writes = openWrites(limiter, config.console_writes)
      return { handlers, writes, reads: openReads(limiter, config.console_reads) }
    },
    gate: createGate({ keyring, limiter, clock, trusted_proxies, in_flight }),
    record(answered) {
      activityHints.mark(answered.by.world.environment)
      recorder.record(answered)
    },
  }
}
