import type { ErrorCode, ErrorDetails, ErrorType, Open } from './generated/types.js'

/**
 * The outcome of a failed call. `none`: this call did nothing; an earlier call under the same idempotency key may have.
 * `unknown`: the call may have taken effect. Send it again with the same key, which is safe, or look for it: `list({
 * idempotency_key })`.
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

/** The server refused the call. Decide by `code`; a code that this version of the SDK does not know is passed on as text. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** The class of the error; use it for codes that you do not handle. */
  readonly type: Open<ErrorType>
  readonly code: Open<ErrorCode>
  /** The field that caused the error, if any. */
  readonly param: string | undefined
  /** Further fields of some codes; `is` narrows the type. */
  readonly details: unknown
  /** The documentation page of this code. */
  readonly docUrl: string | undefined
  /** The id of the request in the server's log. */
  readonly requestId: string | undefined
  readonly outcome: Outcome
  /** Seconds to wait before a retry, if the server said so. */
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

  /** Whether the error has one of these codes; narrows the type of `details`. */
  is<Code extends ErrorCode>(...codes: readonly Code[]): this is ApiErrorOf<Code> {
    return (codes as readonly string[]).includes(this.code)
  }
}

export type ApiErrorOf<Code extends ErrorCode> = ApiError & {
  readonly code: Code
  readonly details: Code extends keyof ErrorDetails ? ErrorDetails[Code] : unknown
}

/** The call got no response: connection refused or cut, timeout, or aborted by a `signal`, whose reason is then the `cause`. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly outcome: Outcome

  constructor(message: string, { outcome, cause }: { outcome: Outcome; cause?: unknown }) {
    super(message, { cause })
    this.outcome = outcome
  }
}
