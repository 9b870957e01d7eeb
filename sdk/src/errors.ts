import type { ErrorCode, ErrorDetails, ErrorType, Open } from './generated/types.js'

/**
 * What became of a call that failed. `none`: nothing happened. `unknown`: it may have happened. Then send it again with the
 * same idempotency key, which is safe, or look for it: `list({ idempotency_key })`.
 */
export type Outcome = 'none' | 'unknown'

type Details<Code extends string> = Code extends keyof ErrorDetails
  ? ErrorDetails[Code]
  : Readonly<Record<string, unknown>> | undefined

export type ApiErrorFields<Code extends string> = Pick<
  ApiError<Code>,
  'status' | 'type' | 'code' | 'message' | 'param' | 'details' | 'docUrl' | 'requestId' | 'outcome'
> & { readonly retryAfter: number | undefined }

/** The server refused. `code` is what a program looks at; a code of a later version stays the text that it is. */
export class ApiError<Code extends string = Open<ErrorCode>> extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly type: Open<ErrorType>
  readonly code: Code
  /** The field at fault, where there is one. */
  readonly param: string | undefined
  readonly details: Details<Code>
  /** The page about this code. */
  readonly docUrl: string | undefined
  /** Names the request in the server's log. */
  readonly requestId: string | undefined
  readonly outcome: Outcome
  /** Seconds after which it may work, where the server said so. */
  readonly retryAfter: number | undefined

  constructor(fields: ApiErrorFields<Code>) {
    super(fields.message)
    this.status = fields.status
    this.type = fields.type
    this.code = fields.code
    this.param = fields.param
    this.details = fields.details
    this.docUrl = fields.docUrl
    this.requestId = fields.requestId
    this.outcome = fields.outcome
    this.retryAfter = fields.retryAfter
  }

  /** Whether it is one of these codes; `details` then has the type of that code. */
  is<Known extends ErrorCode>(...codes: readonly Known[]): this is ApiError<Known> {
    return (codes as readonly string[]).includes(this.code)
  }
}

/** No response came: refused, cut, or too late. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly outcome: Outcome

  constructor(message: string, { outcome, cause }: { outcome: Outcome; cause?: unknown }) {
    super(message, { cause })
    this.outcome = outcome
  }
}
