import type { Pool } from '../db/pool.ts'
import { unmarkAlone } from './store.ts'

/**
 * A lone node that lost its lock counts on until it hears of that, and then saves what it counted. Whoever comes after it
 * finds its mark, and waits for it to be taken away. Not for ever: the node may have been killed.
 */
export type Heirs = {
  /** Told of every time that the mark of this node is met. When it was waited for long enough, its mark is taken away. */
  meet(node: string): Promise<void>
}

const HEIRS_WAIT_MS = 1000

export function openHeirs(pool: Pool): Heirs {
  let met: { readonly node: string; readonly at: number } | undefined
  return {
    async meet(node) {
      if (met?.node !== node) met = { node, at: performance.now() }
      if (performance.now() - met.at < HEIRS_WAIT_MS) return
      await unmarkAlone(pool, node)
      met = undefined
    },
  }
}
