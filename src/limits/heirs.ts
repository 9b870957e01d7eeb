import type { Pool } from '../db/pool.ts'
import { unmarkAlone } from './store.ts'

/**
 * A lone node that lost its lock saves what it counted as soon as it knows. Until then other nodes find its mark and count
 * nothing. They do not wait for ever: the node may have been killed.
 */
export type Heirs = {
  /** Called each time a mark of another node is found. Removes a mark that has been found for as long as the wait. */
  meet(mark: string): Promise<void>
}

/** Longer than LONE_LEASE_MS of membership.ts: when a mark is removed, its node admits nothing any more. */
export const HEIRS_WAIT_MS = 2000

/** Each mark is unique, also those of one node: a mark that was found earlier and is gone shortens no later wait. */
export function openHeirs(pool: Pool, wait_ms: number): Heirs {
  let met: { readonly mark: string; readonly at: number } | undefined
  return {
    async meet(mark) {
      if (met?.mark !== mark) met = { mark, at: performance.now() }
      if (performance.now() - met.at < wait_ms) return
      await unmarkAlone(pool, mark)
      met = undefined
    },
  }
}
