import type { ErrorCode, ErrorDetails, ErrorType, Open } from './generated/types.js'

/**
 * What became of a call that failed. `none`: this call did nothing; an earlier one under the same idempotency key may have.
 * `unknown`: it may have happened. Then send it again with the same key, which is safe, or look for it:
 * `list({ idempotency_key })`.
 */
export type Outcome = 'none' | 'unknown'

type Fields = Pick<
  ApiError,
  | 'status'
  | 'type'
  | 'code'
  | 'message'
  | 'param'
  | 'details'
  | 'docUrl'
  | 'requestId'
  | 'outcome'
  | 'retryAfter'
>

/** The server refused. `code` is what a program looks at; a code of a later version stays the text that it is. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** The class of error; decide by it where you do not know the code. */
  readonly type: Open<ErrorType>
  readonly code: Open<ErrorCode>
  /** The field at fault, where there is one. */
  readonly param: string | undefined
  /** More about it, where the code has more to say; `is` gives it a type. */
  readonly details: unknown
  /** The page about this code. */
  readonly docUrl: string | undefined
  /** Names the request in the server's log. */
  readonly requestId: string | undefined
  readonly outcome: Outcome
  /** Seconds after which it may work, where the server said so. */
  readonly retryAfter: number | undefined

  constructor(fields: Fields) {
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
  is<Code extends ErrorCode>(...codes: readonly Code[]): this is ApiErrorOf<Code> {
    return (codes as readonly string[]).includes(this.code)
  }
}

export type ApiErrorOf<Code extends ErrorCode> = ApiError & {
  readonly code: Code
  readonly details: Code extends keyof ErrorDetails ? ErrorDetails[Code] : unknown
}

/** No response came: refused, cut, too late, or left by a `signal`, whose reason is then the `cause`. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly outcome: Outcome

  constructor(message: string, { outcome, cause }: { outcome: Outcome; cause?: unknown }) {
    super(message, { cause })
    this.outcome = outcome
  }
}
