import { Agent, type Dispatcher, request } from 'undici'
import type { Clock } from '../../../core/clock.ts'
import { parseJson, readToken, wordOf } from './bodies.ts'
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

type EfiCall = {
  readonly method: 'GET' | 'PUT'
  readonly path: string
  readonly body?: object
  readonly most_bytes?: number
  /** Nothing is sent once it is aborted. */
  readonly signal?: AbortSignal | undefined
}

export type EfiAnswer = {
  readonly http: number
  /** Undefined if the body is not JSON. */
  readonly body: unknown
  readonly retry_after_s: number | undefined
}

/** The call ended before anything of it was sent. */
export class NotSent extends Error {}

/** The call was sent, or may have been sent, and has no answer that can be read. */
export class NoAnswer extends Error {}

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

const ANSWER_MOST_BYTES = 64 * 1024
const UNAUTHORIZED = 401
/** A token that ends within this time is renewed before it is used. */
const TOKEN_MARGIN_MS = 60_000
const CONNECTIONS_MOST = 16
const RETRY_AFTER_MOST_S = 3600
const NEEDED_SCOPES = ['pix.send', 'gn.pix.send.read']

type Token = {
  readonly value: string
  readonly renew_at: number
  /** Undefined: Efí did not say. */
  readonly scopes: readonly string[] | undefined
}

export function openEfiClient({ access, timeout_ms, clock }: ClientOptions): EfiClient {
  const { url, certificate, ca } = access
  const agent = new Agent({
    connections: CONNECTIONS_MOST,
    connect: { ...certificate, ...(ca === undefined ? {} : { ca }), timeout: timeout_ms },
  })
  const basic = Buffer.from(`${access.client_id}:${access.client_secret}`).toString('base64')
  let token: Token | undefined
  let signing_in: Promise<Token> | undefined

  async function exchange(
    path: string,
    options: Omit<Dispatcher.RequestOptions, 'origin' | 'path'>,
    { most_bytes = ANSWER_MOST_BYTES, signal }: Pick<EfiCall, 'most_bytes' | 'signal'>,
  ): Promise<EfiAnswer> {
    const late = AbortSignal.timeout(timeout_ms)
    try {
      const answer = await request(`${url}${path}`, {
        ...options,
        dispatcher: agent,
        signal: signal ? AbortSignal.any([signal, late]) : late,
      })
      const text = await readText(answer.body, most_bytes)
      return {
        http: answer.statusCode,
        body: parseJson(text),
        retry_after_s: secondsOf(answer.headers['retry-after']),
      }
    } catch (error) {
      if (late.aborted) throw new NoAnswer(`Efí did not answer within ${timeout_ms} ms`)
      if (signal?.aborted) throw new NoAnswer('the call to Efí was given up')
      if (error instanceof NoAnswer) throw error
      throw new NoAnswer(`no answer from Efí (${codeOf(error)})`)
    }
  }

  async function fetchToken(): Promise<Token> {
    const headers = { authorization: `Basic ${basic}`, ...JSON_HEADERS }
    const body = JSON.stringify({ grant_type: 'client_credentials' })
    const asked_at = clock.now()
    const answer = await exchange('/oauth/token', { method: 'POST', headers, body }, {})
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
    const { method, path, body, signal } = one
    const sendWith = (bearer: string) => {
      if (signal?.aborted) throw new NotSent('the call was given up before it was sent')
      const headers = { authorization: `Bearer ${bearer}`, ...JSON_HEADERS }
      return exchange(path, { method, headers, ...(body && { body: JSON.stringify(body) }) }, one)
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
    stop: () => agent.destroy(),
  }
}

function demandScopes(needed: readonly string[], given: readonly string[] | undefined): void {
  const missing = given ? needed.filter((scope) => !given.includes(scope)) : []
  if (missing.length > 0) throw new NotSent(`the application at Efí lacks the scope ${missing.join(', ')}`)
}

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json' }

async function readText(body: Dispatcher.ResponseData['body'], most_bytes: number): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    bytes += part.length
    // Leaving the loop closes the connection.
    if (bytes > most_bytes) throw new NoAnswer(`the answer of Efí is longer than ${most_bytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function secondsOf(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string' || !/^[0-9]{1,9}$/.test(header)) return undefined
  return Math.min(Math.max(Number(header), 1), RETRY_AFTER_MOST_S)
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code) ? code : 'unknown reason'
}

/** Status and name of an answer, for log lines. */
export const describeAnswer = ({ http, body }: Pick<EfiAnswer, 'http' | 'body'>): string =>
  [`HTTP ${http}`, wordOf(body)].filter((part) => part !== undefined).join(' ')
