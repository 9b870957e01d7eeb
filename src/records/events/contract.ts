import { Type as T } from 'typebox'
import type { Environment } from '../../core/environment.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { CURSOR_PATTERN, Fields, Id, Page, pageQuery, Timestamp, timeQuery } from '../../http/schema.ts'
import { waitQuery } from '../../http/wait.ts'
import type { StoredEvent } from './store.ts'
import { eventTypes, TEST_TYPE } from './types.ts'

/** Open in responses, like every enumeration there: new types will come, and clients must ignore unknown ones. */
const Type = T.Enum([...eventTypes, TEST_TYPE], {
  description: 'What happened',
  examples: ['pix.payout.completed'],
})

/** The end of the payout that the reference sends. */
export const exampleEvent = {
  id: 'evt_01kc3v4x9zq8rj5m2t7w6y0ahb',
  type: 'pix.payout.completed',
  created_at: '2026-11-15T12:00:00.850Z',
  environment: 'sandbox',
  sequence: 3,
  data: {
    object: {
      id: 'po_01kc3v4x9zq8rj5m2t7w6y0ahb',
      customer_id: 'cus_01kc3v4x9zq8rj5m2t7w6y0ahb',
      direction: 'outbound',
      amount: '1050',
      fee: '0',
      decimals: 2,
      status: 'completed',
      counterparty: { name: 'Ana Souza', document: '***.982.247-**', pix_key: '52998224725' },
      description: 'Invoice 1042',
      end_to_end_id: 'E00000000202611151200a1b2c3d4e5f',
      failure: null,
      idempotency_key: 'invoice-1042',
      created_at: '2026-11-15T12:00:00.000Z',
      completed_at: '2026-11-15T12:00:00.850Z',
    },
  },
}

/** Contract §12. The same object is in the log and in the body of a webhook. */
export const EventObject = T.Object(
  {
    id: Id('event'),
    type: Type,
    created_at: Timestamp,
    environment: T.Enum(['production', 'sandbox'], { examples: ['sandbox'] }),
    sequence: T.Integer({
      description: 'Rises per object: drop what is lower than what you have',
      examples: [3],
    }),
    data: T.Object({
      object: T.Record(T.String(), T.Unknown(), {
        description: 'The object as GET shows it at that moment; the webhook of each type says which',
      }),
    }),
  },
  { $id: 'Event', examples: [exampleEvent] },
)

/** The text of an event, made from stored values only, so that it has the same bytes every time. */
export function eventText(event: StoredEvent, environment: Environment): string {
  const { id, type, sequence } = event
  const head = JSON.stringify({ id, type, created_at: event.created_at.toISOString(), environment, sequence })
  return `${head.slice(0, -1)},"data":{"object":${event.data}}}`
}

export const renderEvent = (event: StoredEvent, environment: Environment) =>
  JSON.parse(eventText(event, environment))

export const listEvents = endpoint({
  name: 'events.list',
  route: 'GET /v1/events',
  summary: 'Read the event log',
  description:
    'Without `after`: newest first, as every list. With `after`: oldest first, from right behind that point. `after` is the id of an event, the `next_cursor` of a page read with `after`, `start`, or `now`. Such a page always has a `next_cursor`: keep it and come back with it. An event that commits late gets a later place, so none is ever skipped. `created_after` and `created_before` are for reading newest first; `after` itself says where to begin.\n\nWith `wait` the answer comes as soon as there is an event, or empty after so many seconds; it counts as one request. `wait` without `after` waits for what comes from now on. Up to 20 calls of a partner may wait at once on a node.',
  waits: true,
  scopes: { all: ['read'] },
  query: Fields({
    ...pageQuery,
    ...timeQuery,
    after: T.Optional(
      T.String({
        pattern: CURSOR_PATTERN,
        minLength: 1,
        maxLength: 512,
        description: 'An event’s id, a next_cursor, start or now',
        examples: ['start'],
      }),
    ),
    ...waitQuery,
    type: T.Optional(T.Enum([...eventTypes, TEST_TYPE], { description: 'Events of this type' })),
    object_id: T.Optional(
      T.String({
        pattern: '^[a-z]{1,8}_[0-9a-z]{1,64}$',
        'x-must-be': 'an id such as po_01kc3v4x9zq8rj5m2t7w6y0ahb',
        description: 'Events of this object',
      }),
    ),
  }),
  reply: { status: 200, schema: Page(EventObject) },
  errors: ['event_not_found'],
})

export const getEvent = endpoint({
  name: 'events.get',
  route: 'GET /v1/events/{event_id}',
  summary: 'Read an event',
  scopes: { all: ['read'] },
  params: T.Object({ event_id: Id('event') }),
  reply: { status: 200, schema: EventObject },
  errors: ['event_not_found'],
})

export const eventEndpoints: readonly Endpoint[] = [listEvents, getEvent]
