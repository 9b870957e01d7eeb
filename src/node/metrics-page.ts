import { createHash, timingSafeEqual } from 'node:crypto'
import Fastify, { type FastifyInstance } from 'fastify'
import { Refusal } from '../core/errors.ts'
import { refusalHeaders } from '../http/headers.ts'
import { isLoopback } from '../http/ip.ts'
import { toRefusal } from '../http/refusals.ts'
import { watches } from './health.ts'
import type { Metrics } from './metrics.ts'

/**
 * Metrics need the token if there is one. Without a token they are refused on the port of the API: behind a proxy on this
 * machine every request seems to come from this machine. On their own port metrics are open to this machine.
 */
export function registerMetrics(
  app: FastifyInstance,
  options: { metrics: Metrics; token: string | undefined; open_to: (address: string) => boolean },
): void {
  const { metrics, token, open_to } = options
  app.get('/metrics', watches, async (request, reply) => {
    const allowed =
      token === undefined
        ? open_to(request.socket.remoteAddress ?? '')
        : equal(request.headers.authorization ?? '', `Bearer ${token}`)
    if (!allowed)
      throw new Refusal('invalid_api_key', {
        message: token
          ? 'Metrics need the token of METRICS_TOKEN: Authorization: Bearer <token>.'
          : 'Metrics are served to whoever has the token of METRICS_TOKEN, or on METRICS_PORT. Set one of the two.',
      })
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics())
  })
}

export async function startMetricsServer(options: {
  metrics: Metrics
  token: string | undefined
  host: string
  port: number
}): Promise<FastifyInstance> {
  const app = Fastify({ logger: false })
  app.setErrorHandler((error, request, reply) => {
    const refusal = toRefusal(error)
    reply.headers(refusalHeaders(refusal))
    return reply.code(refusal.status).send(refusal.toBody({ public_url: '', request_id: request.id }))
  })
  registerMetrics(app, { ...options, open_to: isLoopback })
  await app.listen({ host: options.host, port: options.port })
  return app
}

function equal(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
