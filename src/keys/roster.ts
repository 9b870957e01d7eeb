import type { Logger } from 'pino'
import type { Hints } from '../db/hints.ts'
import type { World } from '../world.ts'
import { listValidHashes } from './store.ts'

/**
 * The names of all key values in force, so that an address that guesses can be turned away without a question to the
 * database while a partner behind the same address is not (decision 0036). It says who *may* be known; whether a key
 * still holds is asked each time.
 */
export type Roster = {
  /** Whether this may be a key in force. Yes as well while nobody knows. */
  mayHave(name: string): boolean
  /** A value that was found in force. */
  note(name: string): void
  stop(): Promise<void>
}

const RENEW_MS = 15_000
/** Beyond this many the youngest are known from the start, and the others once they were used here. */
const KNOWN_MAX = 100_000

export function openRoster(world: World, { hints, log }: { hints: Hints; log: Logger }): Roster {
  let known: Set<string> | undefined
  let reading: Promise<void> | undefined
  /** A change that came while the roster was being read. */
  let again = false
  let stopped = false

  async function read(): Promise<void> {
    do {
      again = false
      try {
        const hashes = await listValidHashes(world.keys, KNOWN_MAX)
        known = new Set(hashes.map(nameOfHash))
      } catch (error) {
        log.warn({ err: error }, 'the keys in force could not be listed')
      }
    } while (again && !stopped)
    reading = undefined
  }

  function renew(): void {
    if (stopped) return
    again = reading !== undefined
    reading ??= read()
  }

  hints.on('api_key_changed', renew)
  hints.onLost(renew)
  const timer = setInterval(renew, RENEW_MS)
  timer.unref()
  renew()
  return {
    mayHave: (name) => known?.has(name) ?? true,
    note: (name) => void known?.add(name),
    async stop() {
      stopped = true
      clearInterval(timer)
      await reading
    },
  }
}

/** A value is known by its hash alone. */
export const nameOfHash = (hash: Buffer): string => hash.toString('base64')
