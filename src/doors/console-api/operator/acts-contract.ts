import { Type as T } from 'typebox'
import { CURSOR_PATTERN, Fields, Timestamp } from '../../../http/schema.ts'
import { type ConsoleEndpoint, consoleEndpoint } from '../endpoint.ts'
import { inWorld, LineRef, Maybe, PlaceName } from './shared-schemas.ts'

const base = '/console/api/operator/{environment}' as const

const ActObject = T.Object({
  place: PlaceName,
  seq: T.String(),
  hash: T.String(),
  at: Timestamp,
  actor_kind: T.Enum(['operator', 'person', 'shell', 'service']),
  actor_email: Maybe(T.String()),
  partner_id: Maybe(T.String()),
  session_id: Maybe(T.String()),
  action: T.String(),
  object_id: Maybe(T.String()),
  proposal_id: Maybe(T.String()),
  before: Maybe(T.String({ description: 'JSON, without personal data of customers' })),
  after: Maybe(T.String({ description: 'JSON, without personal data of customers' })),
})

const Name = T.String({ minLength: 1, maxLength: 254 })

export const listActsForOperator = consoleEndpoint({
  name: 'console.operator.acts.list',
  route: `GET ${base}/acts`,
  summary: 'What people did, of all three logs, the newest first',
  permit: 'operator.read',
  params: T.Object(inWorld),
  query: Fields({
    place: T.Optional(PlaceName),
    action: T.Optional(Name),
    actor: T.Optional(Name),
    object: T.Optional(Name),
    cursor: T.Optional(T.String({ pattern: CURSOR_PATTERN, maxLength: 512 })),
  }),
  reply: {
    status: 200,
    schema: T.Object({
      data: T.Array(ActObject),
      next_cursor: Maybe(T.String()),
      heads: T.Array(LineRef, { description: 'The newest line of each log: to be noted down elsewhere' }),
    }),
  },
})

export const verifyActs = consoleEndpoint({
  name: 'console.operator.acts.verify',
  route: `POST ${base}/acts/verify`,
  summary: 'Prove that the logs and the proposals are as they were written',
  permit: 'operator.read',
  params: T.Object(inWorld),
  body: Fields({
    anchors: T.Optional(
      T.Array(
        T.String({
          pattern: '^(production|sandbox|shared):[1-9][0-9]{0,17}:[0-9a-f]{64}$',
          'x-must-be': 'production, sandbox or shared, a number and a hash, with colons between them',
          description: 'Lines that were noted before and must be there still',
          examples: [`production:1:${'0'.repeat(64)}`],
        }),
        { maxItems: 20 },
      ),
    ),
  }),
  reply: {
    status: 200,
    schema: T.Object({
      ok: T.Boolean(),
      at: Timestamp,
      logs: T.Array(
        T.Object({
          place: PlaceName,
          lines: T.String(),
          broken: T.Array(T.Object({ object_id: T.String(), wrong: T.String() })),
        }),
      ),
    }),
  },
  errors: ['not_possible'],
})

export const actsEndpoints: readonly ConsoleEndpoint[] = [listActsForOperator, verifyActs]
