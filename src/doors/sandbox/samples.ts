import type { TSchema } from 'typebox'
import type { IdKind } from '../../core/ids.ts'
import type { Endpoint } from '../../http/endpoint.ts'
import { FeePayoutObject } from '../../money/account/contract.ts'
import { paidByPix } from '../../money/deposits/contract.ts'
import { ApiKeyObject } from '../../parties/keys/contract.ts'
import { type EventType, eventTypes, sequenceOf, TEST_TYPE } from '../../records/events/types.ts'
import type { EventSample } from '../reference/event-webhooks.ts'
import { collectNamesakes, inState, replyExample } from '../reference/example.ts'
import type { SampleOf } from './events.ts'

/** The subject of an event: its type without the last word. */
type About<Type extends string> = Type extends `${infer First}.${infer Rest}`
  ? Rest extends `${string}.${string}`
    ? `${First}.${About<Rest>}`
    : First
  : never

type Kind = EventType | typeof TEST_TYPE

type Subject = { readonly id: IdKind } & (
  | { /** The endpoint whose reply is such an object. */ readonly shown_by: string }
  | { readonly schema: TSchema }
)

/** An event type without an entry here does not compile. */
const subjects: Readonly<Record<About<Kind>, Subject>> = {
  customer: { id: 'customer', shown_by: 'customers.create' },
  deposit: { id: 'deposit', shown_by: 'sandbox.deposits.create' },
  'pix.payout': { id: 'payout', shown_by: 'pix.payouts.create' },
  'pix.charge': { id: 'charge', shown_by: 'pix.charges.create' },
  'onchain.transfer': { id: 'transfer', shown_by: 'onchain.transfers.create' },
  trade: { id: 'trade', shown_by: 'quotes.execute' },
  fee_payout: { id: 'fee_payout', schema: FeePayoutObject },
  api_key: { id: 'key', schema: ApiKeyObject },
  webhook_endpoint: { id: 'webhook_endpoint', shown_by: 'webhook_endpoints.get' },
}

type Fields = Readonly<Record<string, unknown>>
type ObjectSchema = TSchema & {
  readonly properties: Readonly<Record<string, { readonly enum?: readonly string[] }>>
}

/** Makes up an object as the reference shows it, in the state that the event reports. */
export function sampleOf(endpoints: readonly Endpoint[]): SampleOf {
  return (type, world) => {
    const identity = { id: world.newId(subjectOf(type).id), now: world.clock.now() }
    const object = sampleObject(type, endpoints, identity) as { id: string }
    return { object, schema: schemaFor(subjectOf(type), endpoints) }
  }
}

/** One event of each type, for the description of webhooks in openapi.json. */
export function eventSamples(endpoints: readonly Endpoint[]): EventSample[] {
  const now = Date.parse('2026-11-15T12:00:02.000Z')
  const kinds: ReadonlySet<Kind> = new Set([...eventTypes, TEST_TYPE])
  return [...kinds].map((type) => ({
    type,
    schema: schemaFor(subjectOf(type), endpoints),
    example: {
      id: 'evt_01kc3v4x9zq8rj5m2t7w6y0ahb',
      type,
      created_at: new Date(now).toISOString(),
      environment: 'sandbox',
      sequence: sequenceOf(type),
      data: { object: sampleObject(type, endpoints, { now }) },
    },
  }))
}

const subjectOf = (type: Kind): Subject => subjects[type.slice(0, type.lastIndexOf('.')) as About<Kind>]

/** The time between two states of a sample. */
const STEP_MS = 1000

function sampleObject(
  type: Kind,
  endpoints: readonly Endpoint[],
  { id, now }: { readonly id?: string; readonly now: number },
): Fields {
  const subject = subjectOf(type)
  const schema = schemaFor(subject, endpoints)
  const word = type.slice(type.lastIndexOf('.') + 1)
  const object = exampleFor(subject, schema, endpoints, word)
  const since = now - (sequenceOf(type) - 1) * STEP_MS
  const at = (name: string) => new Date(name === 'created_at' ? since : now).toISOString()
  const times = Object.keys(schema.properties)
    .filter((name) => name.endsWith('_at') && (object[name] != null || name === `${word}_at`))
    .map((name) => [name, at(name)])
  // Of deposits, only payments of charges are returned.
  const paid = subject.id === 'deposit' ? paidByPix : {}
  const returned = word === 'returned' ? { ...paid, amount_returned: '450' } : {}
  return { ...object, ...returned, ...(id === undefined ? {} : { id }), ...Object.fromEntries(times) }
}

function schemaFor(subject: Subject, endpoints: readonly Endpoint[]): ObjectSchema {
  const schema = 'schema' in subject ? subject.schema : endpointOf(subject.shown_by, endpoints).reply.schema
  return schema as ObjectSchema
}

function exampleFor(
  subject: Subject,
  schema: ObjectSchema,
  endpoints: readonly Endpoint[],
  word: string,
): Fields {
  const namesakes = collectNamesakes(endpoints)
  const states = schema.properties.status?.enum
  // What comes back was completed before. Other types that are no status (such as `updated`) happen in the first status.
  const state = states && (states.includes(word) ? word : word === 'returned' ? 'completed' : states[0])
  if ('schema' in subject) return inState(schema, state, namesakes)
  const endpoint = endpointOf(subject.shown_by, endpoints)
  const reply = { ...endpoint.reply, ...(state === undefined ? {} : { state }) }
  return replyExample({ ...endpoint, reply }, namesakes) as Fields
}

function endpointOf(name: string, endpoints: readonly Endpoint[]): Endpoint {
  const endpoint = endpoints.find((each) => each.name === name)
  if (!endpoint) throw new Error(`no endpoint ${name}`)
  return endpoint
}
