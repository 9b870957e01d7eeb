import type { Failure, Sending } from './attempt.js'
import type { Answer, Repeat } from './call.js'
import { ApiError, type Outcome } from './errors.js'

/** Turns a response into the result or an error. */
export async function readResponse(
  response: Response,
  sending: Sending,
  doubt: boolean,
): Promise<Answer<unknown> | Failure> {
  const { status, ok, headers } = response
  const requestId = headers.get('x-request-id') ?? undefined
  const replayed = headers.get('idempotent-replayed') === 'true'
  if (ok && isFile(headers, sending.file))
    return { data: new Uint8Array(await response.arrayBuffer()), response, requestId, replayed }
  const data = parse(await response.text())
  if (ok && sending.file === undefined && isWanted(data, status, sending.has))
    return { data, response, requestId, replayed }
  const told = errorIn(data)
  const error = new ApiError({
    status,
    type: told?.type ?? 'api_error',
    code: told?.code ?? 'unexpected_response',
    message: told?.message ?? explain(response, sending),
    param: told?.param,
    details: told?.details,
    docUrl: told?.doc_url,
    requestId,
    outcome: outcomeOf(sending.repeat, status, told?.code, doubt),
    retryAfter: secondsOf(headers.get('retry-after')),
  })
  return { error, notProcessed: status === 429 && told !== undefined }
}

type ErrorBody = {
  readonly type: string
  readonly code: string
  readonly message: string
  readonly param?: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly doc_url?: string
  readonly request_id: string
}

/** The error object of Trilho, if the body is one. The error of a proxy says nothing about what the server did. */
function errorIn(data: unknown): ErrorBody | undefined {
  const told = (data as { error?: Partial<ErrorBody> } | null | undefined)?.error
  const { type, code, message, request_id } = told ?? {}
  const texts = [type, code, message].every((text) => typeof text === 'string')
  return texts && /^req_/.test(request_id ?? '') ? (told as ErrorBody) : undefined
}

/** A proxy that answers for an unreachable server sends a page of its own, not a file of this type. */
const isFile = (headers: Headers, file: string | undefined): boolean =>
  file !== undefined && headers.get('content-type')?.split(';')[0] === file

/** Whether the body is a response of Trilho: a proxy that answers for an unreachable server may send JSON too. */
function isWanted(data: unknown, status: number, has: string | undefined): boolean {
  if (has === '' || (has === undefined && status === 204)) return status === 204
  if (typeof data !== 'object' || data === null) return false
  return has === 'data' ? Array.isArray((data as { data?: unknown }).data) : has === undefined || has in data
}

/** 5xx codes that guarantee that nothing moved; any other 5xx may come after a commit. */
const NOTHING_MOVED = ['rail_unavailable', 'price_unavailable']

/**
 * Whether a refusal also settles the outcome of earlier attempts, even of one still in flight. With an idempotency key, a
 * refusal by a business rule is stored under the key, and a conflicting key stays conflicting. Without a key, a later arrival
 * may be accepted where this one was refused, except for an expired quote.
 */
const settles = (repeat: Repeat, status: number, code: string): boolean =>
  repeat === 'idempotency_key' ? status === 422 || code === 'idempotency_conflict' : code === 'quote_expired'

function outcomeOf(repeat: Repeat, status: number, code: string | undefined, doubt: boolean): Outcome {
  if (repeat === 'safe') return 'none'
  if (code === undefined || (doubt && !settles(repeat, status, code))) return 'unknown'
  const mayHave = status < 300 || status === 408 || status >= 500
  return mayHave && !NOTHING_MOVED.includes(code) ? 'unknown' : 'none'
}

/** Explains a response that is not from Trilho: a proxy or another server sent it. */
function explain({ status, type, headers }: Response, { method, path }: Sending): string {
  const call = `${method} ${path}`
  if (type !== 'opaqueredirect' && (status < 300 || status >= 400))
    return `${call} got ${status} and no JSON of Trilho. Is baseUrl right, and what stands in between?`
  const place = headers.get('location')
  return `${call} is redirected${place ? ` to ${place}` : ''}. Redirects are not followed: set baseUrl to where the server is.`
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

const secondsOf = (text: string | null) => (text !== null && /^\d+$/.test(text) ? Number(text) : undefined)
