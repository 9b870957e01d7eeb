import type { FastifyInstance } from 'fastify'
import type { AssertReady } from './readiness.ts'
import type { Role } from './role.ts'

/** Endpoints for operators and load balancers: alive, and ready. Neither needs an API key. */
type HealthOptions = {
  readonly role: Role
  readonly assertReady: AssertReady
  /** Additional facts for people who read the response. Whether the node is ready never depends on them. */
  readonly details: () => Promise<Record<string, unknown>>
}

/** Calls from the machine itself are never counted against limits, nor refused. */
export const watches = { config: { watches: true } } as const

/** Details query the database, and callers need no key: so the result is cached. */
const DETAILS_KEPT_MS = 1000

export function registerHealth(app: FastifyInstance, options: HealthOptions): void {
  const { role } = options
  let kept:
    | { readonly at: number; readonly details: Promise<Record<string, unknown> | undefined> }
    | undefined
  const recentDetails = () => {
    if (!kept || performance.now() - kept.at > DETAILS_KEPT_MS)
      kept = { at: performance.now(), details: options.details().catch(() => undefined) }
    return kept.details
  }
  app.get('/healthz', watches, async (_, reply) =>
    reply.type('application/json').send(JSON.stringify({ status: 'ok', role })),
  )
  app.get('/readyz', watches, async (_, reply) => {
    await options.assertReady()
    const details = await recentDetails()
    return reply
      .type('application/json')
      .send(JSON.stringify({ status: 'ready', role, ...(details ? { details } : {}) }))
  })
}
