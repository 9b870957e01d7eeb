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
import { operations, version } from './generated/operations.js'
import type { Event, Resources } from './generated/types.js'
import { env, isLoopback, isOnUsersDevice, runtimeName } from './runtime.js'
import { type LogEntry, type Settings, send } from './send.js'
import { type Stream, type StreamOptions, stream } from './stream.js'

export type TrilhoOptions = {
  /** The API key, or a function that gets it, asked before every request. Else `TRILHO_KEY`. */
  readonly key?: string | (() => string | Promise<string>) | undefined
  /** Where the server is. Else `TRILHO_URL`, else port 8080 of this machine. */
  readonly baseUrl?: string | undefined
  /** Milliseconds that each attempt may take. 30 000. */
  readonly timeout?: number | undefined
  /** How often a call may be sent again where that is safe. 3. */
  readonly maxRetries?: number | undefined
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Gets one entry per attempt. */
  readonly log?: ((entry: LogEntry) => void) | undefined
  /** Put in front of the SDK's own, to know your programs apart. */
  readonly userAgent?: string | undefined
}

export type RequestOptions = CallOptions & {
  readonly query?: Query | undefined
  readonly body?: object | undefined
  /** What happens when it is sent twice. GET is `safe`, all else `never`. */
  readonly repeat?: Repeat | undefined
}
type Query = Readonly<Record<string, unknown>>

/** The methods come from the table of operations, and their types are generated beside it. */
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
    const { events } = this as { events: { list: Resources['events']['list']; stream?: Stream } }
    const read = (query: Query, signal: AbortSignal | undefined) =>
      events.list(query, { signal, maxRetries: 0 }) as PromiseLike<Page<Event>>
    events.stream = ((given?: StreamOptions) => stream(read, given)) as Stream
  }

  /** For what this version has no method for. */
  request<T = unknown>(method: string, path: string, given: RequestOptions = {}): Call<T> {
    const { query, body, repeat = method === 'GET' ? 'safe' : 'never', ...options } = given
    if (!path.startsWith('/')) throw new TypeError(`'${path}' is not a path: it begins with /v1/.`)
    return this.#send({ method, path, repeat }, { target: path, query, body, options })
  }

  /** Arguments come in one order: those of the path, one object, options. */
  #call(name: string, operation: Operation, given: unknown[]): Call<unknown> | Listing<unknown, any> {
    const rest = [...given]
    const target = operation.path.replaceAll(/\{(\w+)\}/g, (_, field: string) =>
      segment(name, field, rest.shift()),
    )
    const params = operation.takes && rest.shift()
    const options = (rest.shift() ?? {}) as CallOptions
    if (operation.takes === 'body')
      return this.#send(operation, { target, body: params as object | undefined, options })
    const read = (query: Query) => this.#send(operation, { target, query, options })
    const query = (params ?? {}) as Query
    return operation.list ? new Listing(query, read as (query: Query) => Call<any>) : read(query)
  }

  #send<T>(
    { method, path, repeat }: Operation,
    {
      target,
      query,
      body,
      options,
    }: { target: string; query?: Query | undefined; body?: object | undefined; options: CallOptions },
  ): Call<T> {
    const answer = send(this.#settings, {
      method,
      path: path.replace(/\?.*/, ''),
      target: target + queryOf(query),
      body: body && JSON.stringify(body, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
      repeat,
      waitMs: Number(query?.wait ?? 0) * 1000,
      options,
    })
    return new Call(answer as Promise<Answer<T>>)
  }
}

/** A key for a script that runs once. A job that may run again keeps its own: only then the second run finds the first. */
export const randomKey = (): string => crypto.randomUUID()

function settingsOf(options: TrilhoOptions): Settings {
  const { key = env('TRILHO_KEY'), timeout = 30_000, maxRetries = 3, userAgent, log = () => {} } = options
  const url = urlOf(options.baseUrl ?? env('TRILHO_URL') ?? 'http://127.0.0.1:8080')
  const read = typeof key === 'function' ? key : () => key
  const judged = (value: unknown) => keyFor(url, value)
  if (typeof key !== 'function') judged(key)
  return {
    baseUrl: url.href.replace(/\/+$/, ''),
    key: async () => judged(await read()),
    timeout,
    maxRetries,
    userAgent: `${userAgent ? `${userAgent} ` : ''}trilho-sdk/${version} ${runtimeName()}`,
    // Looked up when it is used, and called on nothing: Workers refuse it otherwise.
    fetch: options.fetch ?? ((...given) => globalThis.fetch(...given)),
    log,
  }
}

function urlOf(text: string): URL {
  const url = tryUrl(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash)
    throw new TypeError(`'${text}' is not the address of a server: it looks like https://pay.example.com.`)
  return url
}

function tryUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

function keyFor(url: URL, value: unknown): string {
  if (value === undefined || value === '')
    throw new TypeError('There is no API key: pass `key`, or set TRILHO_KEY.')
  // Read from a file it ends with a line break. What is in it is never part of a message.
  const key = typeof value === 'string' ? value.trim() : ''
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new TypeError('`key` is not an API key: it looks like svc_live_sk_… or svc_test_sk_….')
  if (key.startsWith('svc_live_') && url.protocol === 'http:' && !isLoopback(url))
    throw new TypeError(`A live key goes over https only, and ${url.origin} is http.`)
  return key
}

/** Never empty, and never a step to another path. */
function segment(name: string, field: string, value: unknown): string {
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..')
    throw new TypeError(`${name} needs ${field} as text, and got ${JSON.stringify(value) ?? 'nothing'}.`)
  return encodeURIComponent(value)
}

function queryOf(query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}
