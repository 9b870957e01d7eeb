import type { FastifyRequest } from 'fastify'
import { Refusal } from '../core/errors.ts'

/** Headers that may be sent once only: of two values a proxy and this server might use different ones. */
const SINGLE = new Set(['host', 'content-length', 'content-type', 'authorization'])

/** The refusal of a request whose headers are malformed, on any route. */
export function malformation({ raw }: FastifyRequest): Refusal | undefined {
  if (raw.httpVersion === '1.1' && raw.headers.host === undefined)
    return new Refusal('invalid_request', { message: 'An HTTP/1.1 request needs a Host header.' })
  const seen = new Set<string>()
  for (let i = 0; i < raw.rawHeaders.length; i += 2) {
    const name = raw.rawHeaders[i]!.toLowerCase()
    if (!SINGLE.has(name)) continue
    if (seen.has(name))
      return new Refusal('invalid_request', { message: `The header ${name} may be sent once only.` })
    seen.add(name)
  }
  return undefined
}

/** Other APIs take the idempotency key as a header. A caller that sends the header must learn that it is not read. */
export function explainHeader(refusal: Refusal, { headers, body }: FastifyRequest): Refusal {
  const missing = refusal.code === 'invalid_request' && refusal.param === 'idempotency_key'
  const inBody = (body as { idempotency_key?: unknown } | undefined)?.idempotency_key !== undefined
  if (!missing || inBody || headers['idempotency-key'] === undefined) return refusal
  return new Refusal('invalid_request', {
    param: 'idempotency_key',
    message:
      'The idempotency key goes into the body, as the field idempotency_key. The header Idempotency-Key is not read.',
  })
}
