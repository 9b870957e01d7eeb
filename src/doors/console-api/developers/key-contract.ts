import { Type as T } from 'typebox'
import { scopes } from '../../../core/actor.ts'
import { Fields, Id, Page, pageQuery, Text, Timestamp, TimeText } from '../../../http/schema.ts'
import { Usage } from '../../../limits/contract.ts'
import { ApiKeyObject } from '../../../parties/keys/contract.ts'
import { keyStates } from '../../../parties/keys/keys.ts'
import { RequestObject } from '../../../records/requests/contract.ts'
import { type ConsoleEndpoint, consoleEndpoint, FormId } from '../endpoint.ts'
import { EnvironmentName } from './lists.ts'

const { partner_id, environment, ...ownFields } = ApiKeyObject.properties

const keyFields = {
  ...ownFields,
  state: T.Enum([...keyStates]),
  old_values: T.Array(T.Object({ last_four: T.String(), valid_until: Timestamp }), {
    description: 'Replaced by a rotation, and working until its grace ends',
  }),
  playground: T.Boolean({ description: 'The key of the playground, whose value nobody has' }),
}

const KeyObject = T.Object(keyFields, { $id: 'ConsoleKey' })

const ListedKeyObject = T.Object({
  ...keyFields,
  minute: Usage.properties.minute,
  day: Usage.properties.day,
})

/** Only replies with this object show the value of a key. */
const ShownKey = T.Object({
  key: KeyObject,
  value: T.String({ description: 'Shown this once' }),
})

const Ranges = T.Array(T.String({ minLength: 1, maxLength: 64 }), {
  maxItems: 100,
  description: 'Addresses and CIDR ranges; empty: any address',
})
const KeyName = Text(80, 'Name')

const params = T.Object({ environment: EnvironmentName })
const keyParams = T.Object({ environment: EnvironmentName, key_id: Id('key') })

export const listKeysInConsole = consoleEndpoint({
  name: 'console.keys.list',
  route: 'GET /console/api/{environment}/keys',
  summary: 'API keys, newest first, without their values',
  permit: 'read',
  params,
  query: Fields(pageQuery),
  reply: { status: 200, schema: Page(ListedKeyObject) },
})

export const getKeyInConsole = consoleEndpoint({
  name: 'console.keys.get',
  route: 'GET /console/api/{environment}/keys/{key_id}',
  summary: 'One API key: what it may, what it used, what it asked for last',
  permit: 'read',
  params: keyParams,
  reply: {
    status: 200,
    schema: T.Object({
      key: KeyObject,
      usage: Usage,
      requests: T.Array(RequestObject),
      old_calls: T.Array(
        T.Object({ last_four: T.String(), in_last_hour: T.Integer({ description: 'Up to ten thousand' }) }),
        { description: 'How often the replaced values are still used' },
      ),
    }),
  },
  errors: ['key_not_found'],
})

const CallsDay = T.Object({
  day: T.String({ description: 'A day of São Paulo' }),
  calls: T.Integer({ description: 'Refused ones included' }),
  refused: T.Integer(),
  /** Null on a day without a request. */
  median_ms: T.Union([T.Integer(), T.Null()]),
  complete: T.Boolean({ description: 'False: the day has more requests than are counted' }),
})

export const getKeyCalls = consoleEndpoint({
  name: 'console.keys.calls',
  route: 'GET /console/api/{environment}/keys/{key_id}/calls',
  summary: 'Requests under a key on each of the last days, as the log of requests has them',
  permit: 'read',
  heavy: true,
  params: keyParams,
  reply: {
    status: 200,
    schema: T.Object({ days: T.Array(CallsDay), counted_most: T.Integer({ description: 'Per day' }) }),
  },
  errors: ['key_not_found'],
})

export const createKeyInConsole = consoleEndpoint({
  name: 'console.keys.create',
  route: 'POST /console/api/{environment}/keys',
  summary: 'Create an API key; the answer alone has its value',
  permit: 'keys.write',
  proof: 'production',
  factor: 'production',
  params,
  body: Fields({
    form_id: FormId,
    name: KeyName,
    scopes: T.Array(T.Enum([...scopes]), { minItems: 1, maxItems: scopes.length, uniqueItems: true }),
    ip_allowlist: Ranges,
    expires_at: T.Optional(TimeText({ description: 'When it stops working; never when absent' })),
  }),
  reply: { status: 201, schema: ShownKey },
  errors: ['proof_needed', 'factor_needed', 'not_permitted', 'already_done', 'too_many_api_keys'],
})

export const rotateKeyInConsole = consoleEndpoint({
  name: 'console.keys.rotate',
  route: 'POST /console/api/{environment}/keys/{key_id}/rotate',
  summary: 'Give an API key a new value; the old one works until the grace ends',
  permit: 'keys.write',
  proof: 'production',
  factor: 'production',
  params: keyParams,
  body: Fields({
    form_id: FormId,
    grace_hours: T.Integer({ minimum: 0, maximum: 720, description: 'How long the old value works' }),
  }),
  reply: { status: 200, schema: ShownKey },
  errors: [
    'proof_needed',
    'factor_needed',
    'not_permitted',
    'key_not_found',
    'already_final',
    'already_done',
  ],
})

export const changeKeyInConsole = consoleEndpoint({
  name: 'console.keys.change',
  route: 'PATCH /console/api/{environment}/keys/{key_id}',
  summary: 'Change the name of an API key, or the addresses it may be used from',
  permit: 'keys.write',
  proof: 'production',
  factor: 'production',
  params: keyParams,
  body: Fields({ name: T.Optional(KeyName), ip_allowlist: T.Optional(Ranges) }, { minProperties: 1 }),
  reply: { status: 200, schema: KeyObject },
  errors: ['proof_needed', 'factor_needed', 'not_permitted', 'key_not_found', 'already_final'],
})

export const revokeKeyInConsole = consoleEndpoint({
  name: 'console.keys.revoke',
  route: 'POST /console/api/{environment}/keys/{key_id}/revoke',
  summary: 'Revoke an API key: when this is answered, nothing commits under it any more',
  permit: 'keys.revoke',
  protects: true,
  params: keyParams,
  reply: { status: 200, schema: KeyObject },
  errors: ['not_permitted', 'key_not_found'],
})

const Fault = T.Object({
  line: T.Integer({ description: 'From one' }),
  text: T.String(),
  kind: T.Enum(['host_bits', 'wildcard', 'prefix', 'no_address']),
  range: T.Optional(T.String({ description: 'What to write for the range' })),
  address: T.Optional(T.String({ description: 'What to write for the one address' })),
  longest: T.Optional(T.Integer({ description: 'How long a prefix may be' })),
})

const Judged = T.Object({ address: T.String(), allowed: T.Boolean() })

export const checkAllowlistInConsole = consoleEndpoint({
  name: 'console.allowlist.check',
  route: 'POST /console/api/{environment}/allowlist',
  summary: 'What an allowlist would let in, and what is wrong with it, before it is saved',
  permit: 'read',
  params,
  body: Fields({ ranges: Ranges, key_id: T.Optional(Id('key')) }),
  reply: {
    status: 200,
    schema: T.Object({
      faults: T.Array(Fault),
      everybody: T.Boolean({ description: 'A range of it shuts nobody out' }),
      you: Judged,
      last_use: T.Union([Judged, T.Null()], { description: 'Where the key was used from last' }),
    }),
  },
  errors: ['key_not_found'],
})

export const keyEndpoints: readonly ConsoleEndpoint[] = [
  listKeysInConsole,
  getKeyInConsole,
  getKeyCalls,
  createKeyInConsole,
  rotateKeyInConsole,
  changeKeyInConsole,
  revokeKeyInConsole,
  checkAllowlistInConsole,
]
