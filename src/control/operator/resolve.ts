import { type Reason, Refusal, refuse } from '../../core/errors.ts'
import type { Network } from '../../core/networks.ts'
import { makeDue } from '../../db/due.ts'
import { chainOrderOf } from '../../money/onchain/order.ts'
import { endOf, type StepSource, stepTransfer, type TransferStep } from '../../money/onchain/settle.ts'
import { unknownPayments } from '../../money/onchain/steps.ts'
import { isFinalTransfer, type Transfer, transferById } from '../../money/onchain/store.ts'
import { attemptsOf, reservationOf } from '../../money/onchain/transactions.ts'
import { pixOrderOf } from '../../money/pix/order.ts'
import * as pix from '../../money/pix/resolve.ts'
import { isDoubleEndToEndId, isFinalPayout, type Payout, payoutById } from '../../money/pix/store.ts'
import type { Seen } from '../../rails/chain/rail.ts'
import type { World } from '../../world.ts'
import type { DetailsOf, Done } from './actions.ts'

/** The operator who acts, and the approved proposal; the sandbox needs no proposal. */
export type Resolver = { readonly operator: string; readonly proposal_id: string | null }

/**
 * Settles by hand a payout that the rail left open. The money goes back only if no worker can be sending the payout
 * any more.
 */
export async function resolvePayout(
  world: World,
  details: DetailsOf<'resolve_payout'>,
  { operator, proposal_id }: Resolver,
): Promise<Done> {
  const { payout_id, outcome, end_to_end_id, evidence, despite_acceptance = false } = details
  const payout = await payoutById(world.db, payout_id)
  if (!payout) refuse('payout_not_found', { message: `No payout ${payout_id} in ${world.environment}.` })
  if (!isFinalPayout(payout)) {
    assertAcceptanceStated(payout, details)
    await askTheNetwork(world, payout, outcome, end_to_end_id)
  }
  const established =
    outcome === 'completed'
      ? { outcome, end_to_end_id: end_to_end_id! }
      : ({ outcome, despite_acceptance } as const)
  const by = { evidence, proposal_id, resolved_by: operator }
  const resolved = await world
    .commit(pix.payoutResolution(world, payout, established, by))
    .catch((error: unknown) => {
      if (!isDoubleEndToEndId(error)) throw error
      return refuse('not_possible', {
        message: `Another payout has the id ${end_to_end_id} in the Pix network. Nothing was changed: look once more which payment it is.`,
        details: { reason: 'id_of_another_payout' },
      })
    })
  if ('sending_until' in resolved) throw mayBeOnItsWay(payout_id, resolved.sending_until)
  if ('accepted_at' in resolved) throw wasAccepted(payout_id, resolved.accepted_at)
  const { status, end_to_end_id: booked_id } = resolved.payout
  const is_other = status !== outcome || (outcome === 'completed' && booked_id !== end_to_end_id)
  if (is_other)
    throw new SupersededResolution(
      { id: payout_id, partner_id: payout.partner_id, rail: 'pix' },
      { status, end_to_end_id: booked_id },
    )
  return { id: payout_id, text: `is ${outcome}`, status: outcome }
}

/**
 * The booked end differs from the end that the operators established, or has another id or hash: their evidence is
 * about another payment, so an operator has to check.
 */
export class SupersededResolution extends Refusal {
  readonly object: { readonly id: string; readonly partner_id: string; readonly rail: string }
  readonly booked: Readonly<Record<string, string | null>>

  constructor(
    object: SupersededResolution['object'],
    booked: SupersededResolution['booked'] & { readonly status: string },
  ) {
    const { status, ...names } = booked
    const name = Object.values(names).find((value) => value !== null)
    const as = name === undefined ? '' : ` as ${name}`
    super('already_final', {
      message: `${object.id} is ${status} already${as}; a final state never changes.`,
    })
    this.object = object
    this.booked = booked
  }
}

/**
 * A payout that the network accepted may be paid although the network does not know it now. To return the money,
 * operators must state that they know of the acceptance. The statement is refused for other payouts, so that it does
 * not become a habit.
 */
export function assertAcceptanceStated(
  { id, accepted_at }: Payout,
  { outcome, despite_acceptance = false }: DetailsOf<'resolve_payout'>,
): void {
  if (outcome === 'failed' && accepted_at !== null && !despite_acceptance) throw wasAccepted(id, accepted_at)
  if (despite_acceptance && (outcome !== 'failed' || accepted_at === null))
    refuse('not_possible', {
      message: `${id} needs no statement about its acceptance: the network never said that it accepted the payout, or the payout was paid. Nothing was changed. Leave the statement out.`,
      details: { reason: 'never_accepted' },
    })
}

const wasAccepted = (payout_id: string, accepted_at: Date): Refusal =>
  new Refusal('not_possible', {
    message: `${payout_id} was accepted by the network at ${accepted_at.toISOString()} and may have been paid, even if the network does not know it now. Nothing was changed. Ask the bank in writing. If the money must go back, state that the network had accepted it, and give the bank's answer as evidence.`,
    details: { reason: 'was_accepted', accepted_at: accepted_at.toISOString() },
    shell: 'With: --despite-acceptance',
  })

/** Evidence that was gathered while a worker may be sending the payout can be outdated a moment later. */
export const mayBeOnItsWay = (payout_id: string, until: Date): Refusal =>
  new Refusal('not_possible', {
    message: `${payout_id} may be on its way to the network at this moment: a worker may send it until ${until.toISOString()}. Nothing was changed. Try again after that time, and check with the network whether it arrived.`,
    details: { reason: 'may_be_sent_now', until: until.toISOString() },
  })

export const refuseOther = (id: string, status: string): never =>
  refuse('already_final', { message: `${id} is ${status} already; a final state never changes.` })

/**
 * Refuses an outcome that the network contradicts now, because evidence ages. If the network does not answer, the
 * operator decides.
 */
async function askTheNetwork(
  world: World,
  payout: Payout,
  outcome: 'completed' | 'failed',
  end_to_end_id: string | undefined,
): Promise<void> {
  const status = await world.pix.status(pixOrderOf(payout)).catch(() => undefined)
  const contradict = (reason: Reason, why: string) =>
    refuse('not_possible', { message: `${payout.id} ${why} Nothing was changed.`, details: { reason } })
  const by_itself = 'The service books that by itself within a minute.'
  if (status?.kind === 'settled' && (outcome === 'failed' || status.end_to_end_id !== end_to_end_id))
    contradict('was_paid', `was paid: the network names it ${status.end_to_end_id}. ${by_itself}`)
  if (status?.kind === 'refused' && outcome === 'completed')
    contradict('was_not_paid', `was not paid: the network refused it with ${status.rail_code}. ${by_itself}`)
  if (status?.kind === 'accepted' && outcome === 'failed')
    contradict('may_still_be_paid', 'was accepted by the network, which may still pay it.')
}

export async function resolveTransfer(
  world: World,
  { transfer_id, outcome, evidence, tx_hash }: DetailsOf<'resolve_transfer'>,
  { operator, proposal_id }: Resolver,
): Promise<Done> {
  const transfer = await transferById(world.db, transfer_id)
  if (!transfer)
    refuse('transfer_not_found', { message: `No transfer ${transfer_id} in ${world.environment}.` })
  const resolution = { outcome, evidence, proposal_id, resolved_by: operator }
  const source: StepSource = { by: 'operator', resolution }
  if (tx_hash !== undefined && tx_hash !== transfer.tx_hash) {
    if (isFinalTransfer(transfer)) throw supersededBy(transfer)
    refuse('not_possible', {
      message: `${transfer_id} was signed as ${transfer.tx_hash} after it was proposed. Nothing was changed. Reject the proposal, and look once more.`,
      details: { reason: 'signed_since' },
    })
  }
  const ended =
    outcome === 'confirmed'
      ? await confirm(world, transfer, source)
      : await failUnlessItMayBeMined(world, transfer, source)
  if (ended.status !== outcome) throw supersededBy(ended)
  return { id: transfer_id, text: `is ${outcome}`, status: outcome }
}

const supersededBy = ({ id, partner_id, network, status, tx_hash }: Transfer) =>
  new SupersededResolution({ id, partner_id, rail: network }, { status, tx_hash })

/**
 * The chain is asked first. On a simulated chain operators may confirm before the required depth is reached. On a real one they may
 * not: what is only in a mempool may never be mined. There a person decides only what the chain leaves unclear for good.
 */
async function confirm(world: World, transfer: Transfer, source: StepSource): Promise<Transfer> {
  const { id, tx_hash } = transfer
  if (isFinalTransfer(transfer)) return transfer
  if (tx_hash === null)
    refuse('not_possible', {
      message: `${id} was never signed, so it cannot have been confirmed.`,
      details: { reason: 'never_signed' },
    })
  const { said, end, is_waiting, is_absent, is_being_canceled, is_unclear } = await askTheChain(
    world,
    transfer,
  )
  if (is_unclear) return judge(world, transfer, { kind: 'confirmed' }, source)
  if (is_being_canceled && end?.kind !== 'confirmed')
    refuse('not_possible', {
      message: `${id} is being canceled, and the cancel may be mined instead of the payment: right now ${said}. Nothing was changed; the money stays in transit. Wait until the chain confirms one of them.`,
      details: { reason: 'not_confirmed' },
    })
  const { has_wallet } = world.chains[transfer.network]
  if (has_wallet && (is_waiting || is_absent))
    refuse('not_possible', {
      message: `${id} (${tx_hash}) is not final: right now ${said}. Nothing was changed; the money stays in transit. The worker confirms the transfer by itself when its payment is deep enough in the chain. Reject the proposal: while it is open, nothing is broadcast again.`,
      details: { reason: 'worker_settles' },
    })
  // A simulated chain lives in one process: every other process sees its transactions as absent.
  const simulated = world.environment === 'sandbox' && !has_wallet && is_absent
  if (end?.kind !== 'confirmed' && !is_waiting && !simulated) {
    const todo =
      said === NO_ANSWER
        ? 'Try again when the node of the network answers'
        : 'Compare the hash with the explorer'
    refuse('not_possible', {
      message: `${id} (${tx_hash}) is not confirmed as far as is known here: right now ${said}. Nothing was changed; the money stays in transit. ${todo}.`,
      details: { reason: 'not_confirmed' },
    })
  }
  await world.commit(stepTransfer(world, transfer, { kind: 'broadcast' }, source))
  return (await world.commit(stepTransfer(world, transfer, end ?? { kind: 'confirmed' }, source))).transfer
}

/**
 * No transaction of the transfer can be mined any more: a stranger's transaction has spent the nonce, one of the transfer has with another
 * effect than ordered, or all have expired. So the operators' evidence decides: without it the money would stay in transit for ever.
 */
async function judge(
  world: World,
  transfer: Transfer,
  end: Extract<TransferStep, { kind: 'confirmed' | 'failed' }>,
  source: StepSource,
): Promise<Transfer> {
  const by = source.by === 'operator' ? ({ ...source, is_spent: true } as const) : source
  await world.commit(stepTransfer(world, transfer, { kind: 'broadcast' }, by))
  return (await world.commit(stepTransfer(world, transfer, end, by))).transfer
}

const NO_ANSWER = 'the chain gives no answer'

/** What the chain says of a signed transfer now, in words and as the end that it shows. */
async function askTheChain(world: World, transfer: Transfer) {
  const made = await attemptsOf(world.db, transfer.id)
  const seen = await world.chains[transfer.network]
    .look(chainOrderOf(transfer), reservationOf(transfer), made)
    .catch(() => undefined)
  const has_cancel = made.some(({ purpose }) => purpose === 'cancel')
  return {
    said: seen ? `the chain says ${wordsOf(seen)}` : NO_ANSWER,
    end: seen && endOf(seen, made),
    is_waiting: seen?.kind === 'waiting',
    is_absent: seen?.kind === 'absent',
    // `expired`: after the restore of a backup, another payment than the stored ones may have been made.
    is_unclear:
      seen?.kind === 'taken' ||
      (seen?.kind === 'expired' && !seen.is_drafted) ||
      (seen?.kind === 'mined' && seen.effect === 'other'),
    has_cancel,
    is_being_canceled: transfer.cancel_requested_at !== null || has_cancel,
  }
}

function wordsOf(seen: Seen): string {
  switch (seen.kind) {
    case 'waiting':
      return 'that it is waiting to be mined, or to be deep enough'
    case 'absent':
      return 'that no node knows it, but the signed bytes exist and can still be mined'
    case 'expired':
      return seen.is_drafted
        ? 'that none of its transactions was mined, and one that the signer may have signed can still be mined'
        : 'that none of its transactions was mined, and none can be any more'
    case 'taken':
      return 'that its nonce was spent by a transaction that the service did not sign'
    case 'mined':
      return minedWords[seen.effect]
  }
}

const minedWords = {
  paid: 'that it is confirmed',
  none: 'that it failed',
  other: 'that it is mined, and is neither the ordered payment nor without effect',
} as const

/** A transfer without a nonce cannot have left. Any other fails only if the chain says now that it was reverted or canceled. */
async function failUnlessItMayBeMined(
  world: World,
  transfer: Transfer,
  source: StepSource,
): Promise<Transfer> {
  const refused = { kind: 'refused', rail_code: 'resolved_by_operator' } as const
  const { transfer: before } = await world.commit(stepTransfer(world, transfer, refused, source))
  if (isFinalTransfer(before)) return before
  if (before.tx_hash === null && before.cancel_requested_at === null)
    throw mayStillBeMined(
      before,
      `${before.id} has nonce ${before.nonce} of its wallet and is about to be signed, so it can fail only when the chain itself says so.`,
    )
  const { said, end, is_unclear, has_cancel } = await askTheChain(world, before)
  if (is_unclear && before.tx_hash !== null)
    return judge(world, before, { kind: 'failed', rail_code: refused.rail_code }, source)
  // Canceled before any payment was signed: nothing of ours can pay any more.
  if (is_unclear && has_cancel)
    return judge(world, before, { kind: 'failed', rail_code: refused.rail_code, unpaid: true }, source)
  if (end?.kind !== 'failed') {
    const signed = before.tx_hash === null ? 'is being canceled' : `was signed (${before.tx_hash})`
    throw mayStillBeMined(
      before,
      `${before.id} ${signed}, so it can fail only when the chain itself says for good that it was reverted or canceled. Right now ${said}.`,
    )
  }
  await world.commit(stepTransfer(world, before, { kind: 'broadcast' }, source))
  return (await world.commit(stepTransfer(world, before, end, source))).transfer
}

function mayStillBeMined({ id, cancel_requested_at }: Transfer, why: string): Refusal {
  const details = { reason: 'may_still_be_mined' } as const
  const stays = 'Nothing was changed; the money stays in transit.'
  if (cancel_requested_at !== null)
    return new Refusal('not_possible', {
      message: `${why} ${stays} It was canceled at ${cancel_requested_at.toISOString()}: wait until the chain has decided.`,
      details,
    })
  return new Refusal('not_possible', {
    message: `${why} ${stays} Cancel the transfer instead.`,
    details,
    shell: `Run: trilho transfers cancel ${id}`,
  })
}

/**
 * Cancels a transfer that is not final. The worker signs a transaction that spends its nonce and pays nobody; the chain decides
 * whether that one or the payment is mined (decision 0054). A transfer without a nonce fails here: nothing was signed for it.
 */
export async function cancelTransfer(
  world: World,
  { transfer_id }: DetailsOf<'cancel_transfer'>,
): Promise<Done> {
  const found = await transferById(world.db, transfer_id)
  if (!found) refuse('transfer_not_found', { message: `No transfer ${transfer_id} in ${world.environment}.` })
  if (found.nonce === null && !isFinalTransfer(found)) await assertKnowsPayments(world, found.network)
  const { transfer } = await world.commit(stepTransfer(world, found, { kind: 'cancel' }, { by: 'operator' }))
  // Ended before it was canceled. An approval that is repeated after a crash finds the cancel, whatever came of it.
  if (transfer.cancel_requested_at === null) throw supersededBy(transfer)
  await makeDue(world.db, 'transfers', transfer_id)
  const { status } = transfer
  return { id: transfer_id, text: canceledWords(transfer), status }
}

/** The money goes back at once. A database that is behind the chain may have forgotten that it paid the transfer. */
async function assertKnowsPayments(world: World, network: Network): Promise<void> {
  const why = await unknownPayments(world, network)
  if (why === 'rail_paused')
    refuse('not_possible', {
      message: `${network} has transactions of the wallet that this database does not know: one of them may have paid this transfer. Nothing was changed. Look them up. If one of them paid the transfer, resolve the transfer as failed and debit the customer (docs/operate/custody.md); if none did, resolve it as failed.`,
      details: { reason: 'foreign_transactions_found' },
    })
  if (why !== undefined)
    refuse('not_possible', {
      message: `The endpoints of ${network} cannot tell at the moment whether a transaction that this database does not know has paid this transfer. Nothing was changed. Cancel the transfer again in a minute.`,
      details: { reason: 'foreign_transactions_wait' },
    })
}

function canceledWords(transfer: Transfer): string {
  if (!isFinalTransfer(transfer))
    return 'is being canceled: the money goes back when the chain has mined the cancel, and stays out if it mines the payment'
  return transfer.status === 'failed' ? 'is canceled, and the money went back' : `is ${transfer.status}`
}

/** Refuses before the proposal what the approval would refuse. */
export function assertCancelable(transfer: Transfer): void {
  const { id, status, cancel_requested_at } = transfer
  if (isFinalTransfer(transfer)) refuseOther(id, status)
  if (cancel_requested_at !== null)
    refuse('not_possible', {
      message: `${id} was canceled at ${cancel_requested_at.toISOString()} already: wait until the chain has decided.`,
      details: { reason: 'canceled_before' },
    })
}
