import { type LoopOptions, openLoop } from '../core/loop.ts'
import type { Db } from '../db/pool.ts'
import { cancelPending } from './queue.ts'

/** Cancels the pending deliveries of disabled and deleted endpoints, in batches: there may be any number. */
type Canceling = {
  /** The endpoint was disabled or deleted, and may have pending deliveries. */
  add(endpoint_id: string): void
  stop(): Promise<void>
}

const BATCH_MAX = 1000

export function openCanceling(db: Db, timing: LoopOptions): Canceling {
  const abandoned = new Set<string>()
  let stopped = false

  async function cancel(): Promise<void> {
    const endpoints = [...abandoned]
    abandoned.clear()
    for (let ended = BATCH_MAX; endpoints.length > 0 && ended === BATCH_MAX && !stopped; )
      ended = await cancelPending(db, endpoints, BATCH_MAX)
  }

  const loop = openLoop(cancel, timing)
  return {
    add(endpoint_id) {
      abandoned.add(endpoint_id)
      loop.wake()
    },
    stop() {
      stopped = true
      return loop.stop()
    },
  }
}
