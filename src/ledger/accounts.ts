import type { Asset } from '../core/money.ts'

/**
 * The chart of accounts (contract §11). Only a customer's account has a balance row, which is locked and can refuse. The
 * other accounts belong to the house, may be negative, and are only the sum of their entries, so they are never locked.
 */
type Account =
  | { readonly kind: 'customer'; readonly customer_id: string }
  /** Debited from a customer, while the order's outcome is still open. */
  | { readonly kind: 'in_transit'; readonly rail: string; readonly customer_id: string }
  /** The outside world behind a rail: the house holds there the negative of the sum of this account. */
  | { readonly kind: 'external'; readonly rail: string }
  | { readonly kind: 'treasury' }
  | { readonly kind: 'service_fees' }
  | { readonly kind: 'partner_fees'; readonly partner_id: string }
  | { readonly kind: 'network_fees' }

/** One side of a movement: a positive amount goes into the account, a negative one out of it. */
type MovementLine = { readonly account: Account; readonly asset: Asset; readonly amount: bigint }

/**
 * What one cause moves at one moment. The lines sum to zero per asset, and a cause has at most one movement of each name: a
 * payout is accepted once, and returned at most once.
 */
export type Movement = {
  readonly cause_id: string
  readonly name: MovementName
  readonly partner_id: string
  readonly lines: readonly MovementLine[]
}

export type MovementName =
  | 'credited'
  | 'debited'
  | 'reversed'
  | 'accepted'
  | 'completed'
  | 'returned'
  | 'charged'
  | 'traded'
  | 'paid'
  | 'moved'

export const customerAccount = (customer_id: string): Account => ({ kind: 'customer', customer_id })
export const inTransitAccount = (rail: string, customer_id: string): Account => ({
  kind: 'in_transit',
  rail,
  customer_id,
})
export const treasuryAccount: Account = { kind: 'treasury' }
export const partnerFeesAccount = (partner_id: string): Account => ({ kind: 'partner_fees', partner_id })
export const serviceFeesAccount: Account = { kind: 'service_fees' }
export const networkFeesAccount: Account = { kind: 'network_fees' }
export const externalAccount = (rail: string): Account => ({ kind: 'external', rail })

/** How an account is written in the `account` and `owner` columns of its entries. */
export function accountColumns(account: Account): { account: string; owner: string } {
  switch (account.kind) {
    case 'customer':
      return { account: 'customer', owner: account.customer_id }
    case 'in_transit':
      return { account: `in_transit:${account.rail}`, owner: account.customer_id }
    case 'external':
      return { account: `external:${account.rail}`, owner: '' }
    case 'partner_fees':
      return { account: 'partner_fees', owner: account.partner_id }
    case 'treasury':
    case 'service_fees':
    case 'network_fees':
      return { account: account.kind, owner: '' }
  }
}
