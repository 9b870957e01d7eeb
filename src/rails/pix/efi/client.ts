import type { Clock } from '../../../core/clock.ts'
import { isOver } from '../../deadline.ts'
import { type CallBounds, type Exchange, NotSent, openExchange, type ProviderAnswer } from '../exchange.ts'
import { readToken, wordOf } from './bodies.ts'
import type { ClientCertificate } from './certificate.ts'

/**
 * Calls to Efí: TLS with a client certificate, and a token that is fetched before the first call and renewed before it expires, or
 * once when Efí refuses it. Redirects are not followed. No error has a URL, a body, a token or the text of the TLS library.
 */
export type EfiClient = {
  /** Any HTTP answer is returned, whatever its status. Throws `NotSent`, or `NoAnswer` if the call may have arrived. */
  call(call: EfiCall): Promise<EfiAnswer>
  /** Throws `NotSent` if there is no token, or the application lacks one of the scopes. */
  signIn(scopes?: readonly string[]): Promise<void>
  stop(): Promise<void>
}

/**
 * Each purpose has connections of its own, because the time of a call runs while it waits for one: neither charges nor lists nor status
 * queries can take those of payments. There are at least as many as payments at once (EFI_AT_ONCE), so no payment waits.
 */
type Purpose = 'payments' | 'status' | 'other'

/** Nothing is sent once the signal is aborted. */
type EfiCall = CallBounds & {
  /** `payments` and `status` are those of payouts. Default: `other`. */
  readonly purpose?: Purpose
  readonly method: 'GET' | 'PUT'
  readonly path: string
  readonly body?: object
}

export type EfiAnswer = ProviderAnswer

export type EfiAccess = {
  /** Scheme and host. */
  readonly url: string
  readonly client_id: string
  readonly client_secret: string
  readonly certificate: ClientCertificate
  /** The authority of the server's certificate, where it is not a public one: for tests. */
  readonly ca?: string
}

type ClientOptions = {
  readonly access: EfiAccess
  readonly timeout_ms: number
  readonly clock: Clock
}

const UNAUTHORIZED = 401
/** A token that ends within this time is renewed before it is used. */
const TOKEN_MARGIN_MS = 60_000
const NEEDED_SCOPES = ['pix.send', 'gn.pix.send.read']

type Token = {
  readonly value: string
  readonly renew_at: number
  /** Undefined: Efí did not say. */
  readonly scopes: readonly string[] | undefined
}

export function openEfiClient({ access, timeout_ms, clock }: ClientOptions): EfiClient {
  const { url, certificate, ca } = access
  const open = () =>
    openExchange({
      ...{ name: 'Efí', url, timeout_ms, tls: { ...certificate, ...(ca === undefined ? {} : { ca }) } },
    })
  const exchanges: Readonly<Record<Purpose, Exchange>> = { payments: open(), status: open(), other: open() }
  const basic = Buffer.from(`${access.client_id}:${access.client_secret}`).toString('base64')
  let token: Token | undefined
  let signing_in: Promise<Token> | undefined

  async function fetchToken(): Promise<Token> {
    const headers = { authorization: `Basic ${basic}`, ...JSON_HEADERS }
    const body = JSON.stringify({ grant_type: 'client_credentials' })
    const asked_at = clock.now()
    // Without a token no payment can be sent, and callers of one moment share the call.
    const answer = await exchanges.payments.call('/oauth/token', { method: 'POST', headers, body }, {})
    const given = answer.http === 200 ? readToken(answer.body) : undefined
    if (!given) throw new Error(`Efí refused the sign-in (${describeAnswer(answer)})`)
    const scopes = given.scope?.split(' ')
    demandScopes(NEEDED_SCOPES, scopes)
    return {
      scopes,
      value: given.access_token,
      renew_at: asked_at + Math.max(given.expires_in * 1000 - TOKEN_MARGIN_MS, given.expires_in * 500),
    }
  }

  /** Callers of one moment share a sign-in. `refused`: the token that Efí did not accept. */
  async function tokenFor(refused?: string): Promise<Token> {
    if (token && token.value !== refused && clock.now() < token.renew_at) return token
    signing_in ??= fetchToken().finally(() => {
      signing_in = undefined
    })
    try {
      token = await signing_in
      return token
    } catch (error) {
      throw new NotSent((error as Error).message)
    }
  }

  async function call(one: EfiCall): Promise<EfiAnswer> {
    const { method, path, body, signal, purpose = 'other' } = one
    const sendWith = (bearer: string) => {
      if (signal && isOver(signal)) throw new NotSent('the call was given up before it was sent')
      const headers = { authorization: `Bearer ${bearer}`, ...JSON_HEADERS }
      const request = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      return exchanges[purpose].call(path, request, one)
    }
    const { value: first } = await tokenFor()
    const answer = await sendWith(first)
    if (answer.http !== UNAUTHORIZED) return answer
    // Efí does nothing for a call that it refuses like this, so the same call may be sent again.
    return sendWith((await tokenFor(first)).value)
  }

  return {
    call,
    async signIn(scopes = []) {
      demandScopes(scopes, (await tokenFor()).scopes)
    },
    async stop() {
      await Promise.all(Object.values(exchanges).map((exchange) => exchange.stop()))
    },
  }
}

function demandScopes(needed: readonly string[], given: readonly string[] | undefined): void {
  const missing = given ? needed.filter((scope) => !given.includes(scope)) : []
  if (missing.length > 0) throw new NotSent(`the application at Efí lacks the scope ${missing.join(', ')}`)
}

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json' }

/** Status and name of an answer, for log lines. */
export const describeAnswer = ({ http, body }: Pick<EfiAnswer, 'http' | 'body'>): string =>
  [`HTTP ${http}`, wordOf(body)].filter((part) => part !== undefined).join(' ')
