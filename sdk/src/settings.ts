import { version } from './generated/operations.js'
import { env, isLoopback, runtimeName } from './runtime.js'
import type { LogEntry } from './send.js'

export type TrilhoOptions = {
  /** The API key, or a function that gets it, asked once per call. Left out: `TRILHO_KEY`. */
  readonly key?: string | (() => string | Promise<string>) | undefined
  /** Where the server is. Left out: `TRILHO_URL`, else port 8080 of this machine. */
  readonly baseUrl?: string | undefined
  /** Milliseconds that each attempt may take. 30 000. */
  readonly timeout?: number | undefined
  /** How often a call may be sent again where that is safe. 3. */
  readonly maxRetries?: number | undefined
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Gets one entry per attempt. */
  readonly log?: ((entry: LogEntry) => void) | undefined
  /** Put in front of the SDK's own, to tell your programs apart. */
  readonly userAgent?: string | undefined
}

/** The options with what is used where nothing was said. */
export type Settings = {
  readonly baseUrl: string
  /** Asked once per call: idempotency belongs to a key, so that an attempt under another one would pay again. */
  readonly key: () => Promise<string>
  readonly timeout: number
  readonly maxRetries: number
  readonly userAgent: string
  readonly fetch: typeof globalThis.fetch
  readonly log: (entry: LogEntry) => void
}

export function settingsOf(options: TrilhoOptions): Settings {
  const { timeout = 30_000, maxRetries = 3, userAgent, log = () => {} } = options
  const key = setting(options, 'key', 'TRILHO_KEY')
  const url = urlOf(setting(options, 'baseUrl', 'TRILHO_URL') ?? 'http://127.0.0.1:8080')
  if (typeof key !== 'function') keyFor(url, key)
  return {
    baseUrl: url.href.replace(/\/+$/, ''),
    key: async () => keyFor(url, typeof key === 'function' ? await key() : key),
    timeout: checkedTimeout(timeout),
    maxRetries,
    userAgent: `${userAgent ? `${userAgent} ` : ''}trilho-sdk/${version} ${runtimeName()}`,
    // Called on nothing, for Workers refuse it otherwise; and looked up late, for some programs replace it.
    fetch: options.fetch ?? ((...given) => globalThis.fetch(...given)),
    log,
  }
}

/** Who names an option and leaves it unset has mistyped a variable, and must not get the key of another program. */
function setting<Name extends 'key' | 'baseUrl'>(
  options: TrilhoOptions,
  name: Name,
  variable: string,
): TrilhoOptions[Name] {
  if (!(name in options)) return env(variable)
  if (!options[name])
    throw new TypeError(`\`${name}\` is given and not set: leave it out to use ${variable}.`)
  return options[name]
}

export function checkedTimeout(timeout: number): number {
  if (timeout > 0) return timeout
  throw new TypeError(`\`timeout\` is ${timeout}: it takes milliseconds above 0.`)
}

function urlOf(text: string): URL {
  const url = tryUrl(text)
  if (url && /^https?:$/.test(url.protocol) && !(url.username || url.password || url.search || url.hash))
    return url
  const shown = text.replace(/^(\w+:\/\/)?.*@/s, '$1…@')
  throw new TypeError(`'${shown}' is not the address of a server: it looks like https://pay.example.com.`)
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
