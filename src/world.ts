import type { Clock } from './core/clock.ts'
import type { Environment } from './core/environment.ts'
import { type IdKind, newId } from './core/ids.ts'
import type { Pool } from './db/pool.ts'
import type { Door } from './ledger/commit.ts'

/**
 * Everything a rule may touch in one environment. What a rule is not handed, it cannot reach: its database connections
 * may enter one schema only, and the rails are those of its own environment.
 */
export type World<E extends Environment = Environment> = {
  readonly environment: E
  /** For reading, and for what moves no money. */
  readonly db: Pool
  readonly clock: Clock
  readonly commit: Door['commit']
  newId(kind: IdKind): string
}

export type Worlds = { readonly [E in Environment]: World<E> }

export function createWorld<E extends Environment>(parts: Omit<World<E>, 'newId'>): World<E> {
  return { ...parts, newId: (kind) => newId(kind, parts.clock.now()) }
}
