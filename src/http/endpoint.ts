import type { Static, TObject, TSchema } from 'typebox'
import type { PartnerActor, Scope } from '../core/actor.ts'
import type { ErrorCode, Refusal } from '../core/errors.ts'
import type { World } from '../world.ts'
import { assertNamed } from './schema.ts'
import type { StoredReply } from './stored-reply.ts'

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

/** What becomes of a call that is sent again because its answer was lost. */
export const repeats = {
  safe: 'It only reads: repeat it as you like.',
  idempotency_key:
    'Repeat it with the same idempotency key: it happens once, and the first response comes again.',
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
  /** Contract §17.6; absent: any valid key. */
  readonly scopes?: NeededScopes
  readonly sandbox_only?: true
  /** Takes `?wait=` (wait.ts), and may answer so much later. */
  readonly waits?: true
  readonly params?: TObject
  readonly query?: TObject
  readonly body?: TObject
  /** A call without a body is one with an empty object. */
  readonly body_optional?: true
  readonly reply: {
    readonly status: 200 | 201 | 204
    readonly schema?: TSchema
    /** Where what was made can be read, when no GET answers with the same schema; names in braces are of the answer. */
    readonly location?: `/v1/${string}`
    /** The state in which the call leaves what it answers with, where the usual example is in another. */
    readonly state?: string
  }
  /** What it may answer beyond what every endpoint may, and beyond what follows from the rest of this (see `errorsOf`). */
  readonly errors?: readonly ErrorCode[]
  /** Interface §8: a limit of its own, beside those of the key. */
  readonly limit_per_minute?: number
  /** Where the route alone does not tell (see `repeatOf`). */
  readonly repeat?: Repeat
  /** The answer to `?dry_run=true`, with 200. */
  readonly dry_run?: TSchema
  /** Counts against the key's look-ups, so that nobody can scan Pix keys: each time, or each dry run. */
  readonly looks_up?: 'always' | 'dry_run'
  /** Counts against the key's calls that send webhooks again. */
  readonly redelivers?: true
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
  const { errors = [], scopes, sandbox_only } = endpoint
  const implied: ErrorCode[] = [
    ...(methodAndPath(endpoint).method === 'GET' ? [] : bodyErrors),
    ...(scopes ? (['insufficient_scope'] as const) : []),
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

export function endpoint<const E extends Endpoint>(declared: E): E {
  assertNamed(declared.query, `the query of ${declared.name}`)
  assertNamed(declared.body, `the body of ${declared.name}`)
  return declared
}

/** How much a key may ask for (interface §8). */
export type Limits = {
  readonly per_minute: number
  readonly per_day: number
  /** Replaces every endpoint's own limit when set. */
  readonly endpoint_per_minute: number | null
  readonly lookup_per_minute: number
}

type Part<S> = S extends TSchema ? Static<S> : undefined

export type Call<E extends Endpoint> = {
  readonly world: World
  readonly actor: PartnerActor
  readonly limits: Limits
  /** Counts the request as a look-up of a Pix key, once; throws when there were too many, and then it counts nowhere. */
  countLookup(): Promise<void>
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
  ) => Promise<
    (E['reply'] extends { schema: infer S extends TSchema } ? Static<S> : undefined) | StoredReply
  >,
): Handler => ({ endpoint: declared, run: run as unknown as Handler['run'] })

export function methodAndPath({ route }: Pick<Endpoint, 'route'>): { method: Method; path: string } {
  const [method, path] = route.split(' ') as [Method, string]
  return { method, path }
}
