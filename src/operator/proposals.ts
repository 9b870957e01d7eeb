import { refuse } from '../core/errors.ts'
import { takeStep } from '../db/chore.ts'
import { type Db, transaction } from '../db/pool.ts'
import { holdResource, releaseHold } from '../desk/holds.ts'
import { type Command, writeTo } from '../ledger/command.ts'
import { sendingUntil } from '../pix/sends.ts'
import type { World } from '../world.ts'
import { type Action, perform } from './actions.ts'
import { mayBeOnItsWay } from './resolve.ts'
import {
  approveProposals,
  type Ending,
  insertProposal,
  markEnded,
  overdueProposals,
  type Proposal,
  proposalById,
  proposalRows,
  selectProposals,
} from './store.ts'

/**
 * What an operator does by hand. In production one operator proposes it and another one approves it, and only then does
 * it happen; in the sandbox it happens at once. A proposal ends once: done, rejected by another operator, withdrawn by its
 * author, or expired. Between those who want different ends the database decides, by the lock of the proposal's row.
 */
export function propose(world: World, action: Action, proposed_by: string): Promise<Proposal> {
  const { name, details } = action
  const id = world.newId('proposal')
  return transaction(world.db, async (tx) => {
    const proposal = await insertProposal(tx, { id, action: name, details, proposed_by })
    const held = resourceOf(action)
    if (held) await holdResource(tx, held, id)
    if (action.name === 'resolve_payout' && action.details.outcome === 'failed')
      await assertNotSending(tx, world, action.details.payout_id)
    return proposal
  })
}

/** The hold keeps anybody from sending after the proposal; what was under way before it must have come to its end. */
async function assertNotSending(tx: Db, world: World, payout_id: string): Promise<void> {
  const until = await sendingUntil(tx, world, payout_id)
  if (until) throw mayBeOnItsWay(payout_id, until)
}

/** What workers leave alone until the proposal is decided. */
function resourceOf({ name, details }: Action): string | undefined {
  if (name === 'resolve_payout') return details.payout_id
  return name === 'resolve_transfer' ? details.transfer_id : undefined
}

/**
 * The approval is written in the transaction that moves the money: an approved proposal has happened, and one that was
 * refused is as open as before. Each action happens once, so approving again only notes down what a crash left unsaid.
 */
export async function approve(world: World, id: string, approved_by: string): Promise<Proposal> {
  const proposal = await findApprovable(world, id, approved_by)
  if (proposal.ended === 'done') return proposal
  const approving: World = {
    ...world,
    commit: (command) => world.commit(underApproval(command, id, approved_by)),
  }
  const action = { name: proposal.action, details: proposal.details } as Action
  const done = await perform(approving, action, { operator: approved_by, proposal_id: id })
  const ending = { end: 'done', by: approved_by, reason: null, resource_id: done.id } as const
  const ended = (await endProposal(world, id, ending)) ?? (await findProposal(world, id))
  return ended.ended === 'done' ? ended : alreadyEnded(ended)
}

/** What can be approved by this operator, or was approved and done. */
export async function findApprovable(world: World, id: string, operator: string): Promise<Proposal> {
  const proposal = await findProposal(world, id)
  if (proposal.ended === 'done') return proposal
  if (proposal.ended !== null) alreadyEnded(proposal)
  if (proposal.proposed_by === operator) {
    throw new Error('A proposal must be approved by another operator than the one who made it.')
  }
  return proposal
}

function underApproval<Result>(command: Command<Result>, id: string, approved_by: string): Command<Result> {
  const { locks } = command
  return {
    ...command,
    locks: { ...locks, rows: [...(locks.rows ?? []), { source: proposalRows, id }] },
    decide(held) {
      const proposal = held.row(proposalRows, id) ?? refuse('service_unavailable')
      if (proposal.ended !== null && proposal.ended !== 'done') alreadyEnded(proposal)
      if (proposal.approved_by === null && proposal.expires_at <= held.now) expired(proposal)
      const decision = command.decide(held)
      // A step that moves no money is not yet what was approved: should the next one be refused, the proposal stays open.
      if (proposal.approved_by !== null || !decision.movements?.length) return decision
      const approval = writeTo(approveProposals, { id, approved_by, approved_at: held.now })
      return { ...decision, writes: [...(decision.writes ?? []), approval] }
    },
  }
}

/** Another operator does not want it. */
export async function reject(world: World, id: string, by: string, reason: string): Promise<Proposal> {
  const proposal = await findProposal(world, id)
  if (proposal.proposed_by === by)
    throw new Error('Who made a proposal takes it back with: trilho proposals withdraw')
  return endBefore(world, id, { end: 'rejected', by, reason, resource_id: null })
}

/** Its author does not want it any more. */
export async function withdraw(
  world: World,
  id: string,
  by: string,
  reason: string | null,
): Promise<Proposal> {
  const proposal = await findProposal(world, id)
  if (proposal.proposed_by !== by)
    throw new Error('Only who made a proposal can withdraw it; another operator rejects it.')
  return endBefore(world, id, { end: 'withdrawn', by, reason, resource_id: null })
}

/** Proposals whose time is over. Returns how many there were. */
export async function expireProposals({ db: pool }: Pick<World, 'db'>, held?: Db): Promise<number> {
  const ids = await overdueProposals(held ?? pool, 100)
  for (const id of ids) {
    const expire = (tx: Db) => endIn(tx, id, { end: 'expired', by: null, reason: null, resource_id: null })
    await (held ? takeStep(held, expire) : transaction(pool, expire))
  }
  return ids.length
}

async function endBefore(world: World, id: string, ending: Ending): Promise<Proposal> {
  return (await endProposal(world, id, ending)) ?? alreadyEnded(await findProposal(world, id))
}

/**
 * The one way in which a proposal ends, whatever the end is; what hangs on an open proposal is let go in the same
 * transaction. Undefined: somebody else was faster, and it is not for this one to end it.
 */
function endProposal(world: World, id: string, ending: Ending): Promise<Proposal | undefined> {
  return transaction(world.db, (tx) => endIn(tx, id, ending))
}

async function endIn(tx: Db, id: string, ending: Ending): Promise<Proposal | undefined> {
  // Whoever is approving it at this moment holds the row for as long as its money takes.
  await tx.query("SET LOCAL lock_timeout = '10s'; SET LOCAL statement_timeout = '15s'")
  const ended = await markEnded(tx, id, ending)
  if (ended) await releaseHold(tx, id)
  return ended
}

/** With whatever time has brought about meanwhile. */
export async function findProposal(world: World, id: string): Promise<Proposal> {
  await expireProposals(world)
  const proposal = await proposalById(world.db, id)
  if (!proposal) throw new Error(`No proposal ${id} in ${world.environment}. See: trilho proposals list`)
  return proposal
}

export async function listProposals(world: World): Promise<Proposal[]> {
  await expireProposals(world)
  return selectProposals(world.db, 100)
}

function alreadyEnded(
  proposal: Pick<Proposal, 'id' | 'ended' | 'ended_by' | 'ended_reason' | 'approved_by' | 'resource_id'>,
): never {
  const { id, ended, ended_by, ended_reason, approved_by, resource_id } = proposal
  if (ended === 'expired') expired(proposal)
  const because = ended_reason === null ? '' : ` (${ended_reason})`
  const message =
    ended === 'rejected' || ended === 'withdrawn'
      ? `${id} was ${ended} by ${ended_by}${because}.`
      : resource_id
        ? `${id} was approved by ${approved_by}, and has happened: ${resource_id}.`
        : `${id} was approved by ${approved_by}. Approving it again completes it.`
  return refuse('already_final', { message })
}

function expired({ id }: { id: string }): never {
  return refuse('already_final', { message: `${id} has expired. Propose it again if it is still wanted.` })
}
