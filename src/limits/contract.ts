import { Type as T } from 'typebox'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { Timestamp } from '../http/schema.ts'

const Window = T.Object({
  limit: T.Integer(),
  used: T.Integer(),
  remaining: T.Integer(),
  resets_at: Timestamp,
})

export const Usage = T.Object(
  {
    minute: Window,
    day: Window,
    endpoints: T.Array(
      T.Object({ endpoint: T.String({ examples: ['POST /v1/quotes'] }), ...Window.properties }),
    ),
    lookups: T.Object(Window.properties, { description: 'Look-ups of Pix keys, per minute' }),
  },
  {
    $id: 'Usage',
    examples: [
      {
        minute: { limit: 100, used: 3, remaining: 97, resets_at: '2026-11-15T12:01:00.000Z' },
        day: { limit: 10_000, used: 41, remaining: 9959, resets_at: '2026-11-16T00:00:00.000Z' },
        endpoints: [
          {
            endpoint: 'POST /v1/pix/payouts',
            limit: 60,
            used: 1,
            remaining: 59,
            resets_at: '2026-11-15T12:01:00.000Z',
          },
        ],
        lookups: { limit: 20, used: 2, remaining: 18, resets_at: '2026-11-15T12:01:00.000Z' },
      },
    ],
  },
)

/** Contract §3, §6. */
export const getUsage = endpoint({
  name: 'usage.get',
  route: 'GET /v1/usage',
  summary: 'What is left of this key’s limits',
  description:
    'Requests left in the current minute, in the current UTC day, for each endpoint that has a limit of its own, and for look-ups of Pix keys. This very request is counted.',
  reply: { status: 200, schema: Usage },
})

export const limitEndpoints: readonly Endpoint[] = [getUsage]
