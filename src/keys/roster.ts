import type { Logger } from 'pino'
import { openLoop } from '../core/loop.ts'
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

  async function read(): Promise<void> {
    const hashes = await listValidHashes(world.keys, KNOWN_MAX)
    known = new Set(hashes.map(nameOfHash))
  }

  const reading = openLoop(read, {
    poll_ms: RENEW_MS,
    onError: (error) => log.warn({ err: error }, 'the keys in force could not be listed'),
  })
  hints.on('api_key_changed', reading.wake)
  hints.onLost(reading.wake)
  return {
    mayHave: (name) => known?.has(name) ?? true,
    note: (name) => void known?.add(name),
    stop: reading.stop,
  }
}

/** A value is known by its hash alone. */
export const nameOfHash = (hash: Buffer): string => hash.toString('base64')
