import type { Failure, Sending } from './attempt.js'
import type { Answer } from './call.js'
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
  if (ok && (data !== undefined || status === 204))
    return { data, response, requestId, replayed: headers.get('idempotent-replayed') === 'true' }
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
    outcome: sending.repeat === 'safe' ? 'none' : outcomeOf(status, told?.code, doubt),
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
/** Judged where an idempotency key is claimed, so they tell what became of earlier attempts too. */
const SETTLED = [409, 422]

function outcomeOf(status: number, code: string | undefined, doubt: boolean): Outcome {
  if (doubt && !SETTLED.includes(status)) return 'unknown'
  const mayHave = status < 300 || status === 408 || status >= 500
  return mayHave && !NOTHING_MOVED.includes(code ?? '') ? 'unknown' : 'none'
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
