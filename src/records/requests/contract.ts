import { Type as T } from 'typebox'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { Fields, Id, Page, pageQuery, Timestamp, timeQuery } from '../../http/schema.ts'
import { waitQuery } from '../../http/wait.ts'
import type { LoggedRequest } from './store.ts'

const example = {
  id: 'req_01kc3v4x9zq8rj5m2t7w6y0ahb',
  key_id: 'key_01kc3v4x9zq8rj5m2t7w6y0ahb',
  method: 'POST',
  route: '/v1/pix/payouts',
  status: 201,
  duration_ms: 84,
  address: '192.0.2.1',
  object_id: 'po_01kc3v4x9zq8rj5m2t7w6y0ahb',
  created_at: '2026-11-15T12:00:00.000Z',
}

export const RequestObject = T.Object(
  {
    id: { ...Id('request'), description: 'As in the header X-Request-Id' },
    key_id: Id('key'),
    method: T.String(),
    route: T.Optional(T.String({ description: 'Route template; absent if no route matched' })),
    status: T.Integer({ description: 'The HTTP status of the response' }),
    error_code: T.Optional(T.String({ description: 'error.code of the response, if it was refused' })),
    duration_ms: T.Integer(),
    address: T.String({ description: 'IP address of the caller' }),
    object_id: T.Optional(
      T.String({ description: 'Id of the object in the response, or else the last id in the path' }),
    ),
    created_at: Timestamp,
  },
  { $id: 'Request', examples: [example] },
)

export const renderRequest = (request: LoggedRequest) => ({
  id: request.id,
  key_id: request.api_key_id,
  method: request.method,
  ...(request.route === null ? {} : { route: request.route }),
  status: request.status,
  ...(request.error_code === null ? {} : { error_code: request.error_code }),
  duration_ms: request.duration_ms,
  address: request.address,
  ...(request.object_id === null ? {} : { object_id: request.object_id }),
  created_at: request.created_at.toISOString(),
})

export const listRequests = endpoint({
  name: 'requests.list',
  route: 'GET /v1/requests',
  summary: 'Read the log of requests',
  description:
    'What was asked for with your keys, and the status of each response, without bodies. A request is in the log about a second after its response. Without `after`: newest first, as every list. With `after`: oldest first, in the order in which they were logged, from right behind that point; `after` is the id of a request, the `next_cursor` of a page read with `after`, `start`, or `now`. `wait` as for events.\n\nOf a flood only a share is kept, and when the service is busy a request may be missing here.',
  scopes: { all: ['read'] },
  waits: true,
  query: Fields({
    ...pageQuery,
    ...timeQuery,
    after: T.Optional(
      T.String({
        minLength: 1,
        maxLength: 512,
        description: 'A request’s id, a next_cursor, start or now',
        examples: ['start'],
      }),
    ),
    ...waitQuery,
    status: T.Optional(
      T.String({ pattern: '^[2-5][0-9]{2}$', description: 'Answered with this status', examples: ['422'] }),
    ),
    key_id: T.Optional({ ...Id('key'), description: 'Made with this key' }),
  }),
  reply: { status: 200, schema: Page(RequestObject) },
  errors: ['request_not_found'],
})

export const getRequest = endpoint({
  name: 'requests.get',
  route: 'GET /v1/requests/{request_id}',
  summary: 'Read a request',
  scopes: { all: ['read'] },
  params: T.Object({ request_id: Id('request') }),
  reply: { status: 200, schema: RequestObject },
  errors: ['request_not_found'],
})

export const requestEndpoints: readonly Endpoint[] = [listRequests, getRequest]
