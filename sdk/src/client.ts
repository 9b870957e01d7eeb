import { crypto } from '#crypto'
import {
  type Answer,
  Call,
  type CallOptions,
  Listing,
  type Operation,
  type Page,
  type Repeat,
} from './call.js'
import { operations } from './generated/operations.js'
import type { Event, Resources } from './generated/types.js'
import { isOnUsersDevice } from './runtime.js'
import { send } from './send.js'
import { type Settings, settingsOf, type TrilhoOptions } from './settings.js'
import { type Stream, type StreamOptions, stream } from './stream.js'

type Query = Readonly<Record<string, unknown>>

/** Query and body of a call. */
type Load = { readonly query?: Query | undefined; readonly body?: object | undefined }

export type RequestOptions = CallOptions &
  Load & {
    /** What happens if the call is sent twice. Default: `safe` for GET, `never` for other methods. */
    readonly repeat?: Repeat | undefined
  }

/** The constructor creates the methods from the table of operations; their types are generated. */
export interface Trilho extends Omit<Resources, 'events'> {
  readonly events: Resources['events'] & { readonly stream: Stream }
}

/** A client of one server, with one key. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor puts in place what the interface promises
export class Trilho {
  readonly #settings: Settings

  constructor(options: TrilhoOptions = {}) {
    if (isOnUsersDevice())
      throw new Error(
        'An API key moves money, so it must not be where users can read it: @trilho/sdk runs on servers only. ' +
          'Let the page call your own server. (In tests under jsdom, use the environment `node`.)',
      )
    this.#settings = settingsOf(options)
    for (const [name, operation] of Object.entries(operations)) {
      const steps = name.split('.')
      const method = steps.pop()!
      const group = steps.reduce((place: any, step) => (place[step] ??= {}), this)
      group[method] = (...given: unknown[]) => this.#call(name, operation, given)
    }
    const read = (query: Query, signal: AbortSignal | undefined): PromiseLike<Page<Event>> =>
      this.events.list(query, { signal, maxRetries: 0 })
    Object.assign(this.events, { stream: (given?: StreamOptions) => stream(read, given) })
  }

  /** Sends a request for which this version of the SDK has no method. */
  request<T = unknown>(method: string, path: string, given: RequestOptions = {}): Call<T> {
    const { query, body, repeat = method === 'GET' ? 'safe' : 'never', ...options } = given
    if (!path.startsWith('/')) throw new TypeError(`'${path}' is not a path: it begins with /v1/.`)
    return this.#send({ method, path, repeat }, path, { query, body }, options)
  }

  /** Arguments are in the order: path parameters, one object, options. */
  #call(
    name: string,
    operation: Operation,
    given: readonly unknown[],
  ): Call<unknown> | Listing<unknown, any> {
    const rest = [...given]
    const target = operation.path.replaceAll(/\{(\w+)\}/g, (_, field) => segment(name, field, rest.shift()))
    const params = operation.takes ? ((rest.shift() ?? undefined) as Query | undefined) : undefined
    const options = (rest.shift() ?? {}) as CallOptions
    if (operation.takes === 'body') return this.#send(operation, target, { body: params }, options)
    const read = (query?: Query) => this.#send<any>(operation, target, { query }, options)
    return operation.list ? new Listing(params ?? {}, read) : read(params)
  }

  #send<T>(
    { method, path, repeat, has, file }: Operation,
    target: string,
    { query, body }: Load,
    options: CallOptions,
  ): Call<T> {
    const answer = send(this.#settings, {
      method,
      path: path.replace(/\?.*/, ''),
      target: target + queryOf(query),
      body: body && JSON.stringify(body, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
      repeat,
      has,
      file,
      waitMs: Math.max(0, Number(query?.wait) || 0) * 1000,
      options,
    })
    return new Call(answer as Promise<Answer<T>>)
  }
}

/**
 * An idempotency key for a script that runs once. A job that may run again must store its own key, so that the second run finds
 * the first.
 */
export const randomKey = (): string => crypto.randomUUID()

/** A path parameter. An empty value or `..` is refused, because it would change the path. */
function segment(name: string, field: string, value: unknown): string {
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..')
    throw new TypeError(`${name} needs ${field} as text, and got '${String(value)}'.`)
  return encodeURIComponent(value)
}

function queryOf(query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}
