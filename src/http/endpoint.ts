import type { Static, TObject, TSchema } from 'typebox'
import type { PartnerActor, Scope } from '../core/actor.ts'
import type { ErrorCode, Refusal } from '../core/errors.ts'
import type { World } from '../world.ts'
import type { FileReply } from './file-reply.ts'
import { assertNamed } from './schema.ts'
import type { StoredReply } from './stored-reply.ts'

/** The scopes an endpoint requires: all of them, or any. A scope may read the objects it acts on, so reads require any. */
type NeededScopes = { readonly all: readonly Scope[] } | { readonly any: readonly Scope[] }

/** What is missing, as the end of a sentence that begins with "This API key"; undefined when nothing is missing. */
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

/** What happens when a call is sent again because its response was lost. */
export const repeats = {
  safe: 'It only reads: repeat it as you like.',
  idempotency_key: 'Repeat it with the same idempotency key: it runs once and returns the first response.',
  idempotent: 'Repeat it as you like: nothing happens twice.',
  harmless: 'Repeat it as you like: each call makes another one, which costs nothing.',
  once: 'A repeated call is refused, which shows that the first one succeeded.',
  never: 'Check whether the first call succeeded before you repeat it.',
} as const
export type Repeat = keyof typeof repeats

/**
 * An endpoint, declared once as data. Validation, the handler's types, the limiter's table, openapi.json, the reference page
 * and the SDK's types are made from it.
 */
export type Endpoint = {
  /** The method in the SDK: `customers.create` is client.customers.create. */
  readonly name: string
  readonly route: `${Method} /v1/${string}`
  readonly summary: string
  readonly description?: string
  /** Contract §17.6; absent: any valid key. */
  readonly scopes?: NeededScopes
  readonly sandbox_only?: true
  /** Accepts `?wait=` (wait.ts), and may answer that much later. */
  readonly waits?: true
  readonly params?: TObject
  readonly query?: TObject
  readonly body?: TObject
  /** A call without a body counts as one with an empty object. */
  readonly body_optional?: true
  readonly reply: {
    readonly status: 200 | 201 | 204
    readonly schema?: TSchema
    /** The content type of a response that is a file; the handler returns a `FileReply`. */
    readonly file?: 'application/pdf'
    /** Path of the created object, when no GET returns the same schema; names in braces are fields of the response. */
    readonly location?: `/v1/${string}`
    /** The state of the returned object, when it differs from the state in the usual example. */
    readonly state?: string
  }
  /** Codes in addition to those of every endpoint and those that follow from this declaration (see `errorsOf`). */
  readonly errors?: readonly ErrorCode[]
  /** Interface §8: the endpoint's own limit, in addition to those of the key. */
  readonly limit_per_minute?: number
  /** Set when it does not follow from the route (see `repeatOf`). */
  readonly repeat?: Repeat
  /** The answer to `?dry_run=true`, with 200. */
  readonly dry_run?: TSchema
  /** Counts against the key's look-ups, to prevent scans of Pix keys: each call, or each dry run. */
  readonly looks_up?: 'always' | 'dry_run'
  /** Counts against the key's limit of calls that redeliver webhooks. */
  readonly redelivers?: true
  /** A body for the reference. It works in a new sandbox, except for its ids. */
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

/** Bodies are read before the endpoint's own rules, also on endpoints without a body. */
const bodyErrors: readonly ErrorCode[] = ['invalid_json', 'body_too_large', 'unsupported_media_type']

/** Every code that an endpoint may return: its own, and those that follow from its declaration. */
export function errorsOf(endpoint: Endpoint): ErrorCode[] {
  const { errors = [], scopes, sandbox_only } = endpoint
  const implied: ErrorCode[] = [
    ...(methodAndPath(endpoint).method === 'GET' ? [] : bodyErrors),
    ...(scopes ? (['insufficient_scope'] as const) : []),
    ...(sandbox_only ? (['sandbox_only'] as const) : []),
  ]
  return [...new Set([...commonErrors, ...implied, ...errors])]
}

/** The default for POST is `never`: a call that is not declared safe to repeat is not repeated. */
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

/** The rate limits of a key (interface §8). */
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
  /** Counts the request as a look-up of a Pix key, once. Throws when there were too many; then the request counts nowhere. */
  countLookup(): Promise<void>
  readonly request_id: string
  /** How long a long poll may wait for entries. */
  readonly wait_ms: number
  /** Aborted when the waiting client has left. */
  readonly gone: AbortSignal
  /** The response body of a refusal. */
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
    E['reply'] extends { file: string }
      ? FileReply
      : (E['reply'] extends { schema: infer S extends TSchema } ? Static<S> : undefined) | StoredReply
  >,
): Handler => ({ endpoint: declared, run: run as unknown as Handler['run'] })

export function methodAndPath({ route }: { readonly route: `${Method} ${string}` }): {
  method: Method
  path: string
} {
  const [method, path] = route.split(' ') as [Method, string]
  return { method, path }
}
