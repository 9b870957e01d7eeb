import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openPump } from '../core/batching.ts'
import { Refusal } from '../core/errors.ts'
import { sqlState } from '../db/failure.ts'
import type { Client } from '../db/pool.ts'
import type { BatchAttempt } from './attempt.ts'
import { type Begun, begin, type Pipeline } from './batch.ts'
import { isTakenName } from './claims.ts'
import type { Command } from './command.ts'
import type { RunnerConnection } from './connection.ts'
import type { CommandResult } from './decide.ts'
import { openQueue, type Pending } from './queue.ts'

/** Runs commands from a queue over one connection, in batches. */
type Runner = {
  submit(pending: Pending): void
  /** How many commands were submitted and are not answered yet. */
  waiting(): number
  stop(): Promise<void>
}

export type RunnerOptions = {
  readonly connection: RunnerConnection
  readonly log: Logger
  readonly batch_max: number
  /** The longest time a caller waits, for its turn and for an unreachable database. */
  readonly wait_ms?: number | undefined
  attempt(
    connection: RunnerConnection,
    commands: readonly Command<unknown>[],
    pipeline: Pipeline,
  ): Promise<BatchAttempt>
  /** Takes over a command that waits too long for another transaction's lock. */
  readonly aside?: (pending: Pending) => void
}

const QUEUE_MAX = 20_000
/**
 * The longest time a caller waits. A command that is still in the queue after three quarters of it is not begun any more; a
 * command that was begun may still commit after its caller was told that the outcome is unknown.
 */
const WAIT_MS = 8000
const SWEEP_MS = 250
const PAUSE_MS = { first: 20, longest: 300 }
/** How often a batch is run again because another transaction inserted one of its claims first; then it is split. */
const RACES_MAX = 5

/** The next batch, taken out of the queue while the batch before it was committing. */
type NextBatch = { readonly batch: readonly Pending[]; readonly begun?: Begun | undefined }

export function openRunner(options: RunnerOptions): Runner {
  const { connection, log, batch_max, attempt, aside, wait_ms = WAIT_MS } = options
  const queue = openQueue()
  const hasMore = () => queue.size() > 0 || ahead !== undefined
  // Commands that arrive in one turn of the event loop share a batch.
  const pump = openPump({ hasMore, step: runNext, begin: () => setImmediate() })
  let current: readonly Pending[] = []
  let ahead: NextBatch | undefined
  let stopped = false

  function submit(pending: Pending): void {
    if (stopped || queue.size() >= QUEUE_MAX) return pending.reject(new Refusal('service_unavailable'))
    queue.add(pending)
    pump.start()
  }

  async function runNext(): Promise<void> {
    const { batch, begun }: NextBatch = ahead ?? { batch: queue.take(batch_max) }
    ahead = undefined
    // A batch that is not begun, or lost its begun transaction, may have waited too long.
    current = begun ? batch : inTime(batch)
    const sweep = setInterval(() => refuseOlder([...current, ...(ahead?.batch ?? [])], wait_ms), SWEEP_MS)
    // A bug in this code must reject all callers, and leave the lane working.
    await run(current, begun, follow).catch((error: unknown) => {
      log.error(
        { err: error, commands: current.length },
        'ledger: a batch failed with a bug; its callers get an error',
      )
      for (const { reject } of current) reject(error)
      if (ahead?.begun) connection.drop(ahead.begun.client)
      loseAhead()
    })
    clearInterval(sweep)
    current = []
  }

  /**
   * Begins the next batch right behind the COMMIT of the current one, which is on the wire. A batch of less than half the
   * size waits for more commands instead: small batches cost more work than the saved time is worth.
   */
  function follow(client: Client): void {
    if (!connection.serves(client) || (ahead?.batch.length ?? queue.size()) < current.length / 2) return
    const batch = inTime(ahead?.batch ?? queue.take(batch_max))
    ahead = batch.length > 0 ? { batch, begun: begin(client, commandsOf(batch)) } : undefined
  }

  /** The begun transaction of the next batch is gone: rolled back with the batch before it, or its connection was lost. */
  function loseAhead(): void {
    if (ahead) ahead = { batch: ahead.batch }
  }

  /** Returns the commands whose time is not over; refuses the others, of which nothing happens. */
  const inTime = (batch: readonly Pending[]) => refuseOlder(batch, 0.75 * wait_ms)

  /** Ends with every command answered, or back in a queue. Halves of a split batch get no `follow`: more may come after them. */
  async function run(batch: readonly Pending[], begun?: Begun, follow?: Pipeline['follow']): Promise<void> {
    if (batch.length === 0) return
    let waiting = batch
    let pipeline: Pipeline = { begun, follow }
    let races = 0
    for (let pause = PAUSE_MS.first; ; pause = Math.min(2 * pause, PAUSE_MS.longest)) {
      const attempted = await attempt(connection, commandsOf(waiting), pipeline)
      if (attempted.kind !== 'done' || (ahead?.begun && !connection.serves(ahead.begun.client))) loseAhead()
      if (attempted.kind === 'done') return deliver(waiting, attempted.results)
      if (attempted.kind === 'unknown') return tellUnknown(log, waiting, attempted.error)
      pipeline = { follow }
      if (attempted.kind === 'failed') {
        if (!wasSecond(attempted.error) || races++ === RACES_MAX) return divide(waiting, attempted.error)
        // Another transaction inserted a claim first: it exists now, so the whole batch runs again unsplit.
        continue
      }
      // A database that is unreachable for a moment shows as latency, not as an error.
      waiting = inTime(waiting)
      if (waiting.length === 0)
        return log.error(
          { err: attempted.error, commands: batch.length },
          'ledger: the database could not be used for too long; the commands were refused, and none is committed',
        )
      await sleep(pause)
    }
  }

  /** The whole batch was rolled back because of one of its commands. Halving the batch finds it in few steps. */
  async function divide(batch: readonly Pending[], error: unknown): Promise<void> {
    if (batch.length > 1) {
      log.warn({ err: error, commands: batch.length }, 'ledger: a batch was rolled back; running its halves')
      const middle = batch.length >> 1
      await run(batch.slice(0, middle))
      return run(batch.slice(middle))
    }
    const [pending] = batch as readonly [Pending]
    if (!isContention(error)) return pending.reject(error)
    if (aside) return aside(pending)
    // On the side runner the command goes back to the queue, until its time is over.
    if (inTime([pending]).length > 0) queue.add(pending)
  }

  return {
    submit,
    waiting: () => queue.size() + current.length + (ahead?.batch.length ?? 0),
    async stop() {
      stopped = true
      await pump.idle()
      await connection.close()
    },
  }
}

const commandsOf = (batch: readonly Pending[]) => batch.map(({ command }) => command)

/** Refuses the commands that have waited longer than this, with a 503; returns the others. */
function refuseOlder(batch: readonly Pending[], ms: number): readonly Pending[] {
  const since = performance.now() - ms
  refuseAll(batch.filter((pending) => pending.since < since))
  return batch.filter((pending) => pending.since >= since)
}

function tellUnknown(log: Logger, batch: readonly Pending[], error: unknown): void {
  log.error(
    { err: error, commands: batch.length },
    'ledger: COMMIT got no reply, and whether the batch was committed could not be found out; its callers get 503',
  )
  refuseAll(batch)
}

function refuseAll(batch: readonly Pending[]): void {
  for (const { reject } of batch) reject(new Refusal('service_unavailable'))
}

function deliver(batch: readonly Pending[], results: readonly CommandResult[]): void {
  for (const [i, { resolve, reject }] of batch.entries()) {
    const done = results[i]!
    if ('result' in done) resolve(done.result as never)
    else reject('refusal' in done ? done.refusal : done.bug)
  }
}

const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK = '40P01'
const SERIALIZATION_FAILURE = '40001'
const QUERY_CANCELED = '57014'
/** A migration changed the result of a prepared statement; the connection prepares it again at the next try. */
const STALE_PLAN = '0A000'
/** A late statement of a batch that was given up failed inside this transaction; the command itself is not at fault. */
const ALREADY_FAILED = '25P02'

/** Another transaction inserted a claim that was free when this one looked. */
const wasSecond = (error: unknown): boolean => isTakenName(error) || sqlState(error) === SERIALIZATION_FAILURE

/** Another transaction held what this command needs: the command itself is not at fault. */
function isContention(error: unknown): boolean {
  const state = sqlState(error)
  return (
    wasSecond(error) ||
    state === LOCK_NOT_AVAILABLE ||
    state === DEADLOCK ||
    state === QUERY_CANCELED ||
    state === STALE_PLAN ||
    state === ALREADY_FAILED
  )
}
