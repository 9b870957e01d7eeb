import type { Logger } from 'pino'
import { openLoop } from '../../core/loop.ts'
import type { World, Worlds } from '../../world.ts'
import { noteUses } from './store.ts'

/** Time and address of each key's last use: collected in memory, written every few seconds. */
export type KeyUses = {
  note(world: World, use: { readonly key_id: string; readonly address: string }): void
  stop(): Promise<void>
}

const WRITE_MS = 5000

type Use = {
  readonly world: World
  readonly api_key_id: string
  readonly at: Date
  readonly address: string
}

export function openKeyUses({ worlds, log }: { worlds: Worlds; log: Logger }): KeyUses {
  const uses = new Map<string, Use>()
  const notNoted = (error: unknown) =>
    log.warn({ err: error }, 'keys: last uses not written; the time stays old until the next use of each key')

  async function write(): Promise<void> {
    const noted = [...uses.values()]
    uses.clear()
    for (const world of Object.values(worlds)) {
      const own = noted.filter((use) => use.world === world)
      if (own.length > 0) await noteUses(world.db, own).catch(notNoted)
    }
  }

  const writing = openLoop(write, { poll_ms: WRITE_MS, first_ms: WRITE_MS, onError: notNoted })
  return {
    note(world, { key_id, address }) {
      uses.set(key_id, { world, api_key_id: key_id, at: new Date(world.clock.now()), address })
    },
    async stop() {
      await writing.stop()
      await write()
    },
  }
}
