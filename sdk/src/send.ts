import type { Answer, CallOptions, Repeat } from './call.js'
import { ApiError, ConnectionError, type Outcome } from './errors.js'
import { isUnsent, sleep } from './runtime.js'

export type Settings = {
  readonly baseUrl: string
  /** Asked before every attempt, so that a key can be rotated under a running program. */
  readonly key: () => Promise<string>
  readonly timeout: number
  readonly maxRetries: number
  readonly userAgent: string
  readonly fetch: typeof globalThis.fetch
  readonly log: (entry: LogEntry) => void
}

/** One attempt, for your log: neither keys nor what was sent, and no ids, for a Pix key may be one. */
export type LogEntry = {
  readonly method: string
  /** With the names of its parameters: `/v1/pix/keys/{pix_key}`. */
  readonly path: string
  readonly attempt: number
  readonly status?: number
  readonly code?: string
  readonly requestId?: string
  readonly durationMs: number
  /** It will be sent again, after so long. */
  readonly retryInMs?: number
}

export type Sending = {
  readonly method: string
  readonly path: string
  /** The path with its parameters and query. */
  readonly target: string
  /** Written once: every attempt sends the same bytes. */
  readonly body: string | undefined
  readonly repeat: Repeat
  /** How long the server was asked to wait before it answers. */
  readonly waitMs: number
  readonly options: CallOptions
}

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 8000
/** A window that opens later than this is a day's: the caller decides what to do until then. */
const LONGEST_RETRY_AFTER_S = 60

/** It happens once however often it is sent, or another one costs nothing. */
const repeatable = (repeat: Repeat) => repeat !== 'once' && repeat !== 'never'

/** Sends it, and again where that is safe. */
export async function send(settings: Settings, sending: Sending): Promise<Answer<unknown>> {
  const { method, path, options, repeat } = sending
  const maxRetries = options.maxRetries ?? settings.maxRetries
  let doubt = false
  for (let attempt = 1; ; attempt++) {
    const started = Date.now()
    const result = await tryOnce(settings, sending, doubt)
    const durationMs = Date.now() - started
    if (!('error' in result)) {
      const { response, requestId } = result
      tell(settings, {
        method,
        path,
        attempt,
        status: response.status,
        ...(requestId && { requestId }),
        durationMs,
      })
      return result
    }
    const { error, unheard } = result
    const again = (unheard || repeatable(repeat)) && isPassing(error) && attempt <= maxRetries
    const wait = again ? { retryInMs: waitBefore(attempt, error) } : undefined
    tell(settings, { method, path, attempt, ...told(error), durationMs, ...wait })
    if (!wait) throw error
    doubt ||= !unheard
    await sleep(wait.retryInMs, options.signal)
  }
}

/** Full jitter, so that clients that failed together do not come back together; never before the server wants it. */
export function waitBefore(attempt: number, error: ApiError | ConnectionError): number {
  const most = Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS)
  return Math.ceil(retryAfterOf(error) * 1000 + Math.random() * most)
}

/** Whether it may be different the next time. */
export function isPassing(error: ApiError | ConnectionError): boolean {
  if (error instanceof ConnectionError) return true
  return [408, 429, 500, 502, 503, 504].includes(error.status) && retryAfterOf(error) <= LONGEST_RETRY_AFTER_S
}

const retryAfterOf = (error: ApiError | ConnectionError) =>
  (error instanceof ApiError && error.retryAfter) || 0

type Failure = {
  readonly error: ApiError | ConnectionError
  /** It certainly did not get to what it asks for, so that even a call that must not happen twice can be sent again. */
  readonly unheard: boolean
}

/** `doubt`: an attempt before this one may have done its work. */
async function tryOnce(
  settings: Settings,
  sending: Sending,
  doubt: boolean,
): Promise<Answer<unknown> | Failure> {
  const { method, path, body, options, repeat } = sending
  const timeout = options.timeout ?? settings.timeout
  const key = await settings.key()
  options.signal?.throwIfAborted()
  const leaving = new AbortController()
  const leave = () => leaving.abort(options.signal?.reason)
  options.signal?.addEventListener('abort', leave, { once: true })
  const timer = setTimeout(() => leaving.abort(TIMED_OUT), timeout + sending.waitMs)
  try {
    const response = await settings.fetch(settings.baseUrl + sending.target, {
      method,
      headers: headersOf(settings, sending, key),
      ...(body !== undefined && { body }),
      redirect: 'manual',
      signal: leaving.signal,
    })
    return await readResponse(response, sending, doubt)
  } catch (cause) {
    options.signal?.throwIfAborted()
    const unheard = isUnsent(cause)
    const outcome: Outcome = repeat === 'safe' || (unheard && !doubt) ? 'none' : 'unknown'
    const why = leaving.signal.reason === TIMED_OUT ? `no response within ${timeout} ms` : reasonOf(cause)
    const message = `${method} ${path}: ${why}. ${ADVICE[outcome === 'none' ? 'none' : repeat]}`
    return { error: new ConnectionError(message, { outcome, cause }), unheard }
  } finally {
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', leave)
  }
}

function headersOf({ userAgent }: Settings, { body, options }: Sending, key: string): Headers {
  const headers = new Headers({ accept: 'application/json', 'user-agent': userAgent, ...options.headers })
  if (body !== undefined) headers.set('content-type', 'application/json')
  headers.set('authorization', `Bearer ${key}`)
  return headers
}

const TIMED_OUT = Symbol('timed out')

const LOOK_FIRST = 'It may have happened: look before you send it again.'
const ADVICE: Readonly<Record<Repeat | 'none', string>> = {
  none: 'Nothing happened.',
  safe: 'Nothing happened.',
  idempotency_key: 'It may have happened: send it again with the same idempotency_key, which is safe.',
  idempotent: 'It may have happened: to send it again is safe.',
  harmless: 'It may have happened: to send it again is safe.',
  once: LOOK_FIRST,
  never: LOOK_FIRST,
}

/** `fetch failed` says nothing; what is behind it does. */
function reasonOf(error: unknown): string {
  const { message, cause, code } = error as { message?: string; cause?: unknown; code?: string }
  return cause instanceof Error ? reasonOf(cause) : message || code || String(error)
}

async function readResponse(
  response: Response,
  sending: Sending,
  doubt: boolean,
): Promise<Answer<unknown> | Failure> {
  const text = await response.text()
  const requestId = response.headers.get('x-request-id') ?? undefined
  const data = parse(text)
  if (response.ok && (data !== undefined || response.status === 204)) {
    return { data, response, requestId, replayed: response.headers.get('idempotent-replayed') === 'true' }
  }
  const { status, headers } = response
  const told = (data as { error?: ErrorBody } | undefined)?.error
  const error = new ApiError({
    status,
    type: told?.type ?? 'api_error',
    code: told?.code ?? 'unexpected_response',
    message: told?.message ?? explain(response, sending),
    param: told?.param,
    details: told?.details,
    docUrl: told?.doc_url,
    requestId,
    outcome: outcomeOf({ status, ok: response.ok, code: told?.code, safe: sending.repeat === 'safe', doubt }),
    retryAfter: secondsOf(headers.get('retry-after')),
  })
  return { error, unheard: status === 429 }
}

type ErrorBody = {
  readonly type: string
  readonly code: string
  readonly message: string
  readonly param?: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly doc_url?: string
}

/** These say of themselves that nothing moved; any other 5xx may come after a commit. */
const NOTHING_MOVED = ['rail_unavailable', 'price_unavailable']
/** Judged where a key is claimed, so they tell of an attempt before them too. */
const SETTLED = [409, 422]

function outcomeOf(reply: {
  status: number
  ok: boolean
  code: string | undefined
  safe: boolean
  doubt: boolean
}): Outcome {
  if (reply.safe) return 'none'
  if (reply.doubt && !SETTLED.includes(reply.status)) return 'unknown'
  const may = reply.ok || reply.status === 408 || reply.status >= 500
  return may && !NOTHING_MOVED.includes(reply.code ?? '') ? 'unknown' : 'none'
}

function explain({ status, type, headers }: Response, { method, path }: Sending): string {
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    const to = headers.get('location')
    return `${method} ${path} is redirected${to ? ` to ${to}` : ''}. Redirects are not followed: set baseUrl to where the server is.`
  }
  return `${method} ${path} got ${status} and no JSON of Trilho: is baseUrl right, and what stands in between?`
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

const secondsOf = (text: string | null) => (text !== null && /^\d+$/.test(text) ? Number(text) : undefined)

function told(error: ApiError | ConnectionError): Pick<LogEntry, 'status' | 'code' | 'requestId'> {
  if (error instanceof ConnectionError) return { code: 'no_response' }
  const { status, code, requestId } = error
  return { status, code, ...(requestId && { requestId }) }
}

/** A log that throws must not make a payment look as if it had failed. */
function tell({ log }: Settings, entry: LogEntry): void {
  try {
    log(entry)
  } catch {}
}
