import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorCode, Refusal } from '../core/errors.ts'
import type { World } from '../world.ts'
import type { Answered } from './answered.ts'

/** Contract §5. A key carries some of these; an endpoint asks for one. */
export const scopes = ['read', 'customers', 'payouts', 'transfers', 'quotes', 'webhooks'] as const
export type Scope = (typeof scopes)[number]

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** What becomes of a call that is sent again because its answer was lost. */
export const repeats = {
  safe: 'It only reads: repeat it as you like.',
  idempotency_key:
    'Repeat it with the same idempotency key: it happens once, and the first answer comes again.',
  idempotent: 'Repeat it as you like: nothing happens twice.',
  harmless: 'Repeat it as you like: each call makes another one, which costs nothing.',
  once: 'It cannot happen twice: a repetition is refused, and so tells that the first one went through.',
  never: 'Each call happens anew: look whether the first one went through before you repeat it.',
} as const
export type Repeat = keyof typeof repeats

/**
 * An endpoint, declared once, as data. Validation, the handler's types, the limiter's table, openapi.json, the reference
 * page and the SDK's types all come from it.
 */
export type Endpoint = {
  /** How the SDK calls it: client.customers.create. */
  readonly name: string
  readonly route: `${Method} /v1/${string}`
  readonly summary: string
  readonly description?: string
  /** Absent: any valid key. */
  readonly scope?: Scope
  readonly sandbox_only?: true
  readonly params?: TObject
  readonly query?: TObject
  readonly body?: TObject
  readonly reply: {
    readonly status: 200 | 201 | 204
    readonly schema?: TSchema
    /** The state in which the call leaves what it answers with, where the usual example is in another. */
    readonly state?: string
  }
  /** What it may answer beyond what every endpoint may (see `commonErrors`). */
  readonly errors: readonly ErrorCode[]
  /** Interface §8: a limit of its own, beside those of the key. */
  readonly limit_per_minute?: number
  /** Where the route alone does not tell (see `repeatOf`). */
  readonly repeat?: Repeat
  /** The answer to `?dry_run=true`, with 200. */
  readonly dry_run?: TSchema
  /** Counts against the key's look-ups, so that nobody can scan Pix keys. */
  readonly looks_up?: true
  /** A body that the reference shows and that works in a fresh sandbox, but for ids. */
  readonly example?: Readonly<Record<string, unknown>>
}

export const commonErrors: readonly ErrorCode[] = [
  'missing_authorization',
  'invalid_api_key',
  'revoked_api_key',
  'expired_api_key',
  'ip_not_allowed',
  'invalid_request',
  'request_timeout',
  'rate_limit_exceeded',
  'headers_too_large',
  'internal_error',
  'service_unavailable',
]

/** A body is read before the route's own rules, also where none is asked for. */
const bodyErrors: readonly ErrorCode[] = ['invalid_json', 'body_too_large', 'unsupported_media_type']

/** Every code that an endpoint may answer: its own, and those that follow from its declaration. */
export function errorsOf(endpoint: Endpoint): ErrorCode[] {
  const { errors, sandbox_only } = endpoint
  const implied: ErrorCode[] = [
    ...(methodAndPath(endpoint).method === 'GET' ? [] : bodyErrors),
    ...('scope' in endpoint || 'scopes' in endpoint ? (['insufficient_scope'] as const) : []),
    ...(sandbox_only ? (['sandbox_only'] as const) : []),
  ]
  return [...new Set([...commonErrors, ...implied, ...errors])]
}

/** What nobody has declared to be safe is not repeated. */
export function repeatOf(endpoint: Endpoint): Repeat {
  if (endpoint.repeat) return endpoint.repeat
  if (endpoint.body && 'idempotency_key' in endpoint.body.properties) return 'idempotency_key'
  const byMethod = { GET: 'safe', PATCH: 'idempotent', DELETE: 'once', POST: 'never' } as const
  return byMethod[methodAndPath(endpoint).method]
}

export const endpoint = <const E extends Endpoint>(declared: E): E => declared

/** How much a key may ask for (interface §8). */
export type Limits = {
  readonly per_minute: number
  readonly per_day: number
  /** Replaces every endpoint's own limit when set. */
  readonly endpoint_per_minute: number | null
  readonly lookup_per_minute: number
}

/** What was agreed with the partner. */
export type Terms = {
  /** Of a payout, in centavos. */
  readonly pix_fee: bigint
  /** Payouts may go to other documents than the customer's. */
  readonly third_party_payouts: boolean
  /** Of a conversion, in basis points. */
  readonly service_fee_bps: number
  /** The operator's part of the partner's own fee on a conversion. */
  readonly partner_fee_share_pct: number
}

/** Who is calling, as the API key says. */
export type Caller = {
  readonly key_id: string
  readonly partner_id: string
  readonly scopes: readonly Scope[]
  readonly limits: Limits
  readonly terms: Terms
  readonly address: string
  /** Counts a look-up of a Pix key; throws when there were too many. */
  countLookup(): Promise<void>
}

type Part<S> = S extends TSchema ? Static<S> : undefined

export type Call<E extends Endpoint> = {
  readonly world: World
  readonly caller: Caller
  readonly request_id: string
  /** The body that a refusal would be answered with. */
  bodyOf(refusal: Refusal): string
  readonly params: Part<E['params']>
  readonly query: Part<E['query']>
  readonly body: Part<E['body']>
}

export type Handler = {
  readonly endpoint: Endpoint
  run(call: Call<Endpoint>): Promise<unknown>
}

export const handle = <const E extends Endpoint>(
  declared: E,
  run: (
    call: Call<E>,
  ) => Promise<(E['reply'] extends { schema: infer S extends TSchema } ? Static<S> : undefined) | Answered>,
): Handler => ({ endpoint: declared, run: run as unknown as Handler['run'] })

export function methodAndPath({ route }: Pick<Endpoint, 'route'>): { method: Method; path: string } {
  const [method, path] = route.split(' ') as [Method, string]
  return { method, path }
}
