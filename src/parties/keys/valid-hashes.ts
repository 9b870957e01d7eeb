import type { Logger } from 'pino'
import { openLoop } from '../../core/loop.ts'
import type { Hints } from '../../db/hints.ts'
import type { World } from '../../world.ts'
import { listValidHashes } from './store.ts'

/**
 * The hashes of all valid key values, so that guesses from an address can be refused without a query while a partner
 * behind the same address is served (decision 0019). The list only says which values may be valid; each request
 * still checks its key.
 */
export type ValidHashes = {
  /** Whether the value may be valid. True as long as the list was not read yet. */
  mayHave(name: string): boolean
  /** Adds a value that was found valid. */
  note(name: string): void
  stop(): Promise<void>
}

const RENEW_MS = 15_000
/** If there are more valid values, the newest are listed, and the others are added when they are used here. */
const KNOWN_MAX = 100_000

export function openValidHashes(world: World, { hints, log }: { hints: Hints; log: Logger }): ValidHashes {
  let known: Set<string> | undefined

  async function read(): Promise<void> {
    const hashes = await listValidHashes(world.keys, KNOWN_MAX)
    known = new Set(hashes.map(nameOfHash))
  }

  const reading = openLoop(read, {
    poll_ms: RENEW_MS,
    onError: (error) =>
      log.warn({ err: error }, 'keys: the list of valid keys was not renewed; trying again'),
  })
  hints.on('api_key_changed', reading.wake)
  hints.onLost(reading.wake)
  return {
    mayHave: (name) => known?.has(name) ?? true,
    note: (name) => void known?.add(name),
    stop: reading.stop,
  }
}

/** A value's name is its hash. */
export const nameOfHash = (hash: Buffer): string => hash.toString('base64')
