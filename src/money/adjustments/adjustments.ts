import assert from 'node:assert/strict'
import { refuse } from '../../core/errors.ts'
import { formatMoney, type Money, money as moneyOf } from '../../core/money.ts'
import { customerAccount, externalAccount } from '../../ledger/accounts.ts'
import { type Claim, type Command, type Held, keep, writeTo } from '../../ledger/command.ts'
import { type Referenced, underReference } from '../../ledger/once.ts'
import { ownCustomer } from '../../parties/customers/customers.ts'
import { customerRows } from '../../parties/customers/store.ts'
import type { World } from '../../world.ts'
import { type Adjustment, depositRows, insertAdjustments, type Reversible, reversalRows } from './store.ts'

/**
 * An operator's corrections. Booked movements stay; a correction is a movement of its own, under a reference that works once. It
 * works for a blocked customer too, but never takes more than the balance.
 */
type Debit = Pick<Adjustment, 'partner_id' | 'customer_id' | 'reason' | 'reference'> & {
  readonly money: Money
}

export function debit(world: World, order: Debit): Command<Referenced> {
  const { partner_id, customer_id, money, reason, reference } = order
  return adjust(world, {
    kind: 'debit',
    partner_id,
    customer_id,
    asset: money.asset,
    amount: money.units,
    deposit_id: null,
    rail: 'operator',
    reason,
    reference,
  })
}

type Reversal = {
  readonly deposit: Reversible
  readonly reason: string
  readonly reference: string
}

/** Credits made by hand. A deposit of a real rail is money that arrived, so it cannot be reversed. */
const reversibleRails = ['operator', 'sandbox']

/** Reverses a mistaken credit exactly, at most once. */
export function reverseCredit(world: World, { deposit, reason, reference }: Reversal): Command<Referenced> {
  const { id: deposit_id, partner_id, customer_id, asset, amount, rail } = deposit
  if (!reversibleRails.includes(rail))
    refuse('already_final', {
      message: `${deposit_id} came in by ${rail}; only a credit by hand can be reversed.`,
    })
  return adjust(world, {
    kind: 'reversal',
    partner_id,
    customer_id,
    asset,
    amount,
    deposit_id,
    rail,
    reason,
    reference,
  })
}

function adjust(world: World, order: Omit<Adjustment, 'id' | 'created_at'>): Command<Referenced> {
  const { kind, customer_id, asset, amount, deposit_id, reason, reference } = order
  // Debits and reversals share their references: one reference, one correction.
  const claim: Claim = {
    scope: 'operator',
    operation: 'adjustment',
    key: reference,
    fingerprint: JSON.stringify([kind, customer_id, asset, amount.toString(), deposit_id, reason]),
  }
  return underReference(booking(world, order), claim)
}

function booking(world: World, order: Omit<Adjustment, 'id' | 'created_at'>): Command<Adjustment> {
  const { kind, partner_id, customer_id, asset, amount, deposit_id, rail } = order
  assert(amount > 0n, 'an adjustment moves something')
  const id = world.newId('adjustment')
  return {
    partner_id,
    locks: {
      accounts: [{ customer_id, asset }],
      reads: [
        { source: customerRows, id: customer_id },
        ...(deposit_id === null
          ? []
          : [
              { source: reversalRows, id: deposit_id },
              { source: depositRows, id: deposit_id },
            ]),
      ],
    },
    decide(held) {
      ownCustomer(held, { partner_id, id: customer_id })
      const before = deposit_id === null ? undefined : held.row(reversalRows, deposit_id)
      if (before)
        refuse('already_final', {
          message: `${deposit_id} was reversed before, by ${before.adjustment_id}.`,
        })
      if (deposit_id !== null) assertBooked(held, deposit_id, order)
      assertCovered(held, order)
      const made: Adjustment = { ...order, id, created_at: held.now }
      return {
        movements: [
          {
            cause_id: id,
            name: kind === 'debit' ? 'debited' : 'reversed',
            partner_id,
            lines: [
              { account: customerAccount(customer_id), asset, amount: -amount },
              { account: externalAccount(rail), asset, amount },
            ],
          },
        ],
        writes: [writeTo(insertAdjustments, made)],
        keeps: deposit_id === null ? [] : [keep(reversalRows, { id: deposit_id, adjustment_id: id })],
        result: made,
      }
    },
  }
}

/** Checks the deposit again under the lock: a fail-over may have lost the row that was read before. */
function assertBooked(held: Held, deposit_id: string, order: Omit<Adjustment, 'id' | 'created_at'>) {
  const deposit = held.row(depositRows, deposit_id)
  const same =
    deposit?.partner_id === order.partner_id &&
    deposit.customer_id === order.customer_id &&
    deposit.asset === order.asset &&
    deposit.amount === order.amount &&
    deposit.rail === order.rail
  if (!same)
    refuse('service_unavailable', { message: `${deposit_id} is not there any more. Nothing was booked.` })
}

function assertCovered(held: Held, { customer_id, asset, amount }: Omit<Adjustment, 'id' | 'created_at'>) {
  const balance = held.account({ customer_id, asset })?.balance ?? 0n
  if (balance >= amount) return
  refuse('insufficient_balance', {
    message: `${customer_id} has ${formatMoney(moneyOf(asset, balance))} available, which does not cover ${formatMoney(moneyOf(asset, amount))}. Nothing was booked.`,
  })
}
