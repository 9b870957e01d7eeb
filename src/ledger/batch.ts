import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { crashPoint } from '../core/crash-point.ts'
import { newId } from '../core/ids.ts'
import { type Client, withWarnings } from '../db/pool.ts'
import { type BatchAttempt, rolledBack } from './attempt.ts'
import type { Command } from './command.ts'
import type { RunnerConnection } from './connection.ts'
import { type CommandResult, decide } from './decide.ts'
import { lock } from './lock.ts'
import type { State } from './state.ts'
import type { Statement } from './statements.ts'
import { CommitUnknown, leave, movesNothing, statementsFor, write } from './write.ts'

/** One transaction for many commands: lock, decide, write. Its outcome is certain, or explicitly unknown. */

/** How long to ask for the outcome of a COMMIT without an answer. A lost session keeps its locks for 2 s. */
const ASK_MS = 6000
const PAUSE_MS = { first: 20, longest: 300 }

/** How a batch is pipelined between its neighbours. */
export type Pipeline = {
  /** Set when BEGIN and the locks of this batch were sent right behind the COMMIT of the batch before it. */
  readonly begun?: Begun | undefined
  /** Called while the COMMIT of this batch is on the wire: statements sent now run right behind it. */
  readonly follow?: ((client: Client) => void) | undefined
}

type BatchListeners = {
  readonly log: Logger
  /** Called after each committed batch, for the metrics. */
  readonly onBatch?: (batch: { commands: number; seconds: number }) => void
}

export type Begun = { readonly client: Client; readonly state: Promise<State>; readonly since: number }

/** Sends the first round trip of a batch. The connection has no open transaction, or the one before it ends by then. */
export function begin(client: Client, commands: readonly Command<unknown>[]): Begun {
  const state = lock(client, commands)
  // A batch that is given up leaves this promise without a listener.
  state.catch(() => {})
  return { client, state, since: performance.now() }
}

export async function attemptBatch(
  connection: RunnerConnection,
  commands: readonly Command<unknown>[],
  { begun, follow = () => {} }: Pipeline,
  { log, onBatch }: BatchListeners,
): Promise<BatchAttempt> {
  const batch_id = newId('batch', Date.now())
  const started = begun?.since ?? performance.now()
  let client: Client
  try {
    client = begun?.client ?? (await connection.get())
  } catch (error) {
    return { kind: 'not_committed', error }
  }
  let statements: readonly Statement[]
  let results: readonly CommandResult[]
  try {
    const state = await (begun ?? begin(client, commands)).state
    crashPoint('after_lock')
    const decided = decide(state, commands)
    results = decided.results
    // With a synchronous standby, even a batch that only replays earlier results writes its row in `commits`: those
    // results may have been recovered from a crash, and exist on this server alone. Once the standby has the row, it has
    // everything before it.
    if (movesNothing(decided) && !state.replicated) {
      await whileSent(leave(client, state), () => follow(client))
      return { kind: 'done', results }
    }
    statements = statementsFor(batch_id, decided)
    crashPoint('before_commit')
  } catch (error) {
    return rolledBack(connection, client, error)
  }
  try {
    await whileSent(write(client, statements), () => follow(client))
  } catch (error) {
    if (!(error instanceof CommitUnknown)) return rolledBack(connection, client, error)
    connection.drop(client)
    const committed = await askCommitted(connection, batch_id)
    if (committed === undefined) return { kind: 'unknown', error }
    if (!committed) return { kind: 'not_committed', error }
  }
  crashPoint('after_commit')
  try {
    onBatch?.({ commands: commands.length, seconds: (performance.now() - started) / 1000 })
  } catch (error) {
    log.error({ err: error }, 'ledger: a listener threw after a commit; the batch is committed all the same')
  }
  return { kind: 'done', results }
}

/**
 * PostgreSQL writes and commits for some milliseconds. Commands that arrive within one turn of the event loop form the next
 * batch, which follows at once: waiting longer would leave the connection idle, and sending the first command alone would
 * make small batches.
 */
async function whileSent(ending: Promise<void>, follow: () => void): Promise<void> {
  const turn = setImmediate(follow)
  try {
    await ending
  } finally {
    clearImmediate(turn)
  }
}

// One statement that always writes a row. A commit waits for its standby only when it wrote something, and a standby that
// has this row has everything before it: so the answer "committed" survives the loss of this server.
const QUESTION = `WITH mark AS (INSERT INTO commits (id, asked_by) VALUES ($1, $2) ON CONFLICT DO NOTHING)
  INSERT INTO commits (id, asked_by) VALUES ($2, $2)`

/**
 * Finds out whether a batch committed whose COMMIT got no answer. This function and the batch both insert a row with the batch's
 * id into `commits`, and the first row stays. If the batch's row is there, the batch committed. If a row of this function is
 * there, inserted now or by an earlier try whose answer was lost, the batch can never commit. While the batch's transaction is
 * open, the insert waits for the transaction to end.
 */
async function askCommitted(connection: RunnerConnection, batch_id: string): Promise<boolean | undefined> {
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
  if (warning)
    throw new CommitUnknown('the query for the outcome of a batch was committed without its standby', {
      cause: warning,
    })
  const { rows } = await client.query('SELECT asked_by FROM commits WHERE id = $1', [batch_id])
  assert(rows.length === 1, `commits has no row for batch ${batch_id}`)
  return rows[0].asked_by === null
}
