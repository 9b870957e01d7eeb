import type { FastifyInstance } from 'fastify'
import type { Endpoint } from './endpoint.ts'
import type { Admitted, Requester } from './gate.ts'

/** What the server notes on a request while it passes through. */
declare module 'fastify' {
  interface FastifyRequest {
    address: string
    /** When it must be answered, by the clock of `performance`. */
    answer_by: number
    /** When the gate was asked, by the same clock. */
    knocked_at: number
    admitted: Admitted | undefined
    /** A handler is at it: the place of the request is free when it ends, and not when its caller is let go. */
    running: boolean
    /** Set as soon as its key was found good, whatever became of it. */
    by: Requester | undefined
    error_code: string | undefined
    object_id: string | undefined
  }
  interface FastifyContextConfig {
    endpoint?: Endpoint
    /** For whoever watches over this node: from the machine itself it is never counted, nor refused. */
    watches?: true
    /** Judges and counts whoever asks by itself. */
    own_gate?: true
    /** An answer without an end of its own: it ends when its client leaves. */
    endless?: true
  }
}

export function decorateRequests(app: FastifyInstance): void {
  app.decorateRequest('address', '')
  app.decorateRequest('answer_by', 0)
  app.decorateRequest('knocked_at', 0)
  app.decorateRequest('admitted', undefined)
  app.decorateRequest('running', false)
  app.decorateRequest('by', undefined)
  app.decorateRequest('error_code', undefined)
  app.decorateRequest('object_id', undefined)
}
