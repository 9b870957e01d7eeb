import { abortError, type Sending, tryOnce } from './attempt.js'
import type { Answer, Repeat } from './call.js'
import { ApiError, ConnectionError } from './errors.js'
import { LONGEST_TIMER_MS, sleep } from './runtime.js'
import { checkedTimeout, type Settings } from './settings.js'

/** One attempt, for your log. It contains no keys, bodies or ids: a path parameter may be a Pix key. */
export type LogEntry = {
  readonly method: string
  /** The path template: `/v1/pix/keys/{pix_key}`. */
  readonly path: string
  readonly attempt: number
  readonly status?: number
  readonly code?: string
  readonly requestId?: string
  readonly durationMs: number
  /** Milliseconds until the retry, if there is one. */
  readonly retryInMs?: number
}

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 8000
/** A longer `Retry-After` is that of a daily limit: the caller decides whether to wait. */
const LONGEST_RETRY_AFTER_S = 60

/** Whether a retry is safe: the call takes effect once, or repeating it does no harm. */
const isRepeatable = (repeat: Repeat) => repeat !== 'once' && repeat !== 'never'

/** Sends a request, with retries where they are safe. */
export async function send(settings: Settings, sending: Sending): Promise<Answer<unknown>> {
  const { method, path, options, repeat } = sending
  const maxRetries = options.maxRetries ?? settings.maxRetries
  const timeout = checkedTimeout(options.timeout ?? settings.timeout)
  const key = await settings.key()
  let doubt = false
  for (let attempt = 1; ; attempt++) {
    if (options.signal?.aborted) throw abortError(sending, doubt)
    const started = Date.now()
    const result = await tryOnce(settings, sending, { key, timeout, doubt })
    const entry = { method, path, attempt, durationMs: Date.now() - started }
    if ('data' in result) {
      const { requestId, response } = result
      writeLog(settings, { ...entry, status: response.status, ...(requestId && { requestId }) })
      return result
    }
    const { error, notProcessed: unheard } = result
    const safe = unheard || isRepeatable(repeat)
    const soon = isRetryable(error) && retryAfterOf(error) <= LONGEST_RETRY_AFTER_S
    const retryInMs = safe && soon && attempt <= maxRetries ? retryDelay(attempt, error) : undefined
    writeLog(settings, { ...entry, ...shown(error), ...(retryInMs !== undefined && { retryInMs }) })
    if (retryInMs === undefined) throw error
    doubt ||= error.outcome === 'unknown'
    // An abort during the wait is handled at the top of the loop.
    await sleep(retryInMs, options.signal).catch(() => {})
  }
}

/** Whether a retry may succeed. */
export const isRetryable = (error: ApiError | ConnectionError): boolean =>
  error instanceof ConnectionError || [408, 429].includes(error.status) || error.status >= 500

/** Exponential backoff with full jitter, so that clients do not retry in step; never shorter than `Retry-After`. */
export function retryDelay(attempt: number, error: ApiError | ConnectionError): number {
  const most = Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS)
  return Math.min(Math.ceil(retryAfterOf(error) * 1000 + Math.random() * most), LONGEST_TIMER_MS)
}

const retryAfterOf = (error: ApiError | ConnectionError): number =>
  error instanceof ApiError ? (error.retryAfter ?? 0) : 0

function shown(error: ApiError | ConnectionError): Pick<LogEntry, 'status' | 'code' | 'requestId'> {
  if (error instanceof ConnectionError) return { code: 'no_response' }
  const { status, code, requestId } = error
  return { status, code, ...(requestId && { requestId }) }
}

/** An exception in `log` must not make a payment look failed. */
function writeLog({ log }: Settings, entry: LogEntry): void {
  try {
    log(entry)
  } catch {}
}
