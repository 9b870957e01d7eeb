import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorCode, Refusal } from '../core/errors.ts'
import type { World } from '../world.ts'
import type { Answered } from './answered.ts'

/** Contract §5. A key carries some of these. */
export const scopes = ['read', 'customers', 'payouts', 'transfers', 'quotes', 'webhooks'] as const
export type Scope = (typeof scopes)[number]

/** What an endpoint asks of a key: all of these, or any one of them. A scope reads what it acts on, so reads ask for any. */
export type NeededScopes = { readonly all: readonly Scope[] } | { readonly any: readonly Scope[] }

/** What a key lacks for a call, to be put behind "This API key"; undefined when it lacks nothing. */
export function lackOfScopes(needed: NeededScopes, held: readonly Scope[]): string | undefined {
  if ('any' in needed)
    return needed.any.some((scope) => held.includes(scope))
      ? undefined
      : `needs the scope ${needed.any.join(' or ')}`
  const missing = needed.all.filter((scope) => !held.includes(scope))
  if (missing.length === 0) return undefined
  return `lacks the scope${missing.length > 1 ? 's' : ''} ${missing.join(' and ')}`
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

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
  readonly scopes?: NeededScopes
  readonly sandbox_only?: true
  /** Takes `?wait=` (wait.ts), and may answer so much later. */
  readonly waits?: true
  readonly params?: TObject
  readonly query?: TObject
  readonly body?: TObject
  /** A call without a body is one with an empty object. */
  readonly body_optional?: true
  readonly reply: { readonly status: 200 | 201 | 204; readonly schema?: TSchema }
  /** What it may answer beyond what every endpoint may (see `commonErrors`). */
  readonly errors: readonly ErrorCode[]
  /** Interface §8: a limit of its own, beside those of the key. */
  readonly limit_per_minute?: number
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
  'rate_limit_exceeded',
  'internal_error',
  'service_unavailable',
]

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
  /** How long the caller wants to wait for something to answer with. */
  readonly wait_ms: number
  /** Aborted when whoever waits has left. */
  readonly gone: AbortSignal
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
