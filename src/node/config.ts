import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { parseAddress } from '../db/address.ts'
import { type Cidr, parseCidr } from '../http/ip.ts'
import type { Quoting } from '../world.ts'

/**
 * Environment variables → typed config. All mistakes are reported at once; a server with a mistake does not start.
 * A setting marked secret can also be given as NAME_FILE, and is never printed.
 */
type Setting<T> = {
  readonly about: string
  readonly example?: string
  readonly fallback: string | undefined
  readonly secret?: true
  /** Returns the value, or throws what is wrong with it. */
  readonly parse: (text: string) => T
}

const setting = <T>(declared: Setting<T>): Setting<T> => declared

const LEASE_OVER_TIMEOUT = 3
const RAIL_TIMEOUT_MS = 5000

const settings = {
  PORT: setting({
    about: 'Port to listen on; 0 takes a free one',
    fallback: '8080',
    parse: integer(0, 65_535),
  }),
  HOST: setting({ about: 'Address to listen on', fallback: '127.0.0.1', parse: text }),
  PUBLIC_URL: setting({
    about: 'How partners reach this service; used in doc_url and openapi.json. Default: http://HOST:PORT',
    example: 'https://api.example.com',
    fallback: undefined,
    parse: url,
  }),
  DATA_DIR: setting({
    about: 'Where the embedded PostgreSQL and the secret key live',
    fallback: './data',
    parse: (dir) => resolve(dir),
  }),
  DATABASE_URL: setting({
    about:
      'A PostgreSQL 15 or newer to use instead of the embedded one. With several hosts between commas the primary among them is used',
    example: 'postgresql://trilho:password@db1.example.com:5432,db2.example.com:5432/trilho',
    fallback: undefined,
    secret: true,
    parse: databaseUrl,
  }),
  DATABASE_TLS: setting({
    about:
      'verify: a database on another machine must be reached by TLS and show a certificate for its name; off: not, where nobody else can listen on the network',
    fallback: 'verify',
    parse: oneOf('verify', 'off'),
  }),
  MIGRATE: setting({
    about:
      'false: a start leaves the database as it is, and DATABASE_URL needs no user; somebody else runs trilho migrate before, as the owner',
    fallback: 'true',
    parse: yesOrNo,
  }),
  DATABASE_POOL: setting({
    about:
      'Connections beside the ledger’s, per environment; one of them may be at the housekeeping for a while. Calls that only read have half as many more',
    fallback: '8',
    parse: integer(2, 200),
  }),
  DATABASE_WAIT_MS: setting({
    about:
      'How long a request waits for the database during a switch-over before it is answered with 503, in milliseconds',
    fallback: '6000',
    parse: integer(0, 8000),
  }),
  START_WAIT_MS: setting({
    about:
      'How long a start waits for a database that is not there yet, in milliseconds; 0: until it is told to stop',
    fallback: '0',
    parse: integer(0, 86_400_000),
  }),
  LANES: setting({
    about: 'Money transactions that may run at once, per environment and node',
    fallback: '1',
    parse: integer(1, 16),
  }),
  SECRET_KEY: setting({
    about:
      'Encrypts the secrets that must be read back; 64 hex digits. Needed with DATABASE_URL; made in DATA_DIR otherwise',
    example: 'output of: openssl rand -hex 32',
    fallback: undefined,
    secret: true,
    parse: hexKey,
  }),
  SECRET_KEY_PREVIOUS: setting({
    about:
      'Keys that SECRET_KEY takes over from, separated by commas, until trilho secrets rotate has ended; 64 hex digits each',
    fallback: undefined,
    secret: true,
    parse: (keys) => partsOf(keys).map(hexKey),
  }),
  PIX_WAIT_MS: setting({
    about: 'How long the create call of a payout waits for the Pix network, in milliseconds',
    fallback: '2000',
    parse: integer(0, 10_000),
  }),
  LEASE_MS: setting({
    about:
      'How long a node may be at work on a payout or transfer before another one looks after it, in milliseconds',
    fallback: '15000',
    parse: integer(500, 600_000),
  }),
  RAIL_TIMEOUT_MS: setting({
    about:
      'How long a payment network or chain may take to answer one call, in milliseconds; at most a third of LEASE_MS. Default: 5000, or that third when it is less',
    example: '5000',
    fallback: undefined,
    parse: integer(50, 200_000),
  }),
  STUCK_AFTER_MS: setting({
    about:
      'A payout that is on its way for longer than this becomes an exception that somebody must look at, in milliseconds; transfers get what their network needs on top',
    fallback: '900000',
    parse: integer(1000, 86_400_000),
  }),
  PRICES_FILE: setting({
    about:
      'Where production prices are read from: a JSON file that your market watcher replaces. Without one nothing is quoted',
    example: '/var/lib/trilho/prices.json',
    fallback: undefined,
    parse: (path) => resolve(path),
  }),
  PRICE_MAX_AGE_MS: setting({
    about: 'Nobody is quoted from a price that was seen longer ago than this, in milliseconds',
    fallback: '5000',
    parse: integer(100, 600_000),
  }),
  SPREAD_BPS: setting({
    about: 'Moves production prices against the customer, in basis points',
    fallback: '0',
    parse: integer(0, 1000),
  }),
  PARTNER_FEE_MAX_BPS: setting({
    about: 'The highest fee of its own that a partner may put on a quote, in basis points',
    fallback: '1000',
    parse: integer(0, 5000),
  }),
  REQUIRE_ADDRESS_CHECKSUM: setting({
    about:
      'true: EVM addresses in lower case only, which carry no checksum, are refused; a mistyped one could not be told',
    fallback: 'false',
    parse: yesOrNo,
  }),
  SANDBOX_BROADCAST_MS: setting({
    about: 'When a sandbox transfer is broadcast, in milliseconds after it was made',
    fallback: '1000',
    parse: integer(0, 600_000),
  }),
  SANDBOX_CONFIRM_MS: setting({
    about: 'When a sandbox transfer is confirmed, in milliseconds after it was made',
    fallback: '3000',
    parse: integer(0, 600_000),
  }),
  SANDBOX_JOURNAL: setting({
    about: 'A file in which the simulated rails note what they were told; for tests',
    fallback: undefined,
    parse: text,
  }),
  WEBHOOK_ALLOW_PRIVATE: setting({
    about:
      'true: webhooks may go to loopback and private addresses, for development; link-local and metadata addresses never',
    fallback: 'false',
    parse: yesOrNo,
  }),
  WEBHOOK_DENY: setting({
    about:
      'Addresses and CIDR ranges that no webhook goes to, separated by commas, beside those that never may: your own public ones, for example. Wins over WEBHOOK_ALLOW_PRIVATE',
    example: '198.51.100.0/24, 2001:db8::/32',
    fallback: '',
    parse: cidrs,
  }),
  WEBHOOK_TIMEOUT_MS: setting({
    about: 'How long a webhook’s receiver may take to answer, in milliseconds',
    fallback: '10000',
    parse: integer(100, 30_000),
  }),
  WEBHOOK_PER_SECOND: setting({
    about:
      'How many webhooks a node sends for one partner in a second, over a while; what was not used in two seconds may follow at once',
    fallback: '1000',
    parse: integer(1, 1_000_000),
  }),
  WEBHOOK_RETRY_MS: setting({
    about:
      'When a webhook that failed is tried again, in milliseconds after each failure, separated by commas',
    fallback: '5000,300000,1800000,7200000,18000000,36000000,50400000,72000000,86400000',
    parse: integers(1, 604_800_000),
  }),
  WEBHOOK_DNS: setting({
    about:
      'Name servers to ask for the hosts of webhooks, separated by commas; those of the machine when absent',
    example: '192.0.2.53, 192.0.2.54:5353',
    fallback: '',
    parse: nameServers,
  }),
  EVENT_RETENTION_DAYS: setting({
    about: 'How long events stay in the log; those with a delivery that is kept stay with it',
    fallback: '365',
    parse: integer(1, 36_500),
  }),
  DELIVERY_RETENTION_DAYS: setting({
    about: 'How long deliveries of webhooks are kept after their end, with what was sent and answered',
    fallback: '30',
    parse: integer(1, 36_500),
  }),
  QUOTE_RETENTION_DAYS: setting({
    about: 'How long quotes are kept after their end when they were never executed; executed ones stay',
    fallback: '30',
    parse: integer(1, 36_500),
  }),
  REQUEST_RETENTION_DAYS: setting({
    about: 'How long the log of requests goes back',
    fallback: '30',
    parse: integer(1, 36_500),
  }),
  REQUEST_LOG_PER_DAY: setting({
    about: 'How many requests of one partner a node logs per day, a tenth of them refused by limits; 0: none',
    fallback: '50000',
    parse: integer(0, 100_000_000),
  }),
  HOUSEKEEPING_MS: setting({
    about: 'How often a node looks for what is old and owed to nobody, and forgets it; in milliseconds',
    fallback: '600000',
    parse: integer(100, 86_400_000),
  }),
  AUDIT_EVERY_MS: setting({
    about:
      'How often the audit in the background begins anew at the latest, in milliseconds; 0: it does not run on this node',
    fallback: '3600000',
    parse: integer(0, 604_800_000),
  }),
  AUDIT_SHARE_PCT: setting({
    about: 'How much of the time the audit in the background may be at work, in percent',
    fallback: '10',
    parse: integer(1, 100),
  }),
  CONNECTIONS_MAX: setting({
    about: 'Connections that may be open to this node at once',
    fallback: '4096',
    parse: integer(10, 1_000_000),
  }),
  CONNECTIONS_PER_ADDRESS: setting({
    about:
      'Connections that one address may have open at once (an IPv6 /64 counts as one, a /48 as four); proxies of TRUST_PROXY may have any number',
    fallback: '512',
    parse: integer(1, 1_000_000),
  }),
  REQUESTS_IN_FLIGHT: setting({
    about:
      'Requests of one partner that a node works on at once, in each environment; more wait a second for their turn, then they are answered with 429',
    fallback: '256',
    parse: integer(1, 100_000),
  }),
  TRUST_PROXY: setting({
    about: 'Proxies whose X-Forwarded-For is believed: addresses and CIDR ranges, separated by commas',
    example: '10.0.0.0/8, 192.0.2.7',
    fallback: '',
    parse: cidrs,
  }),
  LOG_LEVEL: setting({
    about: 'trace, debug, info, warn, error, fatal or silent',
    fallback: 'info',
    parse: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  }),
  METRICS_TOKEN: setting({
    about: 'Bearer token for GET /metrics. Without one they are served on METRICS_PORT only, to this machine',
    fallback: undefined,
    secret: true,
    parse: text,
  }),
  METRICS_PORT: setting({
    about:
      'Serves /metrics on a port of its own: to whoever has METRICS_TOKEN, or without one to this machine',
    fallback: undefined,
    parse: integer(0, 65_535),
  }),
  DEMO: setting({
    about: 'true: make a demo partner, key and customer when the database is empty, also with DATABASE_URL',
    fallback: 'false',
    parse: yesOrNo,
  }),
  DEMO_SECRETS: setting({
    about:
      'Where the key and the password of the demo go: print, to standard output; file, to demo.env in DATA_DIR, for where standard output is collected. Default: print, or file under systemd; the container image says file',
    example: 'file',
    fallback: undefined,
    parse: oneOf('print', 'file'),
  }),
} as const

type Name = keyof typeof settings
const names = Object.keys(settings) as Name[]

type Parsed = {
  readonly [N in Name]:
    | ReturnType<(typeof settings)[N]['parse']>
    | ((typeof settings)[N]['fallback'] extends undefined ? undefined : never)
}

export type Config = {
  readonly port: number
  readonly host: string
  readonly public_url: string | undefined
  readonly data_dir: string
  readonly database_url: string | undefined
  readonly migrate: boolean
  readonly database_pool: number
  readonly database_wait_ms: number
  readonly start_wait_ms: number
  readonly lanes: number
  readonly secret_key: Buffer | undefined
  readonly secret_keys_previous: readonly Buffer[]
  readonly pix_wait_ms: number
  readonly lease_ms: number
  readonly rail_timeout_ms: number
  readonly stuck_after_ms: number
  readonly prices_file: string | undefined
  readonly require_address_checksum: boolean
  readonly quoting: Quoting
  readonly sandbox: {
    readonly broadcast_ms: number
    readonly confirm_ms: number
    readonly journal: string | undefined
  }
  readonly webhooks: {
    readonly allow_private: boolean
    readonly denied: readonly Cidr[]
    readonly timeout_ms: number
    readonly per_second: number
    readonly retry_ms: readonly number[]
    readonly dns: readonly string[]
  }
  readonly retention: {
    readonly every_ms: number
    readonly event_days: number
    readonly delivery_days: number
    readonly quote_days: number
    readonly request_days: number
  }
  readonly requests_per_day: number
  readonly audit: { readonly every_ms: number; readonly share_pct: number }
  readonly connections: { readonly max: number; readonly per_address: number }
  readonly in_flight: number
  readonly trusted_proxies: readonly Cidr[]
  readonly log_level: string
  readonly metrics_token: string | undefined
  readonly metrics_port: number | undefined
  readonly demo: boolean
  readonly demo_secrets: 'print' | 'file'
}

export class ConfigError extends Error {
  readonly mistakes: readonly string[]
  constructor(mistakes: readonly string[]) {
    super(
      `The configuration has ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}:\n${mistakes.map((m) => `  - ${m}\n`).join('')}`,
    )
    this.mistakes = mistakes
  }
}

type Environment = Readonly<Record<string, string | undefined>>

export function readConfig(env: Environment): Config {
  const mistakes: string[] = []
  const values: Record<string, unknown> = {}
  for (const name of names) {
    try {
      const given = rawValue(env, name) ?? settings[name].fallback
      values[name] = given === undefined ? undefined : settings[name].parse(given)
    } catch (error) {
      mistakes.push(`${name} ${(error as Error).message}`)
    }
  }
  const parsed = values as Parsed
  if (
    parsed.DATABASE_URL &&
    !parsed.SECRET_KEY &&
    !mistakes.some((mistake) => mistake.startsWith('SECRET_KEY'))
  ) {
    mistakes.push(
      'SECRET_KEY is needed with DATABASE_URL, and must be the same on every node (openssl rand -hex 32)',
    )
  }
  if (parsed.DATABASE_TLS === 'off' && /[?&]sslmode=(?!disable(&|$))/.test(parsed.DATABASE_URL ?? ''))
    mistakes.push('DATABASE_TLS is off, and DATABASE_URL has an sslmode; keep one')
  if (
    parsed.SECRET_KEY_PREVIOUS &&
    !parsed.SECRET_KEY &&
    !mistakes.some((one) => one.startsWith('SECRET_KEY'))
  )
    mistakes.push('SECRET_KEY_PREVIOUS is set without SECRET_KEY, which takes over from it')
  // Somebody who asks and then sends needs time for both, and some to spare, before the lease ends.
  const rail_timeout_max = Math.floor(parsed.LEASE_MS / LEASE_OVER_TIMEOUT)
  if (parsed.RAIL_TIMEOUT_MS !== undefined && parsed.RAIL_TIMEOUT_MS > rail_timeout_max) {
    mistakes.push(`RAIL_TIMEOUT_MS must be at most a third of LEASE_MS (${rail_timeout_max})`)
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  return {
    port: parsed.PORT,
    host: parsed.HOST,
    public_url: parsed.PUBLIC_URL,
    data_dir: parsed.DATA_DIR,
    database_url: parsed.DATABASE_TLS === 'off' ? withoutTls(parsed.DATABASE_URL) : parsed.DATABASE_URL,
    migrate: parsed.MIGRATE,
    database_pool: parsed.DATABASE_POOL,
    database_wait_ms: parsed.DATABASE_WAIT_MS,
    start_wait_ms: parsed.START_WAIT_MS,
    lanes: parsed.LANES,
    secret_key: parsed.SECRET_KEY,
    secret_keys_previous: parsed.SECRET_KEY_PREVIOUS ?? [],
    pix_wait_ms: parsed.PIX_WAIT_MS,
    lease_ms: parsed.LEASE_MS,
    rail_timeout_ms: parsed.RAIL_TIMEOUT_MS ?? Math.min(RAIL_TIMEOUT_MS, rail_timeout_max),
    stuck_after_ms: parsed.STUCK_AFTER_MS,
    prices_file: parsed.PRICES_FILE,
    require_address_checksum: parsed.REQUIRE_ADDRESS_CHECKSUM,
    quoting: {
      spread_bps: parsed.SPREAD_BPS,
      partner_fee_max_bps: parsed.PARTNER_FEE_MAX_BPS,
      price_max_age_ms: parsed.PRICE_MAX_AGE_MS,
    },
    sandbox: {
      broadcast_ms: parsed.SANDBOX_BROADCAST_MS,
      confirm_ms: parsed.SANDBOX_CONFIRM_MS,
      journal: parsed.SANDBOX_JOURNAL,
    },
    webhooks: {
      allow_private: parsed.WEBHOOK_ALLOW_PRIVATE,
      denied: parsed.WEBHOOK_DENY,
      timeout_ms: parsed.WEBHOOK_TIMEOUT_MS,
      per_second: parsed.WEBHOOK_PER_SECOND,
      retry_ms: parsed.WEBHOOK_RETRY_MS,
      dns: parsed.WEBHOOK_DNS,
    },
    retention: {
      every_ms: parsed.HOUSEKEEPING_MS,
      event_days: parsed.EVENT_RETENTION_DAYS,
      delivery_days: parsed.DELIVERY_RETENTION_DAYS,
      quote_days: parsed.QUOTE_RETENTION_DAYS,
      request_days: parsed.REQUEST_RETENTION_DAYS,
    },
    requests_per_day: parsed.REQUEST_LOG_PER_DAY,
    audit: { every_ms: parsed.AUDIT_EVERY_MS, share_pct: parsed.AUDIT_SHARE_PCT },
    connections: { max: parsed.CONNECTIONS_MAX, per_address: parsed.CONNECTIONS_PER_ADDRESS },
    in_flight: parsed.REQUESTS_IN_FLIGHT,
    trusted_proxies: parsed.TRUST_PROXY,
    log_level: parsed.LOG_LEVEL,
    metrics_token: parsed.METRICS_TOKEN,
    metrics_port: parsed.METRICS_PORT,
    demo: parsed.DEMO,
    // systemd says so when what is printed goes to its journal.
    demo_secrets: parsed.DEMO_SECRETS ?? (env.JOURNAL_STREAM ? 'file' : 'print'),
  }
}

function rawValue(env: Environment, name: Name): string | undefined {
  const direct = env[name]
  const file = settings[name].secret ? env[`${name}_FILE`] : undefined
  if (direct !== undefined && direct !== '' && file)
    throw new Error(`and ${name}_FILE are both set; keep one`)
  if (direct !== undefined && direct !== '') return direct
  return file ? readSecret(name, file) : undefined
}

function readSecret(name: Name, file: string): string {
  let content: string
  try {
    content = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Error(
      `cannot be read from the file that ${name}_FILE names (${(error as NodeJS.ErrnoException).code})`,
    )
  }
  if (content === '') throw new Error(`is empty in the file that ${name}_FILE names`)
  return content
}

/** What is in force, for `trilho config check`: secrets masked. */
export function describeConfig(
  env: Environment,
): { name: string; value: string; source: 'set' | 'file' | 'default' }[] {
  return names.map((name) => {
    const declared = settings[name]
    const source = env[name] ? 'set' : declared.secret && env[`${name}_FILE`] ? 'file' : 'default'
    const value = source === 'default' ? (declared.fallback ?? '') : declared.secret ? '********' : env[name]!
    return { name, value, source }
  })
}

export function renderEnvExample(): string {
  const lines = names.map((name) => {
    const { about, example, fallback, secret } = settings[name] as Setting<unknown>
    return `# ${about}.${secret ? ` Also as ${name}_FILE.` : ''}\n# ${name}=${fallback || example || ''}\n`
  })
  return `# Settings are environment variables; all of them are optional. What is written here are the defaults, or an example.\n\n${lines.join('\n')}`
}

function text(value: string): string {
  return value
}

function integer(min: number, max: number) {
  return (value: string): number => {
    const number = /^[0-9]{1,9}$/.test(value) ? Number(value) : Number.NaN
    if (!(number >= min && number <= max))
      throw new Error(`must be a whole number from ${min} to ${max}, not "${value}"`)
    return number
  }
}

/** Parts between commas; none when there is nothing. */
const partsOf = (value: string): string[] =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

function integers(min: number, max: number) {
  return (value: string): number[] => partsOf(value).map(integer(min, max))
}

function nameServers(value: string): string[] {
  const parts = partsOf(value)
  for (const part of parts) {
    const host = part.replace(/:[0-9]{1,5}$/, '').replace(/^\[|\]$/g, '')
    if (isIP(host) === 0 && isIP(part) === 0) throw new Error(`has "${part}", which is not an address`)
  }
  return parts
}

function oneOf<const T extends string>(...allowed: readonly T[]) {
  return (value: string): T => {
    if (!allowed.includes(value as T)) throw new Error(`must be one of ${allowed.join(', ')}, not "${value}"`)
    return value as T
  }
}

function yesOrNo(value: string): boolean {
  if (value !== 'true' && value !== 'false') throw new Error(`must be true or false, not "${value}"`)
  return value === 'true'
}

function url(value: string): string {
  const parsed = URL.canParse(value) ? new URL(value) : undefined
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.search || parsed.hash) {
    throw new Error('must be a URL such as https://api.example.com')
  }
  return value.replace(/\/+$/, '')
}

function databaseUrl(value: string): string {
  parseAddress(value)
  if (!/^[a-z]+:\/\/[^/?#]*\/[^?#]/.test(value))
    throw new Error(
      'must end with the name of the database, as in postgresql://user:password@host:5432/database',
    )
  return value
}

function withoutTls(url: string | undefined): string | undefined {
  if (url === undefined || /[?&]sslmode=/.test(url)) return url
  return `${url}${url.includes('?') ? '&' : '?'}sslmode=disable`
}

function hexKey(value: string): Buffer {
  if (!/^[0-9a-fA-F]{64}$/.test(value)) throw new Error('must be 64 hex digits (openssl rand -hex 32)')
  return Buffer.from(value, 'hex')
}

function cidrs(value: string): Cidr[] {
  return partsOf(value).map((part) => {
    const cidr = parseCidr(part)
    if (!cidr) throw new Error(`has "${part}", which is neither an address nor a CIDR range`)
    return cidr
  })
}
