import type { Pool } from '../../db/pool.ts'
import { wholeOf } from '../../db/share.ts'

/**
 * Turns at a provider that takes only so many payments at once, over all nodes: each turn is an advisory lock of the database, held on a
 * connection of its own while the payment is handed over. A node that dies loses its connection, and so its turn.
 */
export type Turns = {
  /** Waits for a turn until `until` (monotonic clock). Undefined: there was none, and nothing was done. */
  take<T>(until: number, work: () => Promise<T>): Promise<{ readonly done: T } | undefined>
}

const POLL_MS = 50
const LOCK = `hashtextextended('pix turn ' || current_schema() || ' ' || $1::text, 0)`

export function openTurns(db: Pool, at_once: number): Turns {
  const pool = wholeOf(db)
  const waiting: (() => void)[] = []
  // Half of the connections stay for the work that is done in a turn.
  let free = Math.min(at_once, Math.max(1, Math.floor(pool.options.max / 2)))

  /** So many calls of this node hold or look for a lock; the others wait without a connection. */
  async function enter(until: number): Promise<boolean> {
    if (free > 0) {
      free--
      return true
    }
    return new Promise((resolve) => {
      const proceed = () => {
        clearTimeout(timer)
        resolve(true)
      }
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(proceed), 1)
        resolve(false)
      }, until - performance.now())
      waiting.push(proceed)
    })
  }

  function leave(): void {
    const next = waiting.shift()
    if (next) next()
    else free++
  }

  async function withLock<T>(until: number, work: () => Promise<T>): Promise<{ done: T } | undefined> {
    const client = await pool.connect()
    let failure: Error | undefined
    try {
      while (performance.now() < until) {
        for (let turn = 0; turn < at_once; turn++) {
          const { rows } = await client.query(`SELECT pg_try_advisory_lock(${LOCK}) AS won`, [turn])
          if (!rows[0].won) continue
          try {
            return { done: await work() }
          } finally {
            await client.query(`SELECT pg_advisory_unlock(${LOCK})`, [turn]).catch((error: Error) => {
              failure = error
            })
          }
        }
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      }
      return undefined
    } catch (error) {
      failure = error as Error
      throw error
    } finally {
      // The lock belongs to the connection: closing a failed connection releases the lock.
      client.release(failure)
    }
  }

  return {
    async take(until, work) {
      if (!(await enter(until))) return undefined
      try {
        return await withLock(until, work)
      } finally {
        leave()
      }
    },
  }
}
