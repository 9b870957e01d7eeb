import type { FairSemaphore } from '../core/fair-semaphore.ts'
import type { Pool } from './pool.ts'

/**
 * One user's view of a pool: each statement and each connection takes a turn under the user's name. So no user has more
 * connections at once than its share, and no user waits behind the whole queue of another.
 */
export function shareOf(pool: Pool, semaphore: FairSemaphore, name: string): Pool {
  const share = {
    // The driver has a dozen forms of this call; this code uses only those that return a promise.
    async query(...asked: unknown[]): Promise<unknown> {
      const leave = await semaphore.take(name)
      try {
        return await pool.query(...(asked as [string]))
      } finally {
        leave()
      }
    },
    async connect() {
      const leave = await semaphore.take(name)
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

/** The pool that `pool` is a share of, or `pool` itself. Caches per database use this pool as their key. */
export const wholeOf = (pool: Pool): Pool => wholes.get(pool) ?? pool
