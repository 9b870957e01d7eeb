import type { Logger } from 'pino'
import type { Db, Pool } from './pool.ts'

/** Something to be done now and then, by one node at a time. */
export type Chore = {
  readonly name: string
  readonly every_ms: number
  readonly pool: Pool
  /** Every node does it for itself. Otherwise whoever finds another node of this schema at it leaves it to that one. */
  readonly on_every_node?: true
  /**
   * Small steps, each a transaction of its own; ends when it is done, or when it may not go on. They are made on the
   * connection that the chore holds: if chores took a second one of the pool, they would wait for each other.
   */
  work(db: Db, goOn: GoOn): Promise<unknown>
}

/** False when the time is used up or the service stops: what is left is for the next time. */
export type GoOn = () => boolean

export type ChoreOutcome = 'done' | 'elsewhere' | 'failed'

export type RunningChore = {
  /** Now, beside the times that it has anyway. */
  run(): Promise<ChoreOutcome>
  stop(): Promise<void>
}

/** For all steps of one time together; the last step may end after it. */
const WORK_MS = 60_000
/** Longer than any statement may take: beyond it the connection is given up, and the lock with it. */
const GIVE_UP_MS = 80_000

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
      options.log.warn({ err: error, chore: chore.name }, 'housekeeping: not done, will be tried again')
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

  /** Nodes that start together must not come together for ever. */
  function wait(ms: number): void {
    timer = setTimeout(
      () => run().then(() => stopped || wait(chore.every_ms * (0.8 + 0.4 * Math.random()))),
      ms,
    )
    timer.unref()
  }

  wait(chore.every_ms * Math.random())
  return {
    run,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}

/** A step of several statements. */
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

async function doChore({ name, pool, on_every_node, work }: Chore, goOn: GoOn): Promise<ChoreOutcome> {
  const client = await pool.connect()
  let failure: Error | undefined
  try {
    if (!on_every_node) {
      const { rows } = await client.query(`SELECT pg_try_advisory_lock(${LOCK}) AS won`, [name])
      if (!rows[0].won) return 'elsewhere'
    }
    await within(GIVE_UP_MS, work(client, goOn))
    if (!on_every_node) await client.query(`SELECT pg_advisory_unlock(${LOCK})`, [name])
    return 'done'
  } catch (error) {
    failure = error as Error
    throw error
  } finally {
    // The lock belongs to the connection: one that failed is closed, and holds it no longer.
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
