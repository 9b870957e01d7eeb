import { Type as T } from 'typebox'
import { Fields, Id, Page, pageQuery, Timestamp, TimeText, timeQuery } from '../../../http/schema.ts'
import { eventTypes, TEST_TYPE } from '../../../records/events/types.ts'
import {
  createWebhookEndpoint,
  DeliveryObject,
  redeliverRangeOfEvents,
  updateWebhookEndpoint,
  WebhookEndpointObject,
} from '../../../webhooks/contract.ts'
import { deliveryStatuses } from '../../../webhooks/delivery-store.ts'
import { type ConsoleEndpoint, consoleEndpoint, FormId } from '../endpoint.ts'
import { orderQuery, TotalsObject } from '../list-schema.ts'
import { EnvironmentName } from './lists.ts'

export const DeliveryLineObject = T.Object(
  {
    event_id: Id('event'),
    endpoint_id: Id('webhook_endpoint'),
    type: T.String(),
    status: T.Enum([...deliveryStatuses]),
    attempts: T.Integer({ description: 'All that were ever made' }),
    next_attempt_at: T.Union([Timestamp, T.Null()], { description: 'While it is pending' }),
    created_at: Timestamp,
    answer_status: T.Union([T.Integer(), T.Null()], { description: 'Of the last attempt' }),
    error: T.Union([T.String(), T.Null()], { description: 'Why the last attempt had no answer' }),
  },
  { $id: 'ConsoleDelivery' },
)

const endpointFields = {
  ...WebhookEndpointObject.properties,
  waiting: T.Integer({ description: 'Deliveries that are not through yet, counted up to a thousand' }),
  next_attempt_at: T.Union([Timestamp, T.Null()]),
  last: T.Union([DeliveryLineObject, T.Null()], { description: 'The newest delivery' }),
}
const EndpointObject = T.Object(endpointFields, { $id: 'ConsoleWebhook' })
const EndpointWithSecret = T.Object({
  endpoint: EndpointObject,
  secret: T.String({ description: 'Signs what is sent; shown this once' }),
})

const params = T.Object({ environment: EnvironmentName })
const endpointParams = T.Object({ environment: EnvironmentName, endpoint_id: Id('webhook_endpoint') })
const deliveryParams = T.Object({
  environment: EnvironmentName,
  endpoint_id: Id('webhook_endpoint'),
  event_id: Id('event'),
})

const ofOne = ['not_permitted', 'webhook_endpoint_not_found'] as const

export const listWebhooks = consoleEndpoint({
  name: 'console.webhooks.list',
  route: 'GET /console/api/{environment}/webhooks',
  summary: 'Webhook endpoints, newest first, and how their queues stand',
  permit: 'read',
  heavy: true,
  params,
  query: Fields(pageQuery),
  reply: { status: 200, schema: Page(EndpointObject) },
})

export const getWebhook = consoleEndpoint({
  name: 'console.webhooks.get',
  route: 'GET /console/api/{environment}/webhooks/{endpoint_id}',
  summary: 'One webhook endpoint',
  permit: 'read',
  params: endpointParams,
  reply: { status: 200, schema: EndpointObject },
  errors: ['webhook_endpoint_not_found'],
})

export const createWebhook = consoleEndpoint({
  name: 'console.webhooks.create',
  route: 'POST /console/api/{environment}/webhooks',
  summary: 'Create a webhook endpoint; the answer alone has its secret',
  permit: 'webhooks.secret',
  proof: 'production',
  params,
  body: Fields({ form_id: FormId, ...createWebhookEndpoint.body.properties }),
  reply: { status: 201, schema: EndpointWithSecret },
  errors: ['not_permitted', 'proof_needed', 'already_done', 'too_many_webhook_endpoints'],
})

export const changeWebhook = consoleEndpoint({
  name: 'console.webhooks.change',
  route: 'PATCH /console/api/{environment}/webhooks/{endpoint_id}',
  summary:
    'Change, enable or disable a webhook endpoint; in production another URL, or more events, take a fresh proof',
  permit: 'webhooks.write',
  params: endpointParams,
  body: updateWebhookEndpoint.body,
  reply: { status: 200, schema: EndpointObject },
  errors: [...ofOne, 'proof_needed'],
})

export const deleteWebhook = consoleEndpoint({
  name: 'console.webhooks.delete',
  route: 'DELETE /console/api/{environment}/webhooks/{endpoint_id}',
  summary: 'Delete a webhook endpoint',
  permit: 'webhooks.secret',
  params: endpointParams,
  reply: { status: 204 },
  errors: [...ofOne, 'proof_needed'],
})

export const rotateWebhookSecretInConsole = consoleEndpoint({
  name: 'console.webhooks.rotate_secret',
  route: 'POST /console/api/{environment}/webhooks/{endpoint_id}/rotate_secret',
  summary: 'Give a webhook endpoint a new secret; the answer alone has it',
  permit: 'webhooks.secret',
  params: endpointParams,
  body: Fields({ form_id: FormId, grace_hours: T.Integer({ minimum: 0, maximum: 168 }) }),
  reply: { status: 200, schema: EndpointWithSecret },
  errors: [...ofOne, 'proof_needed', 'already_done'],
})

export const testWebhook = consoleEndpoint({
  name: 'console.webhooks.test',
  route: 'POST /console/api/{environment}/webhooks/{endpoint_id}/test',
  summary: 'Send a test event to a webhook endpoint',
  permit: 'webhooks.write',
  params: endpointParams,
  reply: { status: 201, schema: T.Object({ event_id: Id('event') }) },
  errors: [...ofOne, 'webhook_endpoint_disabled', 'too_many_redeliveries'],
})

export const redeliverRangeInConsole = consoleEndpoint({
  name: 'console.webhooks.redeliver',
  route: 'POST /console/api/{environment}/webhooks/{endpoint_id}/redeliver',
  summary: 'Send everything of a time range again',
  permit: 'webhooks.write',
  params: endpointParams,
  body: Fields({
    from: TimeText(),
    to: TimeText(),
    only_failed: T.Optional(
      T.Boolean({
        description: 'Only events whose delivery was given up or canceled, not those that arrived',
      }),
    ),
  }),
  reply: redeliverRangeOfEvents.reply,
  errors: [...ofOne, 'webhook_endpoint_disabled', 'too_many_redeliveries'],
})

export const retryWaitingInConsole = consoleEndpoint({
  name: 'console.webhooks.retry_waiting',
  route: 'POST /console/api/{environment}/webhooks/{endpoint_id}/retry_waiting',
  summary: 'Try every waiting delivery of an endpoint now instead of at its next time',
  permit: 'webhooks.write',
  params: endpointParams,
  body: Fields({}),
  reply: {
    status: 200,
    schema: T.Object({
      retried: T.Integer({ description: 'How many are due now that would have waited' }),
      more: T.Boolean({ description: 'More wait than one call takes: call again' }),
    }),
  },
  errors: [...ofOne, 'webhook_endpoint_disabled', 'too_many_redeliveries'],
})

const HealthDay = T.Object({
  day: T.String({ description: 'A day of São Paulo' }),
  delivered: T.Integer(),
  failed: T.Integer({ description: 'Given up, or canceled with the endpoint' }),
  pending: T.Integer(),
  /** Null on a day without a response. */
  median_ms: T.Union([T.Integer(), T.Null()]),
  complete: T.Boolean({ description: 'False: the day has more deliveries than are counted' }),
})

export const getWebhookHealth = consoleEndpoint({
  name: 'console.webhooks.health',
  route: 'GET /console/api/{environment}/webhooks/{endpoint_id}/health',
  summary: 'Deliveries of each of the last days, and how long the receiver took',
  permit: 'read',
  heavy: true,
  params: endpointParams,
  reply: {
    status: 200,
    schema: T.Object({
      days: T.Array(HealthDay),
      counted_most: T.Integer({ description: 'Per day' }),
    }),
  },
  errors: ['webhook_endpoint_not_found'],
})

const deliveryFilters = {
  ...timeQuery,
  status: T.Optional(T.Enum([...deliveryStatuses])),
  event_id: T.Optional(Id('event')),
  type: T.Optional(T.Enum([...eventTypes, TEST_TYPE])),
}

export const listDeliveriesInConsole = consoleEndpoint({
  name: 'console.deliveries.list',
  route: 'GET /console/api/{environment}/webhooks/{endpoint_id}/deliveries',
  summary: 'What was sent to a webhook endpoint, by time',
  permit: 'read',
  params: endpointParams,
  query: Fields({ ...pageQuery, ...orderQuery, ...deliveryFilters }),
  reply: { status: 200, schema: Page(DeliveryLineObject) },
  errors: ['webhook_endpoint_not_found'],
})

export const totalDeliveries = consoleEndpoint({
  name: 'console.deliveries.totals',
  route: 'GET /console/api/{environment}/webhooks/{endpoint_id}/deliveries/totals',
  summary: 'How many deliveries a filter matches, by status',
  permit: 'read',
  heavy: true,
  params: endpointParams,
  query: Fields(deliveryFilters),
  reply: { status: 200, schema: TotalsObject },
  errors: ['webhook_endpoint_not_found'],
})

export const getDeliveryInConsole = consoleEndpoint({
  name: 'console.deliveries.get',
  route: 'GET /console/api/{environment}/webhooks/{endpoint_id}/deliveries/{event_id}',
  summary: 'One delivery: every attempt, with what was sent and what came back',
  permit: 'read',
  params: deliveryParams,
  reply: {
    status: 200,
    schema: T.Object({
      delivery: DeliveryObject,
      under_way: T.Boolean({ description: 'It is being tried at this moment' }),
      then_after_ms: T.Array(T.Integer(), {
        description: 'How long it waits after the next failure, and those behind it',
      }),
    }),
  },
  errors: ['webhook_endpoint_not_found', 'event_not_found'],
})

export const tryDeliveryNow = consoleEndpoint({
  name: 'console.deliveries.try',
  route: 'POST /console/api/{environment}/webhooks/{endpoint_id}/deliveries/{event_id}/try',
  summary: 'Try a delivery now; one that has come to its end begins anew',
  permit: 'webhooks.write',
  params: deliveryParams,
  reply: { status: 200, schema: DeliveryLineObject },
  errors: [...ofOne, 'event_not_found', 'webhook_endpoint_disabled', 'too_many_redeliveries'],
})

export const consoleWebhookEndpoints: readonly ConsoleEndpoint[] = [
  listWebhooks,
  getWebhook,
  createWebhook,
  changeWebhook,
  deleteWebhook,
  rotateWebhookSecretInConsole,
  testWebhook,
  redeliverRangeInConsole,
  retryWaitingInConsole,
  getWebhookHealth,
  listDeliveriesInConsole,
  totalDeliveries,
  getDeliveryInConsole,
  tryDeliveryNow,
]
