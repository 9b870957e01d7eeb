import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openPump } from '../core/batching.ts'
import { Refusal } from '../core/errors.ts'
import { sqlState } from '../db/failure.ts'
import type { Client } from '../db/pool.ts'
import type { Attempt } from './attempt.ts'
import { type Around, type Begun, begin } from './batch.ts'
import { isTakenName } from './claims.ts'
import type { Command } from './command.ts'
import type { Connection } from './connection.ts'
import type { CommandResult } from './decide.ts'
import { openQueue, type Pending } from './queue.ts'

/** A queue, a connection, and the loop between them. */
export type Runner = {
  submit(pending: Pending): void
  /** How many were handed in and are not answered yet. */
  waiting(): number
  stop(): Promise<void>
}

export type RunnerOptions = {
  readonly connection: Connection
  readonly log: Logger
  readonly batch_max: number
  /** How long a caller waits at the most, for its turn and for a database that is away. */
  readonly wait_ms?: number | undefined
  attempt(connection: Connection, commands: readonly Command<unknown>[], around: Around): Promise<Attempt>
  /** Takes a command that keeps waiting for somebody else's lock. */
  readonly aside?: (pending: Pending) => void
}

const QUEUE_MAX = 20_000
/**
 * Nobody waits longer than this. A command that is still in the queue by three quarters of it is not begun any more; one
 * that was begun may yet come to an end after its caller was told that nobody knows.
 */
const WAIT_MS = 8000
const SWEEP_MS = 250
const PAUSE_MS = { first: 20, longest: 300 }
/** Each one lost shows the names of a whole batch of somebody else's. */
const RACES_MAX = 5

/** Taken out of the queue while the batch before it was ending. */
type Ahead = { readonly batch: readonly Pending[]; readonly begun?: Begun | undefined }

export function openRunner(options: RunnerOptions): Runner {
  const { connection, log, batch_max, attempt, aside, wait_ms = WAIT_MS } = options
  const queue = openQueue()
  const hasMore = () => queue.size() > 0 || ahead !== undefined
  // Whatever comes in one turn of the event loop goes together.
  const pump = openPump({ hasMore, step: runNext, begin: () => setImmediate() })
  let current: readonly Pending[] = []
  let ahead: Ahead | undefined
  let stopped = false

  function submit(pending: Pending): void {
    if (stopped || queue.size() >= QUEUE_MAX) return pending.reject(new Refusal('service_unavailable'))
    queue.add(pending)
    pump.start()
  }

  async function runNext(): Promise<void> {
    const { batch, begun }: Ahead = ahead ?? { batch: queue.take(batch_max) }
    ahead = undefined
    // One that has lost what was begun of it has waited for whatever went wrong before it.
    current = begun ? batch : inTime(batch)
    const sweep = setInterval(() => refuseOlder([...current, ...(ahead?.batch ?? [])], wait_ms), SWEEP_MS)
    // A bug of our own must leave nobody waiting, and the lane in service.
    await run(current, begun, follow).catch((error: unknown) => {
      log.error({ err: error, commands: current.length }, 'a batch ended in a bug')
      for (const { reject } of current) reject(error)
      if (ahead?.begun) connection.drop(ahead.begun.client)
      loseAhead()
    })
    clearInterval(sweep)
    current = []
  }

  /**
   * Begins the next batch right behind the end of the current one, which is on the wire; unless it would be a much smaller
   * one, for then what the connection gains in time costs more in work: it goes on gathering.
   */
  function follow(client: Client): void {
    if (!connection.serves(client) || (ahead?.batch.length ?? queue.size()) < current.length / 2) return
    const batch = inTime(ahead?.batch ?? queue.take(batch_max))
    ahead = batch.length > 0 ? { batch, begun: begin(client, commandsOf(batch)) } : undefined
  }

  /** Its transaction is gone: it was rolled back with what went wrong before it, or its connection is. */
  function loseAhead(): void {
    if (ahead) ahead = { batch: ahead.batch }
  }

  /** Those that somebody still waits for; the others are told that it took too long, and nothing of them happens. */
  const inTime = (batch: readonly Pending[]) => refuseOlder(batch, 0.75 * wait_ms)

  /** Ends with every command of the batch answered, or back in a queue. Only what nothing comes after may be followed. */
  async function run(batch: readonly Pending[], begun?: Begun, follow?: Around['follow']): Promise<void> {
    if (batch.length === 0) return
    let waiting = batch
    let around: Around = { begun, follow }
    let races = 0
    for (let pause = PAUSE_MS.first; ; pause = Math.min(2 * pause, PAUSE_MS.longest)) {
      const attempted = await attempt(connection, commandsOf(waiting), around)
      if (attempted.kind !== 'done' || (ahead?.begun && !connection.serves(ahead.begun.client))) loseAhead()
      if (attempted.kind === 'done') return deliver(waiting, attempted.results)
      if (attempted.kind === 'unknown') return tellUnknown(log, waiting, attempted.error)
      around = { follow }
      if (attempted.kind === 'failed') {
        if (!wasSecond(attempted.error) || races++ === RACES_MAX) return divide(waiting, attempted.error)
        // Somebody made a name first: it is there now, and nobody else of the batch has anything to do with it.
        continue
      }
      // A database that is away for a moment shows as a slow answer, not as an error.
      waiting = inTime(waiting)
      if (waiting.length === 0)
        return log.error({ err: attempted.error, commands: batch.length }, 'no answer from the database')
      await sleep(pause)
    }
  }

  /** The whole batch was rolled back because of one of its commands. Halving finds it in few steps. */
  async function divide(batch: readonly Pending[], error: unknown): Promise<void> {
    if (batch.length > 1) {
      log.warn({ err: error, commands: batch.length }, 'batch failed, splitting it')
      const middle = batch.length >> 1
      await run(batch.slice(0, middle))
      return run(batch.slice(middle))
    }
    const [pending] = batch as readonly [Pending]
    if (!isContention(error)) return pending.reject(error)
    if (aside) return aside(pending)
    // Others of the side come first; it has its turn again for as long as somebody waits for it.
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

export const commandsOf = (batch: readonly Pending[]) => batch.map(({ command }) => command)

/** Tells those that have waited for longer to come again; returns the others. */
function refuseOlder(batch: readonly Pending[], ms: number): readonly Pending[] {
  const since = performance.now() - ms
  refuseAll(batch.filter((pending) => pending.since < since))
  return batch.filter((pending) => pending.since >= since)
}

function tellUnknown(log: Logger, batch: readonly Pending[], error: unknown): void {
  log.error({ err: error, commands: batch.length }, 'nobody knows what became of a batch')
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
/** A migration has changed what a prepared statement returns; the connection prepares it anew at the next try. */
const STALE_PLAN = '0A000'
/** A last question of a batch that was given up came to this transaction, and failed: its own failure would be told first. */
const ALREADY_FAILED = '25P02'

/** Another transaction made a name that was free when this one looked. */
const wasSecond = (error: unknown): boolean => isTakenName(error) || sqlState(error) === SERIALIZATION_FAILURE

/** Somebody else held what this command needs: nothing is wrong with the command itself. */
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
