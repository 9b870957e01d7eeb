import type { TSchema } from 'typebox'
import { EventObject } from '../../records/events/contract.ts'
import { type Context, type JsonSchema, type Ref, toJsonSchema } from './json-schema.ts'

/** The `webhooks` section of openapi.json: one entry per event type, with the object that the event carries. */
export type EventSample = {
  readonly type: string
  /** The schema of `data.object`. */
  readonly schema: TSchema
  /** The whole event. */
  readonly example: unknown
}

export type Webhook = {
  readonly post: {
    readonly operationId: string
    readonly tags: readonly [string]
    readonly summary: string
    readonly description: string
    readonly security: readonly []
    readonly parameters: readonly Ref[]
    readonly requestBody: {
      readonly required: true
      readonly content: { readonly 'application/json': { readonly schema: Ref } }
    }
    readonly responses: Readonly<Record<string, Ref>>
  }
}

const header = (name: string, description: string, schema: JsonSchema) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema,
})

/** The headers of Standard Webhooks 1.0. */
export const webhookParameters = {
  WebhookId: header(
    'webhook-id',
    'The id of the event: the same in every attempt, so drop what you have seen.',
    {
      type: 'string',
      examples: ['evt_01kc3v4x9zq8rj5m2t7w6y0ahb'],
    },
  ),
  WebhookTimestamp: header(
    'webhook-timestamp',
    'Unix time of this attempt, in seconds. Refuse what is old.',
    {
      type: 'string',
      pattern: '^[0-9]{1,12}$',
      examples: ['1794744002'],
    },
  ),
  WebhookSignature: header(
    'webhook-signature',
    'One or two signatures, with a space between: `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`, under the bytes that stand in base64 behind `whsec_` in the secret. Any one that fits is enough.',
    {
      type: 'string',
      pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$',
      examples: ['v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='],
    },
  ),
} as const

export const webhookResponses = {
  WebhookTaken: { description: 'Taken, if it comes within 10 seconds. The body does not matter.' },
  WebhookGone: { description: 'Nobody is there any more: the endpoint is disabled.' },
  WebhookNotTaken: {
    description:
      'Not taken; redirects are not followed. It is sent again later, the last time after about three days, and no sooner than `Retry-After` asks for.',
  },
} as const

const pascal = (text: string) =>
  text.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The name of the schema of an event of this type: PixPayoutCompletedEvent. */
const eventSchemaName = (type: string): string => `${pascal(type)}Event`

export function webhooksOf(samples: readonly EventSample[], context: Context): Record<string, Webhook> {
  return Object.fromEntries(
    samples.map((sample) => {
      const name = eventSchemaName(sample.type)
      context.schemas.set(name, eventSchema(sample, context))
      return [sample.type, webhookOf(sample, name)]
    }),
  )
}

function webhookOf({ type }: EventSample, name: string): Webhook {
  const parameters = Object.keys(webhookParameters).map((key) => ({ $ref: `#/components/parameters/${key}` }))
  const answer = (key: keyof typeof webhookResponses) => ({ $ref: `#/components/responses/${key}` })
  return {
    post: {
      operationId: `on_${type.replaceAll('.', '_')}`,
      tags: ['webhook_events'],
      summary: type,
      description: `Sent to every endpoint whose \`events\` hold \`${type}\` or \`*\`.`,
      security: [],
      parameters,
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
      },
      responses: {
        '2XX': answer('WebhookTaken'),
        '410': answer('WebhookGone'),
        default: answer('WebhookNotTaken'),
      },
    },
  }
}

/** The event object, with its type fixed and its object typed. */
function eventSchema({ type, schema, example }: EventSample, context: Context): JsonSchema {
  const { properties, required } = toJsonSchema({ ...EventObject, $id: undefined }, 'reply', context)
  const { data: _, ...head } = properties!
  return {
    type: 'object',
    required: required!,
    properties: {
      ...head,
      type: { type: 'string', const: type },
      data: {
        type: 'object',
        required: ['object'],
        properties: { object: toJsonSchema(schema, 'reply', context) },
      },
    },
    examples: [example],
  }
}
