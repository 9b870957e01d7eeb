import { refuse } from '../../core/errors.ts'
import { assets, formatMoney, type Money, money as moneyOf } from '../../core/money.ts'
import { customerAccount, externalAccount, partnerFeesAccount } from '../../ledger/accounts.ts'
import { type Claim, type Command, writeTo } from '../../ledger/command.ts'
import { type Referenced, underReference } from '../../ledger/once.ts'
import { activeCustomer } from '../../parties/customers/customers.ts'
import { customerRows } from '../../parties/customers/store.ts'
import { eventWrite } from '../../records/events/events.ts'
import type { World } from '../../world.ts'
import { changePositions, type FeePayout, insertFeePayouts, positionId, positionRows } from './store.ts'

/** Pays a partner its accrued fees: to one of its customers, or outside. The operator's reference works once. */
type FeePayoutOrder = Pick<FeePayout, 'partner_id' | 'customer_id' | 'reason' | 'reference'> & {
  readonly money: Money
}

/** The payment as its partner sees it, without the operator's reason. */
export const renderFeePayout = (paid: FeePayout) => ({
  id: paid.id,
  asset: paid.asset,
  amount: paid.amount.toString(),
  decimals: assets[paid.asset].decimals,
  ...(paid.customer_id === null ? {} : { customer_id: paid.customer_id }),
  reference: paid.reference,
  created_at: paid.created_at.toISOString(),
})

export function payFees(world: World, order: FeePayoutOrder): Command<Referenced> {
  const { partner_id, customer_id, money, reason, reference } = order
  const claim: Claim = {
    scope: 'operator',
    operation: 'payment of fees',
    key: reference,
    fingerprint: JSON.stringify([partner_id, customer_id, money.asset, money.units.toString(), reason]),
  }
  return underReference(payment(world, order), claim)
}

function payment(world: World, order: FeePayoutOrder): Command<FeePayout> {
  const { partner_id, customer_id, money, reason, reference } = order
  const { asset, units } = money
  const id = world.newId('fee_payout')
  const position_id = positionId({ account: 'partner_fees', owner: partner_id, asset })
  return {
    partner_id,
    locks: {
      rows: [{ source: positionRows, id: position_id }],
      accounts: customer_id === null ? [] : [{ customer_id, asset }],
      reads: customer_id === null ? [] : [{ source: customerRows, id: customer_id }],
    },
    decide(held) {
      if (customer_id !== null) activeCustomer(held, { partner_id, id: customer_id })
      const accrued = held.row(positionRows, position_id)?.amount ?? 0n
      if (accrued < units) {
        refuse('insufficient_balance', {
          message: `The fees of ${partner_id} have come to ${formatMoney(moneyOf(asset, accrued))}, not to ${formatMoney(money)}.`,
        })
      }
      const made: FeePayout = {
        id,
        partner_id,
        asset,
        amount: units,
        customer_id,
        reason,
        reference,
        sequence: 1,
        created_at: held.now,
      }
      return {
        movements: [
          {
            cause_id: id,
            name: 'paid',
            partner_id,
            lines: [
              { account: partnerFeesAccount(partner_id), asset, amount: -units },
              {
                account: customer_id === null ? externalAccount('operator') : customerAccount(customer_id),
                asset,
                amount: units,
              },
            ],
          },
        ],
        writes: [
          writeTo(insertFeePayouts, made),
          writeTo(changePositions, { id: position_id, amount: accrued - units }),
          eventWrite(
            world,
            { partner_id, type: 'fee_payout.completed', object: renderFeePayout(made), sequence: 1 },
            held.now,
          ),
        ],
        result: made,
      }
    },
  }
}
