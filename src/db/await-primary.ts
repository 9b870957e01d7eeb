import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { isPassing } from './failure.ts'
import { cut } from './heartbeat.ts'
import type { Client } from './pool.ts'

const SAY_AGAIN_MS = 5000
const PAUSE_MS = 200

/**
 * Waits until a primary accepts connections. Nodes and databases are started together, and a fail-over may be under way.
 * The first failure is logged at once, later ones every few seconds. An error that waiting cannot change, such as a wrong
 * password, is thrown.
 */
export async function awaitPrimary(
  open: () => Promise<Client>,
  { log, signal, give_up_ms }: { log: Logger; signal: AbortSignal | undefined; give_up_ms: number },
): Promise<void> {
  const started = performance.now()
  let said = Number.NEGATIVE_INFINITY
  for (;;) {
    try {
      signal?.throwIfAborted()
      const client = await openUnlessAborted(open, signal)
      await client.end()
      if (said > 0) log.info('database: reachable; continuing the start')
      return
    } catch (error) {
      if (signal?.aborted || !isPassing(error)) throw error
      const waited = performance.now() - started
      if (give_up_ms > 0 && waited > give_up_ms) throw error
      if (performance.now() - said > SAY_AGAIN_MS) {
        said = performance.now()
        log.warn(`database: waiting for a primary: ${(error as Error).message}`)
      }
      await sleep(PAUSE_MS, undefined, { signal })
    }
  }
}

/** Rejects as soon as the signal is aborted. A connection that opens after that is closed. */
async function openUnlessAborted(
  open: () => Promise<Client>,
  signal: AbortSignal | undefined,
): Promise<Client> {
  const opening = open()
  let leave = () => {}
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(signal?.reason)
  })
  signal?.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([opening, aborted])
  } catch (error) {
    opening.then(cut, () => {})
    throw error
  } finally {
    signal?.removeEventListener('abort', leave)
  }
}
