import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../core/errors.ts'
import { type Endpoint, methodAndPath } from './endpoint.ts'

/** The refusal when no route matches: the path is unknown, or exists only with other methods. */
export function noRouteRefusal(
  request: FastifyRequest,
  reply: FastifyReply,
  endpoints: readonly Endpoint[],
): Refusal {
  const path = request.url.split('?')[0]!
  const allowed = endpoints.map(methodAndPath).filter((route) => pattern(route.path).test(path))
  if (allowed.length === 0) return new Refusal('route_not_found')
  const methods = new Set(allowed.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))
  reply.header('allow', [...methods].join(', '))
  return new Refusal('method_not_allowed')
}

function pattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}
