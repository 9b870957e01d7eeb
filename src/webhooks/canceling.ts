import { type LoopOptions, openLoop } from '../core/loop.ts'
import type { Db } from '../db/pool.ts'
import { cancelPending } from './queue.ts'

/**
 * Cancels the pending deliveries of disabled and deleted endpoints in the background, in batches: an endpoint may have any
 * number of them. Endpoints of a failed or stopped run are added again by the worker's next poll (worker.ts).
 */
type Canceling = {
  /** The endpoint was disabled or deleted, and may have pending deliveries. */
  add(endpoint_id: string): void
  stop(): Promise<void>
}

const BATCH_MAX = 1000

export function openCanceling(db: Db, timing: LoopOptions): Canceling {
  const waiting = new Set<string>()
  let stopped = false

  async function cancel(): Promise<void> {
    const endpoint_ids = [...waiting]
    waiting.clear()
    // A batch that is not full was the last one.
    for (let canceled = BATCH_MAX; endpoint_ids.length > 0 && canceled === BATCH_MAX && !stopped; )
      canceled = await cancelPending(db, endpoint_ids, BATCH_MAX)
  }

  const loop = openLoop(cancel, timing)
  return {
    add(endpoint_id) {
      waiting.add(endpoint_id)
      loop.wake()
    },
    stop() {
      stopped = true
      return loop.stop()
    },
  }
}
