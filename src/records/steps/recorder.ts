import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openBatching } from '../../core/batching.ts'
import type { Clock } from '../../core/clock.ts'
import type { Pool } from '../../db/pool.ts'
import { insertExchanges, type RailExchange } from './store.ts'

/**
 * Records the exchanges between workers and rails, in batches and in the background. Nothing waits for it: exchanges beyond the
 * memory limit, and those that the database does not accept at once, are left out and counted.
 */
export type StepRecorder = {
  /** Begins an exchange. Call the returned function with the rail's answer. */
  begin(object_id: string, did: RailExchange['did']): (heard: AnswerSummary) => void
  stop(): Promise<void>
}

export type AnswerSummary = Pick<RailExchange, 'heard' | 'said'>

const GATHER_MS = 250
const BATCH_MAX = 1000
const WAITING_MAX = 10_000

const gather = (stopping: AbortSignal) => sleep(GATHER_MS, undefined, { signal: stopping })

export function openStepRecorder(
  world: { readonly db: Pool; readonly clock: Clock },
  { log, onLost }: { readonly log: Logger; readonly onLost?: (count: number) => void },
): StepRecorder {
  const batching = openBatching({ run: write, gather, batch_max: BATCH_MAX, waiting_max: WAITING_MAX })

  async function write(batch: readonly RailExchange[]): Promise<undefined> {
    try {
      await insertExchanges(world.db, batch)
    } catch (error) {
      onLost?.(batch.length)
      log.debug({ err: error, steps: batch.length }, 'steps not written down')
    }
  }

  const now = () => new Date(world.clock.now())
  return {
    begin(object_id, did) {
      const at = now()
      return (heard) =>
        void batching.add({ object_id, did, at, ...heard, last_at: now() }).catch(() => onLost?.(1))
    },
    stop: batching.stop,
  }
}

/** For callers without a console. */
export const noSteps: StepRecorder = { begin: () => () => {}, stop: async () => {} }
