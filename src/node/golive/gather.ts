import { access } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { auditState } from '../../control/audit/state.ts'
import type {
  BackupFacts,
  ClockReading,
  DiskFacts,
  FoundOut,
  GoliveFacts,
  NotedBackup,
  PriceFacts,
  SettingFacts,
  StandbyFacts,
} from '../../control/golive/facts.ts'
import { type BackupNote, backupNoteOf } from '../../control/operator/backups.ts'
import { parseAddress } from '../../db/address.ts'
import { measureOffset } from '../../db/clock.ts'
import { withOwner } from '../../db/pool.ts'
import { isLoopback } from '../../http/ip.ts'
import { railNames } from '../../money/custody/controls-store.ts'
import { isFresh } from '../../money/quotes/prices.ts'
import { mailState } from '../../notifications/mail-store.ts'
import { listKeys } from '../../parties/keys/store.ts'
import type { Shared } from '../../parties/partners/partners.ts'
import { personRoleOf } from '../../parties/team/people.ts'
import { selectUser, selectUsers } from '../../parties/team/store.ts'
import { exchanges } from '../../rails/prices/exchange-table.ts'
import { fedPairs } from '../../rails/prices/feed.ts'
import type { RemoteSigner } from '../../rails/signer/remote.ts'
import { countOpenExceptions } from '../../records/exceptions/store.ts'
import type { World, Worlds } from '../../world.ts'
import type { Config } from '../config.ts'
import { DEMO_OWNER, demoFile } from '../demo.ts'
import { configuredNetworks, isPixConfigured } from '../rails.ts'
import { openDiskReader } from './disks.ts'
import { findOut } from './find-out.ts'
import { askChain, askPix } from './rails.ts'
import { readOutsideClock, readPrometheus, readPublicPage, readStatus } from './web.ts'

/** What the facts are gathered with: a running node, or a command on the machine of one. */
export type GoliveReach = {
  readonly config: Config
  readonly worlds: Worlds
  readonly shared: Pick<Shared, 'db'>
  /** The signer in a process of its own, with SIGNER_URL. */
  readonly remote_signer: Pick<RemoteSigner, 'check'> | undefined
  /** The owner's address of the database. */
  readonly database_url: string
  /** Where this machine reaches the service; undefined: it does not run here. */
  readonly local_url: string | undefined
}

/**
 * Asks everything at once, each question with a deadline of its own. Nothing is written, and no question is asked inside a
 * transaction.
 */
export async function gatherGolive(reach: GoliveReach): Promise<GoliveFacts> {
  const { config, worlds, shared, database_url } = reach
  const { production } = worlds
  const networks = configuredNetworks(config)
  const has_pix = isPixConfigured(config)
  const { public_url } = config
  const backup = findOut(() => backupsOf(shared))
  const facts = {
    public_page: public_url
      ? findOut((signal) => readPublicPage(public_url, signal))
      : Promise.resolve({ unknown: 'PUBLIC_URL is not set' }),
    rails: Promise.all([
      ...(has_pix ? [askPix(production, config)] : []),
      ...networks.map((network) => askChain(production, network, reach)),
    ]),
    prices: findOut(() => pricesOf(reach)),
    operators: findOut(() => operatorsOf(shared)),
    demo_left: findOut(() => demoLeft(reach)),
    backup,
    standby: findOut(() => standbysOf(database_url)),
    disks: backup.then((made) => disksOf(config, made)),
    ...watchersOf(reach),
    mail: findOut(async () => ({
      ...(await mailState(shared.db)),
      is_set_up: config.mail.server !== undefined,
    })),
    audit: findOut(() => auditOf(production)),
    exceptions: findOut(async () =>
      (await countOpenExceptions(production.reads)).reduce((sum, { count }) => sum + count, 0),
    ),
    // The database's clock minus this machine's.
    database_clock: findOut(async () => -(await measureOffset(shared.db)).offset_ms),
    outside_clock: outsideClockOf(config),
  }
  const known = await allOf(facts)
  const used: readonly string[] = [...(has_pix ? ['pix'] : []), ...networks]
  return {
    ...known,
    now: new Date(production.clock.now()),
    settings: settingsOf(config),
    unused_rails: railNames.filter((rail) => !used.includes(rail)),
  }
}

async function allOf<T extends Record<string, Promise<unknown>>>(
  promised: T,
): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  const entries = await Promise.all(
    Object.entries(promised).map(async ([name, value]) => [name, await value] as const),
  )
  return Object.fromEntries(entries) as { [K in keyof T]: Awaited<T[K]> }
}

/** A key of a few different bytes was typed, not drawn: 32 random bytes have fewer than 16 different ones practically never. */
const DIFFERENT_LEAST = 16

/** The hosts at which Pix providers move real money. */
const EFI_HOST = 'pix.api.efipay.com.br'
const STARKBANK_HOST = 'api.starkbank.com'

export function settingsOf(config: Config): SettingFacts {
  const { chains, efi, starkbank, retention, database_url, secret_key } = config
  const evm = ['polygon', 'arbitrum', 'optimism', 'ethereum'] as const
  const for_tests = {
    ...Object.fromEntries(evm.map((name) => [`${name.toUpperCase()}_USDT`, chains[name].usdt !== undefined])),
    BITCOIN_GENESIS: chains.bitcoin.genesis !== undefined,
    EFI_CA: efi.ca !== undefined,
    EFI_URL: new URL(efi.url).hostname !== EFI_HOST,
    STARKBANK_CA: starkbank.ca !== undefined,
    STARKBANK_URL: new URL(starkbank.url).hostname !== STARKBANK_HOST,
    TRON_USDT: chains.tron.usdt !== undefined,
    TRON_GENESIS: chains.tron.genesis !== undefined,
    SANDBOX_JOURNAL: config.sandbox.journal !== undefined,
  }
  const address = database_url === undefined ? undefined : parseAddress(database_url)
  const is_near = address?.hosts.every(({ host }) => ['', 'localhost'].includes(host) || isLoopback(host))
  return {
    public_url: config.public_url,
    trusts_proxy: config.trusted_proxies.length > 0,
    has_weak_key: secret_key !== undefined && new Set(secret_key).size < DIFFERENT_LEAST,
    database: address === undefined ? 'embedded' : is_near ? 'same_machine' : 'other_machine',
    has_database_tls: !/[?&]sslmode=disable(?:&|$)/.test(database_url ?? ''),
    for_tests: Object.entries(for_tests).flatMap(([name, is_set]) => (is_set ? [name] : [])),
    allows_private_webhooks: config.webhooks.allow_private,
    retention_days: {
      events: retention.event_days,
      deliveries: retention.delivery_days,
      requests: retention.request_days,
    },
    audit_every_ms: config.audit.every_ms,
    reconcile_every_ms: config.reconcile_every_ms,
    has_provider_standby: config.database_standby === 'provider',
  }
}

async function pricesOf({ config, worlds }: GoliveReach): Promise<PriceFacts> {
  const { prices, clock, quoting } = worlds.production
  const from = config.prices_from ?? (config.prices_file === undefined ? 'nowhere' : 'file')
  const latest = await prices.latest()
  const markets = prices.markets?.() ?? []
  const now = new Date(clock.now())
  return {
    from,
    pairs: fedPairs.map((pair) => {
      const price = latest[pair]
      const sources = markets.find((market) => market.pair === pair)?.sources ?? []
      return {
        pair,
        is_fresh: price !== undefined && isFresh(price, now, quoting.price_max_age_ms),
        good_sources: sources.filter(({ state }) => state === 'good').length,
      }
    }),
  }
}

/** A pass that has only begun proves nothing. */
async function auditOf(world: World) {
  const { last_finished_at, findings } = await auditState(world)
  return { findings, age_ms: last_finished_at && world.clock.now() - last_finished_at.getTime() }
}

async function operatorsOf({ db }: Pick<Shared, 'db'>) {
  const users = await selectUsers(db, { role: 'operator' })
  return users.map((user) => ({
    email: user.email,
    role: personRoleOf(user) as 'admin' | 'resolver' | 'reader',
    second_factor: user.second_factor,
  }))
}

async function demoLeft({ config, worlds, shared }: GoliveReach): Promise<string[]> {
  const owner = await selectUser(shared.db, DEMO_OWNER)
  const keys = owner?.partner_id ? await listKeys(worlds.production.db, { partner_id: owner.partner_id }) : []
  const live = keys.filter(({ revoked_at }) => revoked_at === null)
  return [
    ...(config.demo ? ['DEMO=true'] : []),
    ...(owner && owner.removed_at === null ? [`the user ${DEMO_OWNER}`] : []),
    ...(live.length > 0 ? [`${live.length} production keys of the demo partner`] : []),
    ...((await isThere(demoFile(config.data_dir))) ? [demoFile(config.data_dir)] : []),
  ]
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

async function backupsOf({ db }: Pick<Shared, 'db'>): Promise<BackupFacts> {
  const read = (note: BackupNote | undefined): NotedBackup | undefined =>
    note && { until: new Date(note.until), source: note.source }
  return { created: read(await backupNoteOf(db, false)), verified: read(await backupNoteOf(db, true)) }
}

/** If the database user may not see a standby, the standby's columns are NULL. */
async function standbysOf(url: string): Promise<StandbyFacts> {
  return withOwner(url, async (owner) => {
    const { rows } = await owner.query(
      `SELECT coalesce(nullif(application_name, ''), client_addr::text, 'a standby') AS name, state,
         CASE WHEN state IS NULL THEN NULL ELSE sync_state IN ('sync', 'quorum') END AS is_synchronous,
         (coalesce(extract(epoch FROM replay_lag), 0) * 1000)::float8 AS lag_ms
       FROM pg_stat_replication WHERE application_name NOT LIKE 'trilho backup%'`,
    )
    return { standbys: rows }
  })
}

const readDisks = openDiskReader()

async function disksOf({ data_dir }: Config, backup: FoundOut<BackupFacts>): Promise<DiskFacts[]> {
  const folder = 'known' in backup ? backup.known.created?.source : undefined
  const paths = [data_dir, ...(folder !== undefined && isAbsolute(folder) ? [join(folder, '..')] : [])]
  return readDisks(paths)
}

function watchersOf({ config, local_url }: GoliveReach) {
  const { metrics_token: token, metrics_port, prometheus_url, alertmanager_url, host } = config
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const near = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host)
  const metrics_url = metrics_port === undefined ? local_url : `http://${near}:${metrics_port}`
  const is_served = token !== undefined || metrics_port !== undefined
  return {
    metrics: is_served
      ? findOut(async (signal) => {
          if (metrics_url === undefined) throw new Error('the service does not run on this machine')
          return readStatus(`${metrics_url}/metrics`, signal, headers)
        })
      : Promise.resolve(undefined),
    prometheus: prometheus_url
      ? findOut((signal) => readPrometheus(prometheus_url, signal))
      : Promise.resolve(undefined),
    alertmanager: alertmanager_url
      ? findOut((signal) => readStatus(`${alertmanager_url}/-/ready`, signal))
      : Promise.resolve(undefined),
  }
}

/** Origins only: paths of endpoints contain keys. Efí is left out, because it answers nobody without a client certificate. */
function clockSourcesOf({ chains, prices_from, exchange_urls }: Config): string[] {
  const rpcs = Object.values({ ...chains }).flatMap((part) =>
    typeof part === 'object' && part !== null && 'rpc' in part ? (part.rpc as readonly string[]) : [],
  )
  const markets =
    prices_from === 'exchanges'
      ? Object.entries(exchanges).map(
          ([name, { url }]) => exchange_urls[name as keyof typeof exchange_urls] ?? url,
        )
      : []
  const origins = [...markets, ...rpcs].map((url) => new URL(url).origin)
  return [...new Set(origins)].filter((origin) => origin.startsWith('https:')).slice(0, SOURCES_MOST)
}

const SOURCES_MOST = 4

/** The reading with the smallest offset, so that one source with a wrong clock does not forbid going live. */
async function outsideClockOf(config: Config): Promise<FoundOut<ClockReading> | undefined> {
  const sources = clockSourcesOf(config)
  if (sources.length === 0) return undefined
  const read = await Promise.all(
    sources.map((origin) => findOut((signal) => readOutsideClock(origin, signal))),
  )
  const known = read.flatMap((one) => ('known' in one ? [one] : []))
  const [best] = known.toSorted((a, b) => Math.abs(a.known.offset_ms) - Math.abs(b.known.offset_ms))
  return best ?? read[0]
}
