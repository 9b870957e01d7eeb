import type { AnyoneOfPartner } from '../../core/actor.ts'
import { refuse } from '../../core/errors.ts'
import { formatMoney, type Money, money as moneyOf } from '../../core/money.ts'
import { findOwned } from '../../core/owned.ts'
import { type Claim, type Command, keep, writeTo } from '../../ledger/command.ts'
import { type Referenced, underReference } from '../../ledger/once.ts'
import { activeCustomer } from '../../parties/customers/customers.ts'
import { customerRows } from '../../parties/customers/store.ts'
import { digitsOfHash } from '../../rails/chain/deposit-addresses.ts'
import { eventWrite } from '../../records/events/events.ts'
import type { World } from '../../world.ts'
import { renderDeposit } from './contract.ts'
import { creditOf } from './sightings.ts'
import {
  CREDITED_AT_ONCE,
  creditTurns,
  type Deposit,
  depositById,
  insertDeposits,
  operatorCredits,
  paymentsByReference,
  type ReferencedPayment,
  returnsByReference,
  standingCredits,
  type TransactionCredits,
  transactionCredits,
} from './store.ts'

/**
 * Money in: one movement from the outside account of a rail to the customer's account. An operator credits under a reference that
 * works once; in the sandbox a partner makes test money. Deposits on chains are in sightings.ts.
 */
type DepositOrder = Pick<Deposit, 'partner_id' | 'customer_id'> & {
  readonly rail: 'sandbox' | 'operator'
  readonly money: Money
  readonly reason?: string
  readonly reference?: string
}

export const findDeposit = (world: World, { partner_id }: AnyoneOfPartner, id: string): Promise<Deposit> =>
  findOwned('deposit', { id, partner_id }, () => depositById(world.db, id))

export function deposit(world: World, order: DepositOrder): Command<Deposit> {
  const { partner_id, customer_id, money, rail } = order
  const id = world.newId('deposit')
  return {
    partner_id,
    locks: {
      accounts: [{ customer_id, asset: money.asset }],
      reads: [{ source: customerRows, id: customer_id }],
    },
    decide(held) {
      activeCustomer(held, { partner_id, id: customer_id })
      const made: Deposit = {
        id,
        partner_id,
        customer_id,
        asset: money.asset,
        amount: money.units,
        rail,
        reason: order.reason ?? null,
        reference: order.reference ?? null,
        created_at: held.now,
        ...CREDITED_AT_ONCE,
      }
      return {
        movements: [creditOf(made)],
        writes: [
          writeTo(insertDeposits, made),
          eventWrite(
            world,
            { partner_id, type: 'deposit.completed', object: renderDeposit(made), sequence: 1 },
            held.now,
          ),
        ],
        result: made,
      }
    },
  }
}

type Credit = {
  readonly partner_id: string
  readonly customer_id: string
  readonly money: Money
  readonly reason: string
  readonly reference: string
}

/**
 * An operator's credit. The same reference again returns the first credit, or refuses if the order differs. A reference that is the
 * end_to_end_id of a Pix payment, or the hash of a transaction, credits what that payment brought, and only if the service does not credit
 * it itself.
 */
export function operatorCredit(world: World, credit: Credit): Command<Referenced> {
  const { customer_id, money, reason, reference } = credit
  const booked = creditOfPayment(deposit(world, { ...credit, rail: 'operator' }), credit)
  const claim: Claim = {
    scope: 'operator',
    operation: 'credit',
    key: reference,
    fingerprint: JSON.stringify([customer_id, money.asset, money.units.toString(), reason]),
  }
  return underReference(booked, claim)
}

function creditOfPayment(
  command: Command<Deposit>,
  { money, reference }: Pick<Credit, 'money' | 'reference'>,
): Command<Deposit> {
  const { rows = [], reads = [] } = command.locks
  const digits = digitsOfHash(reference)
  if (digits !== undefined) return creditOfTransaction(command, { money, reference, digits })
  return {
    ...command,
    locks: {
      ...command.locks,
      rows: [...rows, { source: creditTurns, id: reference }],
      reads: [
        ...[...reads, { source: paymentsByReference, id: reference }],
        { source: returnsByReference, id: reference },
      ],
    },
    decide(held) {
      const returned = held.row(returnsByReference, reference)
      if (returned)
        refuse('invalid_request', {
          message: `${reference} names a return of payout ${returned.payout_id}, which the service has credited itself. Do not credit it by hand.`,
        })
      const paid = held.row(paymentsByReference, reference)
      if (paid) assertCreditable(paid, money)
      const { keeps = [], ...decision } = command.decide(held)
      const made = { id: reference, deposit_id: decision.result.id }
      return { ...decision, keeps: [...keeps, keep(operatorCredits, made), keep(standingCredits, made)] }
    },
  }
}

type ByHash = Pick<Credit, 'money' | 'reference'> & { readonly digits: string }

function creditOfTransaction(
  command: Command<Deposit>,
  { money, reference, digits }: ByHash,
): Command<Deposit> {
  const { rows = [], reads = [] } = command.locks
  return {
    ...command,
    locks: {
      ...command.locks,
      rows: [...rows, { source: creditTurns, id: digits }],
      reads: [...reads, { source: transactionCredits, id: digits }],
    },
    decide(held) {
      // Credits are searched for by their reference, in these two spellings only.
      if (reference !== digits && reference !== `0x${digits}`)
        refuse('invalid_request', {
          message: `Write the hash of the transaction in lower case: ${digits}, with 0x before it on EVM networks.`,
        })
      const known = held.row(transactionCredits, digits)!
      assertLeftToHand(known, money, reference)
      const { keeps = [], ...decision } = command.decide(held)
      const hand = { hand_deposit_id: decision.result.id, hand_amount: known.hand_amount + money.units }
      return { ...decision, keeps: [...keeps, keep(transactionCredits, { ...known, ...hand })] }
    },
  }
}

/** Of a transaction that nobody has seen, one credit is allowed: the service then credits nothing for it. */
function assertLeftToHand(known: TransactionCredits, { asset, units }: Money, tx_hash: string): void {
  const { own_deposit_id, small_amount, hand_deposit_id, hand_amount } = known
  if (own_deposit_id !== null)
    refuse('invalid_request', {
      message:
        hand_deposit_id === null
          ? `Transaction ${tx_hash} paid ${own_deposit_id}, which the service credits itself. Do not credit it by hand.`
          : `Transaction ${tx_hash} paid ${own_deposit_id}, and was credited by hand as ${hand_deposit_id}. Reverse that credit: the service then credits ${own_deposit_id} by itself.`,
    })
  if (known.asset === null) {
    if (hand_deposit_id === null) return
    refuse('invalid_request', {
      message: `Transaction ${tx_hash} was credited by hand before, as ${hand_deposit_id}.`,
    })
  }
  if (asset === known.asset && hand_amount + units <= small_amount) return
  const brought = [small_amount, hand_amount].map((amount) => formatMoney(moneyOf(known.asset!, amount)))
  refuse('invalid_request', {
    message: `Transaction ${tx_hash} brought ${brought[0]} in deposits below the minimum, of which ${brought[1]} were credited by hand. Credit no more than the rest, in ${known.asset}.`,
  })
}

function assertCreditable(paid: ReferencedPayment, { asset, units }: Money): void {
  const { id: end_to_end_id, charge_id, amount, amount_returned } = paid
  if (charge_id !== null)
    refuse('invalid_request', {
      message: `Payment ${end_to_end_id} is of charge ${charge_id}, and the service credits it itself. Do not credit it by hand.`,
    })
  const left = amount - amount_returned
  if (asset === 'BRL' && units <= left) return
  const [brought, rest] = [amount, left].map((centavos) => formatMoney(moneyOf('BRL', centavos)))
  refuse('invalid_request', {
    message: `Payment ${end_to_end_id} brought ${brought}, and ${rest} of it are left. Credit no more than that, in BRL.`,
  })
}
