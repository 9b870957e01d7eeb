import type { Pool } from '../db/pool.ts'
import { removeMark } from './store.ts'

/**
 * An exclusive node that lost its lock saves its counts as soon as it notices, and removes its mark. Until then other nodes
 * find the mark and count nothing. They wait for `wait_ms` at most, because the node may have been killed.
 */
export type StaleMarks = {
  /** Called each time another node's mark is found. Removes a mark that has been there for `wait_ms`. */
  found(mark: string): Promise<void>
}

/** Longer than LEASE_MS of membership.ts: when a mark is removed, its node no longer admits requests. */
export const MARK_WAIT_MS = 2000

/** Every mark is unique, also the marks of one node, so the wait for an earlier mark does not shorten the wait for a later one. */
export function openStaleMarks(pool: Pool, wait_ms: number): StaleMarks {
  let seen: { readonly mark: string; readonly at: number } | undefined
  return {
    async found(mark) {
      if (seen?.mark !== mark) seen = { mark, at: performance.now() }
      if (performance.now() - seen.at < wait_ms) return
      await removeMark(pool, mark)
      seen = undefined
    },
  }
}
