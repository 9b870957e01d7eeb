import type { Logger } from 'pino'
import { NoAnswer, NotSent, type ProviderAnswer } from '../exchange.ts'
import type { PixOrder, PixOutcome } from '../rail.ts'
import {
  type Receiver,
  readMade,
  receiverOfAccount,
  receiverOfKey,
  type Transfer,
  transferBody,
} from './bodies.ts'
import { describeAnswer, type StarkClient } from './client.ts'

type Sending = {
  /** Whether the call was definitely not carried out. */
  isNotCarriedOut(answer: ProviderAnswer): boolean
  later(seconds?: number): PixOutcome
  readonly log: Logger
}

/** Sends a payment: a Pix key is looked up first, because a transfer names an account. */
export function starkSend(
  client: StarkClient,
  { isNotCarriedOut, later, log }: Sending,
): (order: PixOrder, signal?: AbortSignal) => Promise<PixOutcome> {
  /** The account to be paid. Nothing was sent if there is none. */
  async function receiverOf(
    { to, send_id }: PixOrder,
    signal?: AbortSignal,
  ): Promise<Receiver | 'other' | undefined> {
    if ('bank_account' in to) return receiverOfAccount(to, to.bank_account)
    const path = `/v2/dict-key/${encodeURIComponent(to.pix_key)}`
    const answer = await client.call({ method: 'GET', path, signal })
    const found = answer.http === 200 ? receiverOfKey(answer.body, to) : undefined
    if (found) {
      const { is_other, ...receiver } = found
      return is_other ? 'other' : receiver
    }
    isNotCarriedOut(answer)
    log.warn(
      { send_id, answer: describeAnswer(answer) },
      'starkbank: the account behind a Pix key is not known; the payment is sent later',
    )
    return undefined
  }

  return async (order, signal) => {
    const { send_id } = order
    let receiver: Awaited<ReturnType<typeof receiverOf>>
    try {
      receiver = await receiverOf(order, signal)
    } catch (error) {
      if (!(error instanceof NotSent) && !(error instanceof NoAnswer)) throw error
      // Only the look-up was made, so nothing was sent.
      log.warn({ send_id }, `starkbank: ${error.message}`)
      return later()
    }
    if (receiver === undefined) return later()
    if (receiver === 'other')
      return { kind: 'refused', rail_code: 'tax_id_differs', reason: 'recipient_document_mismatch' }
    try {
      const body = transferBody(order, receiver)
      const answer = await client.call({ method: 'POST', path: '/v2/transfer', body, signal })
      const made = answer.http === 200 ? readMade(answer.body)?.transfers[0] : undefined
      if (made && isAbout(order, made)) return { kind: 'accepted' }
      const is_refused = isNotCarriedOut(answer)
      log.warn(
        { send_id, answer: describeAnswer(answer) },
        is_refused
          ? 'starkbank: the transfer was not carried out; it is sent again later'
          : 'starkbank: the answer to a send decides nothing; the transfer is asked about again',
      )
      return is_refused ? later(answer.retry_after_s) : { kind: 'unknown' }
    } catch (error) {
      if (!(error instanceof NotSent) && !(error instanceof NoAnswer)) throw error
      log.warn({ send_id }, `starkbank: ${error.message}`)
      return error instanceof NotSent ? later() : { kind: 'unknown' }
    }
  }
}

/** Whether a transfer is this very payment: the same id, and the same amount to the centavo. */
export const isAbout = ({ send_id, amount }: PixOrder, transfer: Transfer): boolean =>
  transfer.externalId === send_id && BigInt(transfer.amount) === amount.units
