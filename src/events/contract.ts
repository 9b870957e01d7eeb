import { Type as T } from 'typebox'
import type { Environment } from '../core/environment.ts'
import { endpoint } from '../http/endpoint.ts'
import { Fields, Id, Page, pageQuery, Timestamp } from '../http/schema.ts'
import { eventTypes, TEST_TYPE } from './events.ts'
import type { StoredEvent } from './store.ts'

const Type = T.Enum([...eventTypes, TEST_TYPE], {
  description: 'What happened',
  examples: ['pix.payout.completed'],
})

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
        description: 'The object as GET shows it at that moment',
        examples: [{ id: 'po_01kc3v4x9zq8rj5m2t7w6y0ahb', status: 'completed' }],
      }),
    }),
  },
  { $id: 'Event' },
)

/** The text of an event, put together from what is stored and nothing else: equal to the byte whenever it is made. */
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
    'Without `after`: newest first, as every list. With `after`: oldest first, from right behind that point. `after` is the id of an event, the `next_cursor` of a page read with `after`, or `start`. Such a page always has a `next_cursor`: keep it and come back with it. An event that commits late gets a later place, so none is ever skipped.',
  scope: 'read',
  query: Fields({
    ...pageQuery,
    after: T.Optional(
      T.String({
        minLength: 1,
        maxLength: 512,
        description: 'An event’s id, a next_cursor, or start',
        examples: ['start'],
      }),
    ),
    type: T.Optional(Type),
    object_id: T.Optional(
      T.String({
        pattern: '^[a-z]{1,8}_[0-9a-z]{1,64}$',
        'x-must-be': 'an id such as po_01kc3v4x9zq8rj5m2t7w6y0ahb',
        description: 'Events of this object',
      }),
    ),
  }),
  reply: { status: 200, schema: Page(EventObject) },
  errors: ['insufficient_scope', 'event_not_found'],
})

export const getEvent = endpoint({
  name: 'events.get',
  route: 'GET /v1/events/{event_id}',
  summary: 'Read an event',
  scope: 'read',
  params: T.Object({ event_id: Id('event') }),
  reply: { status: 200, schema: EventObject },
  errors: ['insufficient_scope', 'event_not_found'],
})
