import type { Logger } from 'pino'
import { crashPoint } from '../core/crash-point.ts'
import { Refusal } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { type Client, isAnswer, type Seat, sqlState } from '../db/pool.ts'
import type { Command } from './command.ts'
import { type Connection, openConnection } from './connection.ts'
import { decide, type Outcome } from './decide.ts'
import { lock } from './lock.ts'
import { openQueue, type Pending } from './queue.ts'
import { CommitUnknown, movesNothing, write } from './write.ts'

/**
 * The one door for money. Every change of a balance, and every change of state that belongs with it, is a command that
 * comes through here: lock, decide, write, many commands in one transaction. There is no timer: an idle lane
 * starts at once, and while one batch commits the next one gathers.
 */
export type Door = {
  /** Resolves after COMMIT. Rejects with a Refusal when the command was refused, or when nobody can tell (503). */
  commit<Result>(command: Command<Result>): Promise<Result>
  stop(): Promise<void>
}

export type DoorOptions = {
  readonly seat: Seat
  readonly lanes: number
  readonly log: Logger
  /** Told after each committed batch, for the metrics. */
  readonly onBatch?: (batch: { commands: number; seconds: number }) => void
}

const BATCH_MAX = 512
const QUEUE_MAX = 20_000
const CONNECT_TRIES = 3
const ASIDE_TRIES = 6

export function openDoor(options: DoorOptions): Door {
  const lanes = Array.from({ length: options.lanes }, () => openLane(options))
  return {
    commit: (command) =>
      new Promise((resolve, reject) =>
        lanes[laneOf(command.partner_id, lanes.length)]!.submit({ command, resolve, reject }),
      ),
    async stop() {
      await Promise.all(lanes.map((lane) => lane.stop()))
    },
  }
}

function laneOf(partner_id: string, lanes: number): number {
  let hash = 0
  for (let i = 0; i < partner_id.length; i++) hash = (hash * 31 + partner_id.charCodeAt(i)) >>> 0
  return hash % lanes
}

type Lane = { submit(pending: Pending): void; stop(): Promise<void> }

function openLane(options: DoorOptions): Lane {
  const side = openRunner(options, 'side')
  const main = openRunner(options, 'main', (pending) => side.submit(pending))
  return {
    submit: main.submit,
    async stop() {
      await main.stop()
      await side.stop()
    },
  }
}

/** A queue, a connection, and the loop between them. `aside` takes a command that keeps waiting for somebody else's lock. */
function openRunner(options: DoorOptions, name: string, aside?: (pending: Pending) => void): Lane {
  const queue = openQueue()
  const connection = openConnection(options.seat, name)
  let running: Promise<void> | undefined
  let stopped = false

  function submit(pending: Pending): void {
    if (stopped || queue.size() >= QUEUE_MAX) return pending.reject(new Refusal('service_unavailable'))
    queue.add(pending)
    running ??= new Promise((done) => setImmediate(() => drain().then(done)))
  }

  async function drain(): Promise<void> {
    while (queue.size() > 0) await run(queue.take(BATCH_MAX))
    running = undefined
  }

  /** Ends with every command of the batch answered, or handed to the side. Never throws. */
  async function run(batch: readonly Pending[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      const attempt = await attemptBatch(connection, batch, options)
      if (attempt.kind === 'done') return deliver(batch, attempt.outcomes)
      if (attempt.kind === 'never_committed' && tries < CONNECT_TRIES) continue
      if (attempt.kind !== 'failed') {
        options.log.error({ err: attempt.error, commands: batch.length }, 'no answer from the database')
        for (const { reject } of batch) reject(new Refusal('service_unavailable'))
        return
      }
      // The whole batch was rolled back because of one of its commands. Halving finds it in few steps.
      if (batch.length > 1) {
        options.log.warn({ err: attempt.error, commands: batch.length }, 'batch failed, splitting it')
        const middle = batch.length >> 1
        await run(batch.slice(0, middle))
        return run(batch.slice(middle))
      }
      if (!isContention(attempt.error)) return batch[0]!.reject(attempt.error)
      if (aside) return aside(batch[0]!)
      if (tries >= ASIDE_TRIES) return batch[0]!.reject(new Refusal('service_unavailable'))
    }
  }

  return {
    submit,
    async stop() {
      stopped = true
      await running
      await connection.close()
    },
  }
}

function deliver(batch: readonly Pending[], outcomes: readonly Outcome[]): void {
  for (const [i, { resolve, reject }] of batch.entries()) {
    const outcome = outcomes[i]!
    if ('result' in outcome) resolve(outcome.result as never)
    else reject('refusal' in outcome ? outcome.refusal : outcome.bug)
  }
}

type Attempt =
  | { readonly kind: 'done'; readonly outcomes: readonly Outcome[] }
  /** The database answered, and rolled everything back. */
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The connection is gone, and nothing of this attempt can ever commit. */
  | { readonly kind: 'never_committed'; readonly error: unknown }
  | { readonly kind: 'unknown'; readonly error: unknown }

async function attemptBatch(
  connection: Connection,
  batch: readonly Pending[],
  options: DoorOptions,
): Promise<Attempt> {
  const commands = batch.map(({ command }) => command)
  const batch_id = newId('batch', Date.now())
  const started = performance.now()
  let client: Client
  try {
    client = await connection.get()
  } catch (error) {
    return { kind: 'unknown', error }
  }
  try {
    const state = await lock(client, commands)
    crashPoint('after_lock')
    const decided = decide(state, commands)
    if (movesNothing(decided)) {
      await client.query('ROLLBACK')
      return { kind: 'done', outcomes: decided.outcomes }
    }
    crashPoint('before_commit')
    try {
      await write(client, batch_id, decided)
    } catch (error) {
      if (!(error instanceof CommitUnknown)) return { kind: 'failed', error }
      const committed = await askCommitted(connection, client, batch_id)
      if (committed === undefined) return { kind: 'unknown', error }
      if (!committed) return { kind: 'never_committed', error }
    }
    crashPoint('after_commit')
    options.onBatch?.({ commands: commands.length, seconds: (performance.now() - started) / 1000 })
    return { kind: 'done', outcomes: decided.outcomes }
  } catch (error) {
    if (!isAnswer(error)) {
      connection.drop(client)
      return { kind: 'never_committed', error }
    }
    await client.query('ROLLBACK').catch(() => connection.drop(client))
    return { kind: 'failed', error }
  }
}

/**
 * Inserts the id of the batch whose COMMIT went unanswered. If it is there, the batch committed; if ours goes in, the old
 * one never can. While the old transaction is still open the insert waits for it.
 */
async function askCommitted(
  connection: Connection,
  lost: Client,
  batch_id: string,
): Promise<boolean | undefined> {
  connection.drop(lost)
  for (let tries = 1; tries <= CONNECT_TRIES; tries++) {
    try {
      const client = await connection.get()
      const answer = await client.query('INSERT INTO commits (id) VALUES ($1) ON CONFLICT DO NOTHING', [
        batch_id,
      ])
      return answer.rowCount === 0
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 250 * tries))
    }
  }
  return undefined
}

const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK = '40P01'
const SERIALIZATION_FAILURE = '40001'
const QUERY_CANCELED = '57014'

/** Somebody else held what this command needs: nothing is wrong with the command itself. */
function isContention(error: unknown): boolean {
  const state = sqlState(error)
  return (
    state === LOCK_NOT_AVAILABLE ||
    state === DEADLOCK ||
    state === SERIALIZATION_FAILURE ||
    state === QUERY_CANCELED
  )
}
