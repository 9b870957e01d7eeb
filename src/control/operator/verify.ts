import { type Db, transaction } from '../../db/pool.ts'
import type { StoragePlace } from '../../db/sealing.ts'
import type { SearchCheck } from '../../ledger/audit.ts'
import type { History } from '../../records/acts/history.ts'
import { type Anchor, type Broken, openNames, openWalk } from '../../records/acts/verify.ts'
import type { Office } from './office.ts'
import { asProposed, everyProposal, proposalDigest } from './proposals.ts'
import { settingsCheck, wrongSettings } from './settings-audit.ts'
import type { Proposal, ProposalEnd } from './store.ts'

export type VerifiedLog = {
  readonly place: StoragePlace
  readonly lines: bigint
  readonly broken: readonly Broken[]
}

/** Verifies the act log of a place: its hash chain, and that proposals and lines match in both directions. */
export async function verifyLog(
  office: Office,
  place: StoragePlace,
  anchors: readonly Anchor[] = [],
): Promise<VerifiedLog> {
  const pool = office.log.pools[place]
  const key = await office.log.key()
  const walk = openWalk({ place, key, anchors })
  await walk.walk(pool)
  return transaction(pool, async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
    return verifyIn(tx, place, walk)
  })
}

/** Verifies in the caller's transaction. */
export async function verifyIn(
  tx: Db,
  place: StoragePlace,
  walk: ReturnType<typeof openWalk>,
): Promise<VerifiedLog> {
  const { lines, broken, histories } = await walk.prove(tx)
  const missing = new Set(histories.keys())
  const wrong = openNames<Broken>()
  const say = (id: string, what: string) =>
    wrong.add({ object_id: id, wrong: `a proposal of ${place} ${what}` })
  const { rows } = await tx.query('SELECT clock_timestamp() AS now')
  for await (const proposal of everyProposal(tx)) {
    missing.delete(proposal.id)
    const what = wrongWithProposal(proposal, histories.get(proposal.id), rows[0].now)
    if (what) say(proposal.id, what)
  }
  for (const id of missing) say(id, 'was removed: its line is there')
  const rest = wrong.rest(`proposals of ${place}`, 'that are not as their lines say')
  return { place, lines, broken: [...broken, ...wrong.names, ...rest] }
}

/** The ends that a row may have after the last step in the log. A proposal may expire without a line. */
const endsAfter: Readonly<Record<string, readonly (ProposalEnd | null)[]>> = {
  propose: [null, 'expired'],
  approve: [null, 'done'],
  complete: ['done'],
  reject: ['rejected'],
  withdraw: ['withdrawn'],
  supersede: ['superseded'],
  expire: ['expired'],
}

function wrongWithProposal(proposal: Proposal, history: History | undefined, now: Date): string | undefined {
  const { ended, ended_at, expires_at } = proposal
  if (!history?.proposed) return 'that was not proposed through the service'
  if (history.last !== proposalDigest(proposal)) return 'that differs from its line'
  if (proposalDigest(asProposed(proposal)) !== history.proposed.digest)
    return 'that is another than was proposed'
  if (ended === 'expired' && (expires_at > now || ended_at! < expires_at))
    return 'that expired before its time was over'
  if (history.went_on) return 'that went on after its end'
  if (endsAfter[history.step]?.includes(ended) === false)
    return `that is ${ended ?? 'open'}, though its last line is: ${history.step}`
  return fitsWhom(proposal, history)
    ? undefined
    : 'that was proposed or decided by another than its line says'
}

function fitsWhom(proposal: Proposal, history: History): boolean {
  const { proposed_by, ended_by } = proposal
  const { proposed, step, step_by, approved_by } = history
  if (proposed?.by !== proposed_by) return false
  if (step === 'reject' || step === 'supersede') return step_by === ended_by && step_by !== proposed_by
  if (step === 'withdraw') return step_by === ended_by && step_by === proposed_by
  if (approved_by === null) return proposal.approved_by === null
  return approved_by === proposal.approved_by && approved_by !== proposed_by
}

/** The checks of a world's audit: its own log, and for production also the log of `shared`. */
export function logChecks(office: Office, environment: 'production' | 'sandbox'): readonly SearchCheck[] {
  const own: SearchCheck = {
    name: 'every act of a person is a line of an unbroken log',
    async find(tx) {
      const key = await office.log.key()
      return [...(await verifyIn(tx, environment, openWalk({ place: environment, key }))).broken]
    },
  }
  const shared: SearchCheck = {
    name: 'every act on partners and people is a line of an unbroken log',
    find: async () => [...(await verifyLog(office, 'shared')).broken],
  }
  const sharedSettings: SearchCheck = {
    name: 'the terms of partners and the roles and sessions of people are as the log says',
    find: () => wrongSettings(office.log.pools.shared, 'shared'),
  }
  return environment === 'production' ? [own, settingsCheck, shared, sharedSettings] : [own, settingsCheck]
}
