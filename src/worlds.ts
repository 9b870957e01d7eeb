import type { Logger } from 'pino'
import type { Clock } from './core/clock.ts'
import { type Environment, environments } from './core/environment.ts'
import { openPool, type SchemaName } from './db/pool.ts'
import { depositChecks } from './deposits/store.ts'
import type { Check } from './ledger/audit.ts'
import { type DoorOptions, openDoor } from './ledger/commit.ts'
import { createWorld, type World, type Worlds } from './world.ts'

/** Builds the two worlds from one database. Nothing made for the one can be handed to the other. */
const schemas: Readonly<Record<Environment, SchemaName>> = { production: 'live', sandbox: 'sandbox' }

/** What the audit checks beyond the ledger itself. */
export const sliceChecks: readonly Check[] = depositChecks

export type OpenWorlds = { readonly worlds: Worlds; stop(): Promise<void> }

export function openWorlds(options: {
  url: string
  clock: Clock
  log: Logger
  pool: number
  lanes: number
  onBatch?: (environment: Environment, batch: Parameters<NonNullable<DoorOptions['onBatch']>>[0]) => void
}): OpenWorlds {
  const closing: (() => Promise<void>)[] = []

  function open<E extends Environment>(environment: E): World<E> {
    const seat = { url: options.url, schema: schemas[environment], application_name: `trilho ${environment}` }
    const db = openPool({ ...seat, max: options.pool })
    const { onBatch } = options
    const door = openDoor({
      seat,
      lanes: options.lanes,
      log: options.log,
      ...(onBatch ? { onBatch: (batch) => onBatch(environment, batch) } : {}),
    })
    closing.push(door.stop, () => db.end())
    return createWorld({ environment, db, clock: options.clock, commit: door.commit })
  }

  return {
    worlds: { production: open(environments[0]), sandbox: open(environments[1]) },
    async stop() {
      for (const close of closing) await close()
    },
  }
}
