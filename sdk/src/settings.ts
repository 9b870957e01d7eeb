import { version } from './generated/operations.js'
import { env, isLoopback, runtimeName } from './runtime.js'
import type { LogEntry } from './send.js'

export type TrilhoOptions = {
  /** The API key, or a function that returns it, called once per call. Default: `TRILHO_KEY`. */
  readonly key?: string | (() => string | Promise<string>) | undefined
  /** The address of the server. Default: `TRILHO_URL`, otherwise port 8080 of this machine. */
  readonly baseUrl?: string | undefined
  /** Milliseconds per attempt. Default: 30 000. */
  readonly timeout?: number | undefined
  /** Maximum number of retries, where they are safe. Default: 3. */
  readonly maxRetries?: number | undefined
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Called with one entry per attempt. */
  readonly log?: ((entry: LogEntry) => void) | undefined
  /** Prefix of the User-Agent header, to tell your programs apart. */
  readonly userAgent?: string | undefined
}

/** The options with their defaults. */
export type Settings = {
  readonly baseUrl: string
  /** Called once per call. Idempotency keys belong to an API key, so a retry under another API key would pay again. */
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
    // Called without a receiver, which Workers require; looked up late, because some programs replace the global `fetch`.
    fetch: options.fetch ?? ((...given) => globalThis.fetch(...given)),
    log,
  }
}

/** An option that is present but undefined is a mistyped variable: an error, not a reason to use the key of the environment. */
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
  if (url && /^https?:$/.test(url.protocol) && !(url.username || url.password || url.search || url.hash)) {
    const [, base] = /^(.*)\/v1\/*$/.exec(url.href) ?? []
    if (base !== undefined) throw new TypeError(`Leave /v1 away from the address of the server: ${base}`)
    return url
  }
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
  // A key read from a file ends with a line break. The key is never part of an error message.
  const key = typeof value === 'string' ? value.trim() : ''
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new TypeError('`key` is not an API key: it looks like svc_live_sk_… or svc_test_sk_….')
  if (key.startsWith('svc_live_') && url.protocol === 'http:' && !isLoopback(url))
    throw new TypeError(`A live key goes over https only, and ${url.origin} is http.`)
  return key
}
