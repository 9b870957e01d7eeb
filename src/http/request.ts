import type { FastifyInstance } from 'fastify'
import type { Endpoint } from './endpoint.ts'
import type { Admitted, Requester } from './gate.ts'

/** Fields that the server adds to a request. */
declare module 'fastify' {
  interface FastifyRequest {
    address: string
    /** Deadline of the response, by `performance.now()`. */
    answer_by: number
    /** When the gate was asked, by `performance.now()`. */
    admit_began_at: number
    admitted: Admitted | undefined
    /** A handler is running: the request's place is freed when the handler ends, also after a timeout was answered. */
    running: boolean
    /** Set as soon as the key was found valid, also for refused requests. */
    by: Requester | undefined
    error_code: string | undefined
    object_id: string | undefined
  }
  interface FastifyContextConfig {
    endpoint?: Endpoint
    /** A monitoring route: calls from the machine itself are never counted, nor refused. */
    watches?: true
    /** The route authenticates and counts its callers itself. */
    own_gate?: true
    /** A stream: the response ends when its client leaves. */
    endless?: true
  }
}

export function decorateRequests(app: FastifyInstance): void {
  app.decorateRequest('address', '')
  app.decorateRequest('answer_by', 0)
  app.decorateRequest('admit_began_at', 0)
  app.decorateRequest('admitted', undefined)
  app.decorateRequest('running', false)
  app.decorateRequest('by', undefined)
  app.decorateRequest('error_code', undefined)
  app.decorateRequest('object_id', undefined)
}
