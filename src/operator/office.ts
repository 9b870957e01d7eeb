import { type ActLog, openActLog } from '../acts/log.ts'
import type { Sealer } from '../core/seal.ts'
import { openTurns, type Turns } from '../core/turns.ts'
import type { Shared } from '../partners/partners.ts'
import type { Worlds } from '../world.ts'
import { everyProposal, proposalDigest } from './proposals.ts'

/** Where operators act: both worlds, what they share, and the log of what was done. */
export type Office = {
  readonly shared: Shared
  readonly worlds: Worlds
  readonly log: ActLog
  /** Approvals that move money: each has a connection of `shared` meanwhile, and others need some too. */
  readonly approvals: Turns
}

const APPROVALS = { at_once: 2, per_name: 1, wait_ms: 5000 }

export function openOffice(parts: {
  readonly shared: Shared
  readonly worlds: Worlds
  readonly sealer: Sealer
}): Office {
  const { shared, worlds, sealer } = parts
  const pools = { shared: shared.db, production: worlds.production.db, sandbox: worlds.sandbox.db }
  const log = openActLog({
    pools,
    sealer,
    async found(tx) {
      const digests: Record<string, string> = {}
      for await (const proposal of everyProposal(tx)) digests[proposal.id] = proposalDigest(proposal)
      return digests
    },
  })
  return { shared, worlds, log, approvals: openTurns(APPROVALS) }
}
