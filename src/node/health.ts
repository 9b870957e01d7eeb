import type { FastifyInstance } from 'fastify'
import type { AssertReady } from './readiness.ts'
import type { Role } from './role.ts'

/** What operators and their machines ask: alive, and ready. Neither needs an API key. */
export type HealthOptions = {
  readonly role: Role
  readonly assertReady: AssertReady
  /** More about the state of things, for whoever looks, soon. Whether the node is ready never depends on it. */
  readonly details: () => Promise<Record<string, unknown>>
}

/** From the machine itself it is never counted, nor refused. */
export const watches = { config: { watches: true } } as const

/** Details ask the database, and whoever asks for them needs no key. */
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
