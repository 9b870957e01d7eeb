import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openBatching } from '../../core/batching.ts'
import type { Clock } from '../../core/clock.ts'
import type { Pool } from '../../db/pool.ts'
import { insertExchanges, type RailExchange } from './store.ts'

/**
 * Writes the calls of workers to rails, and the answers, into the table `steps`, in batches and in the background. No worker
 * waits for a write: exchanges beyond WAITING_MAX, and batches whose insert fails, are dropped and counted by `onLost`.
 */
export type StepRecorder = {
  /** Call it before the call to the rail, and the returned function with the rail's answer. */
  begin(object_id: string, did: RailExchange['did']): (answer: AnswerSummary) => void
  /** Writes what is waiting. */
  stop(): Promise<void>
}

export type AnswerSummary = Pick<RailExchange, 'heard' | 'said'>

/** How long a batch waits for more exchanges. */
const GATHER_MS = 250
const BATCH_MAX = 1000
/** Exchanges that may wait in memory. */
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
      log.debug(
        { err: error, steps: batch.length },
        'steps: a batch was not written; the console will not show these calls to rails',
      )
    }
  }

  const now = () => new Date(world.clock.now())
  return {
    begin(object_id, did) {
      const at = now()
      return (answer) =>
        void batching.add({ object_id, did, at, ...answer, last_at: now() }).catch(() => onLost?.(1))
    },
    stop: batching.stop,
  }
}

/** Records nothing. The default of the workers, for tests that need no steps. */
export const noSteps: StepRecorder = { begin: () => () => {}, stop: async () => {} }
