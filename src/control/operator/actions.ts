import { refuse } from '../../core/errors.ts'
import { type Asset, money } from '../../core/money.ts'
import type { Command } from '../../ledger/command.ts'
import type { Referenced } from '../../ledger/once.ts'
import { debit, reverseCredit } from '../../money/adjustments/adjustments.ts'
import { resumeRail } from '../../money/custody/controls.ts'
import type { RailName } from '../../money/custody/controls-store.ts'
import { moveCustody } from '../../money/custody/moves.ts'
import { findForeignNonces } from '../../money/custody/wallets.ts'
import { operatorCredit } from '../../money/deposits/deposits.ts'
import { depositById } from '../../money/deposits/store.ts'
import { chainBooks } from '../../money/onchain/books.ts'
import { payFees } from '../../money/treasury/fee-payouts.ts'
import { foldTrades } from '../../money/treasury/treasury.ts'
import type { World } from '../../world.ts'
import { cancelTransfer, type Resolver, resolvePayout, resolveTransfer } from './resolve.ts'
import { proposalById } from './store.ts'

/**
 * The acts of an operator that move money: credit or debit a customer, reverse a credit, pay a partner its fees, book a
 * move between the operator's own account and a rail, settle a payout or transfer that the rail left open, with evidence, and
 * cancel a transfer that is not mined. Resuming a rail lets the money that waits there leave, so it takes the same two operators.
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
      readonly name: 'cancel_transfer'
      readonly details: { transfer_id: string; reason: string }
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
  | {
      readonly name: 'resume_rail'
      readonly details: {
        rail: RailName
        reason: string
        /** The pause that the proposer looked at. */
        paused_at?: string
      }
    }
  | {
      readonly name: 'move_custody'
      readonly details: {
        rail: RailName
        direction: 'to_rail' | 'from_rail'
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
  /** The status of a resolved or canceled payout or transfer; other acts have none. */
  readonly status?: string
}

export type DetailsOf<Name extends MoneyActionName> = Extract<MoneyAction, { name: Name }>['details']

type MoneyAct<Name extends MoneyActionName> = {
  readonly kind: 'money'
  perform(world: World, details: DetailsOf<Name>, by: Resolver): Promise<Done>
}

export const moneyActs: { readonly [Name in MoneyActionName]: MoneyAct<Name> } = {
  credit: {
    kind: 'money',
    perform: (world, { asset, amount, ...order }) =>
      book(world, operatorCredit(world, { ...order, money: money(asset, BigInt(amount)) }), 'credited'),
  },
  debit: {
    kind: 'money',
    perform: (world, { asset, amount, ...order }) =>
      book(world, debit(world, { ...order, money: money(asset, BigInt(amount)) }), 'debited'),
  },
  reverse_credit: {
    kind: 'money',
    async perform(world, { deposit_id, reason, reference }) {
      const deposit = await depositById(world.db, deposit_id)
      if (!deposit)
        refuse('deposit_not_found', { message: `No deposit ${deposit_id} in ${world.environment}.` })
      const reversal = reverseCredit(world, { deposit, reason, reference })
      return book(world, reversal, `reverses ${deposit_id}`, 'booked')
    },
  },
  resolve_payout: { kind: 'money', perform: resolvePayout },
  resolve_transfer: { kind: 'money', perform: resolveTransfer },
  cancel_transfer: { kind: 'money', perform: cancelTransfer },
  pay_fees: {
    kind: 'money',
    async perform(world, { asset, amount, ...order }) {
      // Include the fees of trades that were not folded into the sums yet.
      await foldTrades(world.db)
      return book(world, payFees(world, { ...order, money: money(asset, BigInt(amount)) }), 'paid')
    },
  },
  resume_rail: {
    kind: 'money',
    async perform(world, { rail, reason, paused_at }, { operator, proposal_id }) {
      const order = { rail, by: operator, reason, proposal_id, ...(paused_at ? { paused_at } : {}) }
      const proposal = proposal_id === null ? undefined : await proposalById(world.db, proposal_id)
      const told = { books: chainBooks, proposed_at: proposal?.proposed_at }
      const foreign = rail === 'pix' ? undefined : await findForeignNonces(world, rail, told)
      const { replayed } = await world.commit(
        resumeRail({ ...order, proposed_at: proposal?.proposed_at }, foreign),
      )
      return { id: rail, text: replayed ? 'had been resumed by this proposal before' : 'resumed' }
    },
  },
  move_custody: {
    kind: 'money',
    perform: (world, { asset, amount, ...order }) =>
      book(world, moveCustody(world, { ...order, money: money(asset, BigInt(amount)) }), 'moved'),
  },
}

async function book(world: World, command: Command<Referenced>, done: string, before = done): Promise<Done> {
  const { id, replayed } = await world.commit(command)
  return { id, text: replayed ? `had been ${before} before under this reference` : done }
}

/** The actor at a shell in the sandbox, where no sign-in and no proposal is needed. */
const fromShell: Resolver = { operator: 'shell', proposal_id: null }

export async function perform(world: World, { name, details }: MoneyAction, by = fromShell): Promise<Done> {
  return moneyActs[name].perform(world, details as never, by)
}
