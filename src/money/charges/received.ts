import { crashPoint } from '../../core/crash-point.ts'
import { maskDocument } from '../../core/document.ts'
import { UNITS_MAX } from '../../core/money.ts'
import { transaction } from '../../db/pool.ts'
import { type Command, type Decision, type Held, keep, type Write, writeTo } from '../../ledger/command.ts'
import type { ReceivedPix } from '../../rails/pix/rail.ts'
import { eventWrite } from '../../records/events/events.ts'
import { exceptionWrite, recordException, recordExceptionDaily } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { renderDeposit } from '../deposits/contract.ts'
import { creditOf } from '../deposits/sightings.ts'
import {
  CREDITED_AT_ONCE,
  creditTurns,
  type Deposit,
  insertPixDeposits,
  operatorCredits,
  paymentsByReference,
} from '../deposits/store.ts'
import { heldCharge, writesOf } from './states.ts'
import {
  addUnknownReceived,
  type Charge,
  chargeById,
  chargeRows,
  creditReceived,
  insertReceived,
  isDoublePayment,
  type Received,
  receivedById,
  receivedRows,
  updateCharges,
} from './store.ts'
import { chargeIdOf } from './txid.ts'

const RAIL = 'pix'

type Noting = {
  /** Wraps the command, for a caller that acts on behalf of a key. */
  readonly commit?: World['commit']
}

/**
 * Stores a payment that the provider shows, and credits the amount to the customer of its charge, whatever the state of the charge. A
 * payment that is noted again is not credited again. A payment that names no charge is stored, and never credited.
 */
export async function noteReceived(
  world: World,
  seen: Omit<ReceivedPix, 'returns'>,
  noting: Noting = {},
): Promise<Received> {
  const known = await receivedById(world.db, seen.end_to_end_id)
  if (known && (known.deposit_id !== null || known.charge_id === null)) return known
  const charge = known ? await chargeById(world.db, known.charge_id!) : await chargeOf(world, seen)
  if (!charge) return noteUnknown(world, seen)
  if (known && isAnother(known, seen)) return reportChanged(world, charge, known, seen)
  crashPoint('before_credit')
  try {
    return await (noting.commit ?? world.commit)(crediting(world, charge, seen))
  } catch (error) {
    // Another node has stored the payment meanwhile: start again from the stored row.
    if (isDoublePayment(error)) return noteReceived(world, seen, noting)
    throw error
  }
}

async function chargeOf(world: World, { txid }: Pick<ReceivedPix, 'txid'>): Promise<Charge | undefined> {
  const id = chargeIdOf(txid)
  const charge = id === undefined ? undefined : await chargeById(world.db, id)
  return charge?.txid === txid ? charge : undefined
}

/** Whether the provider now shows another txid or amount than the stored ones. Such a payment is not credited. */
const isAnother = (known: Received, { txid, amount }: Pick<ReceivedPix, 'txid' | 'amount'>): boolean =>
  known.txid !== (txid ?? null) || known.amount !== amount

async function reportChanged(
  { db, clock }: World,
  { partner_id, id: charge_id }: Charge,
  known: Received,
  { txid, amount }: Pick<ReceivedPix, 'txid' | 'amount'>,
): Promise<Received> {
  const { end_to_end_id } = known
  await recordExceptionDaily(db, clock, {
    kind: 'contradiction',
    rail: RAIL,
    object_id: end_to_end_id,
    partner_id,
    details: {
      problem: `The provider tells another amount or txid of payment ${end_to_end_id} than before.`,
      check:
        'Nothing was credited for it. Compare the payment with the account’s statement. It is credited once the provider tells the first amount and txid again.',
      stored: { txid: known.txid, amount: known.amount, charge_id },
      rail_says: { ...(txid === undefined ? {} : { txid }), amount },
    },
  })
  return known
}

const receivedOf = (seen: Omit<ReceivedPix, 'returns'>, seen_at: Date): Received => ({
  end_to_end_id: seen.end_to_end_id,
  txid: seen.txid ?? null,
  amount: seen.amount,
  paid_at: seen.paid_at,
  payer_name: seen.payer?.name === undefined ? null : maskName(seen.payer.name),
  payer_document: seen.payer?.document === undefined ? null : maskDocument(seen.payer.document),
  charge_id: null,
  deposit_id: null,
  seen_at,
  amount_returned: 0n,
})

/** Keeps the first name and replaces the rest by ***. */
const maskName = (name: string): string =>
  `${name
    .replaceAll(/[^\p{L} ]/gu, '')
    .trim()
    .split(' ')[0]!
    .slice(0, 40)} ***`.trim()

function crediting(
  world: World,
  { id, partner_id, customer_id }: Charge,
  seen: Omit<ReceivedPix, 'returns'>,
): Command<Received> {
  const { end_to_end_id } = seen
  const deposit_id = world.newId('deposit')
  return {
    partner_id,
    locks: {
      rows: [
        { source: chargeRows, id },
        { source: creditTurns, id: end_to_end_id },
      ],
      accounts: [{ customer_id, asset: 'BRL' }],
      // Need no lock of their own: every command that credits the payment holds one of the locks above.
      reads: [
        { source: receivedRows, id: end_to_end_id },
        { source: operatorCredits, id: end_to_end_id },
      ],
    },
    decide(held): Decision<Received> {
      const charge = heldCharge(held, id)
      const known = held.row(receivedRows, end_to_end_id)
      if (known && (known.deposit_id !== null || known.charge_id !== id || isAnother(known, seen)))
        return { result: known }
      const by_hand = held.row(operatorCredits, end_to_end_id)
      if (by_hand)
        return leftToHand(world, held, {
          partner_id,
          charge_id: id,
          deposit_id: by_hand.deposit_id,
          seen,
          known,
        })
      const received = known ?? { ...receivedOf(seen, held.now), charge_id: id }
      const { amount } = received
      if (!fits(charge, amount, held))
        return {
          writes: known ? [] : [writeTo(insertReceived, received)],
          keeps: [keptFor(received)],
          result: received,
        }
      const made: Deposit = {
        ...CREDITED_AT_ONCE,
        id: deposit_id,
        partner_id,
        customer_id,
        asset: 'BRL',
        amount,
        rail: RAIL,
        reason: null,
        reference: null,
        created_at: held.now,
        end_to_end_id,
        charge_id: id,
      }
      const event = {
        partner_id,
        type: 'deposit.completed',
        object: renderDeposit(made),
        sequence: 1,
      } as const
      return {
        movements: [creditOf(made)],
        writes: [
          writeTo(insertPixDeposits, made),
          known
            ? writeTo(creditReceived, { end_to_end_id, deposit_id })
            : writeTo(insertReceived, { ...received, deposit_id }),
          eventWrite(world, event, held.now),
          ...paymentWrites(world, charge, received, held.now),
        ],
        keeps: [keptFor(received)],
        result: { ...received, deposit_id },
      }
    },
  }
}

/** Shows the uncommitted row to a later command of the same batch, which may be an operator's credit of the same payment. */
const keptFor = ({ end_to_end_id: id, charge_id, amount, amount_returned }: Received) =>
  keep(paymentsByReference, { id, charge_id, amount, amount_returned })

type ByHand = Readonly<Record<'partner_id' | 'charge_id' | 'deposit_id', string>> & {
  readonly seen: Omit<ReceivedPix, 'returns'>
  readonly known: Received | undefined
}

/** An operator has credited the payment: it is stored as one without a charge, and not credited again. */
function leftToHand(
  world: World,
  held: Held,
  { partner_id, charge_id, deposit_id, seen, known }: ByHand,
): Decision<Received> {
  const stored = known ?? receivedOf(seen, held.now)
  const { end_to_end_id, amount } = stored
  const details = {
    problem: `Payment ${end_to_end_id} is of charge ${charge_id}, and an operator has credited it as ${deposit_id} before the service could.`,
    check:
      'The service credits nothing for it, and the charge does not count it. Check that the credit went to the customer of the charge.',
    ...{ charge_id, deposit_id, amount },
  }
  const exception = {
    kind: 'contradiction',
    rail: RAIL,
    object_id: end_to_end_id,
    partner_id,
    details,
  } as const
  return {
    writes: [...(known ? [] : [writeTo(insertReceived, stored)]), exceptionWrite(world, exception, held.now)],
    keeps: [keptFor(stored)],
    result: stored,
  }
}

/** Whether balance and charge stay within the largest amount after the credit. Otherwise the payment waits until there is room. */
function fits({ customer_id, amount_received }: Charge, amount: bigint, held: Held): boolean {
  const { balance, in_transit } = held.account({ customer_id, asset: 'BRL' }) ?? {
    balance: 0n,
    in_transit: 0n,
  }
  return balance + in_transit + amount <= UNITS_MAX && amount_received + amount <= UNITS_MAX
}

/** Adds a payment to the charge. When the sum is complete, the charge becomes paid, even after it expired; a failed one stays failed. */
function paymentWrites(world: World, charge: Charge, { amount, paid_at }: Received, now: Date): Write[] {
  const after = { ...charge, amount_received: charge.amount_received + amount }
  const is_final = charge.status === 'paid' || charge.status === 'failed'
  if (is_final || after.amount_received < charge.amount) return [writeTo(updateCharges, after)]
  return writesOf(world, { ...after, status: 'paid', sequence: charge.sequence + 1, paid_at }, now)
}

/** Stores a payment without a known charge and opens an exception: a person must decide whose money it is. */
async function noteUnknown(world: World, seen: Omit<ReceivedPix, 'returns'>): Promise<Received> {
  const received = receivedOf(seen, new Date(world.clock.now()))
  const { end_to_end_id, amount, txid, payer_name, payer_document } = received
  const is_ours = chargeIdOf(seen.txid) !== undefined
  const problem = is_ours
    ? `Payment ${end_to_end_id} names the charge ${txid}, which this database does not know: the database was restored from a backup, or is another one.`
    : `Payment ${end_to_end_id} names no charge of this service.`
  const check = is_ours
    ? 'Nothing was credited. Find out from the request log of the partner which customer asked for the charge. Then credit the payment with its end_to_end_id as the reference, or return it in the app of the bank.'
    : 'Nothing was credited. If the money is of a customer, credit it with its end_to_end_id as the reference; otherwise return it in the app of the bank.'
  await transaction(world.db, async (tx) => {
    if (!(await addUnknownReceived(tx, received))) return
    await recordException(tx, world.clock, {
      kind: 'unknown_payment',
      rail: RAIL,
      object_id: end_to_end_id,
      partner_id: null,
      details: {
        problem,
        check,
        amount: amount.toString(),
        paid_at: received.paid_at.toISOString(),
        ...(txid === null ? {} : { txid }),
        ...(payer_name === null ? {} : { payer_name }),
        ...(payer_document === null ? {} : { payer_document }),
      },
    })
  })
  return (await receivedById(world.db, end_to_end_id)) ?? received
}
