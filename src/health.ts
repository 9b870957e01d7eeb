import { createHash, timingSafeEqual } from 'node:crypto'
import Fastify, { type FastifyInstance } from 'fastify'
import type { QueryConfig } from 'pg'
import { Refusal } from './core/errors.ts'
import type { Pool } from './db/pool.ts'
import { toRefusal } from './http/server.ts'
import type { Metrics } from './metrics.ts'

const READY_MS = 2000

/** What operators and their machines ask: alive, ready, and how it is doing. None of it needs an API key. */
export type Readiness = { ready(): boolean }

export function registerHealth(
  app: FastifyInstance,
  options: {
    db: Pool
    readiness: Readiness
    /** What else is worth telling; it plays no part in the status. */
    details?: () => Promise<Record<string, unknown>>
  },
): void {
  app.get('/healthz', async (_, reply) => reply.type('application/json').send('{"status":"ok"}'))
  app.get('/readyz', async (_, reply) => {
    if (!options.readiness.ready())
      throw new Refusal('service_unavailable', { message: 'The server is starting or stopping.' })
    await options.db.query({ text: 'SELECT 1', query_timeout: READY_MS } as QueryConfig).catch(() => {
      throw new Refusal('service_unavailable', { message: 'The database does not answer.' })
    })
    const details = await options.details?.().catch(() => undefined)
    return reply.type('application/json').send(JSON.stringify({ status: 'ready', ...details }))
  })
}

/** Behind the token if there is one; without one, only for requests from this machine. */
export function registerMetrics(
  app: FastifyInstance,
  { metrics, token }: { metrics: Metrics; token: string | undefined },
): void {
  app.get('/metrics', async (request, reply) => {
    const allowed =
      token === undefined
        ? isLoopback(request.socket.remoteAddress) && !request.headers['x-forwarded-for']
        : equal(request.headers.authorization ?? '', `Bearer ${token}`)
    if (!allowed)
      throw new Refusal('invalid_api_key', {
        message: 'Metrics need the token of METRICS_TOKEN: Authorization: Bearer <token>.',
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
    return reply.code(refusal.status).send(refusal.toBody({ public_url: '', request_id: request.id }))
  })
  registerMetrics(app, options)
  await app.listen({ host: options.host, port: options.port })
  return app
}

const isLoopback = (address = '') => address === '::1' || /^(::ffff:)?127\./.test(address)

function equal(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
