import type { Logger } from 'pino'
import type { Pool } from '../db/pool.ts'
import { type Outcome, recordOutcomes } from './queue.ts'
import { type EndpointNews, noteEndpoints } from './store.ts'

/**
 * Writes down what came of attempts. Whatever ends while one statement is running goes into the next, so that a flood
 * of deliveries costs few commits and a lone one waits for nobody.
 */
export type Recorder = {
  /** Resolves when it is written, or when it could not be: then the lease ends, and the event is sent once more. */
  record(outcome: Outcome, about: { gone: boolean; was_failing: boolean }): Promise<void>
  stop(): Promise<void>
}

/** Contract §12: after so long with nothing but failures an endpoint is disabled. */
const DISABLE_AFTER_MS = 5 * 24 * 3600 * 1000
const BATCH_MAX = 100

type Waiting = {
  readonly outcome: Outcome
  readonly gone: boolean
  readonly was_failing: boolean
  done(): void
}

export function openRecorder(db: Pool, log: Logger): Recorder {
  let waiting: Waiting[] = []
  let writing: Promise<void> | undefined

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX)
      waiting = waiting.slice(BATCH_MAX)
      try {
        await recordOutcomes(
          db,
          batch.map(({ outcome }) => outcome),
        )
        const news = newsOf(batch)
        const disabled = news.length > 0 ? await noteEndpoints(db, news, DISABLE_AFTER_MS) : []
        for (const { id, disabled_reason } of disabled)
          log.warn({ endpoint_id: id, reason: disabled_reason }, 'webhooks: endpoint disabled')
      } catch (error) {
        log.warn({ err: error, attempts: batch.length }, 'webhooks: outcome not recorded, will be sent again')
      }
      for (const { done } of batch) done()
    }
    writing = undefined
  }

  return {
    record: (outcome, about) =>
      new Promise((done) => {
        waiting.push({ outcome, ...about, done })
        writing ??= Promise.resolve().then(write)
      }),
    async stop() {
      await writing
    },
  }
}

/** Only what changes something: failures, and a success of an endpoint that was failing. */
function newsOf(batch: readonly Waiting[]): EndpointNews[] {
  const news = new Map<string, EndpointNews>()
  for (const { outcome, gone, was_failing } of batch) {
    const { endpoint_id: id, delivered } = outcome
    const known = news.get(id)
    if (delivered && !was_failing && !known) continue
    news.set(id, {
      id,
      works: delivered || (known?.works ?? false),
      gone: gone || (known?.gone ?? false),
    })
  }
  return [...news.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}
