import type { ShouldContinue } from '../../db/chore.ts'
import type { Db } from '../../db/pool.ts'
import { customerAccount, externalAccount } from '../../ledger/accounts.ts'
import { type Command, type Decision, type Held, keep, type Write, writeTo } from '../../ledger/command.ts'
import type { PixReturn, ReceivedPix } from '../../rails/pix/rail.ts'
import { eventWrite } from '../../records/events/events.ts'
import { closeOpenException, exceptionWrite, recordExceptionDaily } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { renderDeposit } from '../deposits/contract.ts'
import { chainDepositRows, type Deposit, depositById, returnedDeposits } from '../deposits/store.ts'
import { ANOTHER_AMOUNT, REFUSED_LATER } from '../pix/returns.ts'
import {
  bookReturns,
  coverableReturns,
  depositIdOfPayment,
  insertReturns,
  knownReturns,
  returnCounts,
  returnRows,
  type StoredReturn,
  storedReturns,
  uncoveredOf,
} from '../pix/returns-store.ts'
import { RAIL } from '../pix/settle.ts'
import { noteUncreditedReturn } from './uncredited-returns.ts'

/**
 * A received payment that is given back from the provider's account (decision 0068). The customer is debited when the balance covers it.
 * Otherwise the return waits as `uncovered`, and a person is told: no balance becomes negative.
 */
type NotedReturn =
  | { readonly kind: 'booked' | 'uncovered'; readonly deposit: Deposit }
  /** It was stored before. */
  | { readonly kind: 'known'; readonly deposit: Deposit }
  /** Nothing is debited, and a person must look. */
  | { readonly kind: 'wrong'; readonly deposit: Deposit; readonly problem: string }

type Returned = Pick<PixReturn, 'id' | 'amount'>

type Whose = Pick<Deposit, 'id' | 'partner_id' | 'customer_id'>

export function noteDepositReturn(
  world: World,
  { id: deposit_id, partner_id, customer_id }: Whose,
  { id: return_id, amount }: Returned,
): Command<NotedReturn> {
  const id = world.newId('return')
  return {
    partner_id,
    locks: {
      rows: [{ source: chainDepositRows, id: deposit_id }],
      accounts: [{ customer_id, asset: 'BRL' }],
      reads: [
        { source: knownReturns, id: return_id },
        { source: returnCounts, id: deposit_id },
      ],
    },
    decide(held): Decision<NotedReturn> {
      const deposit = heldDeposit(held, deposit_id)
      const known = held.row(knownReturns, return_id)
      const wrong = (problem: string) => ({ result: { kind: 'wrong', deposit, problem } as const })
      if (known && known.deposit_id !== deposit_id) return wrong('Another payment has this return.')
      if (known && known.amount !== amount) return wrong(ANOTHER_AMOUNT)
      if (known) return { result: { kind: 'known', deposit } }
      if (amount <= 0n) return wrong('The return has no amount.')
      const { count, sum } = held.row(returnCounts, deposit_id) ?? { count: 0, sum: 0n }
      if (sum + amount > deposit.amount) return wrong('The returns are more than was received.')
      const is_covered = isCovered(held, customer_id, amount)
      const stored: StoredReturn = {
        ...{
          id,
          return_id,
          payout_id: null,
          deposit_id,
          partner_id,
          customer_id,
          amount,
          created_at: held.now,
        },
        ...(is_covered
          ? { state: 'booked', sequence: deposit.sequence + count + 1, booked_at: held.now }
          : { state: 'uncovered', sequence: null, booked_at: null }),
      }
      const keeps = [
        keep(knownReturns, { id: return_id, payout_id: null, deposit_id, amount }),
        keep(returnCounts, { id: deposit_id, count: count + (is_covered ? 1 : 0), sum: sum + amount }),
      ]
      if (!is_covered)
        return {
          writes: [
            writeTo(insertReturns, stored),
            exceptionWrite(world, uncoveredException(deposit, stored), held.now),
          ],
          keeps,
          result: { kind: 'uncovered', deposit },
        }
      const { after, movement, writes } = debitOf(world, deposit, stored, held.now)
      return {
        movements: [movement],
        writes: [writeTo(insertReturns, stored), ...writes],
        keeps,
        result: { kind: 'booked', deposit: after },
      }
    },
  }
}

/** Debits a return that waited, if the balance covers it by now. */
function coverReturn(world: World, waiting: StoredReturn): Command<boolean> {
  const { id, partner_id, customer_id, amount } = waiting
  const deposit_id = waiting.deposit_id!
  return {
    partner_id,
    locks: {
      rows: [
        { source: chainDepositRows, id: deposit_id },
        { source: returnRows, id },
      ],
      accounts: [{ customer_id, asset: 'BRL' }],
      reads: [{ source: returnCounts, id: deposit_id }],
    },
    decide(held): Decision<boolean> {
      const row = held.row(returnRows, id)
      if (row?.state !== 'uncovered' || !isCovered(held, customer_id, amount)) return { result: false }
      const deposit = heldDeposit(held, deposit_id)
      const { count, sum } = held.row(returnCounts, deposit_id) ?? { count: 0, sum: 0n }
      const sequence = deposit.sequence + count + 1
      const stored: StoredReturn = { ...row, state: 'booked', sequence, booked_at: held.now }
      const { movement, writes } = debitOf(world, deposit, stored, held.now)
      return {
        movements: [movement],
        writes: [writeTo(bookReturns, stored), ...writes],
        keeps: [keep(returnCounts, { id: deposit_id, count: count + 1, sum })],
        result: true,
      }
    },
  }
}

function heldDeposit(held: Held, id: string): Deposit {
  const row = held.row(chainDepositRows, id)
  if (!row) throw new Error(`deposit ${id} is gone`)
  return row
}

const isCovered = (held: Held, customer_id: string, amount: bigint): boolean =>
  (held.account({ customer_id, asset: 'BRL' })?.balance ?? 0n) >= amount

function debitOf(world: World, deposit: Deposit, stored: StoredReturn, now: Date) {
  const { id, partner_id, customer_id, amount, sequence } = stored
  const after: Deposit = { ...deposit, amount_returned: deposit.amount_returned + amount }
  const event = { partner_id, type: 'deposit.returned', object: renderDeposit(after) } as const
  const writes: Write[] = [
    writeTo(returnedDeposits, { id: deposit.id, amount_returned: after.amount_returned }),
    eventWrite(world, { ...event, sequence: sequence! }, now),
  ]
  const movement = {
    cause_id: id,
    name: 'reversed',
    partner_id,
    lines: [
      { account: customerAccount(customer_id), asset: 'BRL', amount: -amount },
      { account: externalAccount(RAIL), asset: 'BRL', amount },
    ],
  } as const
  return { after, movement, writes }
}

const uncoveredException = ({ id, partner_id }: Deposit, { return_id, amount, customer_id }: StoredReturn) =>
  ({
    kind: 'return_uncovered',
    rail: RAIL,
    object_id: id,
    partner_id,
    details: {
      problem: `Return ${return_id} of this deposit left the provider's account, and the customer's balance does not cover it.`,
      check:
        'The customer is debited as soon as the balance covers the amount. Agree with the partner who bears it.',
      return_id,
      amount,
      customer_id,
    },
  }) as const

/** Books what the provider says was given back of a received payment. True: nothing is left to be asked about. */
export async function bookReceivedReturns(
  world: World,
  { end_to_end_id, returns }: Pick<ReceivedPix, 'end_to_end_id' | 'returns'>,
): Promise<boolean> {
  if (returns.length === 0) return true
  const settled = returns.filter(({ state }) => state === 'settled')
  const deposit = await depositIdOfPayment(world.db, end_to_end_id)
  if (deposit)
    for (const { id, amount } of settled) {
      const noted = await world.commit(noteDepositReturn(world, deposit, { id, amount }))
      if (noted.kind === 'wrong') await reportWrong(world, noted, { id, amount })
    }
  if (deposit) await reportRefusedLater(world, deposit, returns)
  else await noteUncreditedReturn(world, end_to_end_id, sumOf(settled))
  return returns.every(({ state }) => state !== 'open')
}

/** Reports stored returns that the provider now says it refused. The debit stays, or waits, until a person has looked. */
async function reportRefusedLater(
  world: World,
  { id: deposit_id }: Whose,
  returns: readonly PixReturn[],
): Promise<void> {
  const refused = returns.filter(({ state }) => state === 'refused')
  if (refused.length === 0) return
  const stored = await storedReturns(
    world.db,
    refused.map(({ id }) => id),
  )
  const deposit = await depositById(world.db, deposit_id)
  for (const { id, amount } of refused)
    if (deposit && stored.has(id))
      await reportWrong(world, { kind: 'wrong', deposit, problem: REFUSED_LATER }, { id, amount })
}

const sumOf = (returns: readonly Returned[]): bigint => returns.reduce((sum, { amount }) => sum + amount, 0n)

function reportWrong(
  { db, clock }: World,
  { deposit, problem }: Extract<NotedReturn, { kind: 'wrong' }>,
  { id, amount }: Returned,
): Promise<void> {
  return recordExceptionDaily(db, clock, {
    kind: 'contradiction',
    rail: RAIL,
    object_id: deposit.id,
    partner_id: deposit.partner_id,
    details: {
      problem: `The provider reports return ${id} of this deposit, which does not fit to what is booked. ${problem}`,
      check: 'Nothing was changed because of it. Compare the deposit with the account’s statement.',
      booked: deposit.status,
      rail_says: { return_id: id, amount },
    },
  })
}

/** Debits the returns that waited and are covered by now. */
export async function coverReturns(world: World, db: Db, shouldContinue: ShouldContinue): Promise<void> {
  for (const waiting of await coverableReturns(db)) {
    if (!shouldContinue()) return
    const is_covered = await world.commit(coverReturn(world, waiting))
    const object_id = waiting.deposit_id!
    if (is_covered && (await uncoveredOf(db, object_id)) === 0)
      await closeOpenException(db, {
        ...{ kind: 'return_uncovered', object_id, reason: 'The customer was debited.' },
      })
  }
}
