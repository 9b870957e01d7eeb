import { Type as T, type TSchema } from 'typebox'
import type { IdKind } from './core/ids.ts'
import { collectNamesakes, replyExample } from './docs/example.ts'
import type { EventType } from './events/events.ts'
import type { Endpoint } from './http/endpoint.ts'
import type { SampleOf } from './webhooks/routes.ts'

/** What an event is about: its kind without the last word. */
type About<Type extends string> = Type extends `${infer First}.${infer Rest}`
  ? Rest extends `${string}.${string}`
    ? `${First}.${About<Rest>}`
    : First
  : never

type Subject = { readonly id: IdKind } & (
  | { /** The endpoint whose answer shows one. */ readonly shown_by: string }
  | { readonly object: Readonly<Record<string, unknown>> }
)

/** A kind of event without a line here does not compile. */
const subjects: Readonly<Record<About<EventType>, Subject>> = {
  customer: { id: 'customer', shown_by: 'customers.create' },
  deposit: { id: 'deposit', shown_by: 'sandbox.deposits.create' },
  'pix.payout': { id: 'payout', shown_by: 'pix.payouts.create' },
  'onchain.transfer': { id: 'transfer', shown_by: 'onchain.transfers.create' },
  trade: { id: 'trade', shown_by: 'quotes.execute' },
  fee_payout: {
    id: 'fee_payout',
    object: { asset: 'BRL', amount: '12345', decimals: 2, reference: 'sample' },
  },
  webhook_endpoint: { id: 'webhook_endpoint', shown_by: 'webhook_endpoints.get' },
  api_key: {
    id: 'key',
    object: { environment: 'sandbox', name: 'Sample', last_four: 'aB3x', scopes: ['read'], ip_allowlist: [] },
  },
}

/** What else an event of this kind says about its object. */
const states: Partial<Record<EventType, (now: string) => Readonly<Record<string, unknown>>>> = {
  'customer.blocked': () => ({ status: 'blocked' }),
  'api_key.revoked': (now) => ({ revoked_at: now }),
  'webhook_endpoint.disabled': (now) => ({
    status: 'disabled',
    disabled_reason: 'failing',
    disabled_at: now,
  }),
}

/** Only these end a payout, a transfer or a trade; before that the network has given nothing back. */
const ends = ['completed', 'confirmed', 'failed']

/** A made-up object in the form that the reference shows, in the state that the event tells of. */
export function sampleOf(endpoints: () => readonly Endpoint[]): SampleOf {
  return (type, world) => {
    const at = type.lastIndexOf('.')
    const subject = subjects[type.slice(0, at) as About<EventType>]
    const state = type.slice(at + 1)
    const object = exampleFor(subject, endpoints())
    const now = new Date(world.clock.now()).toISOString()
    // Whatever can fail has a status that tells of it.
    const moves = 'failure' in object
    const sample = {
      ...object,
      id: world.newId(subject.id),
      ...(moves ? { status: state === 'created' ? 'pending' : state } : {}),
      ...('end_to_end_id' in object && state !== 'completed' ? { end_to_end_id: null } : {}),
      ...('tx_hash' in object && state === 'created' ? { tx_hash: null } : {}),
      ...(moves && state === 'failed'
        ? { failure: { code: 'sample', message: 'A sample of a failure.' } }
        : {}),
      ...('completed_at' in object ? { completed_at: ends.includes(state) ? now : undefined } : {}),
      created_at: now,
      ...states[type]?.(now),
    }
    return { object: sample, schema: schemaFor(subject, sample, endpoints()) }
  }
}

/** What GET would answer with, or, where there is none, fields of the types that the sample has. */
function schemaFor(subject: Subject, sample: object, endpoints: readonly Endpoint[]): TSchema {
  if ('shown_by' in subject) return endpointOf(subject.shown_by, endpoints).reply.schema!
  const typeOf = (value: unknown) =>
    Array.isArray(value) ? T.Array(T.String()) : typeof value === 'number' ? T.Integer() : T.String()
  return T.Object(Object.fromEntries(Object.entries(sample).map(([name, value]) => [name, typeOf(value)])))
}

function exampleFor(subject: Subject, endpoints: readonly Endpoint[]): Readonly<Record<string, unknown>> {
  if ('object' in subject) return subject.object
  const endpoint = endpointOf(subject.shown_by, endpoints)
  return replyExample(endpoint, collectNamesakes(endpoints)) as Record<string, unknown>
}

function endpointOf(name: string, endpoints: readonly Endpoint[]): Endpoint {
  const endpoint = endpoints.find((each) => each.name === name)
  if (!endpoint) throw new Error(`no endpoint ${name}`)
  return endpoint
}
