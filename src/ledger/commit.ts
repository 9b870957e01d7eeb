import assert from 'node:assert/strict'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openPump } from '../core/batching.ts'
import { crashPoint } from '../core/crash-point.ts'
import { Refusal } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { sqlState } from '../db/failure.ts'
import { type Client, type Seat, withWarnings } from '../db/pool.ts'
import { type Attempt, rolledBack } from './attempt.ts'
import type { Command } from './command.ts'
import { type Connection, openConnection } from './connection.ts'
import { type CommandResult, decide } from './decide.ts'
import { lock } from './lock.ts'
import { attemptPreviews, type Preview } from './preview.ts'
import { openQueue, type Pending } from './queue.ts'
import { CommitUnknown, leave, movesNothing, type Statement, statementsFor, write } from './write.ts'

/**
 * The one door for money. Every change of a balance, and every change of state that belongs with it, is a command that
 * comes through here: lock, decide, write, many commands in one transaction. There is no timer: an idle lane
 * starts at once, and while one batch commits the next one gathers.
 */
export type Door = {
  /** Resolves after COMMIT. Rejects with a Refusal when the command was refused, or when nobody can tell (503). */
  commit<Result>(command: Command<Result>): Promise<Result>
  /** What `commit` would come to now, refusals included. Nothing of it stays. */
  preview<Result>(command: Command<Result>): Promise<Preview<Result>>
  facts(): DoorFacts
  stop(): Promise<void>
}

/** For the metrics. */
export type DoorFacts = {
  /** Commands that were handed in and are not answered yet. */
  readonly waiting: number
  readonly connections_opened: number
}

export type DoorOptions = {
  readonly seat: Seat
  readonly lanes: number
  readonly log: Logger
  /** How long a caller waits at the most, for its turn and for a database that is away. */
  readonly wait_ms?: number
  /** Told after each committed batch, for the metrics. */
  readonly onBatch?: (batch: { commands: number; seconds: number }) => void
}

const BATCH_MAX = 512
/** Fewer at once: what they lock, real commands wait for. */
const PREVIEWS_MAX = 32
const QUEUE_MAX = 20_000
/**
 * Nobody waits longer than this. A command that is still in the queue by three quarters of it is not begun any more; one
 * that was begun may yet come to an end after its caller was told that nobody knows.
 */
const WAIT_MS = 8000
const SWEEP_MS = 250
/** For as long as this it is asked what became of a COMMIT without an answer. A lost session holds its rows for 2 s. */
const ASK_MS = 6000
const PAUSE_MS = { first: 20, longest: 300 }
/** Each one lost shows the names of a whole batch of somebody else's. */
const RACES_MAX = 5

export function openDoor(options: DoorOptions): Door {
  const lanes = Array.from({ length: options.lanes }, () =>
    openLane(options, {
      names: ['main', 'side'],
      batch_max: BATCH_MAX,
      attempt: (connection, batch) => attemptBatch(connection, batch, options),
    }),
  )
  // Beside the lanes, so that nobody's money waits in a queue behind dry runs.
  const previews = openLane(options, {
    names: ['preview', 'preview side'],
    batch_max: PREVIEWS_MAX,
    attempt: (connection, batch) => attemptPreviews(connection, commandsOf(batch)),
  })
  return {
    commit: (command) => submitTo(lanes[laneOf(command.partner_id, lanes.length)]!, command),
    preview: (command) => submitTo(previews, command),
    facts: () => sumOf([...lanes, previews].map((lane) => lane.facts())),
    async stop() {
      await Promise.all([...lanes, previews].map((lane) => lane.stop()))
    },
  }
}

const submitTo = <Result>(lane: Lane, command: Command<unknown>): Promise<Result> =>
  new Promise((resolve, reject) => lane.submit({ command, resolve, reject, since: performance.now() }))

const commandsOf = (batch: readonly Pending[]) => batch.map(({ command }) => command)

function laneOf(partner_id: string, lanes: number): number {
  let hash = 0
  for (let i = 0; i < partner_id.length; i++) hash = (hash * 31 + partner_id.charCodeAt(i)) >>> 0
  return hash % lanes
}

type Lane = { submit(pending: Pending): void; facts(): DoorFacts; stop(): Promise<void> }

const sumOf = (facts: readonly DoorFacts[]): DoorFacts => ({
  waiting: facts.reduce((sum, { waiting }) => sum + waiting, 0),
  connections_opened: facts.reduce((sum, { connections_opened }) => sum + connections_opened, 0),
})

type LaneKind = Pick<RunnerKind, 'batch_max' | 'attempt'> & {
  readonly names: readonly [main: string, side: string]
}

function openLane(options: DoorOptions, { names, ...kind }: LaneKind): Lane {
  const side = openRunner(options, { ...kind, name: names[1] })
  const main = openRunner(options, { ...kind, name: names[0], aside: (pending) => side.submit(pending) })
  return {
    submit: main.submit,
    facts: () => sumOf([main.facts(), side.facts()]),
    async stop() {
      await main.stop()
      await side.stop()
    },
  }
}

type RunnerKind = {
  readonly name: string
  readonly batch_max: number
  attempt(connection: Connection, batch: readonly Pending[]): Promise<Attempt>
  /** Takes a command that keeps waiting for somebody else's lock. */
  readonly aside?: (pending: Pending) => void
}

/** A queue, a connection, and the loop between them. */
function openRunner(options: DoorOptions, { name, batch_max, attempt, aside }: RunnerKind): Lane {
  const queue = openQueue()
  const connection = openConnection(options.seat, name)
  const { wait_ms = WAIT_MS } = options
  // Whatever comes in one turn of the event loop goes together.
  const pump = openPump({ hasMore: () => queue.size() > 0, step: runNext, begin: () => setImmediate() })
  let current: readonly Pending[] = []
  let stopped = false

  function submit(pending: Pending): void {
    if (stopped || queue.size() >= QUEUE_MAX) return pending.reject(new Refusal('service_unavailable'))
    queue.add(pending)
    pump.start()
  }

  async function runNext(): Promise<void> {
    const batch = inTime(queue.take(batch_max))
    current = batch
    const sweep = setInterval(() => refuseOlder(batch, wait_ms), SWEEP_MS)
    // A bug of our own must leave nobody waiting, and the lane in service.
    await run(batch).catch((error: unknown) => {
      options.log.error({ err: error, commands: batch.length }, 'a batch ended in a bug')
      for (const { reject } of batch) reject(error)
    })
    clearInterval(sweep)
    current = []
  }

  /** Those that somebody still waits for; the others are told that it took too long, and nothing of them happens. */
  const inTime = (batch: readonly Pending[]) => refuseOlder(batch, 0.75 * wait_ms)

  /** Ends with every command of the batch answered, or back in a queue. */
  async function run(batch: readonly Pending[]): Promise<void> {
    if (batch.length === 0) return
    let waiting = batch
    let races = 0
    for (let pause = PAUSE_MS.first; ; pause = Math.min(2 * pause, PAUSE_MS.longest)) {
      const attempted = await attempt(connection, waiting)
      if (attempted.kind === 'done') return deliver(waiting, attempted.results)
      if (attempted.kind === 'failed') {
        if (sqlState(attempted.error) !== SERIALIZATION_FAILURE || races === RACES_MAX)
          return divide(waiting, attempted.error)
        // Somebody made a name first: it is there now, and nobody else of the batch has anything to do with it.
        races++
        continue
      }
      if (attempted.kind === 'unknown') {
        options.log.error(
          { err: attempted.error, commands: waiting.length },
          'nobody knows what became of a batch',
        )
        return refuseAll(waiting)
      }
      // A database that is away for a moment shows as a slow answer, not as an error.
      waiting = inTime(waiting)
      if (waiting.length === 0)
        return options.log.error(
          { err: attempted.error, commands: batch.length },
          'no answer from the database',
        )
      await sleep(pause)
    }
  }

  /** The whole batch was rolled back because of one of its commands. Halving finds it in few steps. */
  async function divide(batch: readonly Pending[], error: unknown): Promise<void> {
    if (batch.length > 1) {
      options.log.warn({ err: error, commands: batch.length }, 'batch failed, splitting it')
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
    facts: () => ({ waiting: queue.size() + current.length, connections_opened: connection.opened() }),
    async stop() {
      stopped = true
      await pump.idle()
      await connection.close()
    },
  }
}

/** Tells those that have waited for longer to come again; returns the others. */
function refuseOlder(batch: readonly Pending[], ms: number): readonly Pending[] {
  const since = performance.now() - ms
  refuseAll(batch.filter((pending) => pending.since < since))
  return batch.filter((pending) => pending.since >= since)
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

async function attemptBatch(
  connection: Connection,
  batch: readonly Pending[],
  options: DoorOptions,
): Promise<Attempt> {
  const commands = commandsOf(batch)
  const batch_id = newId('batch', Date.now())
  const started = performance.now()
  let client: Client
  try {
    client = await connection.get()
  } catch (error) {
    return { kind: 'not_committed', error }
  }
  let statements: readonly Statement[]
  let results: readonly CommandResult[]
  try {
    const state = await lock(client, commands)
    crashPoint('after_lock')
    const decided = decide(state, commands)
    results = decided.results
    // Behind a standby even a batch that only repeats what was made before writes its mark: what it repeats may have
    // been recovered from a crash, and be known to this server alone. Once the mark is there, so is all before it.
    if (movesNothing(decided) && !state.replicated) {
      await leave(client, state)
      return { kind: 'done', results }
    }
    statements = statementsFor(batch_id, decided)
    crashPoint('before_commit')
  } catch (error) {
    return rolledBack(connection, client, error)
  }
  try {
    await write(client, statements)
  } catch (error) {
    if (!(error instanceof CommitUnknown)) return rolledBack(connection, client, error)
    connection.drop(client)
    const committed = await askCommitted(connection, batch_id)
    if (committed === undefined) return { kind: 'unknown', error }
    if (!committed) return { kind: 'not_committed', error }
  }
  crashPoint('after_commit')
  try {
    options.onBatch?.({ commands: commands.length, seconds: (performance.now() - started) / 1000 })
  } catch (error) {
    options.log.error({ err: error }, 'a listener failed; what it was told of is committed all the same')
  }
  return { kind: 'done', results }
}

// One statement that always writes a row of its own. A commit waits for its standby only when it wrote something, and a
// standby that has this one has everything before it: so a yes outlives the server that gave it.
const QUESTION = `WITH mark AS (INSERT INTO commits (id, asked_by) VALUES ($1, $2) ON CONFLICT DO NOTHING)
  INSERT INTO commits (id, asked_by) VALUES ($2, $2)`

/**
 * What became of a batch whose COMMIT went unanswered. The asker puts a mark of its own where the batch would have put
 * its: whoever was first stays. The batch's mark is there: it committed. An asker's, this one's or that of an earlier
 * question whose answer was lost: it never can. While the old transaction is still open the question waits for it.
 */
async function askCommitted(connection: Connection, batch_id: string): Promise<boolean | undefined> {
  const until = performance.now() + ASK_MS
  for (let pause = PAUSE_MS.first; performance.now() < until; pause = Math.min(2 * pause, PAUSE_MS.longest)) {
    let client: Client | undefined
    try {
      client = await connection.get()
      return await ask(client, batch_id)
    } catch {
      if (client) connection.drop(client)
      await sleep(pause)
    }
  }
  return undefined
}

async function ask(client: Client, batch_id: string): Promise<boolean> {
  const question = newId('batch', Date.now())
  const { warning } = await withWarnings(client, () => client.query(QUESTION, [batch_id, question]))
  if (warning) throw new CommitUnknown('asked with a warning', { cause: warning })
  const { rows } = await client.query('SELECT asked_by FROM commits WHERE id = $1', [batch_id])
  assert(rows.length === 1, `the mark of ${batch_id} is gone`)
  return rows[0].asked_by === null
}

const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK = '40P01'
const SERIALIZATION_FAILURE = '40001'
const QUERY_CANCELED = '57014'
/** A migration has changed what a prepared statement returns; the connection prepares it anew at the next try. */
const STALE_PLAN = '0A000'

/** Somebody else held what this command needs: nothing is wrong with the command itself. */
function isContention(error: unknown): boolean {
  const state = sqlState(error)
  return (
    state === LOCK_NOT_AVAILABLE ||
    state === DEADLOCK ||
    state === SERIALIZATION_FAILURE ||
    state === QUERY_CANCELED ||
    state === STALE_PLAN
  )
}
