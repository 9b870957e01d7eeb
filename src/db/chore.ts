import type { Logger } from 'pino'
import { type Db, limitIdle, type Pool } from './pool.ts'

/** A periodic task that runs on one node at a time. */
export type Chore = {
  readonly name: string
  readonly every_ms: number
  readonly pool: Pool
  /** Runs first when the node starts. Otherwise a random time after it. */
  readonly at_start?: true
  /** Every node runs it for itself. Otherwise a node skips the run while another node holds the lock of this schema. */
  readonly on_every_node?: true
  /**
   * Works in small steps, each in its own transaction, until everything is done or `shouldContinue` returns false. All steps use the
   * connection that the chore holds: if chores took a second connection from the pool, they could block each other.
   */
  work(db: Db, shouldContinue: ShouldContinue): Promise<unknown>
}

/** False when the time is used up or the service stops: the next run does the rest. */
export type ShouldContinue = () => boolean

export type ChoreOutcome = 'done' | 'elsewhere' | 'failed'

type RunningChore = {
  /** Runs the chore now, in addition to its schedule. */
  run(): Promise<ChoreOutcome>
  stop(): Promise<void>
}

/** For all steps of one run together; the last step may end later. */
const WORK_MS = 60_000
/** Longer than WORK_MS and a statement together: then the connection is closed, which releases the lock. */
const GIVE_UP_MS = 80_000
/** Longer than GIVE_UP_MS: the process that holds the lock stands still, and another node may take it. */
const IDLE_MOST_MS = 90_000

export function openChore(
  chore: Chore,
  options: { log: Logger; onRun?: (outcome: ChoreOutcome) => void },
): RunningChore {
  let stopped = false
  let running: Promise<ChoreOutcome> | undefined
  let timer: NodeJS.Timeout | undefined

  async function attempt(): Promise<ChoreOutcome> {
    const until = performance.now() + WORK_MS
    try {
      return await doChore(chore, () => !stopped && performance.now() < until)
    } catch (error) {
      options.log.warn(
        { err: error, chore: chore.name },
        `housekeeping: chore ${chore.name} failed; its next run tries again`,
      )
      return 'failed'
    }
  }

  function run(): Promise<ChoreOutcome> {
    running ??= attempt().then((outcome) => {
      running = undefined
      options.onRun?.(outcome)
      return outcome
    })
    return running
  }

  /** Random intervals: nodes that start together must not compete for the lock every time. */
  function wait(ms: number): void {
    timer = setTimeout(
      () => run().then(() => stopped || wait(chore.every_ms * (0.8 + 0.4 * Math.random()))),
      ms,
    )
    timer.unref()
  }

  wait(chore.at_start ? 0 : chore.every_ms * Math.random())
  return {
    run,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}

/** Runs a step of several statements in a transaction. */
export async function takeStep<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  await db.query('BEGIN')
  try {
    const result = await work(db)
    await db.query('COMMIT')
    return result
  } catch (error) {
    await db.query('ROLLBACK').catch(() => {})
    throw error
  }
}

const LOCK = `hashtextextended('chore ' || current_schema() || ' ' || $1, 0)`

async function doChore(
  { name, pool, on_every_node, work }: Chore,
  shouldContinue: ShouldContinue,
): Promise<ChoreOutcome> {
  const client = await pool.connect()
  let failure: Error | undefined
  try {
    if (!on_every_node) {
      await limitIdle(client, IDLE_MOST_MS)
      const { rows } = await client.query(`SELECT pg_try_advisory_lock(${LOCK}) AS won`, [name])
      if (!rows[0].won) {
        await limitIdle(client, 0)
        return 'elsewhere'
      }
    }
    await within(GIVE_UP_MS, work(client, shouldContinue))
    if (!on_every_node) {
      await client.query(`SELECT pg_advisory_unlock(${LOCK})`, [name])
      await limitIdle(client, 0)
    }
    return 'done'
  } catch (error) {
    failure = error as Error
    throw error
  } finally {
    // The lock belongs to the connection: closing a failed connection releases the lock.
    client.release(failure)
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
