import type { Anchor, Broken } from '../acts/verify.ts'
import { verifyLines } from '../acts/verify.ts'
import { type Db, transaction } from '../db/pool.ts'
import type { Place } from '../db/sealing.ts'
import type { SearchCheck } from '../ledger/audit.ts'
import type { Office } from './office.ts'
import { everyProposal, proposalDigest } from './proposals.ts'

export type Verified = {
  readonly place: Place
  readonly lines: bigint
  readonly broken: readonly Broken[]
}

/** Proves the log of a place: its chain, and that proposals and lines agree, both ways. */
export function verify(office: Office, place: Place, anchors: readonly Anchor[] = []): Promise<Verified> {
  return transaction(office.log.pools[place], async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
    return verifyIn(tx, office, place, anchors)
  })
}

async function verifyIn(
  tx: Db,
  office: Office,
  place: Place,
  anchors: readonly Anchor[] = [],
): Promise<Verified> {
  const { lines, broken, proposals } = await verifyLines(tx, { place, key: await office.log.key(), anchors })
  const wrong = [...broken]
  const missing = new Map(proposals)
  for await (const proposal of everyProposal(tx)) {
    const said = proposals.get(proposal.id)
    missing.delete(proposal.id)
    // Before the first line there is nothing to compare with.
    if (said === undefined && lines > 0n)
      wrong.push({ object_id: proposal.id, wrong: `a proposal of ${place} without a line` })
    if (said !== undefined && said !== proposalDigest(proposal))
      wrong.push({ object_id: proposal.id, wrong: `a proposal of ${place} that differs from its line` })
  }
  for (const id of missing.keys())
    wrong.push({ object_id: id, wrong: `a proposal of ${place} was removed: its line is there` })
  return { place, lines, broken: wrong }
}

/** For the audit of a world: its own log; with production also that of what both share. */
export function logChecks(office: Office, environment: 'production' | 'sandbox'): readonly SearchCheck[] {
  const own: SearchCheck = {
    name: 'every act of a person is a line of an unbroken log',
    find: async (tx) => [...(await verifyIn(tx, office, environment)).broken],
  }
  const shared: SearchCheck = {
    name: 'every act on partners and people is a line of an unbroken log',
    find: async () => [...(await verify(office, 'shared')).broken],
  }
  return environment === 'production' ? [own, shared] : [own]
}
