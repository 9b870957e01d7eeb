import type { Purpose } from '../rail.ts'
import { type BitcoinCaps, type BitcoinOffered, isWithinCaps, leastFee, offerFee } from './fees.ts'
import type { Spending } from './rail.ts'
import { amountOf, type BitcoinDraft, type BitcoinOutput, vsizeOf } from './transaction.ts'

/** An output of the wallet that is smaller costs more to spend than it is worth, and nodes do not relay it: it goes to the fee. */
export const DUST_SATOSHIS = 294n

export type DraftInput = BitcoinCaps & {
  readonly purpose: Purpose
  readonly spending: Spending
  /** The output of a payment. A cancel has no such output. */
  readonly payment: BitcoinOutput
  readonly wallet_script: string
  /** Today's rate. */
  readonly rate: bigint
  readonly made: readonly BitcoinOffered[]
}

export type BitcoinDrafted =
  | { readonly kind: 'drafted'; readonly draft: BitcoinDraft }
  | {
      readonly kind: 'later'
      readonly why: 'fee_above_cap' | 'not_worth_it' | 'wallet_too_empty' | 'change_is_spent'
    }

/**
 * The next transaction of a transfer: all of its coins, exactly the payment, and the rest to the wallet. The service bears the
 * miner's fee from the coins; the customer paid for it when the transfer was accepted.
 */
export function draftBitcoin(input: DraftInput): BitcoinDrafted {
  const { purpose, spending, payment, wallet_script, made } = input
  // Another transfer spends the change: its fee pays for this transaction too, and that transfer is replaced if the fee is too low.
  if (made.length > 0 && spending.is_spent_further)
    return { kind: 'later', why: purpose === 'cancel' ? 'change_is_spent' : 'not_worth_it' }
  const { coins } = spending
  const paid = purpose === 'pay' ? [payment] : []
  const left = amountOf(coins) - amountOf(paid)
  const { unmined } = spending
  const sizeWith = (...scripts: readonly string[]) =>
    vsizeOf(coins.length, [...paid.map(({ script }) => script), ...scripts])
  const offer = offerFee({ ...input, unmined, vsize: sizeWith(wallet_script) })
  if (offer.kind === 'later') return offer
  const change = left - offer.fee
  if (change >= DUST_SATOSHIS) {
    const outputs = [...paid, { script: wallet_script, amount: change }]
    return { kind: 'drafted', draft: { coins, outputs } }
  }
  // A cancel without an output to the wallet is no transaction.
  if (purpose === 'cancel') return { kind: 'later', why: 'wallet_too_empty' }
  const vsize = sizeWith()
  if (left < leastFee({ ...input, unmined, vsize })) return { kind: 'later', why: 'wallet_too_empty' }
  if (!isWithinCaps({ fee: left, vsize }, input)) return { kind: 'later', why: 'fee_above_cap' }
  return { kind: 'drafted', draft: { coins, outputs: paid } }
}
