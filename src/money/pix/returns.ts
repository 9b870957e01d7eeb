import { UNITS_MAX } from '../../core/money.ts'
import { customerAccount, externalAccount } from '../../ledger/accounts.ts'
import { type Command, type Decision, type Held, keep, writeTo } from '../../ledger/command.ts'
import type { PixReturn } from '../../rails/pix/rail.ts'
import { eventWrite } from '../../records/events/events.ts'
import { exceptionWrite, recordExceptionDaily } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { creditTurns, returnsByReference, standingCredits } from '../deposits/store.ts'
import { renderPayout } from './contract.ts'
import {
  insertReturns,
  knownReturns,
  returnCounts,
  type StoredReturn,
  storedReturns,
} from './returns-store.ts'
import { heldPayout, RAIL } from './settle.ts'
import { type Payout, payoutRows, returnedPayouts } from './store.ts'

/**
 * A payout that comes back after it was completed (decision 0068). Each return of the Pix network is credited once, as a movement of its
 * own; the payout stays completed. A blocked customer is credited too: it is the customer's money. The fee stays.
 */
type BookedReturn =
  | { readonly kind: 'booked'; readonly payout: Payout; readonly stored: StoredReturn }
  /** It was booked before. */
  | { readonly kind: 'known'; readonly payout: Payout }
  /** Nothing is credited, and a person must look. */
  | { readonly kind: 'wrong'; readonly payout: Payout; readonly problem: string }
  /** The payout is not final here yet: it is asked about first. */
  | { readonly kind: 'open'; readonly payout: Payout }

/** Why a return that is stored is told to a person all the same. */
export const ANOTHER_AMOUNT = 'It was stored before with another amount.'
export const REFUSED_LATER = 'The provider says that it was not made, after it had said that it was.'

const NO_ROOM =
  'The balance of the customer has no room for it. The service credits the return once there is room.'

type SettledReturn = Pick<PixReturn, 'id' | 'amount'>

export function bookPayoutReturn(
  world: World,
  payout: Payout,
  { id: return_id, amount }: SettledReturn,
): Command<BookedReturn> {
  const { id: payout_id, customer_id, partner_id } = payout
  const id = world.newId('return')
  // An operator may credit the return by hand under one of these.
  const names = [return_id, ...(payout.end_to_end_id === null ? [] : [payout.end_to_end_id])]
  return {
    partner_id,
    locks: {
      rows: [
        { source: payoutRows, id: payout_id },
        ...names.map((name) => ({ source: creditTurns, id: name })),
      ],
      accounts: [{ customer_id, asset: 'BRL' }],
      reads: [
        { source: knownReturns, id: return_id },
        { source: returnCounts, id: payout_id },
        ...names.map((name) => ({ source: standingCredits, id: name })),
      ],
    },
    decide(held): Decision<BookedReturn> {
      const before = heldPayout(held, payout)
      const known = held.row(knownReturns, return_id)
      const wrong = (problem: string) => ({ result: { kind: 'wrong', payout: before, problem } as const })
      if (known && known.payout_id !== payout_id) return wrong('Another payment has this return.')
      if (known && known.amount !== amount) return wrong(ANOTHER_AMOUNT)
      if (known) return { result: { kind: 'known', payout: before } }
      if (before.status === 'failed') return wrong('The payout failed here, and its money was given back.')
      // Completed meanwhile: the lock of its end_to_end_id is not held. The next look books the return.
      const is_known_here = before.end_to_end_id === payout.end_to_end_id
      if (before.status !== 'completed' || !is_known_here) return { result: { kind: 'open', payout: before } }
      if (amount <= 0n) return wrong('The return has no amount.')
      const by_hand = names.map((name) => held.row(standingCredits, name)).find((credit) => credit)
      if (by_hand)
        return wrong(
          `Deposit ${by_hand.deposit_id} is a credit by an operator under its id or that of the payout. If it does not cover this return, credit the return under its own id. If you reverse that credit, the service books this return: do not credit it again by hand.`,
        )
      const amount_returned = before.amount_returned + amount
      if (amount_returned > before.amount) return wrong('The returns are more than was paid.')
      if (!hasRoom(held, customer_id, amount)) return wrong(NO_ROOM)
      const before_it = held.row(returnCounts, payout_id) ?? { count: 0, sum: 0n }
      const count = before_it.count + 1
      const stored: StoredReturn = {
        ...{ id, return_id, payout_id, deposit_id: null, partner_id, customer_id, amount },
        ...{ state: 'booked', sequence: before.sequence + count, created_at: held.now, booked_at: held.now },
      }
      const after: Payout = { ...before, amount_returned }
      const event = { partner_id, type: 'pix.payout.returned', object: renderPayout(after) } as const
      return {
        movements: [
          {
            cause_id: id,
            name: 'reversed',
            partner_id,
            lines: [
              { account: externalAccount(RAIL), asset: 'BRL', amount: -amount },
              { account: customerAccount(customer_id), asset: 'BRL', amount },
            ],
          },
        ],
        writes: [
          writeTo(insertReturns, stored),
          writeTo(returnedPayouts, { id: payout_id, amount_returned }),
          eventWrite(world, { ...event, sequence: stored.sequence! }, held.now),
          exceptionWrite(world, returnedException(after, stored), held.now),
        ],
        keeps: [
          keep(knownReturns, { id: return_id, payout_id, deposit_id: null, amount }),
          keep(returnCounts, { id: payout_id, count, sum: before_it.sum + amount }),
          ...names.map((name) => keep(returnsByReference, { id: name, payout_id })),
        ],
        result: { kind: 'booked', payout: after, stored },
      }
    },
  }
}

/** Without room the ledger would refuse the command, and the reader of the provider's list would stop at this return each time. */
function hasRoom(held: Held, customer_id: string, amount: bigint): boolean {
  const account = held.account({ customer_id, asset: 'BRL' })
  return (account?.balance ?? 0n) + (account?.in_transit ?? 0n) + amount <= UNITS_MAX
}

/** For the desk: nothing is left to book, but a person should know. */
const returnedException = (
  { id, partner_id, amount_returned, end_to_end_id }: Payout,
  { return_id, amount }: StoredReturn,
) =>
  ({
    kind: 'payout_returned',
    rail: RAIL,
    object_id: id,
    partner_id,
    details: { return_id, amount, amount_returned, end_to_end_id },
  }) as const

/** Books what the provider says has come back. True: nothing is left to be asked about. */
export async function bookReturnsOf(
  world: World,
  payout: Payout,
  returns: readonly PixReturn[],
): Promise<boolean> {
  let is_done = true
  for (const { id, amount, state } of returns) {
    if (state === 'open') is_done = false
    if (state === 'refused' && (await storedReturns(world.db, [id])).has(id))
      await reportWrong(world, { kind: 'wrong', payout, problem: REFUSED_LATER }, { id, amount })
    if (state !== 'settled') continue
    const booked = await world.commit(bookPayoutReturn(world, payout, { id, amount }))
    if (booked.kind === 'open') is_done = false
    if (booked.kind === 'wrong') await reportWrong(world, booked, { id, amount })
  }
  return is_done
}

/** The exception is about the return: one about the payout would hide its further returns for as long as it is open. */
function reportWrong(
  { db, clock }: World,
  { payout, problem }: Extract<BookedReturn, { kind: 'wrong' }>,
  said: SettledReturn,
): Promise<void> {
  return recordExceptionDaily(db, clock, {
    kind: 'contradiction',
    rail: RAIL,
    object_id: said.id,
    partner_id: payout.partner_id,
    details: {
      problem: `The provider reports return ${said.id} of payout ${payout.id}, which does not fit to what is booked. ${problem}`,
      check: 'Nothing was changed because of it. Compare the payout with the account’s statement.',
      booked: payout.status,
      rail_says: { return_id: said.id, amount: said.amount },
    },
  })
}
