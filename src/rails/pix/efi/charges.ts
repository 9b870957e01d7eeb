import type { Logger } from 'pino'
import type { Static } from 'typebox'
import { parseBrCode } from '../../../core/br-code.ts'
import type { Clock } from '../../../core/clock.ts'
import { InvalidAnswer } from '../../answers.ts'
import { NoAnswer, NotSent } from '../exchange.ts'
import type { ChargeOrder, ChargeOutcome, PixCharges, ReceivedPix } from '../rail.ts'
import {
  chargeBody,
  fromReais,
  payerOf,
  ReceivedBody,
  readCharge,
  readReceived,
  secondsOf,
  txidOf,
  wordOf,
} from './bodies.ts'
import { type ChargeAnswer, chargeAnswers, knownChargeAnswers, receivedAnswers, rowOf } from './catalogue.ts'
import { describeAnswer, type EfiAnswer, type EfiClient } from './client.ts'
import { readList } from './lists.ts'
import { readReturns } from './returns.ts'

/** Payments that come in over Efí (decision 0067): charges are registered, and what was paid is asked for. */
type ChargesOptions = {
  /** The account's key: charges are paid to it. */
  readonly pix_key: string
  readonly clock: Clock
  readonly log: Logger
}

/** Scopes that only charges need: an application without them can still pay out. */
const CHARGE_SCOPES = ['cob.write', 'cob.read', 'pix.read']
const SIGN_IN_RETRY_S = 10

export function efiCharges(client: EfiClient, { pix_key, clock, log }: ChargesOptions): PixCharges {
  const later = (seconds: number): ChargeOutcome => ({
    kind: 'later',
    at: new Date(clock.now() + seconds * 1000),
  })

  async function register(order: ChargeOrder, signal?: AbortSignal): Promise<ChargeOutcome> {
    const { txid } = order
    const path = `/v2/cob/${txid}`
    try {
      await client.signIn(CHARGE_SCOPES)
      const body = chargeBody(order, pix_key)
      const made = await client.call({ method: 'PUT', path, body, signal })
      const outcome = rowOf(chargeAnswers, { http: made.http, says: wordOf(made.body) })
      if (outcome?.kind !== 'known') return outcomeOf(order, made, outcome)
      const known = await client.call({ method: 'GET', path, signal })
      const said = rowOf(knownChargeAnswers, { http: known.http, says: wordOf(known.body) })
      // Efí has another charge under this txid: its payers would pay another amount, or another recipient.
      if (said?.kind === 'registered' && isAnother(order, known))
        return { kind: 'refused', rail_code: wordOf(made.body)! }
      return outcomeOf(order, known, said)
    } catch (error) {
      if (!(error instanceof NotSent) && !(error instanceof NoAnswer)) throw error
      log.warn({ txid }, `efi: ${error.message}`)
      return error instanceof NotSent ? later(SIGN_IN_RETRY_S) : { kind: 'unknown' }
    }
  }

  function outcomeOf(
    order: ChargeOrder,
    answer: EfiAnswer,
    outcome: ChargeAnswer | undefined,
  ): ChargeOutcome {
    const { txid } = order
    const said = { txid, answer: describeAnswer(answer) }
    if (outcome?.kind === 'refused') return { kind: 'refused', rail_code: wordOf(answer.body)! }
    if (outcome?.kind === 'later') {
      log.warn(said, 'efi: the charge was not taken; it is registered later')
      return later(answer.retry_after_s ?? outcome.after_s)
    }
    const br_code = outcome?.kind === 'registered' ? codeOf(order, answer) : undefined
    if (br_code !== undefined) return { kind: 'registered', br_code }
    log.warn(said, 'efi: the answer about a charge decides nothing; it is registered again')
    return { kind: 'unknown' }
  }

  /** The code of this very charge; undefined if the answer is about another one, or its code is not valid. */
  function codeOf(order: ChargeOrder, answer: EfiAnswer): string | undefined {
    const text = readCharge(answer.body)?.pixCopiaECola
    const code = text === undefined ? undefined : parseBrCode(text)
    if (!code || isAnother(order, answer) !== false) return undefined
    const is_ours = code.pix_key === undefined || code.pix_key === pix_key
    return is_ours && (code.amount ?? order.amount.units) === order.amount.units ? text : undefined
  }

  /** Whether the answer is about another charge than the ordered one; undefined if it cannot be read. */
  function isAnother(order: ChargeOrder, { body }: EfiAnswer): boolean | undefined {
    const charge = readCharge(body)
    if (charge?.txid !== order.txid) return undefined
    return (
      fromReais(charge.valor.original) !== order.amount.units ||
      charge.chave !== pix_key ||
      Number(charge.calendario.expiracao) !== secondsOf(order)
    )
  }

  return {
    register,
    async *received({ from, to, returned }, signal) {
      await client.signIn(CHARGE_SCOPES)
      yield* readList(client, {
        ...{ path: '/v2/pix', from, to, returned, signal },
        item: ReceivedBody,
        read: (one) => receivedOf('list', one),
      })
    },
    async payment(end_to_end_id, signal) {
      await client.signIn(CHARGE_SCOPES)
      const path = `/v2/pix/${encodeURIComponent(end_to_end_id)}`
      const answer = await client.call({ method: 'GET', path, signal })
      const row = rowOf(receivedAnswers, { http: answer.http, says: wordOf(answer.body) })
      if (row?.kind === 'absent') return undefined
      const payment = row && readReceived(answer.body)
      if (payment?.endToEndId !== end_to_end_id) throw invalid('payment', describeAnswer(answer))
      return receivedOf('payment', payment)
    },
  }
}

function receivedOf(call: string, body: Static<typeof ReceivedBody>): ReceivedPix {
  const [txid, payer] = [txidOf(body), payerOf(body)]
  return {
    end_to_end_id: body.endToEndId,
    ...(txid === undefined ? {} : { txid }),
    amount: fromReais(body.valor),
    paid_at: new Date(body.horario),
    ...(payer === undefined ? {} : { payer }),
    returns: readReturns(call, body.devolucoes),
  }
}

const invalid = (call: string, problem: string) => new InvalidAnswer({ rail: 'pix', call, problem })
