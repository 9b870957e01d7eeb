import { formatMoney, money } from '../../core/money.ts'
import { transaction } from '../../db/pool.ts'
import { closeOpenException, recordException } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { takeCreditTurn } from '../deposits/store.ts'
import { noteReturnedUncredited } from '../pix/returns-store.ts'
import { RAIL } from '../pix/settle.ts'

/**
 * Returns of a received payment that the service did not credit. If an operator credited it, the customer still has the money, and the desk is
 * told. If the whole payment went back and no operator had credited the payment, nothing is left to decide, and the exception is closed.
 */
export async function noteUncreditedReturn(
  world: Pick<World, 'db' | 'clock'>,
  end_to_end_id: string,
  sum: bigint,
): Promise<void> {
  await transaction(world.db, async (tx) => {
    await takeCreditTurn(tx, end_to_end_id)
    const noted = await noteReturnedUncredited(tx, end_to_end_id, sum)
    if (!noted) return
    const { amount, amount_returned, charge_id, by_hand } = noted
    if (by_hand)
      return recordException(tx, world.clock, {
        kind: 'contradiction',
        rail: RAIL,
        object_id: by_hand.id,
        partner_id: by_hand.partner_id,
        details: {
          problem: `An operator credited payment ${end_to_end_id} as ${by_hand.id}, and ${formatMoney(money('BRL', amount_returned))} of it went back to the payer.`,
          check:
            'The customer still has the money: debit the customer, and book that the money left the account at the provider with trilho custody move pix --out.',
          end_to_end_id,
          amount_returned,
        },
      })
    if (charge_id !== null || amount_returned < amount) return
    await closeOpenException(tx, {
      ...{ kind: 'unknown_payment', object_id: end_to_end_id },
      reason: 'The payment went back to the payer.',
    })
  })
}
