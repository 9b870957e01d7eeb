import { Type as T } from 'typebox'
import { Fields, Id, Page, pageQuery, timeQuery } from '../../../http/schema.ts'
import { EventObject, listEvents } from '../../../records/events/contract.ts'
import { RequestObject } from '../../../records/requests/contract.ts'
import { redeliverOneEvent } from '../../../webhooks/contract.ts'
import { type ConsoleEndpoint, consoleEndpoint } from '../endpoint.ts'
import { EnvironmentName } from './lists.ts'
import { DeliveryLineObject } from './webhook-contract.ts'

const params = T.Object({ environment: EnvironmentName })
const eventParams = T.Object({ environment: EnvironmentName, event_id: Id('event') })

const { type, object_id } = listEvents.query.properties
const { data, ...eventFields } = EventObject.properties

export const listEventsInConsole = consoleEndpoint({
  name: 'console.events.list',
  route: 'GET /console/api/{environment}/events',
  summary: 'The log of events, newest first, and what became of each',
  permit: 'read',
  params,
  query: Fields({ ...pageQuery, ...timeQuery, type, object_id }),
  reply: {
    status: 200,
    schema: Page(
      T.Object({ ...eventFields, object_id: T.String(), deliveries: T.Array(DeliveryLineObject) }),
    ),
  },
})

const EventDelivery = T.Object({
  ...DeliveryLineObject.properties,
  url: T.String({ description: 'Of the endpoint, or of the one that was' }),
})

export const getEventInConsole = consoleEndpoint({
  name: 'console.events.get',
  route: 'GET /console/api/{environment}/events/{event_id}',
  summary: 'One event: its body, and where it went',
  permit: 'read',
  params: eventParams,
  reply: {
    status: 200,
    schema: T.Object({
      ...eventFields,
      object_id: T.String(),
      body: T.String({ description: 'What is sent, to the byte' }),
      deliveries: T.Array(EventDelivery),
    }),
  },
  errors: ['event_not_found'],
})

export const redeliverEventInConsole = consoleEndpoint({
  name: 'console.events.redeliver',
  route: 'POST /console/api/{environment}/events/{event_id}/redeliver',
  summary: 'Send an event again, to everybody who listens to its type or to one endpoint',
  permit: 'webhooks.write',
  params: eventParams,
  body: redeliverOneEvent.body,
  reply: redeliverOneEvent.reply,
  errors: [
    'not_permitted',
    'event_not_found',
    'webhook_endpoint_not_found',
    'webhook_endpoint_disabled',
    'too_many_redeliveries',
  ],
})

const ListedRequest = T.Object({
  ...RequestObject.properties,
  key_name: T.Union([T.String(), T.Null()]),
  key_last_four: T.Union([T.String(), T.Null()], { description: 'Of the value that was used' }),
})

export const listRequestsInConsole = consoleEndpoint({
  name: 'console.requests.list',
  route: 'GET /console/api/{environment}/requests',
  summary: 'The log of requests, newest first',
  permit: 'read',
  params,
  query: Fields({
    ...pageQuery,
    ...timeQuery,
    status: T.Optional(T.String({ pattern: '^[2-5][0-9]{2}$' })),
    key_id: T.Optional(Id('key')),
    route: T.Optional(T.String({ pattern: '^/v1/[a-z0-9_/{}]{1,100}$' })),
    error_code: T.Optional(T.String({ pattern: '^[a-z_]{1,64}$' })),
    refused: T.Optional(T.Enum(['true'])),
  }),
  reply: { status: 200, schema: Page(ListedRequest) },
})

export const getRequestInConsole = consoleEndpoint({
  name: 'console.requests.get',
  route: 'GET /console/api/{environment}/requests/{request_id}',
  summary: 'One request, by its X-Request-Id',
  permit: 'read',
  params: T.Object({ environment: EnvironmentName, request_id: Id('request') }),
  reply: {
    status: 200,
    schema: T.Object({
      request: ListedRequest,
      said: T.Union([T.String(), T.Null()], {
        description: 'What it asked for, as the row that it made shows it; bodies are not logged',
      }),
      answer: T.Union([T.Object({ status: T.Integer(), body: T.String() }), T.Null()], {
        description: 'What it was told, where that is kept under its idempotency key',
      }),
    }),
  },
  errors: ['request_not_found'],
})

export const logEndpoints: readonly ConsoleEndpoint[] = [
  listEventsInConsole,
  getEventInConsole,
  redeliverEventInConsole,
  listRequestsInConsole,
  getRequestInConsole,
]
