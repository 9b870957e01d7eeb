import { decodeRaw, txIdOf } from '../chain/tron/transaction.ts'
import { type PaymentAhead, SignatureRefused, type SignRequest } from './signer.ts'

type ExpiringPayment = {
  readonly transfer_id: string
  readonly tx_hash: string
  /** Not a number: the payment never expires. */
  readonly expires_ms: number
}

export type ExpiringPayments = {
  note(payment: ExpiringPayment): void
  /** Throws `SignatureRefused` unless the payment is one that was signed before, or may be one more of its transfer. */
  check(request: Pick<SignRequest, 'intent' | 'unsigned' | 'earlier'>): void
  /** Throws `SignatureRefused` unless the transfer may have one more payment. */
  checkFurther(payment: Pick<PaymentAhead, 'transfer_id' | 'earlier'>): void
}

/** A payment is past when it expired this long ago, by the signer's clock: the clocks of the chain and of the service may be behind it. */
const PAST_MS = 120_000

const TRANSFERS_MOST = 100_000

/**
 * The payments of each transfer on a chain where a transaction spends neither a nonce nor a coin, and expires instead. A further payment
 * of a transfer is signed only if all that were signed before are past, and if the request names each of them: a database that was
 * restored from a backup does not know that the transfer may be paid already (decision 0071).
 *
 * Bound: the newest `transfers_most` transfers.
 */
export function openExpiringPayments(
  clock: { now(): number },
  transfers_most = TRANSFERS_MOST,
): ExpiringPayments {
  /** By transfer: the time of expiry of each payment, by hash. */
  const known = new Map<string, Map<string, number>>()
  const payers = new Map<string, string>()

  function checkFurther({ transfer_id, earlier = [] }: Pick<PaymentAhead, 'transfer_id' | 'earlier'>): void {
    const refusal = (problem: string) => new SignatureRefused('earlier_payments', transfer_id, problem)
    for (const [tx_hash, expires_ms] of known.get(transfer_id) ?? []) {
      if (!earlier.includes(tx_hash))
        throw refusal(
          `its payment ${tx_hash} was signed before, as the signer’s log says, and the service has lost the record of that. The database may be restored from a backup.`,
        )
      if (!(expires_ms + PAST_MS <= clock.now()))
        throw refusal(
          `its payment ${tx_hash} may still be mined: less than two minutes have passed since it expired, by the signer’s clock.`,
        )
    }
  }

  return {
    checkFurther,
    check({ intent: { transfer_id }, unsigned, earlier }) {
      // The signer refuses bytes that are no transaction.
      if (!decodeRaw(unsigned)) return
      const tx_hash = txIdOf(unsigned)
      const payer = payers.get(tx_hash)
      if (payer === transfer_id) return
      if (payer !== undefined)
        throw new SignatureRefused('earlier_payments', transfer_id, `the same bytes pay ${payer} already.`)
      checkFurther({ transfer_id, ...(earlier === undefined ? {} : { earlier }) })
    },
    note({ transfer_id, tx_hash, expires_ms }) {
      payers.set(tx_hash, transfer_id)
      known.set(transfer_id, (known.get(transfer_id) ?? new Map()).set(tx_hash, expires_ms))
      if (known.size <= transfers_most) return
      const [oldest, payments] = known.entries().next().value!
      known.delete(oldest)
      for (const hash of payments.keys()) payers.delete(hash)
    },
  }
}
