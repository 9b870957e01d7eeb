import { type FairSemaphore, openFairSemaphore } from '../../core/fair-semaphore.ts'
import type { Sealer } from '../../core/seal.ts'
import type { Caller } from '../../http/shares.ts'
import type { Shared } from '../../parties/partners/partners.ts'
import { type ActLog, openActLog } from '../../records/acts/log.ts'
import type { World, Worlds } from '../../world.ts'

/** What operators act on: both worlds, the shared schema, and the act log. */
export type Office = {
  readonly shared: Shared
  readonly worlds: Worlds
  readonly log: ActLog
  /** Limits concurrent approvals of money: each occupies a connection to `shared` meanwhile. */
  readonly approvals: FairSemaphore
  readonly shares: OfficeShares
}

/**
 * The connections that one caller of the console may use. A shell has a single user, so there the caller gets all of
 * them.
 */
export type OfficeShares = {
  shared(caller: Caller): Shared
  world(world: World, caller: Caller): World
}

const APPROVALS = { at_once: 2, per_name: 1, wait_ms: 5000 }

export function openOffice(parts: {
  readonly shared: Shared
  readonly worlds: Worlds
  readonly sealer: Sealer
  readonly shares?: OfficeShares
}): Office {
  const { shared, worlds, sealer, shares = { shared: () => shared, world: (world: World) => world } } = parts
  const pools = { shared: shared.db, production: worlds.production.db, sandbox: worlds.sandbox.db }
  return {
    shared,
    worlds,
    log: openActLog({ pools, sealer }),
    approvals: openFairSemaphore(APPROVALS),
    shares,
  }
}
