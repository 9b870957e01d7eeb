import { createHash, timingSafeEqual } from 'node:crypto'
import Fastify, { type FastifyInstance } from 'fastify'
import { Refusal } from '../core/errors.ts'
import { sqlState } from '../db/failure.ts'
import type { Pool } from '../db/pool.ts'
import type { PrimaryState } from '../db/primary.ts'
import { refusalHeaders } from '../http/headers.ts'
import { isLoopback } from '../http/ip.ts'
import { toRefusal } from '../http/server.ts'
import type { Metrics } from './metrics.ts'

const READY_MS = 1000
const DETAILS_MS = 500
/** A write that went through so recently speaks for the server, as long as its heartbeat does. */
const WRITTEN_MS = 3000

/** What operators and their machines ask: alive, ready, and how it is doing. None of it needs an API key. */
export type Readiness = { ready(): boolean }

/** Throws why this node should get no traffic. */
export type AssertReady = () => Promise<void>

export function openReadiness(options: {
  readonly db: Pool
  readonly readiness: Readiness
  /** What the heartbeat says of the database. */
  readonly primary: () => PrimaryState
}): AssertReady {
  const canWrite = openWriteCheck(options)
  return async () => {
    if (!options.readiness.ready())
      throw new Refusal('service_unavailable', { message: 'The server is starting or stopping.' })
    if (!(await canWrite()))
      throw new Refusal('service_unavailable', { message: 'The database does not take writes.' })
  }
}

export type HealthOptions = {
  readonly assertReady: AssertReady
  /** More about the state of things, for whoever looks. Whether the node is ready never depends on it. */
  readonly details?: () => Promise<Record<string, unknown>>
}

const watches = { config: { watches: true } } as const

/** Details ask the database, and whoever asks for them needs no key. */
const DETAILS_KEPT_MS = 1000

export function registerHealth(app: FastifyInstance, options: HealthOptions): void {
  let kept: { readonly at: number; readonly details: ReturnType<typeof detailsOf> } | undefined
  const recentDetails = () => {
    if (!kept || performance.now() - kept.at > DETAILS_KEPT_MS)
      kept = { at: performance.now(), details: detailsOf(options) }
    return kept.details
  }
  app.get('/healthz', watches, async (_, reply) => reply.type('application/json').send('{"status":"ok"}'))
  app.get('/readyz', watches, async (_, reply) => {
    await options.assertReady()
    const details = await recentDetails()
    return reply
      .type('application/json')
      .send(JSON.stringify({ status: 'ready', ...(details ? { details } : {}) }))
  })
}

async function detailsOf({ details }: HealthOptions): Promise<Record<string, unknown> | undefined> {
  const told = details?.().catch(() => undefined)
  return told && within(DETAILS_MS, told)
}

/**
 * Whether money could move right now: the server is a primary, takes a write, and whoever must confirm it, such as a
 * synchronous standby, does. Reading would prove nothing, for a standby reads as well.
 */
function openWriteCheck({ db, primary }: { db: Pool; primary: () => PrimaryState }): () => Promise<boolean> {
  let written: { readonly at: number; readonly epoch: number } | undefined
  let running: Promise<boolean> | undefined

  async function write(): Promise<boolean> {
    const { epoch } = primary()
    try {
      await writeNothing(db)
      written = { at: performance.now(), epoch }
      return true
    } catch {
      return false
    } finally {
      running = undefined
    }
  }

  return async () => {
    const { up, epoch } = primary()
    const recent = written?.epoch === epoch && performance.now() - written.at < WRITTEN_MS
    if (up && recent) return true
    running ??= write()
    return (await within(READY_MS, running)) ?? false
  }
}

const NOT_ALLOWED = '42501'

/** A few bytes in the log of the server and nowhere else, committed like everything else. */
async function writeNothing(db: Pool): Promise<void> {
  try {
    await db.query(`SELECT pg_logical_emit_message(true, 'trilho', '')`)
  } catch (error) {
    if (sqlState(error) !== NOT_ALLOWED) throw error
    await db.query('SELECT pg_current_xact_id()')
  }
}

/** Undefined when it takes longer. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/**
 * Behind the token if there is one. Without one, nobody is let in on the port of the API: to a proxy on this machine every
 * request of the world comes from here. On a port of their own metrics are open to this machine.
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
