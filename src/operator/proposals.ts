import { digestOf, type Entry, hashOf, type Line, type LogActor, type Noted, type Pen } from '../acts/line.ts'
import { headRef, note, noteHeld } from '../acts/log.ts'
import { linesAbout } from '../acts/store.ts'
import { reversalOf } from '../adjustments/store.ts'
import { refuse } from '../core/errors.ts'
import type { IdKind } from '../core/ids.ts'
import { takeStep } from '../db/chore.ts'
import { type Db, type Pool, transaction } from '../db/pool.ts'
import { depositById } from '../deposits/store.ts'
import { holdResource, releaseHold } from '../desk/holds.ts'
import { recordException } from '../exceptions/store.ts'
import { type Command, writeTo } from '../ledger/command.ts'
import { transferById } from '../onchain/store.ts'
import { sendingUntil } from '../pix/sends.ts'
import { payoutById } from '../pix/store.ts'
import type { World } from '../world.ts'
import { type MoneyAction, perform } from './actions.ts'
import { assertAcceptanceStated, mayBeOnItsWay, refuseOther, Superseded } from './resolve.ts'
import {
  approveProposals,
  type Ending,
  insertProposal,
  lockProposal,
  markEnded,
  overdueProposals,
  type Proposable,
  type Proposal,
  proposalById,
  proposalRows,
  proposalsAfter,
  selectProposals,
} from './store.ts'

/** Where proposals are: in a world those about its money, in what both share those about people. */
export type Where = { readonly db: Pool; newId(kind: IdKind): string }

/** Somebody who signed in, to write in the log. */
export type OperatorPen = Pen & { readonly actor: Extract<LogActor, { kind: 'operator' }> }

/** Of a command: its line comes with its result, for a batch that lost a race is decided again. */
export type WithLine<Result> = { readonly result: Result; readonly noted: Noted | undefined }

export type Decided = { readonly proposal: Proposal; readonly line: Noted | undefined }

/**
 * What an operator does by hand. In production one operator proposes it and another one approves it, and only then does
 * it happen; in the sandbox it happens at once. A proposal ends once: done, rejected by another operator, withdrawn by its
 * author, expired, or superseded by another end that was booked before it was approved. Between those who want different ends the database decides, by the lock of the proposal's row. Each
 * of these is a line of the log, which says what the row was made to be.
 */
export function propose(world: World, action: MoneyAction, pen: OperatorPen): Promise<Required<Decided>> {
  return transaction(world.db, async (tx) => {
    const order = await withHash(tx, action)
    const proposal = await insertProposal(tx, { ...rowOf(world, order), proposed_by: pen.actor.email })
    if (action.name === 'reverse_credit') await assertNotReversed(tx, action.details.deposit_id)
    const held = resourceOf(action)
    if (held) await holdResource(tx, held, proposal.id)
    await assertOpen(tx, order)
    if (action.name === 'resolve_payout') await assertResolvable(tx, world, action.details)
    return { proposal, line: await note(tx, pen, entryOf('propose', proposal)) }
  })
}

/** The evidence for a transfer speaks of one transaction, so the proposal names it. */
async function withHash(tx: Db, action: MoneyAction): Promise<MoneyAction> {
  if (action.name !== 'resolve_transfer') return action
  const transfer = await transferById(tx, action.details.transfer_id)
  return { ...action, details: { ...action.details, tx_hash: transfer?.tx_hash ?? null } }
}

/** The same for people, in a transaction of the caller's: whether it takes two is judged in it. */
export async function proposeIn(
  tx: Db,
  where: Where,
  action: Proposable,
  pen: OperatorPen,
): Promise<Required<Decided>> {
  const proposal = await insertProposal(tx, { ...rowOf(where, action), proposed_by: pen.actor.email })
  return { proposal, line: await note(tx, pen, entryOf('propose', proposal)) }
}

const rowOf = (where: Where, { name, details }: Proposable) => ({
  id: where.newId('proposal'),
  action: name,
  details,
})

/** Of an expired one, what it was before: that its time is over needs nobody's word. */
export function proposalDigest(proposal: Proposal): string {
  const { ended, ended_by, ended_reason, ended_at, ...row } = proposal
  const end =
    ended === 'expired'
      ? { ended: null, ended_by, ended_reason, ended_at: null }
      : { ended, ended_by, ended_reason, ended_at }
  return digestOf({ ...row, ...end })
}

/** What the log says of a proposal at each of its steps. */
export function entryOf(step: string, proposal: Proposal, more: Partial<Entry> = {}): Entry {
  const { id, action, details } = proposal
  const after = { action, details, proposal: proposalDigest(proposal), ...(more.after as object | undefined) }
  const object_id = proposal.resource_id ?? subjectOf(details)
  return { action: step, object_id, before: null, proposal_id: id, ...more, after }
}

/** Whom or what an action is about. */
export function subjectOf(details: Proposable['details']): string {
  if ('payout_id' in details) return details.payout_id
  if ('transfer_id' in details) return details.transfer_id
  if ('deposit_id' in details) return details.deposit_id
  if ('email' in details) return details.email
  return details.customer_id ?? details.partner_id
}

/** The hold keeps anybody from sending after the proposal; what was under way before it must have come to its end. */
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

/** What has come to its end would be refused when it is approved: better now, and the same below. */
async function assertOpen(tx: Db, { name, details }: MoneyAction): Promise<void> {
  if (name !== 'resolve_payout' && name !== 'resolve_transfer') return
  const found =
    name === 'resolve_payout'
      ? await payoutById(tx, details.payout_id)
      : await transferById(tx, details.transfer_id)
  if (found && ['completed', 'confirmed', 'failed'].includes(found.status))
    refuseOther(found.id, found.status)
  if (name === 'resolve_transfer' && found && 'tx_hash' in found && found.tx_hash !== details.tx_hash)
    refuse('not_possible', { message: `${found.id} was signed just now. Look at it once more.` })
}

async function assertNotReversed(tx: Db, deposit_id: string): Promise<void> {
  if (!(await depositById(tx, deposit_id)))
    refuse('deposit_not_found', { message: `No deposit ${deposit_id}.` })
  const before = await reversalOf(tx, deposit_id)
  if (before) refuse('not_possible', { message: `${deposit_id} was reversed before, by ${before}.` })
}

/** What workers leave alone until the proposal is decided. */
function resourceOf({ name, details }: MoneyAction): string | undefined {
  if (name === 'resolve_payout') return details.payout_id
  return name === 'resolve_transfer' ? details.transfer_id : undefined
}

/**
 * The approval and its line are written in the transaction that moves the money: an approved proposal has happened, and one
 * that was refused is as open as before. Each action happens once, so approving again only notes down what a crash left
 * unsaid.
 */
export async function approve(world: World, id: string, pen: OperatorPen): Promise<Decided> {
  const before = await findApprovable(world, id, pen)
  if (before.ended === 'done') return { proposal: before, line: undefined }
  await assertVouchedFor(world.db, pen, before)
  let line: Noted | undefined
  const approving: World = {
    ...world,
    async commit(command) {
      const { result, noted } = await world.commit(underApproval(command, id, pen))
      line ??= noted
      return result
    },
  }
  const action = { name: before.action, details: before.details } as MoneyAction
  const { email } = pen.actor
  const done = await perform(approving, action, { operator: email, proposal_id: id }).catch(
    async (error: unknown) => {
      if (error instanceof Superseded) await supersede(world, id, pen, error)
      throw error
    },
  )
  const ending = { end: 'done', by: email, reason: null, resource_id: done.id } as const
  const step = line || before.approved_by !== null ? 'complete' : 'approve'
  const ended = await endProposal(world, id, ending, { step, pen })
  const proposal = ended?.proposal ?? (await findProposal(world, id, pen))
  if (proposal.ended !== 'done') alreadyEnded(proposal)
  return { proposal, line: line ?? ended?.line }
}

/**
 * What is booked stays; the proposal ends, and an exception tells what the operators had established instead. Whoever approves
 * is refused: nothing was done.
 */
async function supersede(world: World, id: string, pen: OperatorPen, by: Superseded): Promise<never> {
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

/** What can be approved by this operator, or was approved and done. */
export async function findApprovable(where: Where, id: string, pen: OperatorPen): Promise<Proposal> {
  const proposal = await findProposal(where, id, pen)
  if (proposal.ended !== 'done') assertApprovable(proposal, pen.actor.email)
  return proposal
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
 * The author's own `propose` line says what was proposed, and the newest line what the row is now. The database role can
 * insert a row into `proposals`, but it has no key to write a line with: such a row is refused, whoever approves it.
 */
export async function assertVouchedFor(db: Db, pen: Pen, proposal: Proposal): Promise<void> {
  const lines = (await linesAbout(db, proposal.id)).filter((line) => hashOf(pen, line) === line.hash)
  const digest = proposalDigest(proposal)
  if (lines.some((line) => isProposing(line, proposal)) && lines.some((line) => digestIn(line) === digest))
    return
  refuse('not_possible', {
    message: `${proposal.id} is not what the log says was proposed: it was made or changed past the service.`,
    shell: 'See: trilho log verify',
  })
}

/** Whether the author of the proposal wrote this line, about this order: action, amount, reference, times, all of it. */
function isProposing(line: Line, proposal: Proposal): boolean {
  const { action, actor_kind, actor_email } = line
  const by_author = actor_kind === 'operator' && actor_email === proposal.proposed_by
  return action === 'propose' && by_author && digestIn(line) === proposalDigest(asProposed(proposal))
}

/** What the row of the proposal was after the step that this line tells. */
const digestIn = ({ after }: Line): string | undefined => JSON.parse(after ?? '{}').proposal

/** The row as it was before anybody decided on it. */
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

function underApproval<Result>(
  command: Command<Result>,
  id: string,
  pen: OperatorPen,
): Command<WithLine<Result>> {
  const { locks } = command
  const approved_by = pen.actor.email
  return {
    ...command,
    locks: { ...locks, rows: [...(locks.rows ?? []), { source: proposalRows, id }, headRef] },
    decide(held) {
      const proposal = held.row(proposalRows, id) ?? refuse('service_unavailable')
      if (proposal.ended !== null && proposal.ended !== 'done') alreadyEnded(proposal)
      if (proposal.approved_by === null && proposal.expires_at <= held.now) expired(proposal)
      const { result, ...decision } = command.decide(held)
      // A step that moves no money is not yet what was approved: should the next one be refused, the proposal stays open.
      if (proposal.approved_by !== null || !decision.movements?.length)
        return { ...decision, result: { result, noted: undefined } }
      const approval = { id, approved_by, approved_at: held.now }
      const { noted, writes } = noteHeld(held, pen, entryOf('approve', { ...proposal, ...approval }))
      return {
        ...decision,
        writes: [...(decision.writes ?? []), writeTo(approveProposals, approval), ...writes],
        result: { result, noted },
      }
    },
  }
}

/** Another operator does not want it. */
export async function reject(where: Where, id: string, pen: OperatorPen, reason: string): Promise<Decided> {
  const proposal = await findProposal(where, id, pen)
  const by = pen.actor.email
  if (proposal.proposed_by === by)
    refuse('second_person_needed', {
      message: 'You made this proposal yourself: withdraw it instead.',
      shell: 'Run: trilho proposals withdraw',
    })
  return endBefore(where, id, { end: 'rejected', by, reason, resource_id: null }, { step: 'reject', pen })
}

/** Its author does not want it any more. */
export async function withdraw(
  where: Where,
  id: string,
  pen: OperatorPen,
  reason: string | null,
): Promise<Decided> {
  const proposal = await findProposal(where, id, pen)
  const by = pen.actor.email
  if (proposal.proposed_by !== by)
    refuse('second_person_needed', {
      message: 'Only who made a proposal can withdraw it; another operator rejects it.',
    })
  return endBefore(where, id, { end: 'withdrawn', by, reason, resource_id: null }, { step: 'withdraw', pen })
}

/** Proposals whose time is over. Returns how many there were. */
export async function expireProposals({ db: pool }: Pick<Where, 'db'>, pen: Pen, held?: Db): Promise<number> {
  const ids = await overdueProposals(held ?? pool, 100)
  const writing = { step: 'expire', pen: { ...pen, actor: { kind: 'service' } } } as const
  for (const id of ids) {
    const expire = (tx: Db) =>
      endIn(tx, id, { end: 'expired', by: null, reason: null, resource_id: null }, writing)
    await (held ? takeStep(held, expire) : transaction(pool, expire))
  }
  return ids.length
}

type Writing = { readonly step: string; readonly pen: Pen }

async function endBefore(where: Where, id: string, ending: Ending, writing: Writing): Promise<Decided> {
  return (
    (await endProposal(where, id, ending, writing)) ??
    alreadyEnded(await findProposal(where, id, writing.pen))
  )
}

/**
 * The one way in which a proposal ends, whatever the end is; what hangs on an open proposal is let go in the same
 * transaction. Undefined: somebody else was faster, and it is not for this one to end it.
 */
function endProposal(
  where: Where,
  id: string,
  ending: Ending,
  writing: Writing,
): Promise<Decided | undefined> {
  return transaction(where.db, (tx) => endIn(tx, id, ending, writing))
}

export async function endIn(
  tx: Db,
  id: string,
  ending: Ending,
  { step, pen }: Writing,
  more?: Partial<Entry>,
): Promise<Decided | undefined> {
  // Whoever is approving it at this moment holds the row for as long as its money takes.
  await tx.query("SET LOCAL lock_timeout = '5s'; SET LOCAL statement_timeout = '6s'")
  const proposal = await markEnded(tx, id, ending)
  if (!proposal) return undefined
  if (pen.place !== 'shared') await releaseHold(tx, id)
  return { proposal, line: await note(tx, pen, entryOf(step, proposal, more)) }
}

/** With whatever time has brought about meanwhile. */
export async function findProposal(where: Pick<Where, 'db'>, id: string, pen: Pen): Promise<Proposal> {
  await expireProposals(where, pen)
  const proposal = await proposalById(where.db, id)
  if (!proposal) return noProposal(id, pen.place)
  return proposal
}

export async function listProposals(where: Pick<Where, 'db'>, pen: Pen): Promise<Proposal[]> {
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
