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
  api_key: {
    id: 'key',
    object: { environment: 'sandbox', name: 'Sample', last_four: 'aB3x', scopes: ['read'], ip_allowlist: [] },
  },
}

/** When it came to its end, if it did. A failed trade has a completed_at; what else can fail has a failed_at for that. */
function timesOf(object: Readonly<Record<string, unknown>>, state: string, now: string) {
  const well = state === 'completed' || state === 'confirmed'
  const failed = state === 'failed'
  const fails_apart = 'failed_at' in object
  return {
    ...('completed_at' in object ? { completed_at: well || (failed && !fails_apart) ? now : undefined } : {}),
    ...(fails_apart ? { failed_at: failed ? now : undefined } : {}),
  }
}

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
    return {
      ...object,
      id: world.newId(subject.id),
      ...(moves ? { status: state === 'created' ? 'pending' : state } : {}),
      ...('end_to_end_id' in object && state !== 'completed' ? { end_to_end_id: null } : {}),
      ...('tx_hash' in object && state === 'created' ? { tx_hash: null } : {}),
      ...(moves && state === 'failed'
        ? { failure: { code: 'sample', message: 'A sample of a failure.' } }
        : {}),
      ...timesOf(object, state, now),
      created_at: now,
    }
  }
}

function exampleFor(subject: Subject, endpoints: readonly Endpoint[]): Readonly<Record<string, unknown>> {
  if ('object' in subject) return subject.object
  const endpoint = endpoints.find(({ name }) => name === subject.shown_by)
  if (!endpoint) throw new Error(`no endpoint ${subject.shown_by}`)
  return replyExample(endpoint, collectNamesakes(endpoints)) as Record<string, unknown>
}
