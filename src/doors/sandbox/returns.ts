import type { AnyoneOfPartner } from '../../core/actor.ts'
import { refuse } from '../../core/errors.ts'
import { formatMoney, money } from '../../core/money.ts'
import { noteDepositReturn } from '../../money/charges/deposit-returns.ts'
import { findDeposit } from '../../money/deposits/deposits.ts'
import type { Deposit } from '../../money/deposits/store.ts'
import { findPayout } from '../../money/pix/payouts.ts'
import { bookPayoutReturn } from '../../money/pix/returns.ts'
import { depositIdOfPayment, storedSumOf } from '../../money/pix/returns-store.ts'
import type { Payout } from '../../money/pix/store.ts'
import { onBehalfOf } from '../../parties/keys/keys.ts'
import { returnId } from '../../rails/pix/simulated.ts'
import type { World } from '../../world.ts'

/** In the sandbox a partner plays the bank that sends a payment back. Without an amount all that is left comes back. */
export async function returnPayout(
  world: World,
  actor: AnyoneOfPartner,
  { payout_id, amount }: { readonly payout_id: string; readonly amount: bigint | undefined },
): Promise<Payout> {
  const payout = await findPayout(world, actor, payout_id)
  if (payout.status !== 'completed')
    refuse('invalid_request', {
      param: 'payout_id',
      message: `This payout is ${payout.status}: only a completed one can come back.`,
    })
  const left = payout.amount - payout.amount_returned
  if (left === 0n || (amount ?? left) > left) refuseMore(left)
  const id = returnId({ at: new Date(world.clock.now()), nonce: world.newId('return') })
  const command = bookPayoutReturn(world, payout, { id, amount: amount ?? left })
  const booked = await world.commit(onBehalfOf(actor, command))
  // Another call was first.
  if (booked.kind !== 'booked') refuseMore(booked.payout.amount - booked.payout.amount_returned)
  return booked.payout
}

const END_TO_END_ID = /^[0-9A-Za-z]{1,64}$/

/** A received payment leaves the account again. Without an amount all that is left of it does. */
export async function returnPayment(
  world: World,
  actor: AnyoneOfPartner,
  { end_to_end_id, amount }: { readonly end_to_end_id: string; readonly amount: bigint | undefined },
): Promise<Deposit> {
  // A path parameter may be any text, and PostgreSQL refuses a NUL in a parameter with an error.
  const found = END_TO_END_ID.test(end_to_end_id)
    ? await depositIdOfPayment(world.db, end_to_end_id)
    : undefined
  if (found?.partner_id !== actor.partner_id)
    refuse('deposit_not_found', {
      param: 'end_to_end_id',
      message:
        'No deposit of your customers in the sandbox has this end_to_end_id. A payment that named no charge was not credited, and cannot be returned here.',
    })
  const deposit = await findDeposit(world, actor, found.id)
  const left = deposit.amount - (await storedSumOf(world.db, deposit.id))
  if (left === 0n || (amount ?? left) > left) refuseMore(left)
  const id = returnId({ at: new Date(world.clock.now()), nonce: world.newId('return') })
  const command = noteDepositReturn(world, deposit, { id, amount: amount ?? left })
  const noted = await world.commit(onBehalfOf(actor, command))
  // Another call was first.
  if (noted.kind === 'wrong') refuseMore(deposit.amount - (await storedSumOf(world.db, deposit.id)))
  return noted.deposit
}

function refuseMore(left: bigint): never {
  return refuse('invalid_request', {
    param: 'amount',
    message: `No more can go back than was paid: ${formatMoney(money('BRL', left))} are left.`,
  })
}
