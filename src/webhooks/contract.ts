import { Type as T } from 'typebox'
import type { PartnerActor } from '../core/actor.ts'
import type { Environment } from '../core/environment.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { Fields, Id, Page, pageQuery, Text, Timestamp, TimeText, timeQuery } from '../http/schema.ts'
import { eventText, exampleEvent } from '../records/events/contract.ts'
import { eventTypes, TEST_TYPE } from '../records/events/types.ts'
import { type Attempted, type Delivery, deliveryStatuses } from './delivery-store.ts'
import { readSecret, signatureHeaders } from './signature.ts'
import type { WebhookEndpoint } from './store.ts'
import { URL_MAX, URL_PATTERN } from './url.ts'

const Url = T.String({
  minLength: 1,
  maxLength: URL_MAX,
  'x-held': { pattern: URL_PATTERN },
  description: 'Where to POST: https (in the sandbox also http), a public address',
  examples: ['https://example.com/webhooks/trilho'],
})

const Kinds = T.Array(T.Enum([...eventTypes, '*']), {
  minItems: 1,
  maxItems: 50,
  description: 'Event types; * is every type, also those to come',
  examples: [['pix.payout.completed', 'pix.payout.failed']],
})

const Description = Text(200, 'For yourself', { examples: ['Payouts'] })

const endpointFields = {
  id: Id('webhook_endpoint'),
  url: Url,
  events: Kinds,
  description: T.Optional(Description),
  status: T.Enum(['enabled', 'disabled']),
  disabled_reason: T.Optional(
    T.Enum(['by_request', 'gone', 'failing'], {
      description: 'gone: it returned 410; failing: nothing but failures for five days',
      examples: ['failing'],
    }),
  ),
  disabled_at: T.Optional(Timestamp),
  failing_since: T.Optional({
    ...Timestamp,
    description: 'Time of the first failure since the last success, change of URL or enabling',
  }),
  previous_secret_until: T.Optional({
    ...Timestamp,
    description: 'Until then every request is signed with the secret before the last rotation too',
  }),
  created_at: Timestamp,
}

const exampleEndpoint = {
  id: 'whe_01kc3v4x9zq8rj5m2t7w6y0ahb',
  url: 'https://example.com/webhooks/trilho',
  events: ['pix.payout.completed', 'pix.payout.failed'],
  description: 'Payouts',
  status: 'enabled',
  created_at: '2026-11-15T12:00:00.000Z',
}

const exampleSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='

export const WebhookEndpointObject = T.Object(endpointFields, {
  $id: 'WebhookEndpoint',
  examples: [exampleEndpoint],
})

/** The responses of create and rotate: only these two show a secret. */
const WithSecret = T.Object(
  {
    ...endpointFields,
    secret: T.String({
      pattern: '^whsec_[A-Za-z0-9+/]+=*$',
      description: 'Signs what is sent; shown this once',
    }),
  },
  {
    $id: 'WebhookEndpointWithSecret',
    examples: [{ ...exampleEndpoint, secret: exampleSecret }],
  },
)

export const renderEndpoint = (webhook: WebhookEndpoint) => ({
  id: webhook.id,
  url: webhook.url,
  events: webhook.events as never,
  ...(webhook.description === null ? {} : { description: webhook.description }),
  status: webhook.status as 'enabled' | 'disabled',
  ...(webhook.disabled_reason === null ? {} : { disabled_reason: webhook.disabled_reason as 'failing' }),
  ...(webhook.disabled_at === null ? {} : { disabled_at: webhook.disabled_at.toISOString() }),
  ...(webhook.failing_since === null ? {} : { failing_since: webhook.failing_since.toISOString() }),
  ...(webhook.previous_secret_until === null || webhook.previous_secret_until.getTime() < Date.now()
    ? {}
    : { previous_secret_until: webhook.previous_secret_until.toISOString() }),
  created_at: webhook.created_at.toISOString(),
})

const params = T.Object({ endpoint_id: Id('webhook_endpoint') })
export const createWebhookEndpoint = endpoint({
  name: 'webhook_endpoints.create',
  route: 'POST /v1/webhook_endpoints',
  summary: 'Create a webhook endpoint',
  description:
    'From now on every event of these types is sent there, signed as Standard Webhooks 1.0. The response holds the `secret` to verify it with, this once.',
  scopes: { all: ['webhooks', 'read'] },
  body: Fields({ url: Url, events: Kinds, description: T.Optional(Description) }),
  reply: { status: 201, schema: WithSecret, location: '/v1/webhook_endpoints/{id}' },
  errors: ['too_many_webhook_endpoints'],
  example: {
    url: 'https://example.com/webhooks/trilho',
    events: ['pix.payout.completed', 'pix.payout.failed'],
    description: 'Payouts',
  },
})

export const listWebhookEndpoints = endpoint({
  name: 'webhook_endpoints.list',
  route: 'GET /v1/webhook_endpoints',
  summary: 'List webhook endpoints, newest first',
  scopes: { any: ['read', 'webhooks'] },
  query: Fields({ ...pageQuery, ...timeQuery }),
  reply: { status: 200, schema: Page(WebhookEndpointObject) },
})

export const getWebhookEndpoint = endpoint({
  name: 'webhook_endpoints.get',
  route: 'GET /v1/webhook_endpoints/{endpoint_id}',
  summary: 'Read a webhook endpoint',
  scopes: { any: ['read', 'webhooks'] },
  params,
  reply: { status: 200, schema: WebhookEndpointObject },
  errors: ['webhook_endpoint_not_found'],
})

export const updateWebhookEndpoint = endpoint({
  name: 'webhook_endpoints.update',
  route: 'PATCH /v1/webhook_endpoints/{endpoint_id}',
  summary: 'Change, enable or disable a webhook endpoint',
  description:
    'Only the fields that are sent change; `description: null` removes it. Nothing is sent to a disabled endpoint: what was on its way is `canceled`, and that and what happens meanwhile can be redelivered by time range.',
  scopes: { all: ['webhooks', 'read'] },
  params,
  body: Fields(
    {
      url: T.Optional(Url),
      events: T.Optional(Kinds),
      description: T.Optional(T.Union([Description, T.Null()])),
      status: T.Optional(T.Enum(['enabled', 'disabled'])),
    },
    { minProperties: 1 },
  ),
  reply: { status: 200, schema: WebhookEndpointObject },
  errors: ['webhook_endpoint_not_found'],
  example: { events: ['*'] },
})

export const deleteWebhookEndpoint = endpoint({
  name: 'webhook_endpoints.delete',
  route: 'DELETE /v1/webhook_endpoints/{endpoint_id}',
  summary: 'Delete a webhook endpoint',
  description: 'Nothing is sent there any more: what was on its way is `canceled`.',
  scopes: { all: ['webhooks'] },
  params,
  reply: { status: 204 },
  errors: ['webhook_endpoint_not_found'],
})

export const rotateWebhookSecret = endpoint({
  name: 'webhook_endpoints.rotate_secret',
  route: 'POST /v1/webhook_endpoints/{endpoint_id}/rotate_secret',
  summary: 'Give a webhook endpoint a new secret',
  description:
    'Until the grace ends requests carry two signatures, under the new secret and the one before it, so nothing is refused while you change over.',
  scopes: { all: ['webhooks'] },
  params,
  query: Fields({
    grace_hours: T.Optional(
      T.String({
        pattern: '^([0-9]|[1-9][0-9]|1[0-5][0-9]|16[0-8])$',
        'x-must-be': 'a whole number from 0 to 168',
        'x-read': { type: 'integer', minimum: 0, maximum: 168, default: 24 },
        description: 'Older form; send grace_hours in the body instead',
        examples: ['24'],
      }),
    ),
  }),
  body: Fields({
    grace_hours: T.Optional(
      T.Integer({
        minimum: 0,
        maximum: 168,
        description: 'How long both are valid, in hours; 24 when absent',
        examples: [24],
      }),
    ),
  }),
  body_optional: true,
  reply: { status: 200, schema: WithSecret },
  errors: ['webhook_endpoint_not_found'],
  example: { grace_hours: 24 },
})

const AttemptObject = T.Object({
  attempt: T.Integer(),
  started_at: Timestamp,
  duration_ms: T.Integer(),
  request: T.Object({ url: T.String(), headers: T.Record(T.String(), T.String()) }),
  answer: T.Optional(
    T.Object({
      status: T.Integer(),
      headers: T.Optional(
        T.Record(T.String(), T.String(), {
          description: 'Selected response headers, up to 256 characters each',
        }),
      ),
      body: T.Optional(
        T.String({
          description:
            'Its beginning: of a success 1 KiB, of a failure 4 KiB; in lists 1,024 characters. Kept of the last three attempts, and up to 32 MiB of responses a day; otherwise empty',
        }),
      ),
      body_cut: T.Optional(T.Literal(true, { description: 'There is more of it in the single delivery' })),
    }),
  ),
  error: T.Optional(T.String({ description: 'Why there was no complete response' })),
})

const exampleBody = JSON.stringify(exampleEvent)

const exampleDelivery = {
  event_id: 'evt_01kc3v4x9zq8rj5m2t7w6y0ahb',
  endpoint_id: 'whe_01kc3v4x9zq8rj5m2t7w6y0ahb',
  type: 'pix.payout.completed',
  status: 'delivered',
  created_at: '2026-11-15T12:00:00.850Z',
  ended_at: '2026-11-15T12:00:00.966Z',
  body: exampleBody,
  attempts: [
    {
      attempt: 1,
      started_at: '2026-11-15T12:00:00.870Z',
      duration_ms: 96,
      request: {
        url: 'https://example.com/webhooks/trilho',
        headers: signatureHeaders({
          id: 'evt_01kc3v4x9zq8rj5m2t7w6y0ahb',
          body: exampleBody,
          at: new Date('2026-11-15T12:00:00.870Z'),
          secrets: [readSecret(exampleSecret)],
        }),
      },
      answer: { status: 200, headers: { 'content-type': 'text/plain' }, body: 'ok' },
    },
  ],
}

export const DeliveryObject = T.Object(
  {
    event_id: Id('event'),
    endpoint_id: Id('webhook_endpoint'),
    type: T.Enum([...eventTypes, TEST_TYPE]),
    status: T.Enum([...deliveryStatuses], {
      description:
        'exhausted: every attempt of the schedule failed; canceled: the endpoint was disabled or deleted before it was delivered. Both can be redelivered. There may be more in the future',
    }),
    created_at: Timestamp,
    next_attempt_at: T.Optional({ ...Timestamp, description: 'While it is pending' }),
    ended_at: T.Optional(Timestamp),
    body: T.Optional(T.String({ description: 'What is sent, to the byte, the same in every attempt' })),
    attempts: T.Array(AttemptObject, { description: 'The last 20' }),
  },
  { $id: 'WebhookDelivery', examples: [exampleDelivery] },
)

/**
 * Whether the key may see request and response bodies. They hold the partner's data, so they need the scope `read`; without it a
 * key sees the bodies of events about the endpoint itself only.
 */
const showsBodies = ({ type }: Delivery, { scopes }: Pick<PartnerActor, 'scopes'>): boolean =>
  scopes.includes('read') || type.startsWith('webhook_endpoint.')

export const renderDelivery = (
  delivery: Delivery,
  environment: Environment,
  actor: Pick<PartnerActor, 'scopes'>,
) => ({
  event_id: delivery.id,
  endpoint_id: delivery.endpoint_id,
  type: delivery.type as never,
  status: delivery.status,
  created_at: delivery.delivery_created_at.toISOString(),
  ...(delivery.status === 'pending' ? { next_attempt_at: delivery.next_attempt_at.toISOString() } : {}),
  ...(delivery.ended_at === null ? {} : { ended_at: delivery.ended_at.toISOString() }),
  ...(showsBodies(delivery, actor) ? { body: eventText(delivery, environment) } : {}),
  attempts: delivery.attempts.map((made) => renderAttempt(made, showsBodies(delivery, actor))),
})

const renderAttempt = (made: Attempted, shows_body: boolean) => ({
  attempt: made.attempt,
  started_at: new Date(made.started_at).toISOString(),
  duration_ms: made.duration_ms,
  request: { url: made.url, headers: made.headers },
  ...(made.status === null
    ? {}
    : {
        answer: {
          status: made.status,
          ...(shows_body ? { headers: made.answer_headers ?? {}, body: made.answer_body ?? '' } : {}),
          ...(shows_body && made.cut ? { body_cut: true as const } : {}),
        },
      }),
  ...(made.error === null ? {} : { error: made.error }),
})

const KEYS_WITHOUT_READ =
  'A key without the scope `read` sees no bodies, and no headers of responses, but those of test events.'

export const listDeliveries = endpoint({
  name: 'webhook_endpoints.deliveries',
  route: 'GET /v1/webhook_endpoints/{endpoint_id}/deliveries',
  summary: 'What was sent to a webhook endpoint, and what came back, newest first',
  description: KEYS_WITHOUT_READ,
  scopes: { any: ['read', 'webhooks'] },
  params,
  query: Fields({
    ...pageQuery,
    ...timeQuery,
    status: T.Optional(T.Enum([...deliveryStatuses])),
  }),
  reply: { status: 200, schema: Page(DeliveryObject) },
  errors: ['webhook_endpoint_not_found'],
})

export const getDelivery = endpoint({
  name: 'webhook_endpoints.delivery',
  route: 'GET /v1/webhook_endpoints/{endpoint_id}/deliveries/{event_id}',
  summary: 'One delivery, with all that is kept of the responses',
  description: KEYS_WITHOUT_READ,
  scopes: { any: ['read', 'webhooks'] },
  params: T.Object({ endpoint_id: Id('webhook_endpoint'), event_id: Id('event') }),
  reply: { status: 200, schema: DeliveryObject },
  errors: ['webhook_endpoint_not_found', 'event_not_found'],
})

export const testWebhookEndpoint = endpoint({
  name: 'webhook_endpoints.test',
  route: 'POST /v1/webhook_endpoints/{endpoint_id}/test',
  summary: 'Send a test event to a webhook endpoint',
  description:
    'An event of the type `webhook_endpoint.test`, to this endpoint alone. The delivery is returned as it begins; read it again to see how it went.',
  scopes: { all: ['webhooks'] },
  params,
  reply: { status: 201, schema: DeliveryObject, location: '/v1/events/{event_id}' },
  errors: ['webhook_endpoint_not_found', 'webhook_endpoint_disabled'],
})

const Redelivered = T.Object({
  redelivered: T.Integer({ description: 'How many deliveries begin anew' }),
  next_from: T.Optional({
    ...Timestamp,
    description: 'The range holds more than one call takes: call again with this as from',
  }),
})

export const redeliverRangeOfEvents = endpoint({
  name: 'webhook_endpoints.redeliver',
  route: 'POST /v1/webhook_endpoints/{endpoint_id}/redeliver',
  summary: 'Send everything of a time range again',
  description:
    'Every event from `from` (inclusive) to `to` (exclusive) of the types that the endpoint listens to, whether or not it was delivered before. `webhook-id` stays the same, so a receiver that has it drops it.',
  scopes: { all: ['webhooks', 'read'] },
  params,
  body: Fields({
    from: TimeText({ description: 'Inclusive', examples: ['2026-11-15T12:00:00.000Z'] }),
    to: TimeText({ description: 'Exclusive', examples: ['2026-11-15T13:00:00.000Z'] }),
  }),
  redelivers: true,
  reply: { status: 200, schema: Redelivered },
  errors: ['webhook_endpoint_not_found', 'webhook_endpoint_disabled', 'too_many_redeliveries'],
  example: { from: '2026-11-15T12:00:00.000Z', to: '2026-11-15T13:00:00.000Z' },
})

export const redeliverOneEvent = endpoint({
  name: 'events.redeliver',
  route: 'POST /v1/events/{event_id}/redeliver',
  summary: 'Send an event again',
  description:
    'To every enabled endpoint that listens to its type, whether or not it was delivered before; with `endpoint_id` to that endpoint alone, whatever it listens to. A test event goes to its own endpoint only.',
  scopes: { all: ['webhooks', 'read'] },
  params: T.Object({ event_id: Id('event') }),
  body: Fields({ endpoint_id: T.Optional(Id('webhook_endpoint')) }),
  body_optional: true,
  redelivers: true,
  reply: {
    status: 200,
    schema: T.Object({ redelivered: T.Integer({ description: 'To how many endpoints' }) }),
  },
  errors: [
    'event_not_found',
    'webhook_endpoint_not_found',
    'webhook_endpoint_disabled',
    'too_many_redeliveries',
  ],
  example: { endpoint_id: 'whe_01kc3v4x9zq8rj5m2t7w6y0ahb' },
})

export const webhookEndpoints: readonly Endpoint[] = [
  createWebhookEndpoint,
  listWebhookEndpoints,
  getWebhookEndpoint,
  updateWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
  listDeliveries,
  getDelivery,
  testWebhookEndpoint,
  redeliverRangeOfEvents,
  redeliverOneEvent,
]
