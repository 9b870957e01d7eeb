import type { ErrorCode } from '../../src/core/errors.ts'

/** What the page of an error code tells. Plain text, but for `code`; paragraphs are parted by an empty line. */
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
  /** In place of the usual `Authorization` and `Content-Type`; an empty value leaves the header out. */
  readonly headers?: Readonly<Record<string, string>>
  /** What must be so before, in a sentence, where the request alone does not cause it. */
  readonly first?: InBoth
}

/** Not every error can be caused at will: an overload has no request of its own. */
export type Causes = Readonly<Partial<Record<ErrorCode, Cause>>>
