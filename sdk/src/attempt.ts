import type { Answer, CallOptions, Repeat } from './call.js'
import { type ApiError, ConnectionError, type Outcome } from './errors.js'
import { readResponse } from './response.js'
import { isUnsent, LONGEST_TIMER_MS } from './runtime.js'
import type { Settings } from './settings.js'

export type Sending = {
  readonly method: string
  /** The path template, with parameter names in braces. */
  readonly path: string
  /** The path with its parameters and query. */
  readonly target: string
  /** Serialised once, so that every attempt sends the same bytes. */
  readonly body: string | undefined
  readonly repeat: Repeat
  /** `has` of the operation table; undefined for `request()`, whose response may have any fields. */
  readonly has: string | undefined
  /** The content type of a response that is a file. */
  readonly file?: string | undefined
  /** How long the server may hold the response (long polling). */
  readonly waitMs: number
  readonly options: CallOptions
}

export type Failure = {
  readonly error: ApiError | ConnectionError
  /** The server certainly did not act on the request, so even a call that must not happen twice can be sent again. */
  readonly notProcessed: boolean
}

/** Values of one attempt. */
type Attempt = {
  readonly key: string
  readonly timeout: number
  /** Whether an earlier attempt may have taken effect. */
  readonly doubt: boolean
}

/** Sends the request once. */
export async function tryOnce(
  settings: Settings,
  sending: Sending,
  { key, timeout, doubt }: Attempt,
): Promise<Answer<unknown> | Failure> {
  const { method, body, options } = sending
  const headers = headersOf(settings, sending, key)
  const leaving = new AbortController()
  const leave = () => leaving.abort(options.signal?.reason)
  options.signal?.addEventListener('abort', leave, { once: true })
  const longest = Math.min(timeout + sending.waitMs, LONGEST_TIMER_MS)
  const timer = setTimeout(() => leaving.abort(TIMED_OUT), longest)
  try {
    const response = await settings.fetch(settings.baseUrl + sending.target, {
      method,
      headers,
      ...(body !== undefined && { body }),
      redirect: 'manual',
      signal: leaving.signal,
    })
    return await readResponse(response, sending, doubt)
  } catch (cause) {
    if (options.signal?.aborted) throw abortError(sending, sending.repeat !== 'safe')
    const late = leaving.signal.reason === TIMED_OUT
    return noResponse(sending, {
      why: late ? `no response within ${timeout} ms` : reasonOf(cause),
      cause,
      doubt,
    })
  } finally {
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', leave)
  }
}

const TIMED_OUT = Symbol('timed out')

/**
 * The error after the caller aborted: the signal's own reason, or, if an attempt may have reached the server, an error that
 * says the outcome is unknown.
 */
export function abortError(sending: Sending, doubt: boolean): unknown {
  const cause = sending.options.signal?.reason
  return doubt ? noResponse(sending, { why: reasonOf(cause), cause, doubt }).error : cause
}

function headersOf({ userAgent }: Settings, { body, file, options }: Sending, key: string): Headers {
  const accept = file === undefined ? 'application/json' : `${file}, application/json`
  const headers = new Headers({ accept, 'user-agent': userAgent, ...options.headers })
  if (body !== undefined) headers.set('content-type', 'application/json')
  headers.set('authorization', `Bearer ${key}`)
  return headers
}

function noResponse(
  { method, path, repeat }: Sending,
  { why, cause, doubt }: { why: string; cause: unknown; doubt: boolean },
): Failure {
  const unheard = isUnsent(cause)
  const outcome: Outcome = repeat === 'safe' || (unheard && !doubt) ? 'none' : 'unknown'
  // This is about this call only: an earlier call under the same idempotency key may have taken effect.
  const said = outcome === 'unknown' ? 'It may have happened' : 'It changes nothing'
  const advice = unheard && !doubt ? 'It was not sent.' : `${said}: ${ADVICE[repeat]}.`
  return {
    error: new ConnectionError(`${method} ${path}: ${why}. ${advice}`, { outcome, cause }),
    notProcessed: unheard,
  }
}

const ADVICE: Readonly<Record<Repeat, string>> = {
  safe: 'to send it again is safe',
  idempotency_key: 'send it again with the same idempotency_key, which is safe',
  idempotent: 'to send it again is safe',
  harmless: 'to send it again is safe',
  once: 'to send it again is safe, and tells by its refusal that it had',
  never: 'look whether it has before you send it again',
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  const { message, cause, code } = (error ?? {}) as { message?: string; cause?: unknown; code?: string }
  return cause instanceof Error ? reasonOf(cause) : message || code || String(error)
}
