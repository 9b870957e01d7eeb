import { Type as T } from 'typebox'
import { AssetName, Fields, Id, Timestamp } from '../../../http/schema.ts'
import { tierNames } from '../../../limits/tiers.ts'
import { periods } from '../../../money/daily/series.ts'
import { PriceObject } from '../../../money/quotes/contract.ts'
import { type ConsoleEndpoint, consoleEndpoint } from '../endpoint.ts'

const OrNull = <S extends Parameters<typeof T.Union>[0][number]>(schema: S) => T.Union([schema, T.Null()])
/** Only the ledger bounds a sum. */
const Sum = T.String({ pattern: '^(0|[1-9][0-9]*)$', description: 'Whole number of the smallest unit' })
const Count = T.Integer({ minimum: 0 })

const Unanswered = T.Object({
  rail: T.String({ description: 'pix, or a network' }),
  asset: AssetName,
  count: Count,
  amount: Sum,
  since: Timestamp,
})

const TroubledWebhook = T.Object({
  id: Id('webhook_endpoint'),
  url: T.String(),
  status: T.Enum(['enabled', 'disabled']),
  disabled_reason: OrNull(T.String()),
  since: OrNull(Timestamp),
  waiting: Count,
  exhausted: Count,
  next_attempt_at: OrNull(Timestamp),
  answered: OrNull(T.Integer()),
  error: OrNull(T.String()),
})

const OldValue = T.Object({
  id: Id('key'),
  name: T.String(),
  last_four: T.String(),
  valid_until: Timestamp,
})

const Act = T.Object({
  seq: T.String({ description: 'Number of its line in the log of `shared`, to dismiss it by' }),
  at: Timestamp,
  action: T.String(),
  actor_kind: T.String(),
  actor_email: OrNull(T.String()),
  object_email: OrNull(T.String()),
})

const Attention = T.Object({
  unanswered: T.Array(Unanswered),
  webhooks: T.Array(TroubledWebhook),
  old_values: T.Array(OldValue),
  acts: T.Array(Act, { description: 'To people and their sign-in, in the last seven days; for owners' }),
})

const Balance = T.Object({
  asset: AssetName,
  held: Sum,
  available: Sum,
  in_transit: Sum,
  customers: Count,
  days: T.Array(T.Object({ day: T.String(), held: OrNull(Sum) })),
})

const ended = { completed: Count, failed: Count, completed_sum: Sum, failed_sum: Sum }

const Series = T.Object({
  kind: T.String({ description: 'pix, a network, or conversions' }),
  asset: AssetName,
  to_asset: OrNull(AssetName),
  ...ended,
  median_ms: OrNull(T.Integer()),
  each: T.Array(T.Object(ended), { description: 'One for each of `starts`' }),
})

const Latest = T.Object({
  kind: T.Enum(['payout', 'transfer', 'trade', 'deposit']),
  id: T.String(),
  created_at: Timestamp,
  customer: T.Object({ id: Id('customer'), name: T.String() }),
  network: OrNull(T.String()),
  asset: AssetName,
  amount: T.String({ description: 'Signed, in the smallest unit, as the customer sees it' }),
  status: T.String(),
})

const Limit = T.Object({
  key_id: Id('key'),
  name: T.String(),
  window: T.Enum(['minute', 'day']),
  used: Count,
  limit: Count,
})

export const getOverview = consoleEndpoint({
  name: 'console.overview.get',
  route: 'GET /console/api/{environment}/overview',
  summary: 'What needs attention, what is held, what happened',
  permit: 'read',
  heavy: true,
  params: T.Object({ environment: T.Enum(['production', 'sandbox']) }),
  query: Fields({
    period: T.Optional(T.Enum(Object.keys(periods) as (keyof typeof periods)[], { examples: ['30d'] })),
  }),
  reply: {
    status: 200,
    schema: T.Object({
      period: T.Enum(Object.keys(periods) as (keyof typeof periods)[]),
      now: Timestamp,
      settled: T.Boolean({
        description: 'False: the sums do not have yet what happened last. Ask again in a moment',
      }),
      is_new: T.Boolean({ description: 'There is no customer yet' }),
      has_key: T.Boolean({ description: 'There is a key that works' }),
      pix_ready: T.Boolean({
        description: 'Payouts are taken here: false while the Pix rail is not configured',
      }),
      attention: Attention,
      balances: T.Array(Balance),
      starts: T.Array(T.String({ description: 'A day of São Paulo, or the beginning of an hour' })),
      series: T.Array(Series),
      latest: T.Array(Latest),
      tier: T.Enum(tierNames),
      limits: T.Array(Limit),
      prices: T.Array(PriceObject),
    }),
  },
})

export const dismissFromOverview = consoleEndpoint({
  name: 'console.overview.dismiss',
  route: 'POST /console/api/overview/acts/{seq}/dismiss',
  summary: 'Take a change to people off one’s own overview',
  permit: 'acts.read',
  params: T.Object({ seq: T.String({ pattern: '^[1-9][0-9]{0,17}$', examples: ['42'] }) }),
  reply: { status: 204 },
  errors: ['object_not_found'],
})

export const overviewEndpoints: readonly ConsoleEndpoint[] = [getOverview, dismissFromOverview]
