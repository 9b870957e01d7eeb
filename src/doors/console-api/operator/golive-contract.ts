import { Type as T } from 'typebox'
import { areas } from '../../../control/golive/check.ts'
import { Timestamp } from '../../../http/schema.ts'
import { type ConsoleEndpoint, consoleEndpoint } from '../endpoint.ts'
import { inWorld, Maybe } from './shared-schemas.ts'

const GoliveLine = T.Object({
  area: T.Enum([...areas]),
  check: T.String({ description: 'The name of the check' }),
  subject: Maybe(T.String({ description: 'The rail or folder that the line is about' })),
  state: T.Enum(['ok', 'red', 'unknown', 'unused'], {
    description: 'red and unknown forbid going live; unused is no obstacle',
  }),
  about: T.String(),
  found: T.String(),
  to_do: Maybe(T.String()),
  commands: T.Array(T.String()),
  says: T.String({ description: 'Which sentence of the check this is, for other languages' }),
  values: T.Record(T.String(), T.String()),
})

export const getGolive = consoleEndpoint({
  name: 'console.operator.golive.get',
  route: 'GET /console/api/operator/{environment}/golive',
  summary:
    'The checklist of going live, as this node found it within the last minute. An older one starts a new walk in the background',
  permit: 'operator.read',
  params: T.Object(inWorld),
  reply: {
    status: 200,
    schema: T.Object({
      running: T.Boolean({ description: 'A walk is under way: ask again in a second' }),
      failure: Maybe(T.String({ description: 'Why the last walk failed' })),
      report: Maybe(T.Object({ at: Timestamp, is_ready: T.Boolean(), lines: T.Array(GoliveLine) })),
    }),
  },
})

export const goliveEndpoints: readonly ConsoleEndpoint[] = [getGolive]
