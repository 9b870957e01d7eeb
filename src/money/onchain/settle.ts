import { refuse } from '../../core/errors.ts'
import {
  customerAccount,
  externalAccount,
  inTransitAccount,
  type Movement,
  networkFeesAccount,
} from '../../ledger/accounts.ts'
import { type Command, type Decision, type Held, keep, type Write, writeTo } from '../../ledger/command.ts'
import type { Attempt, Charge, Purpose, Seen, Signed } from '../../rails/chain/rail.ts'
import { contradictionWrite } from '../../records/desk/contradictions.ts'
import { holdRows } from '../../records/desk/holds.ts'
import { followUpWrite, type Resolution, resolutionWrites } from '../../records/desk/resolutions.ts'
import { eventWrite } from '../../records/events/events.ts'
import { closeVanished } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { pausedRows } from '../custody/controls-store.ts'
import { spentFurtherRows } from './coins/store.ts'
import { renderTransfer, type TransferFailureCode, transferFailureMessages } from './contract.ts'
import { madeRows } from './made-rows.ts'
import { isFinalTransfer, type Transfer, transferRows, updateTransfers } from './store.ts'
import { insertTransactions, type Mined, updateMined } from './transactions.ts'

/** A step in the life of a transfer. Each is applied once; repeating it changes nothing. */
export type TransferStep =
  /** One more transaction. Ignored if the transfer has one of this number, has reserved nothing, or `mayLeave` forbids it. */
  | ({ readonly kind: 'signed'; readonly attempt: number } & Signed)
  /** Refused before anything was reserved, so nothing was sent. Ignored if the transfer has a nonce. */
  | { readonly kind: 'refused'; readonly rail_code: string }
  | { readonly kind: 'broadcast' }
  /**
   * Operators canceled the transfer. One without a nonce fails at once: nothing was signed. From now on only cancels are signed
   * for any other, and the chain decides whether a payment or a cancel is mined. Ignored if the transfer is canceled already.
   */
  | { readonly kind: 'cancel' }
  /** `mined` is absent if an operator established the outcome. */
  | ({ readonly kind: 'confirmed'; readonly mined?: Mined } & Charge)
  /**
   * The chain reports that the nonce is spent without effect: the payment was reverted, or canceled. `unpaid`: operators found the
   * nonce of a canceled transfer spent by a stranger, and no payment was ever signed.
   */
  | ({
      readonly kind: 'failed'
      readonly rail_code: string
      readonly mined?: Mined
      readonly unpaid?: true
      /** None of so many transactions was mined, and none can be any more. Ignored if the transfer has more of them by now. */
      readonly expired?: number
    } & Charge)

/** The end that the chain shows. Undefined while it shows none, or an effect that only a person can judge. */
export function endOf(
  seen: Seen,
  made: readonly Attempt[],
): Extract<TransferStep, { kind: 'confirmed' | 'failed' }> | undefined {
  if (seen.kind !== 'mined' || seen.effect === 'other') return undefined
  const attempt = made.find(({ tx_hash }) => tx_hash === seen.tx_hash)
  if (!attempt) return undefined
  const { block_height, block_hash, charged, gas_paid_wei = null } = seen
  const facts = {
    mined: { attempt, block_height, block_hash, gas_paid_wei },
    ...(charged === undefined ? {} : { charged }),
  }
  if (seen.effect === 'paid') return { kind: 'confirmed', ...facts }
  return { kind: 'failed', rail_code: attempt.purpose === 'cancel' ? 'canceled' : 'reverted', ...facts }
}

/** The source of a step. In the sandbox the caller may play the network; an operator who resolves a transfer gives evidence. */
export type StepSource =
  | { readonly by: 'rail' }
  | { readonly by: 'caller' }
  | {
      readonly by: 'operator'
      readonly resolution?: Resolution
      /** The nonce is spent for good, in a way that only a person can judge: the chain will say nothing else, so it is not asked again. */
      readonly is_spent?: true
    }

/**
 * Whether a transaction may be broadcast: it is stored, and the newest one of its transfer, the transfer is not final, and
 * `mayLeave` allows it. While the rail is paused, no payment of a pending transfer is broadcast. The payment of a canceled transfer is
 * broadcast again if another transfer spends its change: no cancel can be signed then, and without the payment neither transfer would
 * ever end. Judged under the transfer's lock, right before the broadcast.
 */
export const intendBroadcast = (
  { id, partner_id, network, cancel_requested_at }: Transfer,
  { attempt, purpose }: Pick<Attempt, 'attempt' | 'purpose'>,
): Command<boolean> => {
  const is_canceled_payment = cancel_requested_at !== null && purpose === 'pay'
  return {
    partner_id,
    locks: {
      rows: [{ source: transferRows, id }],
      reads: [
        { source: holdRows, id },
        { source: madeRows, id },
        { source: pausedRows, id: network },
        ...(is_canceled_payment ? [{ source: spentFurtherRows, id }] : []),
      ],
    },
    decide(held): Decision<boolean> {
      const row = held.row(transferRows, id)
      if (!row || isFinalTransfer(row)) return { result: false }
      const is_newest = held.row(madeRows, id)?.made === attempt
      const is_first = row.status === 'pending' && purpose === 'pay'
      const is_paused = is_first && held.row(pausedRows, network) !== undefined
      const is_beyond_cancel =
        is_canceled_payment && !is_first && held.row(spentFurtherRows, id) !== undefined
      return { result: is_newest && !is_paused && (mayLeave(held, row, purpose) || is_beyond_cancel) }
    },
  }
}

/**
 * While a proposal holds the transfer, nothing is signed or broadcast. Once operators have canceled the transfer, cancels are signed and
 * broadcast despite a hold: a node that crashes may leave the hold of the approved proposal behind.
 */
const mayLeave = (held: Held, { id, cancel_requested_at }: Transfer, purpose: Purpose): boolean =>
  cancel_requested_at === null ? held.row(holdRows, id) === undefined : purpose === 'cancel'

type Stepped = { readonly transfer: Transfer; readonly changed: boolean }

export function stepTransfer(
  world: World,
  transfer: Transfer,
  step: TransferStep,
  source: StepSource,
): Command<Stepped> {
  const { id, partner_id, customer_id, asset } = transfer
  const may_end = step.kind !== 'signed' && step.kind !== 'broadcast'
  const expired = step.kind === 'failed' ? step.expired : undefined
  return {
    partner_id,
    locks: {
      ...(may_end ? { accounts: [{ customer_id, asset }] } : {}),
      rows: [{ source: transferRows, id }],
      ...(step.kind === 'signed'
        ? {
            reads: [
              { source: holdRows, id },
              { source: madeRows, id },
              { source: pausedRows, id: transfer.network },
              ...(step.attempt > 1 ? [{ source: spentFurtherRows, id }] : []),
            ],
          }
        : expired !== undefined
          ? { reads: [{ source: madeRows, id }] }
          : {}),
    },
    decide(held): Decision<Stepped> {
      const before = held.row(transferRows, id) ?? refuse('service_unavailable')
      const is_outdated = expired !== undefined && (held.row(madeRows, id)?.made ?? 0) !== expired
      const after =
        is_outdated || (step.kind === 'signed' && !mayStore(held, before, step, source))
          ? undefined
          : afterStep(before, step, held.now)
      if (!after) {
        const charged = afterLateCharge(before, step, held.now)
        const contradicts = source.by === 'rail' && isContradiction(before, step)
        return {
          movements: charged ? [chargeOf(charged)] : [],
          writes: [
            ...(charged ? [writeTo(updateTransfers, charged)] : []),
            ...(contradicts ? [contradiction(world, before, step, held.now)] : []),
          ],
          result: { transfer: charged ?? before, changed: false },
        }
      }
      const ends = isFinalTransfer(after)
      const resolution = source.by === 'operator' ? source.resolution : undefined
      const is_spent = source.by === 'operator' && source.is_spent === true
      return {
        movements: ends ? [movementOf(after), chargeOf(after)] : [],
        writes: [
          writeTo(updateTransfers, after),
          ...transactionWrites(after, step, held.now),
          ...eventOf(world, before, after, held.now),
          ...(ends && resolution ? resolved(after, resolution, { is_spent, now: held.now }) : []),
          ...(ends && !resolution ? watched(world, after, step, held.now) : []),
        ],
        // Two nodes may sign the transfer at once, and their steps may share a batch: the second step must see the first.
        ...(step.kind === 'signed' ? { keeps: [keep(madeRows, { id, made: step.attempt })] } : {}),
        ...(step.kind === 'cancel' ? { carries_out: true as const } : {}),
        result: { transfer: after, changed: true },
      }
    },
  }
}

/**
 * A signature that is not stored is never broadcast, so it is safe to drop it: when `mayLeave` forbids it, when another node
 * stored a transaction of the same number, when the rail was paused before the first payment, and when another transfer spends the
 * change of this one: a replacement would make that transfer impossible. A caller in the sandbox plays the network, so a pause
 * does not matter there.
 */
function mayStore(
  held: Held,
  before: Transfer,
  { attempt, purpose, terms }: { readonly attempt: number } & Pick<Signed, 'purpose' | 'terms'>,
  { by }: StepSource,
): boolean {
  const made = held.row(madeRows, before.id)?.made ?? 0
  // Where transactions expire, one more is signed only when no earlier one can be mined: it counts as a first one.
  const is_alone = attempt === 1 || terms.expiration !== undefined
  const is_first = is_alone && purpose === 'pay' && by !== 'caller'
  if (is_first && held.row(pausedRows, before.network)) return false
  if (attempt > 1 && held.row(spentFurtherRows, before.id)) return false
  return before.nonce !== null && made === attempt - 1 && mayLeave(held, before, purpose)
}

function transactionWrites({ id: transfer_id, network }: Transfer, step: TransferStep, now: Date): Write[] {
  if (step.kind === 'signed') {
    const { kind: _, terms, ...transaction } = step
    const row = { ...transaction, transfer_id, network, terms: JSON.stringify(terms), created_at: now }
    return [writeTo(insertTransactions, row)]
  }
  if ((step.kind !== 'confirmed' && step.kind !== 'failed') || !step.mined) return []
  const { attempt, ...block } = step.mined
  return [writeTo(updateMined, { transfer_id, attempt: attempt.attempt, ...block })]
}

/** Every change that partners see: another status, or another hash of a transfer that is on its way. */
function eventOf(world: World, before: Transfer, after: Transfer, now: Date): Write[] {
  const { partner_id, status, sequence } = after
  if (sequence === before.sequence || status === 'pending') return []
  const object = renderTransfer(after)
  return [eventWrite(world, { partner_id, type: `onchain.transfer.${status}`, object, sequence }, now)]
}

/** A transfer that was never signed needs no follow-up query: the chain cannot know it. */
const resolved = (
  { id, tx_hash }: Transfer,
  resolution: Resolution,
  { is_spent, now }: { readonly is_spent: boolean; readonly now: Date },
): Write[] => resolutionWrites({ kind: 'transfer', id, ask: tx_hash !== null && !is_spent }, resolution, now)

/**
 * The block in which a transfer ended has vanished, and a later block has the same effect: by the same transaction, or by a cancel in place
 * of one that paid nothing. Only the block changes, because the end is booked already.
 */
export const moveToBlock = (
  { id, partner_id }: Transfer,
  { attempt, ...block }: Mined,
  vanished: { readonly attempt: number; readonly block_hash: string },
): Command<void> => ({
  partner_id,
  locks: { rows: [{ source: transferRows, id }] },
  decide(held): Decision<void> {
    const row = held.row(transferRows, id)
    if (!row || !isFinalTransfer(row)) return { result: undefined }
    return {
      writes: [
        ...(vanished.attempt === attempt.attempt
          ? []
          : [writeTo(updateMined, { transfer_id: id, attempt: vanished.attempt, ...noBlock })]),
        writeTo(updateMined, { transfer_id: id, attempt: attempt.attempt, ...block }),
        writeTo(closeVanished, {
          object_id: id,
          block_hash: vanished.block_hash,
          closed_at: held.now,
          closed_by: 'service',
          closed_reason: `Its transaction was mined again, in block ${block.block_height} (${block.block_hash}).`,
        }),
      ],
      result: undefined,
    }
  },
})

const noBlock = { block_height: null, block_hash: null, gas_paid_wei: null } as const

/**
 * One more cancel of a transfer that has failed, and whose block vanished: its payments must not be mined, because the money went back.
 * False if another node stored one meanwhile.
 */
export const storeLateCancel = (
  { id, partner_id, network }: Transfer,
  { attempt, terms, ...signed }: { readonly attempt: number } & Signed,
): Command<boolean> => ({
  partner_id,
  locks: { rows: [{ source: transferRows, id }], reads: [{ source: madeRows, id }] },
  decide(held): Decision<boolean> {
    const is_next = (held.row(madeRows, id)?.made ?? 0) === attempt - 1
    const is_late = held.row(transferRows, id)?.status === 'failed' && signed.purpose === 'cancel'
    if (!is_next || !is_late) return { result: false }
    const row = {
      ...signed,
      attempt,
      network,
      transfer_id: id,
      terms: JSON.stringify(terms),
      created_at: held.now,
    }
    return {
      writes: [writeTo(insertTransactions, row)],
      keeps: [keep(madeRows, { id, made: attempt })],
      result: true,
    }
  },
})

/** Schedules a follow-up: until the network has finalized a block, it may leave the chain even if it is deep. */
function watched(world: World, { id, network }: Transfer, step: TransferStep, now: Date): Write[] {
  const is_mined = 'mined' in step && step.mined !== undefined
  const may_vanish = world.chains[network].finality !== undefined
  return is_mined && may_vanish ? [followUpWrite({ kind: 'transfer', id }, now)] : []
}

/** The rail reports another outcome or payment than the booked one, or refuses a transfer that is signed. */
function isContradiction(before: Transfer, step: TransferStep): boolean {
  if (step.kind === 'refused') return before.nonce !== null
  if (!isFinalTransfer(before) || (step.kind !== 'confirmed' && step.kind !== 'failed')) return false
  const shown = namedByMined(step).tx_hash ?? before.tx_hash
  return step.kind !== before.status || shown !== before.tx_hash
}

function contradiction(world: World, object: Transfer, step: TransferStep, now: Date): Write {
  const paid = step.kind === 'confirmed'
  const said = {
    kind: step.kind,
    ...('rail_code' in step ? { rail_code: step.rail_code } : {}),
    tx_hash: ('mined' in step && step.mined?.attempt.tx_hash) || object.tx_hash,
  }
  return contradictionWrite(world, { rail: object.network, object, paid, said }, now)
}

/** The transfer after the step; undefined if the step was applied before or no longer applies. */
function afterStep(before: Transfer, step: TransferStep, now: Date): Transfer | undefined {
  if (isFinalTransfer(before)) return undefined
  switch (step.kind) {
    case 'signed':
      return step.purpose === 'cancel' ? before : withTransaction(before, step)
    case 'broadcast':
      return before.status === 'pending' && before.tx_hash !== null
        ? { ...before, status: 'processing', sequence: before.sequence + 1 }
        : undefined
    case 'confirmed':
      return before.status === 'processing'
        ? {
            ...before,
            ...namedByMined(step),
            status: 'confirmed',
            sequence: before.sequence + 1,
            completed_at: now,
            ...chargedAt(step, now),
          }
        : undefined
    case 'refused':
      return before.nonce === null
        ? failedWith(before, step.rail_code, 'refused_before_broadcast', now)
        : undefined
    case 'cancel':
      return afterCancel(before, now)
    case 'failed':
      return before.status === 'processing' || isCancelOfUnpaid(before, step)
        ? {
            ...failedWith(before, step.rail_code, 'reverted', now),
            ...(step.unpaid ? { failure_code: 'canceled' as const } : {}),
            ...namedByMined(step),
            ...chargedAt(step, now),
          }
        : undefined
  }
}

function afterCancel(before: Transfer, now: Date): Transfer | undefined {
  if (before.cancel_requested_at !== null) return undefined
  const canceled = { ...before, cancel_requested_at: now }
  return before.nonce === null ? failedWith(canceled, 'canceled', 'canceled', now) : canceled
}

/** No payment was ever signed, so the transfer stayed pending while its cancel was mined, or a stranger spent its nonce. */
const isCancelOfUnpaid = (
  before: Transfer,
  { mined, unpaid }: { readonly mined?: Mined; readonly unpaid?: true },
): boolean =>
  before.status === 'pending' &&
  before.tx_hash === null &&
  (mined?.attempt.purpose === 'cancel' || (unpaid === true && before.cancel_requested_at !== null))

/** What partners see of a transfer that is on its way changes with its hash. */
const withTransaction = (before: Transfer, step: Signed): Transfer => ({
  ...before,
  ...namedBy(step),
  sequence: before.status === 'processing' ? before.sequence + 1 : before.sequence,
})

const namedBy = ({ tx_hash, signed }: Signed) => ({ tx_hash, signed_transaction: signed })

/** At its end a transfer shows the payment that was mined. The hash of a cancel is not shown. */
const namedByMined = ({
  mined,
}: {
  readonly mined?: Mined
}): Partial<Pick<Transfer, 'tx_hash' | 'signed_transaction'>> =>
  mined?.attempt.purpose === 'pay' ? namedBy(mined.attempt) : {}

const chargedAt = ({ charged }: Charge, now: Date) =>
  charged === undefined ? {} : { charged, charged_at: now }

/** An operator ended the transfer, and the chain later confirms the outcome and reports its charge. */
function afterLateCharge(before: Transfer, step: TransferStep, now: Date): Transfer | undefined {
  if (step.kind !== 'confirmed' && step.kind !== 'failed') return undefined
  const tells = step.charged !== undefined && before.charged === null && before.nonce !== null
  return tells && before.status === step.kind ? { ...before, ...chargedAt(step, now) } : undefined
}

function failedWith(
  before: Transfer,
  rail_code: string,
  otherwise: TransferFailureCode,
  now: Date,
): Transfer {
  const known = Object.hasOwn(transferFailureMessages, rail_code)
  return {
    ...before,
    status: 'failed',
    failure_code: known ? (rail_code as TransferFailureCode) : otherwise,
    rail_code,
    sequence: before.sequence + 1,
    completed_at: now,
  }
}

function movementOf({ id, partner_id, customer_id, asset, network, amount_net, fee, status }: Transfer) {
  const gross = amount_net + fee
  const transit = { account: inTransitAccount(network, customer_id), asset, amount: -gross }
  return status === 'confirmed'
    ? {
        cause_id: id,
        name: 'completed' as const,
        partner_id,
        lines: [
          transit,
          { account: externalAccount(network), asset, amount: amount_net },
          { account: networkFeesAccount, asset, amount: fee },
        ],
      }
    : {
        cause_id: id,
        name: 'returned' as const,
        partner_id,
        lines: [transit, { account: customerAccount(customer_id), asset, amount: gross }],
      }
}

/** Moves the network's charge from the fees that customers paid to the outside. What remains is the gain or loss on fees. */
function chargeOf({ id, partner_id, asset, network, charged }: Transfer): Movement {
  const amount = charged ?? 0n
  return {
    cause_id: id,
    name: 'charged',
    partner_id,
    lines: [
      { account: networkFeesAccount, asset, amount: -amount },
      { account: externalAccount(network), asset, amount },
    ],
  }
}
