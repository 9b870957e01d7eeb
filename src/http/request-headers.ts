import type { FastifyRequest } from 'fastify'
import { Refusal } from '../core/errors.ts'

/** Said twice, they mean one thing to a proxy and another one here. */
const SINGLE = new Set(['host', 'content-length', 'content-type', 'authorization'])

/** What is wrong with the headers of a request, whatever it asks for. */
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

/** Elsewhere the key is a header. Whoever sends one means well, and must not believe that it is used. */
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
