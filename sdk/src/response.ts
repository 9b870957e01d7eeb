import type { Failure, Sending } from './attempt.js'
import type { Answer, Repeat } from './call.js'
import { ApiError, type Outcome } from './errors.js'

/** Makes of a response what was asked for, or an error. */
export async function readResponse(
  response: Response,
  sending: Sending,
  doubt: boolean,
): Promise<Answer<unknown> | Failure> {
  const { status, ok, headers } = response
  const data = parse(await response.text())
  const requestId = headers.get('x-request-id') ?? undefined
  if (ok && isWanted(data, status, sending.has))
    return { data, response, requestId, replayed: headers.get('idempotent-replayed') === 'true' }
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
  return { error, unheard: status === 429 && told !== undefined }
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

/** What something in front of the server says of itself tells nothing of what the server has done. */
function errorIn(data: unknown): ErrorBody | undefined {
  const told = (data as { error?: Partial<ErrorBody> } | null | undefined)?.error
  const { type, code, message, request_id } = told ?? {}
  const texts = [type, code, message].every((text) => typeof text === 'string')
  return texts && /^req_/.test(request_id ?? '') ? (told as ErrorBody) : undefined
}

/** JSON alone makes no answer: what answers for a server that is away may speak it too. */
function isWanted(data: unknown, status: number, has: string | undefined): boolean {
  if (has === '' || (has === undefined && status === 204)) return status === 204
  if (typeof data !== 'object' || data === null) return false
  return has === 'data' ? Array.isArray((data as { data?: unknown }).data) : has === undefined || has in data
}

/** These say of themselves that nothing moved; any other 5xx may come after a commit. */
const NOTHING_MOVED = ['rail_unavailable', 'price_unavailable']

/**
 * Whether a refusal tells what became of earlier attempts too, even of one that is still on its way. One by a business
 * rule is kept under the idempotency key, and a key that is another order's stays so; without a key, the next to arrive may
 * find what this one did not, except in a quote whose time is over.
 */
const settles = (repeat: Repeat, status: number, code: string): boolean =>
  repeat === 'idempotency_key' ? status === 422 || code === 'idempotency_conflict' : code === 'quote_expired'

function outcomeOf(repeat: Repeat, status: number, code: string | undefined, doubt: boolean): Outcome {
  if (repeat === 'safe') return 'none'
  if (code === undefined || (doubt && !settles(repeat, status, code))) return 'unknown'
  const mayHave = status < 300 || status === 408 || status >= 500
  return mayHave && !NOTHING_MOVED.includes(code) ? 'unknown' : 'none'
}

/** What is no JSON of Trilho comes from something in front of it, or from another server. */
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
