import { Type as T } from 'typebox'
import { Fields } from '../../../http/schema.ts'
import { type ConsoleEndpoint, consoleEndpoint } from '../endpoint.ts'

const params = T.Object({ environment: T.Enum(['production', 'sandbox']) })

export const foundKinds = [
  'customer',
  'deposit',
  'charge',
  'payout',
  'transfer',
  'quote',
  'trade',
  'event',
  'webhook_endpoint',
  'key',
  'request',
  'partner',
  'proposal',
  'exception',
] as const

const Found = T.Object(
  {
    kind: T.Enum(foundKinds),
    id: T.String(),
    title: T.String({ description: 'A name, or what else people call it' }),
    detail: T.String({ description: 'What tells it apart from others of that name' }),
    path: T.String({ description: 'The page about it, behind /console' }),
  },
  { $id: 'Found' },
)

const asked = {
  params,
  query: Fields({
    q: T.String({
      minLength: 1,
      maxLength: 255,
      description: 'An id, the beginning of a name, or any other name that it has somewhere',
    }),
  }),
  reply: { status: 200, schema: T.Object({ data: T.Array(Found) }) },
} as const

export const searchInConsole = consoleEndpoint({
  name: 'console.find.search',
  route: 'GET /console/api/{environment}/search',
  summary: 'Find anything by what somebody has at hand of it',
  permit: 'read',
  heavy: true,
  ...asked,
})

export const searchAsOperator = consoleEndpoint({
  name: 'console.operator.search',
  route: 'GET /console/api/operator/{environment}/search',
  summary: 'Find anything of any partner by its id',
  permit: 'operator.read',
  ...asked,
})

const hints = {
  params,
  reply: { status: 200, type: 'text/event-stream' },
  errors: ['rate_limit_exceeded'],
} as const

export const streamInConsole = consoleEndpoint({
  name: 'console.stream',
  route: 'GET /console/api/{environment}/stream',
  summary: 'Told what has changed, as it changes',
  permit: 'read',
  ...hints,
})

export const streamToOperator = consoleEndpoint({
  name: 'console.operator.stream',
  route: 'GET /console/api/operator/{environment}/stream',
  summary: 'Told what waits for an operator, as it changes',
  permit: 'operator.read',
  ...hints,
})

export const findingEndpoints: readonly ConsoleEndpoint[] = [
  searchInConsole,
  searchAsOperator,
  streamInConsole,
  streamToOperator,
]
