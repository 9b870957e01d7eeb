import { openFairSemaphore, QueueFull } from '../../core/fair-semaphore.ts'
import { type Db, limitIdle, type Pool } from '../../db/pool.ts'
import { wholeOf } from '../../db/share.ts'

/**
 * Turns at a provider that takes only so many payments at once, over all nodes: each turn is an advisory lock of the database, held on a
 * connection of its own while the payment is handed over. A node that dies loses its connection, and so its turn; a node that stands still,
 * as in a paused container, loses its turn after `idle_most_ms`. On a node the partners take turns, and the nodes take turns with each other:
 * many payouts of one partner do not delay those of another one.
 */
export type Turns = {
  /** Waits for a turn of the partner until `until` (monotonic clock). Undefined: there was none, and nothing was done. */
  take<T>(
    partner_id: string,
    until: number,
    work: () => Promise<T>,
  ): Promise<{ readonly done: T } | undefined>
}

const POLL_MS = 50
const LOCK = `hashtextextended('pix turn ' || current_schema() || ' ' || $1::text, 0)`
/**
 * The lock of the node whose turn is next. A node whose turn ends must get this lock before it can have another turn, so it cannot pass
 * a node that waits.
 */
const NEXT = 'next'

export type TurnOptions = {
  /** So many payments at once, over all nodes. */
  readonly at_once: number
  /** Longer than a call to the provider may take. */
  readonly idle_most_ms: number
}

export function openTurns(db: Pool, { at_once, idle_most_ms }: TurnOptions): Turns {
  const pool = wholeOf(db)
  // So many calls of this node hold or look for a lock; the others wait without a connection. Half of the connections stay for the work
  // that is done in a turn.
  const places = Math.min(at_once, Math.max(1, Math.floor(pool.options.max / 2)))
  const partners = openFairSemaphore({ at_once: places, per_name: places })

  async function withLock<T>(until: number, work: () => Promise<T>): Promise<{ done: T } | undefined> {
    const client = await pool.connect()
    let failure: Error | undefined
    try {
      await limitIdle(client, idle_most_ms)
      let isNext = false
      while (performance.now() < until) {
        isNext ||= await tryLock(client, NEXT)
        for (let turn = 0; isNext && turn < at_once; turn++) {
          if (!(await tryLock(client, turn))) continue
          await unlock(client, NEXT)
          try {
            return { done: await work() }
          } finally {
            await giveBack(client, turn).catch((error: Error) => {
              failure = error
            })
          }
        }
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      }
      if (isNext) await unlock(client, NEXT)
      await limitIdle(client, 0)
      return undefined
    } catch (error) {
      failure = error as Error
      throw error
    } finally {
      // The locks belong to the connection: closing a failed connection releases them.
      client.release(failure)
    }
  }

  return {
    async take(partner_id, until, work) {
      const leave = await partners.take(partner_id, until - performance.now()).catch(orUndefined)
      if (!leave) return undefined
      try {
        return await withLock(until, work)
      } finally {
        leave()
      }
    },
  }
}

function orUndefined(error: unknown): undefined {
  if (!(error instanceof QueueFull)) throw error
}

async function tryLock(db: Db, name: string | number): Promise<boolean> {
  const { rows } = await db.query(`SELECT pg_try_advisory_lock(${LOCK}) AS won`, [name])
  return rows[0].won
}

async function giveBack(db: Db, turn: number): Promise<void> {
  await unlock(db, turn)
  await limitIdle(db, 0)
}

async function unlock(db: Db, name: string | number): Promise<void> {
  await db.query(`SELECT pg_advisory_unlock(${LOCK})`, [name])
}
