import { refuse } from '../../core/errors.ts'
import { type Asset, money } from '../../core/money.ts'
import { debit, reverseCredit } from '../../money/adjustments/adjustments.ts'
import { operatorCredit } from '../../money/deposits/deposits.ts'
import { depositById } from '../../money/deposits/store.ts'
import { payFees } from '../../money/treasury/fee-payouts.ts'
import { foldTrades } from '../../money/treasury/treasury.ts'
import type { World } from '../../world.ts'
import { type Resolver, resolvePayout, resolveTransfer } from './resolve.ts'

/**
 * The acts of an operator that move money: credit or debit a customer, reverse a credit, pay a partner its fees, and
 * settle a payout or transfer that the rail left open, with evidence.
 */
export type MoneyAction =
  | { readonly name: 'credit'; readonly details: BookingDetails }
  | { readonly name: 'debit'; readonly details: BookingDetails }
  | {
      readonly name: 'reverse_credit'
      readonly details: { deposit_id: string; reason: string; reference: string }
    }
  | {
      readonly name: 'resolve_payout'
      readonly details: {
        payout_id: string
        outcome: 'completed' | 'failed'
        end_to_end_id?: string
        evidence: string
        /** With `failed`: the money goes back although the network had accepted the payout. */
        despite_acceptance?: boolean
      }
    }
  | {
      readonly name: 'resolve_transfer'
      readonly details: {
        transfer_id: string
        outcome: 'confirmed' | 'failed'
        evidence: string
        /** Hash of the transfer when it was proposed; null if it was not signed then. */
        tx_hash?: string | null
      }
    }
  | {
      readonly name: 'pay_fees'
      readonly details: {
        partner_id: string
        /** Null if the fees are paid outside of Trilho. */
        customer_id: string | null
        asset: Asset
        amount: string
        reason: string
        reference: string
      }
    }

type BookingDetails = {
  partner_id: string
  customer_id: string
  asset: Asset
  amount: string
  reason: string
  reference: string
}

export type MoneyActionName = MoneyAction['name']
export type Done = {
  readonly id: string
  readonly text: string
  /** The final status of a resolved payout or transfer; other acts have none. */
  readonly status?: string
}

/** The actor at a shell in the sandbox, where no sign-in and no proposal is needed. */
const fromShell: Resolver = { operator: 'shell', proposal_id: null }

export type DetailsOf<Name extends MoneyActionName> = Extract<MoneyAction, { name: Name }>['details']

export function perform(world: World, action: MoneyAction, actor: Resolver = fromShell): Promise<Done> {
  switch (action.name) {
    case 'credit':
      return credit(world, action.details)
    case 'debit':
      return debitCustomer(world, action.details)
    case 'reverse_credit':
      return reverse(world, action.details)
    case 'resolve_payout':
      return resolvePayout(world, action.details, actor)
    case 'resolve_transfer':
      return resolveTransfer(world, action.details, actor)
    case 'pay_fees':
      return payPartnerFees(world, action.details)
  }
}

async function credit(world: World, { asset, amount, ...order }: DetailsOf<'credit'>): Promise<Done> {
  const { id, replayed } = await world.commit(
    operatorCredit(world, { ...order, money: money(asset, BigInt(amount)) }),
  )
  return { id, text: replayed ? 'had been credited before under this reference' : 'credited' }
}

async function debitCustomer(world: World, { asset, amount, ...order }: DetailsOf<'debit'>): Promise<Done> {
  const { id, replayed } = await world.commit(debit(world, { ...order, money: money(asset, BigInt(amount)) }))
  return { id, text: replayed ? 'had been debited before under this reference' : 'debited' }
}

async function reverse(
  world: World,
  { deposit_id, reason, reference }: DetailsOf<'reverse_credit'>,
): Promise<Done> {
  const deposit = await depositById(world.db, deposit_id)
  if (!deposit) refuse('deposit_not_found', { message: `No deposit ${deposit_id} in ${world.environment}.` })
  const { id, replayed } = await world.commit(reverseCredit(world, { deposit, reason, reference }))
  return {
    id,
    text: replayed ? 'had been booked before under this reference' : `reverses ${deposit_id}`,
  }
}

async function payPartnerFees(
  world: World,
  { asset, amount, ...order }: DetailsOf<'pay_fees'>,
): Promise<Done> {
  // Include the fees of trades that were not folded into the sums yet.
  await foldTrades(world.db)
  const { id, replayed } = await world.commit(
    payFees(world, { ...order, money: money(asset, BigInt(amount)) }),
  )
  return { id, text: replayed ? 'had been paid before under this reference' : 'paid' }
}
