import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Gate } from './gate.ts'
import { rateLimitHeaders, securityHeaders } from './headers.ts'
import { isLoopback } from './ip.ts'
import { brokenOff } from './refusals.ts'
import { isGone, withinDeadline } from './request-deadline.ts'
import './request.ts'
import { waitMsOf } from './wait.ts'

/** Steps before a body is read: headers of every response, and admission. */
export type AdmissionSteps = {
  /** Sets the request id, the security headers and the three rate limit headers, which every response carries. */
  prepare(request: FastifyRequest, reply: FastifyReply): void
  /** Counts a request without a key by its address, except health checks from the machine itself. */
  visit(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Asks the gate, and stores its answer on the request. */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<void>
}

export function openAdmissionSteps(gate: Gate, answer_ms: number): AdmissionSteps {
  return {
    prepare(request, reply) {
      request.address = gate.addressOf(
        request.socket.remoteAddress ?? '',
        request.headers['x-forwarded-for'] as string | undefined,
      )
      request.answer_by = performance.now() + answer_ms
      reply.headers(securityHeaders)
      reply.header('x-request-id', request.id)
      reply.headers(rateLimitHeaders(gate.windowOf(request.address)))
    },

    async visit(request, reply) {
      const { watches, own_gate } = request.routeOptions?.config ?? {}
      const free = own_gate || (watches && isLoopback(request.address))
      const away = free ? undefined : gate.visit(request.address)
      if (!away) return
      reply.headers(rateLimitHeaders(away.window))
      throw away.refusal
    },

    async admit(request, reply) {
      request.admit_began_at = performance.now()
      const admitting = gate.admit(admissionRequestOf(request))
      const admission = await withinDeadline(request, admitting, (late) => late.refusal ?? late.leave())
      reply.headers(rateLimitHeaders(admission.window))
      request.by = admission.by
      if (admission.refusal) throw admission.refusal
      // The client has left meanwhile: its 'close' event has already fired, so the place must be freed here.
      if (isGone(request)) {
        admission.leave()
        throw brokenOff()
      }
      request.admitted = admission
      // A client that leaves before the handler runs frees its place.
      reply.raw.once('close', () => request.running || admission.leave())
      request.raw.once('close', () => request.running || request.raw.complete || admission.leave())
    },
  }
}

const admissionRequestOf = (request: FastifyRequest) => ({
  authorization: request.headers.authorization,
  address: request.address,
  endpoint: request.routeOptions.config?.endpoint,
  dry_run: (request.query as { dry_run?: unknown } | undefined)?.dry_run === 'true',
  waits: waitMsOf(request.routeOptions.config?.endpoint, request.query) > 0,
})
