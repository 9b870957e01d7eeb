import type { Static } from 'typebox'
import { InvalidAnswer } from '../../answers.ts'
import type { PixAccount, PixReturn, SentPix } from '../rail.ts'
import { fromReais, PaymentBody, readBalance, readPayment, readWebhook, wordOf } from './bodies.ts'
import { rowOf, statusAnswers } from './catalogue.ts'
import { describeAnswer, type EfiClient } from './client.ts'
import { readList } from './lists.ts'
import { readReturns } from './returns.ts'

/** The account at Efí: what it holds, what was sent from it, and what of that came back. */
export function efiAccount(client: EfiClient): Required<PixAccount> {
  async function* read(window: { from: Date; to: Date; returned?: true }, signal?: AbortSignal) {
    yield* readList(client, {
      ...{ path: '/v2/gn/pix/enviados', ...window, signal },
      ...{ item: PaymentBody, read: sentOf },
    })
  }

  return {
    async balance(signal) {
      const answer = await client.call({ method: 'GET', path: '/v2/gn/saldo?bloqueios=true', signal })
      const body = answer.http === 200 ? readBalance(answer.body) : undefined
      if (!body) throw invalid('balance', describeAnswer(answer))
      return { available: fromReais(body.saldo), blocked: fromReais(body.bloqueios?.total ?? '0.00') }
    },
    sent: (from, to, signal) => read({ from, to }, signal),
    returned: (from, to, signal) => read({ from, to, returned: true }, signal),
  }
}

function sentOf({ idEnvio, endToEndId, valor, status, devolucoes }: Static<typeof PaymentBody>): SentPix {
  return {
    ...(idEnvio ? { send_id: idEnvio } : {}),
    ...(endToEndId ? { end_to_end_id: endToEndId } : {}),
    amount: fromReais(valor),
    state: status === 'REALIZADO' ? 'settled' : status === 'NAO_REALIZADO' ? 'refused' : 'open',
    ...(devolucoes ? { returns: readReturns('list', devolucoes) } : {}),
  }
}

/** What came back of a payment that was sent. */
export async function efiReturnsOf(
  client: EfiClient,
  end_to_end_id: string,
  signal?: AbortSignal,
): Promise<readonly PixReturn[]> {
  const path = `/v2/gn/pix/enviados/${encodeURIComponent(end_to_end_id)}`
  const answer = await client.call({ method: 'GET', path, signal })
  const row = rowOf(statusAnswers, { http: answer.http, says: wordOf(answer.body) })
  if (row?.kind === 'absent') return []
  const payment = answer.http === 200 && row ? readPayment(answer.body) : undefined
  if (!payment) throw invalid('returns', describeAnswer(answer))
  if (payment.endToEndId !== end_to_end_id) throw invalid('returns', 'endToEndId is not that of the payment')
  return readReturns('returns', payment.devolucoes)
}

const NO_WEBHOOK = 'webhook_nao_encontrado'

/** The webhook of a key, as the Banco Central's API Pix defines it: GET /webhook/{chave}. Undefined: the key has none. */
export async function efiNoticeAddress(
  client: EfiClient,
  pix_key: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const path = `/v2/webhook/${encodeURIComponent(pix_key)}`
  const answer = await client.call({ method: 'GET', path, signal })
  if (answer.http === 404 || wordOf(answer.body) === NO_WEBHOOK) return undefined
  const webhook = answer.http === 200 ? readWebhook(answer.body) : undefined
  if (!webhook) throw invalid('webhook', describeAnswer(answer))
  return webhook.webhookUrl
}

const invalid = (call: string, problem: string) => new InvalidAnswer({ rail: 'pix', call, problem })
