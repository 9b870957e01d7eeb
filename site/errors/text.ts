import type { ErrorCode } from '../../src/core/errors.ts'

/** The text of an error page. Plain text with `code` in backticks; an empty line separates paragraphs. */
export type ErrorText = {
  /** What happened. */
  readonly what: string
  /** Whether money moved. */
  readonly money: string
  /** What to do now. */
  readonly todo: string
  /** Whether the same request may succeed later. */
  readonly retry: string
}

/** One text per code: a missing one does not compile. */
export type ErrorTexts = Readonly<Record<ErrorCode, ErrorText>>

/** A sentence in each language. */
export type InBoth = Readonly<Record<'en' | 'pt', string>>

/** A request that gets this error in the sandbox. In path and body, `$CUSTOMER` stands for the id of a customer. */
export type Cause = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT'
  readonly path: string
  /** Sent as JSON; a string is sent as it is. */
  readonly body?: Readonly<Record<string, unknown>> | string
  /** Override the default `Authorization` and `Content-Type`; an empty value omits the header. */
  readonly headers?: Readonly<Record<string, string>>
  /** A precondition in one sentence, if the request alone does not cause the error. */
  readonly first?: InBoth
}
