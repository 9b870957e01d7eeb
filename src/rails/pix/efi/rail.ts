import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import type { Clock } from '../../../core/clock.ts'
import { refuse } from '../../../core/errors.ts'
import { InvalidAnswer } from '../../answers.ts'
import { NoAnswer, NotSent } from '../exchange.ts'
import type { PixAccount, PixOrder, PixOutcome, PixRail, PixStatus } from '../rail.ts'
import { unlistedHolder } from '../unlisted.ts'
import { efiAccount, efiNoticeAddress, efiReturnsOf } from './account.ts'
import {
  efiAccountTypes,
  failureCodeOf,
  fromReais,
  readNotice,
  readPayment,
  readTaken,
  sendBody,
  wordOf,
} from './bodies.ts'
import { rowOf, sendAnswers, statusAnswers } from './catalogue.ts'
import { efiCharges } from './charges.ts'
import { describeAnswer, type EfiAccess, type EfiAnswer, openEfiClient } from './client.ts'

/**
 * Pix over Efí (docs/operate/rails.md, decisions 0063 and 0067). The catalogue decides what an answer means; this file sends, asks and
 * compares.
 */
export type EfiOptions = {
  readonly access: EfiAccess
  /** The payer's key: the account that pays. */
  readonly pix_key: string
  /** Payments under way at once, over all nodes. */
  readonly at_once: number
  readonly timeout_ms: number
  readonly clock: Clock
  readonly log: Logger
}

const VISIBLE_AFTER_MS = 15_000
const SEND_FOR_MS = 600_000
/** After too many status queries the rail asks nothing for as long as Efí says, and no longer than this. */
const QUIET_MOST_S = 300
/** Efí's own sandbox: an account there is another one, whatever its key. */
const SANDBOX_HOST = 'pix-h.api.efipay.com.br'
/** After a failed sign-in nothing was sent; the next try is soon. */
const SIGN_IN_RETRY_S = 10
/** The status of an answer that refuses an id because Efí has it already. The id is that of the path. */
const DUPLICATE = 409

export type EfiRail = PixRail<'production'> &
  Required<Pick<PixRail, 'charges' | 'returnsOf' | 'readNotice'>> & {
    readonly account: Required<PixAccount>
    stop(): Promise<void>
  }

export function openEfi({ access, pix_key, at_once, timeout_ms, clock, log }: EfiOptions): EfiRail {
  const client = openEfiClient({ access, timeout_ms, clock })
  let quiet_until = 0
  const later = (seconds: number): PixOutcome => ({
    kind: 'later',
    at: new Date(clock.now() + seconds * 1000),
  })
  const unknown = (call: string, order: PixOrder, answer: EfiAnswer) => {
    log.warn(
      { send_id: order.send_id, answer: describeAnswer(answer) },
      `efi: ${call} got an answer that decides nothing; the payment is asked about again`,
    )
    return { kind: 'unknown' } as const
  }

  async function send(order: PixOrder, signal?: AbortSignal): Promise<PixOutcome> {
    const { send_id } = order
    const body = sendBody(order, pix_key)
    if (!body)
      return { kind: 'refused', rail_code: 'account_type_not_supported', reason: 'payment_not_supported' }
    let answer: EfiAnswer
    try {
      const path = `/v3/gn/pix/${send_id}`
      answer = await client.call({ method: 'PUT', path, body, signal, purpose: 'payments' })
    } catch (error) {
      if (!(error instanceof NotSent) && !(error instanceof NoAnswer)) throw error
      log.warn({ send_id }, `efi: ${error.message}`)
      return error instanceof NotSent ? later(SIGN_IN_RETRY_S) : { kind: 'unknown' }
    }
    const says = wordOf(answer.body)
    const outcome = rowOf(sendAnswers, { http: answer.http, says })
    switch (outcome?.kind) {
      case 'accepted':
        return answer.http === DUPLICATE || isTaken(order, answer) ? outcome : unknown('send', order, answer)
      case 'refused':
        return { ...outcome, rail_code: says! }
      case 'later':
        log.warn(
          { send_id, answer: describeAnswer(answer) },
          'efi: the payment was not taken; it is sent later',
        )
        return later(answer.retry_after_s ?? outcome.after_s)
      default: {
        const undecided = unknown('send', order, answer)
        return isTaken(order, answer) ? { kind: 'accepted' } : undecided
      }
    }
  }

  async function status(order: PixOrder, signal?: AbortSignal): Promise<PixStatus> {
    if (clock.now() < quiet_until) return { kind: 'unknown', ask_at: new Date(quiet_until) }
    const path = `/v2/gn/pix/enviados/id-envio/${order.send_id}`
    const answer = await client.call({ method: 'GET', path, signal, purpose: 'status' })
    const row = rowOf(statusAnswers, { http: answer.http, says: wordOf(answer.body) })
    if (!row) return unknown('status', order, answer)
    if (row.kind === 'absent') return { kind: 'absent' }
    if (row.kind === 'unknown') {
      quiet_until = clock.now() + Math.min(answer.retry_after_s ?? row.after_s, QUIET_MOST_S) * 1000
      return { ...unknown('status', order, answer), ask_at: new Date(quiet_until) }
    }
    return endOf(order, row.kind, answer)
  }

  async function ready(): Promise<void> {
    await client.signIn().catch((error: Error) => {
      log.warn(`efi: no payment can be sent: ${error.message}`)
      refuse('rail_unavailable', { retry_after_seconds: SIGN_IN_RETRY_S })
    })
  }

  return {
    environment: 'production',
    provider: providerOf(access.url, pix_key),
    sending: { visible_after_ms: VISIBLE_AFTER_MS, send_for_ms: SEND_FOR_MS, at_once },
    account_types: efiAccountTypes,
    ready,
    /** Efí has no look-up. A sign-in is asked for: an order must not be accepted while no payment can be sent. */
    async holder(key, asking) {
      await ready()
      return unlistedHolder(key, asking)
    },
    send,
    status,
    account: efiAccount(client),
    charges: efiCharges(client, { pix_key, clock, log }),
    returnsOf: (end_to_end_id, signal) => efiReturnsOf(client, end_to_end_id, signal),
    noticeAddress: (signal) => efiNoticeAddress(client, pix_key, signal),
    readNotice,
    stop: client.stop,
  }
}

/** Throws `InvalidAnswer` if the answer is not about this very payment. */
function endOf(
  order: PixOrder,
  kind: 'accepted' | 'settled' | 'refused',
  { body }: Pick<EfiAnswer, 'body'>,
): PixStatus {
  const payment = readPayment(body)
  if (!isAbout(order, payment)) throw invalid('status', 'idEnvio or valor is not that of the payment')
  if (kind === 'accepted') return { kind: 'accepted' }
  if (kind === 'settled') return { kind: 'settled', end_to_end_id: payment?.endToEndId ?? '' }
  const code = failureCodeOf(body)
  return code === undefined
    ? { kind: 'refused', rail_code: 'NAO_REALIZADO', reason: 'provider_error' }
    : { kind: 'refused', rail_code: code }
}

/**
 * Payouts keep this name of the account that they are handed to, so it must not change while the account is the same: credentials are
 * renewed, and a proxy in front of Efí moves (decision 0067).
 */
function providerOf(url: string, pix_key: string): string {
  const account = new URL(url).hostname === SANDBOX_HOST ? `${SANDBOX_HOST} ${pix_key}` : pix_key
  return `efi:${createHash('sha256').update(account).digest('hex').slice(0, 16)}`
}

/**
 * Whether Efí has taken this very payment: a success that names its id. Whatever else the answer says, the money must not be returned
 * before a status query has told the end.
 */
const isTaken = ({ send_id }: PixOrder, { http, body }: EfiAnswer): boolean =>
  http >= 200 && http < 300 && readTaken(body)?.idEnvio === send_id

/** Whether an answer is about this very payment: the same id, and the same amount to the centavo. */
const isAbout = (
  { send_id, amount }: PixOrder,
  answer: { readonly idEnvio?: string | null; readonly valor: string } | undefined,
): boolean => answer?.idEnvio === send_id && fromReais(answer.valor) === amount.units

const invalid = (call: string, problem: string) => new InvalidAnswer({ rail: 'pix', call, problem })
