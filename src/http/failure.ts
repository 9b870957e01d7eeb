import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Refusal } from '../core/errors.ts'
import { endGently } from './below-router.ts'
import { isUnread } from './body.ts'
import type { Gate } from './gate.ts'
import { rateLimitHeaders, refusalHeaders } from './headers.ts'
import { forPerson, toRefusal } from './refusals.ts'
import { ClientLeft } from './request-deadline.ts'
import './request.ts'
import { explainHeader } from './request-headers.ts'

/** Answers a request that failed with any error. */
export type Fail = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void

export function openFail(options: {
  readonly gate: Pick<Gate, 'isTrusted'>
  readonly log: Logger
  readonly public_url: () => string
}): Fail {
  const { gate, log, public_url } = options

  /**
   * A client without a key that has used up its window: each further request costs it a connection, which slows it down. Not
   * behind a proxy, whose connections other clients share.
   */
  const isFlood = ({ code, details }: Refusal, { raw }: FastifyRequest) =>
    code === 'rate_limit_exceeded' &&
    details?.window === 'address' &&
    !gate.isTrusted(raw.socket.remoteAddress ?? '')

  return (error, request, reply) => {
    if (error instanceof ClientLeft) {
      request.error_code = 'client_left'
      return void reply.code(CLIENT_LEFT).send()
    }
    const explained = explainHeader(toRefusal(error), request)
    const refusal = request.routeOptions?.config.own_gate ? forPerson(explained) : explained
    request.error_code = refusal.code
    if (!request.running) request.admitted?.leave()
    if (refusal.code === 'internal_error')
      log.error(
        { err: error, request_id: request.id },
        'http: a request failed with an unexpected error; its caller got 500',
      )
    if (refusal.code === 'service_unavailable')
      log.warn(
        { err: error, request_id: request.id },
        'http: a request was refused with 503; its caller may retry',
      )
    reply.headers(refusalHeaders(refusal))
    // A request that is refused late may no longer count in its windows.
    if (refusal.status === 429 && request.admitted)
      reply.headers(rateLimitHeaders(request.admitted.windowNow()))
    if (isUnread(request) || isFlood(refusal, request)) closeAfter(request, reply)
    reply.code(refusal.status).type('application/json; charset=utf-8')
    reply.send(JSON.stringify(refusal.toBody({ public_url: public_url(), request_id: request.id })))
  }
}

/** nginx's status for a client that closed its connection before the response. It is only logged. */
export const CLIENT_LEFT = 499

/** Makes this response the last one of its connection, with `Connection: close`. */
export function closeAfter(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('connection', 'close')
  endGently(request.raw.socket)
}
