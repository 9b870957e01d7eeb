import type { Turns } from '../core/turns.ts'
import type { Pool } from './pool.ts'

/**
 * A pool as one of many users sees it: each statement and each connection is a turn under that user's name. So nobody
 * has more connections at once than its share, and whoever wants one waits for its turn and not behind a crowd.
 */
export function shareOf(pool: Pool, turns: Turns, name: string): Pool {
  const share = {
    // The driver has a dozen forms of this call; those that return a promise are all that this code uses.
    async query(...asked: unknown[]): Promise<unknown> {
      const leave = await turns.take(name)
      try {
        return await pool.query(...(asked as [string]))
      } finally {
        leave()
      }
    },
    async connect() {
      const leave = await turns.take(name)
      try {
        const client = await pool.connect()
        const release = client.release
        client.release = (broken) => {
          release.call(client, broken)
          leave()
        }
        return client
      } catch (error) {
        leave()
        throw error
      }
    },
  }
  const shared = Object.assign(Object.create(pool), share) as Pool
  wholes.set(shared, wholeOf(pool))
  return shared
}

const wholes = new WeakMap<Pool, Pool>()

/** The pool that this is a share of, or the pool itself: what is remembered per database is remembered under it. */
export const wholeOf = (pool: Pool): Pool => wholes.get(pool) ?? pool
