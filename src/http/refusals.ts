import type { FastifyError } from 'fastify'
import { type ErrorCode, errors, Refusal } from '../core/errors.ts'
import { QueueFull } from '../core/fair-semaphore.ts'
import { isTooSlow, isUnreachable } from '../db/failure.ts'
import { refusalOf } from './validation.ts'

const ofFastify: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_request',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_json',
  FST_ERR_BAD_URL: 'route_not_found',
  FST_ERR_MAX_PARAM_LENGTH: 'route_not_found',
  FST_ERR_ASYNC_CONSTRAINT: 'route_not_found',
}

/** The one place where an error becomes a response. An unexpected error is a bare 500, logged with its request id. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const { code, validation, statusCode = 500 } = error as FastifyError
  if (validation?.[0]) return refusalOf(validation[0])
  const known = code === undefined ? undefined : ofFastify[code]
  if (known) return new Refusal(known)
  // Fastify blames the request: a body that broke off, a missing header.
  if (statusCode < 500) return brokenOff()
  if (isUnreachable(error) || isTooSlow(error) || error instanceof QueueFull)
    return new Refusal('service_unavailable')
  return new Refusal('internal_error')
}

/** Messages for people in the console, where there is no idempotency key to repeat a request with. */
const withoutKey: Partial<Record<ErrorCode, string>> = {
  internal_error:
    'The service failed. Try again; if the error persists, send the request_id to the operator.',
  service_unavailable: 'The service cannot take this request right now. Try again in a moment.',
}

/** The refusal with a message for a person in the console instead of an API client. */
export function forPerson(refusal: Refusal): Refusal {
  const message = withoutKey[refusal.code]
  const usual = refusal.sentence === errors[refusal.code].message
  return usual && message !== undefined ? new Refusal(refusal.code, { message }) : refusal
}

export function brokenOff(): Refusal {
  return new Refusal('invalid_request', { message: 'The request broke off before its end. Send it again.' })
}

export function tooManyWaiting(limit: number): Refusal {
  return new Refusal('rate_limit_exceeded', {
    message: `More than ${limit} requests wait on this connection. Read the responses before you send more.`,
    retry_after_seconds: 1,
    details: { limit, retry_after_seconds: 1 },
  })
}
