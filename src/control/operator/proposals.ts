import { refuse } from '../../core/errors.ts'
import type { IdKind } from '../../core/ids.ts'
import { takeStep } from '../../db/chore.ts'
import { type Db, type Pool, transaction } from '../../db/pool.ts'
import { writeTo } from '../../ledger/command.ts'
import { reversalOf } from '../../money/adjustments/store.ts'
import { assertPaused } from '../../money/custody/controls.ts'
import { freeRail, selectControls } from '../../money/custody/controls-store.ts'
import { depositById } from '../../money/deposits/store.ts'
import { transferById } from '../../money/onchain/store.ts'
import { sendingUntil } from '../../money/pix/sends.ts'
import { payoutById } from '../../money/pix/store.ts'
import type { LoggedAction } from '../../records/acts/actions.ts'
import {
  type ActEntry,
  hashOf,
  type LogActor,
  type LogLine,
  type Noted,
  type Pen,
  rowDigest,
} from '../../records/acts/line.ts'
import { note } from '../../records/acts/log.ts'
import { linesAbout } from '../../records/acts/store.ts'
import { type ActLine, openActWorld } from '../../records/acts/with-line.ts'
import { holdResource, releaseHold } from '../../records/desk/holds.ts'
import { recordException } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { type MoneyAction, perform } from './actions.ts'
import {
  assertAcceptanceStated,
  assertCancelable,
  mayBeOnItsWay,
  refuseOther,
  SupersededResolution,
} from './resolve.ts'
import {
  approveProposals,
  insertProposal,
  lockProposal,
  markEnded,
  overdueProposals,
  type Proposable,
  type Proposal,
  type ProposalEnding,
  proposalById,
  proposalRows,
  proposalsAfter,
  selectProposals,
} from './store.ts'

/** Where a proposal is stored: in its world if it is about money, in `shared` if it is about a person. */
export type ProposalStore = { readonly db: Pool; newId(kind: IdKind): string }

/** A pen for a signed-in operator, to write lines of the act log. */
export type OperatorPen = Pen & { readonly actor: Extract<LogActor, { kind: 'operator' }> }

type DecidedProposal = { readonly proposal: Proposal; readonly line: Noted | undefined }

/**
 * In production one operator proposes a money act and another approves it; only then is it performed. A proposal ends
 * once: done, rejected by another operator, withdrawn by its author, expired, or superseded because another end of
 * the payout or transfer was booked before the approval. Concurrent ends are serialised by the lock on the proposal's
 * row. Each step is a line of the act log with a digest of the row after it.
 */
export function propose(
  world: World,
  action: MoneyAction,
  pen: OperatorPen,
): Promise<Required<DecidedProposal>> {
  return transaction(world.db, async (tx) => {
    const order = await withEvidence(tx, action)
    const proposal = await insertProposal(tx, {
      id: world.newId('proposal'),
      action: order.name,
      details: order.details,
      proposed_by: pen.actor.email,
    })
    if (action.name === 'reverse_credit') await assertNotReversed(tx, action.details.deposit_id)
    const held = resourceOf(action)
    if (held) await holdResource(tx, held, proposal.id)
    await assertOpen(tx, order)
    if (action.name === 'resolve_payout') await assertResolvable(tx, world, action.details)
    return { proposal, line: await note(tx, pen, entryOf('propose', proposal)) }
  })
}

/** The evidence for a transfer is about one transaction, and a resume about one pause, so the proposal stores which. */
async function withEvidence(tx: Db, action: MoneyAction): Promise<MoneyAction> {
  if (action.name === 'resume_rail') {
    const { rail } = action.details
    const control = (await selectControls(tx)).find((one) => one.rail === rail) ?? freeRail(rail)
    return { ...action, details: { ...action.details, paused_at: assertPaused(control).toISOString() } }
  }
  if (action.name !== 'resolve_transfer') return action
  const transfer = await transferById(tx, action.details.transfer_id)
  return { ...action, details: { ...action.details, tx_hash: transfer?.tx_hash ?? null } }
}

/** Stores a proposal in the caller's transaction, in which `takesTwo` was judged. */
export async function proposeIn(
  tx: Db,
  where: ProposalStore,
  action: Proposable,
  pen: OperatorPen,
): Promise<Required<DecidedProposal>> {
  const proposal = await insertProposal(tx, {
    id: where.newId('proposal'),
    action: action.name,
    details: action.details,
    proposed_by: pen.actor.email,
  })
  return { proposal, line: await note(tx, pen, entryOf('propose', proposal)) }
}

/** The digest of an expired proposal is that of the open one: expiry follows from the clock and needs no line. */
export function proposalDigest(proposal: Proposal): string {
  const { ended, ended_by, ended_reason, ended_at, ...row } = proposal
  const end =
    ended === 'expired'
      ? { ended: null, ended_by, ended_reason, ended_at: null }
      : { ended, ended_by, ended_reason, ended_at }
  return rowDigest({ ...row, ...end })
}

/** The log entry of one step of a proposal. */
export function entryOf(step: LoggedAction, proposal: Proposal, more: Partial<ActEntry> = {}): ActEntry {
  const { id, action, details } = proposal
  const after = { action, details, proposal: proposalDigest(proposal), ...(more.after as object | undefined) }
  const object_id = proposal.resource_id ?? subjectOf(details)
  return { action: step, object_id, before: null, proposal_id: id, ...more, after }
}

/** The id or e-mail that an action is about. */
export function subjectOf(details: Proposable['details']): string {
  if ('payout_id' in details) return details.payout_id
  if ('transfer_id' in details) return details.transfer_id
  if ('deposit_id' in details) return details.deposit_id
  if ('email' in details) return details.email
  if ('rail' in details) return details.rail
  return details.customer_id ?? details.partner_id
}

/** The hold keeps workers from sending after the proposal. A send that began before it must have ended. */
async function assertResolvable(
  tx: Db,
  world: World,
  details: Extract<MoneyAction, { name: 'resolve_payout' }>['details'],
): Promise<void> {
  const { payout_id, outcome } = details
  const payout = await payoutById(tx, payout_id)
  if (payout) assertAcceptanceStated(payout, details)
  const until = outcome === 'failed' ? await sendingUntil(tx, world, payout_id) : undefined
  if (until) throw mayBeOnItsWay(payout_id, until)
}

/** Refuse now what the approval would refuse later: a final payout or transfer, or a hash that changed. */
async function assertOpen(tx: Db, { name, details }: MoneyAction): Promise<void> {
  if (name === 'cancel_transfer')
    return assertCancelable((await transferById(tx, details.transfer_id)) ?? refuse('transfer_not_found'))
  if (name !== 'resolve_payout' && name !== 'resolve_transfer') return
  const found =
    name === 'resolve_payout'
      ? await payoutById(tx, details.payout_id)
      : await transferById(tx, details.transfer_id)
  if (found && ['completed', 'confirmed', 'failed'].includes(found.status))
    refuseOther(found.id, found.status)
  if (name === 'resolve_transfer' && found && 'tx_hash' in found && found.tx_hash !== details.tx_hash)
    refuse('not_possible', {
      message: `${found.id} was signed just now. Look at it once more.`,
      details: { reason: 'signed_since' },
    })
}

async function assertNotReversed(tx: Db, deposit_id: string): Promise<void> {
  if (!(await depositById(tx, deposit_id)))
    refuse('deposit_not_found', { message: `No deposit ${deposit_id}.` })
  const before = await reversalOf(tx, deposit_id)
  if (before)
    refuse('not_possible', {
      message: `${deposit_id} was reversed before, by ${before}.`,
      details: { reason: 'reversed_before' },
    })
}

/** The payout or transfer that workers leave alone until the proposal is decided. */
function resourceOf({ name, details }: MoneyAction): string | undefined {
  if (name === 'resolve_payout') return details.payout_id
  return name === 'resolve_transfer' || name === 'cancel_transfer' ? details.transfer_id : undefined
}

/**
 * The approval and its line are written in the transaction that moves the money, so an approved proposal has happened
 * and a refused one stays open. Each action happens once: a second approval only records the end that a crash left
 * out.
 */
export async function approve(world: World, id: string, pen: OperatorPen): Promise<DecidedProposal> {
  const before = await findProposal(world, id, pen)
  if (before.ended === 'done') return { proposal: before, line: undefined }
  assertApprovable(before, pen.actor.email)
  await assertVouchedFor(world.db, pen, before)
  const opened = openActWorld(world, approvalOf(id, pen))
  const action = { name: before.action, details: before.details } as MoneyAction
  const { email } = pen.actor
  const done = await perform(opened.here, action, { operator: email, proposal_id: id }).catch(
    async (error: unknown) => {
      if (error instanceof SupersededResolution) await supersede(world, id, pen, error)
      throw error
    },
  )
  const ending = { end: 'done', by: email, reason: null, resource_id: done.id } as const
  const step = opened.line || before.approved_by !== null ? 'complete' : 'approve'
  const ended = await transaction(world.db, (tx) => endIn(tx, id, ending, { step, pen }))
  const proposal = ended?.proposal ?? (await findProposal(world, id, pen))
  if (proposal.ended !== 'done') alreadyEnded(proposal)
  return { proposal, line: opened.line ?? ended?.line }
}

/**
 * Ends a proposal that contradicts the booked end of its payout or transfer. The booking stays, an exception records
 * what the operators had established, and the approver is refused.
 */
async function supersede(
  world: World,
  id: string,
  pen: OperatorPen,
  by: SupersededResolution,
): Promise<never> {
  const { email } = pen.actor
  const ended = await transaction(world.db, async (tx) => {
    const proposal = await lockProposal(tx, id)
    if (!proposal || proposal.ended !== null) return undefined
    const { object, booked } = by
    await recordException(tx, world.clock, {
      kind: 'superseded',
      rail: object.rail,
      object_id: object.id,
      partner_id: object.partner_id,
      details: { proposal_id: id, proposed: proposal.details, booked, approved_by: email },
    })
    const ending = { end: 'superseded', by: email, reason: by.message, resource_id: null } as const
    return endIn(tx, id, ending, { step: 'supersede', pen })
  })
  return alreadyEnded(ended?.proposal ?? (await findProposal(world, id, pen)))
}

export function assertApprovable(proposal: Proposal, by: string): void {
  if (proposal.ended !== null) alreadyEnded(proposal)
  if (proposal.proposed_by === by) {
    refuse('second_person_needed', {
      message: 'A proposal must be approved by another operator than the one who made it.',
    })
  }
}

/**
 * Refuses a proposal that the act log does not confirm: the author's own `propose` line must match what was proposed,
 * and one line must match the present row. The database role can insert into `proposals`, but has no key to sign a
 * line.
 */
export async function assertVouchedFor(db: Db, pen: Pen, proposal: Proposal): Promise<void> {
  const lines = (await linesAbout(db, proposal.id)).filter((line) => hashOf(pen, line) === line.hash)
  const digest = proposalDigest(proposal)
  if (lines.some((line) => isProposing(line, proposal)) && lines.some((line) => digestIn(line) === digest))
    return
  refuse('not_possible', {
    message: `${proposal.id} is not what the log says was proposed: it was made or changed past the service.`,
    details: { reason: 'not_in_the_log' },
    shell: 'See: trilho log verify',
  })
}

/**
 * Whether the proposal's author wrote this line, and the line's digest covers this order: action, amount, reference,
 * times.
 */
function isProposing(line: LogLine, proposal: Proposal): boolean {
  const { action, actor_kind, actor_email } = line
  const by_author = actor_kind === 'operator' && actor_email === proposal.proposed_by
  return action === 'propose' && by_author && digestIn(line) === proposalDigest(asProposed(proposal))
}

/** Digest of the proposal's row after the step of this line. */
const digestIn = ({ after }: LogLine): string | undefined => JSON.parse(after ?? '{}').proposal

/** The row as it was before any decision. */
export const asProposed = (proposal: Proposal): Proposal => ({
  ...proposal,
  approved_by: null,
  approved_at: null,
  resource_id: null,
  ended: null,
  ended_by: null,
  ended_reason: null,
  ended_at: null,
})

/** The approval is written with the money; while the proposal's row is locked, no other end can come first. */
function approvalOf(id: string, pen: OperatorPen): ActLine {
  return {
    pen,
    rows: [{ source: proposalRows, id }],
    check(held) {
      const proposal = held.row(proposalRows, id) ?? refuse('service_unavailable')
      if (proposal.ended !== null && proposal.ended !== 'done') alreadyEnded(proposal)
      if (proposal.approved_by === null && proposal.expires_at <= held.now) expired(proposal)
    },
    lineOf({ movements = [], carries_out }, held) {
      const proposal = held.row(proposalRows, id)!
      // A step without movements does not carry out the order yet: if the next step is refused, the proposal must
      // stay open.
      if (proposal.approved_by !== null || (movements.length === 0 && !carries_out)) return undefined
      const approval = { id, approved_by: pen.actor.email, approved_at: held.now }
      return {
        entry: entryOf('approve', { ...proposal, ...approval }),
        writes: [writeTo(approveProposals, approval)],
      }
    },
  }
}

export async function reject(
  where: ProposalStore,
  id: string,
  pen: OperatorPen,
  reason: string,
): Promise<DecidedProposal> {
  const proposal = await findProposal(where, id, pen)
  const by = pen.actor.email
  if (proposal.proposed_by === by)
    refuse('second_person_needed', {
      message: 'You made this proposal yourself: withdraw it instead.',
      details: { reason: 'withdraw_instead' },
      shell: 'Run: trilho proposals withdraw',
    })
  return endBefore(where, id, { end: 'rejected', by, reason, resource_id: null }, { step: 'reject', pen })
}

export async function withdraw(
  where: ProposalStore,
  id: string,
  pen: OperatorPen,
  reason: string | null,
): Promise<DecidedProposal> {
  const proposal = await findProposal(where, id, pen)
  const by = pen.actor.email
  if (proposal.proposed_by !== by)
    refuse('second_person_needed', {
      message: 'Only who made a proposal can withdraw it; another operator rejects it.',
      details: { reason: 'proposal_of_another' },
    })
  return endBefore(where, id, { end: 'withdrawn', by, reason, resource_id: null }, { step: 'withdraw', pen })
}

/** Ends up to 100 proposals that are past `expires_at`. Returns how many were overdue. */
export async function expireProposals(
  { db: pool }: Pick<ProposalStore, 'db'>,
  pen: Pen,
  held?: Db,
): Promise<number> {
  const ids = await overdueProposals(held ?? pool, 100)
  const writing = { step: 'expire', pen: { ...pen, actor: { kind: 'service' } } } as const
  for (const id of ids) {
    const expire = (tx: Db) =>
      endIn(tx, id, { end: 'expired', by: null, reason: null, resource_id: null }, writing)
    await (held ? takeStep(held, expire) : transaction(pool, expire))
  }
  return ids.length
}

type Writing = { readonly step: LoggedAction; readonly pen: Pen }

async function endBefore(
  where: ProposalStore,
  id: string,
  ending: ProposalEnding,
  writing: Writing,
): Promise<DecidedProposal> {
  const ended = await transaction(where.db, (tx) => endIn(tx, id, ending, writing))
  return ended ?? alreadyEnded(await findProposal(where, id, writing.pen))
}

/**
 * Every end of a proposal goes through here. It also releases the proposal's hold. Undefined: the row's state does not
 * allow this end, because another end came first.
 */
export async function endIn(
  tx: Db,
  id: string,
  ending: ProposalEnding,
  { step, pen }: Writing,
  more?: Partial<ActEntry>,
): Promise<DecidedProposal | undefined> {
  // A concurrent approval holds the row while it moves the money.
  await tx.query("SET LOCAL lock_timeout = '5s'; SET LOCAL statement_timeout = '6s'")
  const proposal = await markEnded(tx, id, ending)
  if (!proposal) return undefined
  if (pen.place !== 'shared') await releaseHold(tx, id)
  return { proposal, line: await note(tx, pen, entryOf(step, proposal, more)) }
}

/** Expires overdue proposals first. */
export async function findProposal(
  where: Pick<ProposalStore, 'db'>,
  id: string,
  pen: Pen,
): Promise<Proposal> {
  await expireProposals(where, pen)
  const proposal = await proposalById(where.db, id)
  if (!proposal) return noProposal(id, pen.place)
  return proposal
}

export async function listProposals(where: Pick<ProposalStore, 'db'>, pen: Pen): Promise<Proposal[]> {
  await expireProposals(where, pen)
  return selectProposals(where.db, 100)
}

const PART = 500

export async function* everyProposal(db: Db): AsyncGenerator<Proposal> {
  for (let after = ''; ; ) {
    const part = await proposalsAfter(db, after, PART)
    yield* part
    if (part.length < PART) return
    after = part.at(-1)!.id
  }
}

export const noProposal = (id: string, place?: string): never =>
  refuse('object_not_found', {
    message: `No proposal ${id}${place === undefined ? '' : ` in ${place}`}.`,
    shell: 'See: trilho proposals list',
  })

function alreadyEnded(
  proposal: Pick<Proposal, 'id' | 'ended' | 'ended_by' | 'ended_reason' | 'approved_by' | 'resource_id'>,
): never {
  const { id, ended, ended_by, ended_reason, approved_by, resource_id } = proposal
  if (ended === 'expired') expired(proposal)
  const because = ended_reason === null ? '' : ` (${ended_reason})`
  const message =
    ended === 'rejected' || ended === 'withdrawn'
      ? `${id} was ${ended} by ${ended_by}${because}.`
      : ended === 'superseded'
        ? `${id} was superseded: ${ended_reason} Nothing was approved; see the exception about it.`
        : resource_id
          ? `${id} was approved by ${approved_by}, and has happened: ${resource_id}.`
          : `${id} was approved by ${approved_by}. Approving it again completes it.`
  return refuse('already_final', { message })
}

function expired({ id }: { id: string }): never {
  return refuse('already_final', { message: `${id} has expired. Propose it again if it is still wanted.` })
}
