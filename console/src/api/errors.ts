/** The error object of the API. */
export class ApiError extends Error {
  readonly code: string
  readonly status: number
  readonly param: string | undefined
  readonly details: Readonly<Record<string, unknown>>
  readonly request_id: string | undefined
  /** Seconds. */
  readonly retry_after: number | undefined

  constructor(said: {
    code: string
    message: string
    status: number
    param?: string | undefined
    details?: Readonly<Record<string, unknown>> | undefined
    request_id?: string | undefined
    retry_after?: number | undefined
  }) {
    super(said.message)
    this.name = 'ApiError'
    this.code = said.code
    this.status = said.status
    this.param = said.param
    this.details = said.details ?? {}
    this.request_id = said.request_id
    this.retry_after = said.retry_after
  }
}

/**
 * The request got no response. A read, or a request that was never sent, changed nothing; for any other request the outcome is
 * unknown.
 */
export class Unreachable extends Error {
  readonly took_effect: 'no' | 'unknown'

  constructor(method: string, cause: unknown, sent = true) {
    super('no answer', { cause })
    this.name = 'Unreachable'
    this.took_effect = method === 'GET' || !sent ? 'no' : 'unknown'
  }
}

/** Another person has signed in in this browser. The call is dropped: it must not be made under the other person's name. */
export class PersonChanged extends Error {
  constructor() {
    super('somebody else has signed in')
    this.name = 'SomebodyElse'
  }
}

/** A 5xx after a write: the write may have taken effect. */
export const isUncertain = (error: unknown): boolean =>
  error instanceof Unreachable
    ? error.took_effect === 'unknown'
    : error instanceof ApiError && error.status >= 500

/** The longest wait that a refused read makes by itself. A longer one is shown to the person, with the seconds that are left. */
const WAIT_MAX_S = 5

/** Whether the same read may succeed in a moment: it got no response, the service is overloaded, or asks for a short wait. */
export const isPassing = (error: unknown): boolean => {
  if (error instanceof PersonChanged) return false
  if (!(error instanceof ApiError)) return true
  if (error.status === 429) return (error.retry_after ?? 0) <= WAIT_MAX_S
  return error.status >= 500
}

export async function errorOf(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => undefined)) as
    | {
        error?: {
          code?: string
          message?: string
          param?: string
          details?: Record<string, unknown>
          request_id?: string
        }
      }
    | undefined
  const said = body?.error
  const retry_after = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new ApiError({
    code: said?.code ?? `http_${response.status}`,
    message: said?.message ?? response.statusText,
    status: response.status,
    param: said?.param,
    details: said?.details,
    request_id: said?.request_id ?? response.headers.get('x-request-id') ?? undefined,
    retry_after: Number.isNaN(retry_after) ? undefined : retry_after,
  })
}
