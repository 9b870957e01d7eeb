import { setTimeout as sleep } from 'node:timers/promises'
import { type FairSemaphore, openFairSemaphore } from '../../core/fair-semaphore.ts'

/**
 * Exports read in small parts, one part at a time on the whole node, partners in turn, with a pause after each part.
 * All exports together use at most a third of the node's time, which leaves the event loop and the database to
 * payouts.
 */
export type ExportPace = {
  /** The same chunks, each in its turn. */
  paced(name: string, chunks: AsyncIterable<string>, gone: AbortSignal): AsyncGenerator<string>
}

/** The pause after a part, as a multiple of the time the part took. */
const PAUSE_FACTOR = 2
const PAUSE_MIN_MS = 5
const PAUSE_MAX_MS = 500

export function openExportPace(): ExportPace {
  const semaphore = openFairSemaphore({ at_once: 1, per_name: 1 })
  return {
    async *paced(name, chunks, gone) {
      const source = chunks[Symbol.asyncIterator]()
      try {
        for (;;) {
          const { done, value } = await atItsTurn(semaphore, name, gone, () => source.next())
          if (done) return
          yield value
        }
      } finally {
        await source.return?.()
      }
    },
  }
}

/** The turn is held during the pause, so that the next export waits for it too. */
async function atItsTurn<T>(
  semaphore: FairSemaphore,
  name: string,
  gone: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const leave = await semaphore.take(name)
  const started = performance.now()
  try {
    gone.throwIfAborted()
    return await work()
  } finally {
    const pause_ms = PAUSE_FACTOR * (performance.now() - started)
    void sleep(Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MIN_MS, pause_ms))).then(leave)
  }
}
