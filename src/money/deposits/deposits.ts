import type { AnyoneOfPartner } from '../../core/actor.ts'
import type { Money } from '../../core/money.ts'
import { findOwned } from '../../core/owned.ts'
import { type Claim, type Command, writeTo } from '../../ledger/command.ts'
import { type Referenced, underReference } from '../../ledger/once.ts'
import { activeCustomer } from '../../parties/customers/customers.ts'
import { customerRows } from '../../parties/customers/store.ts'
import { eventWrite } from '../../records/events/events.ts'
import type { World } from '../../world.ts'
import { renderDeposit } from './contract.ts'
import { creditOf } from './sightings.ts'
import { CREDITED_AT_ONCE, type Deposit, depositById, insertDeposits } from './store.ts'

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

/** An operator's credit. The same reference again returns the first credit, or refuses if the order differs. */
export function operatorCredit(world: World, credit: Credit): Command<Referenced> {
  const { customer_id, money, reason, reference } = credit
  const booked = deposit(world, { ...credit, rail: 'operator' })
  const claim: Claim = {
    scope: 'operator',
    operation: 'credit',
    key: reference,
    fingerprint: JSON.stringify([customer_id, money.asset, money.units.toString(), reason]),
  }
  return underReference(booked, claim)
}
