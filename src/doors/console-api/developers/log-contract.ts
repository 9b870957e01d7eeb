import { Type as T } from 'typebox'
import { Fields, Id, Page, pageQuery, timeQuery } from '../../../http/schema.ts'
import { EventObject, listEvents } from '../../../records/events/contract.ts'
import { RequestObject } from '../../../records/requests/contract.ts'
import { redeliverOneEvent } from '../../../webhooks/contract.ts'
import { csvQuery } from '../csv.ts'
import { type ConsoleEndpoint, consoleEndpoint } from '../endpoint.ts'
import { orderQuery, TotalsObject } from '../list-schema.ts'
import { EnvironmentName } from './lists.ts'
import { DeliveryLineObject } from './webhook-contract.ts'

const params = T.Object({ environment: EnvironmentName })
const eventParams = T.Object({ environment: EnvironmentName, event_id: Id('event') })

const { type, object_id } = listEvents.query.properties
const { data, ...eventFields } = EventObject.properties

const csv = { status: 200, type: 'text/csv' } as const
const totals = { status: 200, schema: TotalsObject } as const
const eventFilters = { ...timeQuery, type, object_id }

export const listEventsInConsole = consoleEndpoint({
  name: 'console.events.list',
  route: 'GET /console/api/{environment}/events',
  summary: 'The log of events by time, and what became of each',
  permit: 'read',
  params,
  query: Fields({ ...pageQuery, ...orderQuery, ...eventFilters }),
  reply: {
    status: 200,
    schema: Page(
      T.Object({ ...eventFields, object_id: T.String(), deliveries: T.Array(DeliveryLineObject) }),
    ),
  },
})

export const exportEvents = consoleEndpoint({
  name: 'console.events.csv',
  route: 'GET /console/api/{environment}/events.csv',
  summary: 'The same as a table for spreadsheets',
  permit: 'export',
  params,
  query: Fields({ ...orderQuery, ...eventFilters, ...csvQuery }),
  reply: csv,
})

export const totalEvents = consoleEndpoint({
  name: 'console.events.totals',
  route: 'GET /console/api/{environment}/events/totals',
  summary: 'How many events a filter matches',
  permit: 'read',
  heavy: true,
  params,
  query: Fields(eventFilters),
  reply: totals,
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

const requestFilters = {
  ...timeQuery,
  status: T.Optional(T.String({ pattern: '^[2-5][0-9]{2}$' })),
  key_id: T.Optional(Id('key')),
  route: T.Optional(T.String({ pattern: '^/v1/[a-z0-9_/{}]{1,100}$' })),
  error_code: T.Optional(T.String({ pattern: '^[a-z_]{1,64}$' })),
  refused: T.Optional(T.Enum(['true'])),
}

export const listRequestsInConsole = consoleEndpoint({
  name: 'console.requests.list',
  route: 'GET /console/api/{environment}/requests',
  summary: 'The log of requests by time',
  permit: 'read',
  params,
  query: Fields({ ...pageQuery, ...orderQuery, ...requestFilters }),
  reply: { status: 200, schema: Page(ListedRequest) },
})

export const exportRequests = consoleEndpoint({
  name: 'console.requests.csv',
  route: 'GET /console/api/{environment}/requests.csv',
  summary: 'The same as a table for spreadsheets',
  permit: 'export',
  params,
  query: Fields({ ...orderQuery, ...requestFilters, ...csvQuery }),
  reply: csv,
})

export const totalRequests = consoleEndpoint({
  name: 'console.requests.totals',
  route: 'GET /console/api/{environment}/requests/totals',
  summary: 'How many requests a filter matches, by the status of the response',
  permit: 'read',
  heavy: true,
  params,
  query: Fields(requestFilters),
  reply: totals,
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
  exportEvents,
  totalEvents,
  getEventInConsole,
  redeliverEventInConsole,
  listRequestsInConsole,
  exportRequests,
  totalRequests,
  getRequestInConsole,
]
