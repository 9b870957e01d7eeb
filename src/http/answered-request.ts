import type { FastifyReply, FastifyRequest } from 'fastify'
import { methodAndPath } from './endpoint.ts'
import type { Requester } from './gate.ts'
import './request.ts'

/** An answered request, as the log of requests stores it. */
export type AnsweredRequest = {
  readonly id: string
  readonly by: Requester
  readonly method: string
  readonly route: string | null
  readonly status: number
  readonly error_code: string | null
  readonly elapsed_ms: number
  readonly address: string
  readonly object_id: string | null
}

export function answeredRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  by: Requester,
): AnsweredRequest {
  const { endpoint } = request.routeOptions.config
  return {
    id: request.id,
    by,
    method: request.method,
    route: endpoint ? methodAndPath(endpoint).path : null,
    status: reply.statusCode,
    error_code: request.error_code ?? null,
    elapsed_ms: reply.elapsedTime,
    address: request.address,
    object_id: objectIdOf(request) ?? null,
  }
}

/** The request as a line of this node's own log. */
export function requestLine(request: FastifyRequest, reply: FastifyReply): Record<string, unknown> {
  return {
    request_id: request.id,
    method: request.method,
    route: request.routeOptions.url ?? 'none',
    status: reply.statusCode,
    error_code: request.error_code,
    object_id: objectIdOf(request),
    ms: Math.round(reply.elapsedTime * 10) / 10,
    address: request.address,
    key_id: request.admitted?.actor.key_id,
  }
}

/** The form of the service's ids: other text that a caller put into a path is not logged. */
const OWN_ID = /^[a-z]{2,4}_[0-9a-z]{26}$/

/** The id of the object in the response, or else the last id in the path. */
const objectIdOf = (request: FastifyRequest): string | undefined =>
  request.object_id ??
  Object.values((request.params ?? {}) as Record<string, string>).findLast((value) => OWN_ID.test(value))

/** The `id` field of a response. */
export const idOf = (answer: unknown): string | undefined => {
  const id = (answer as { id?: unknown } | undefined)?.id
  return typeof id === 'string' && OWN_ID.test(id) ? id : undefined
}

/** Notes the object id or error code of a response that is stored as text. */
export function noteStored(request: FastifyRequest, { body }: { body: string }): void {
  request.object_id = /^\{"id":"([a-z]{2,4}_[0-9a-z]{26})"/.exec(body)?.[1]
  request.error_code = /^\{"error":\{"type":"[a-z_]{1,40}","code":"([a-z_]{1,40})"/.exec(body)?.[1]
}
