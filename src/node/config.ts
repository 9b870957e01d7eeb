import { readFileSync } from 'node:fs'
import { POLL_MS } from '../rails/prices/exchanges.ts'
import { openDepositKeys } from '../rails/signer/deposit-keys.ts'
import {
  groups,
  isSetting,
  type Setting,
  type Settings,
  settings,
  settingsIn,
  signerSettings,
  type ValuesOf,
} from './settings.ts'

/** Environment variables → typed config. All mistakes are reported at once; a server with a mistake does not start. */
type Given = ValuesOf<typeof settings>

export type Config = Omit<Given, 'database_tls' | 'rail_timeout_ms' | 'demo_secrets'> & {
  readonly rail_timeout_ms: number
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

/** Reads a tree of settings. Throws all mistakes at once, those in the combination of settings too. */
function readSettings<Tree extends Settings>(
  env: Environment,
  tree: Tree,
  contradictions: (given: ValuesOf<Tree>) => (readonly [name: string, mistake: string])[],
): ValuesOf<Tree> {
  const mistakes = new Map<string, string>()
  const read = (setting: Setting): unknown => {
    try {
      const text = textOf(env, setting) ?? setting.default
      return text === undefined ? undefined : setting.read(text)
    } catch (error) {
      return void mistakes.set(setting.name, (error as Error).message)
    }
  }
  const given = valuesOf(tree, read) as ValuesOf<Tree>
  for (const [name, mistake] of contradictions(given)) if (!mistakes.has(name)) mistakes.set(name, mistake)
  if (mistakes.size > 0) throw new ConfigError([...mistakes].map(([name, mistake]) => `${name} ${mistake}`))
  return given
}

/** The configuration of `trilho signer`. */
export type SignerConfig = ReturnType<typeof readSignerConfig>

export function readSignerConfig(env: Environment) {
  const { listen, log_dir, seal_key, ...given } = readSettings(env, signerSettings, contradictionsOfSigner)
  return { ...given, listen: listen!, log_dir: log_dir!, seal_key: seal_key! }
}

/** For `trilho signer verify-log`, which needs nothing else. */
export const readSignerLogDir = (env: Environment): string | undefined =>
  readSettings(env, { log_dir: signerSettings.log_dir }, () => []).log_dir

function contradictionsOfSigner(given: ValuesOf<typeof signerSettings>): [name: string, mistake: string][] {
  const { listen, evm_key, bitcoin_key, tron_key, evm_deposit_key, bitcoin_deposit_key } = given
  const needed = { SIGNER_LISTEN: listen, SIGNER_LOG_DIR: given.log_dir, SIGNER_SEAL_KEY: given.seal_key }
  const of_tls = { SIGNER_CERTIFICATE: given.certificate, SIGNER_CLIENTS_CA: given.clients_ca }
  const found: [boolean, string, string][] = [
    ...Object.entries(needed).map(([name, value]): [boolean, string, string] => [
      value === undefined,
      name,
      'is needed by trilho signer (docs/operate/signer.md)',
    ]),
    ...Object.entries(of_tls).flatMap(([name, value]): [boolean, string, string][] => [
      [
        listen?.kind === 'tls' && value === undefined,
        name,
        'is needed with an address and port in SIGNER_LISTEN: the signer never listens without TLS on both sides',
      ],
      [
        listen?.kind === 'unix' && value !== undefined,
        name,
        'is set, and SIGNER_LISTEN is a socket; keep one',
      ],
    ]),
    [
      evm_key === undefined && bitcoin_key === undefined && tron_key === undefined,
      'EVM_WALLET_KEY',
      'or BITCOIN_WALLET_KEY or TRON_WALLET_KEY is needed by trilho signer: it has nothing to sign with',
    ],
    [
      evm_deposit_key !== undefined && evm_key === undefined,
      'EVM_WALLET_KEY',
      'is needed with EVM_DEPOSIT_KEY: deposits are swept into its wallet',
    ],
    [
      bitcoin_deposit_key !== undefined && bitcoin_key === undefined,
      'BITCOIN_WALLET_KEY',
      'is needed with BITCOIN_DEPOSIT_KEY',
    ],
  ]
  return found.flatMap(([wrong, name, mistake]) => (wrong ? [[name, mistake]] : []))
}

export function readConfig(env: Environment): Config {
  const given: Given = readSettings(env, settings, contradictionsIn)
  const { database_tls, ...config } = given
  return {
    ...config,
    database_url: database_tls === 'off' ? withoutTls(given.database_url) : given.database_url,
    rail_timeout_ms: given.rail_timeout_ms ?? Math.min(RAIL_TIMEOUT_MS, longestRailTimeout(given)),
    // systemd sets JOURNAL_STREAM when the output goes to its journal.
    demo_secrets: given.demo_secrets ?? (env.JOURNAL_STREAM ? 'file' : 'print'),
  }
}

function valuesOf(tree: Settings, read: (setting: Setting) => unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(tree).map(([place, part]) => [place, isSetting(part) ? read(part) : valuesOf(part, read)]),
  )
}

const RAIL_TIMEOUT_MS = 5000
const LEASE_OVER_TIMEOUT = 3

/** A worker that asks a rail and then sends needs time for both calls, and a reserve, before its lease ends. */
const longestRailTimeout = ({ lease_ms }: Given) => Math.floor(lease_ms / LEASE_OVER_TIMEOUT)

/** Mistakes in the combination of settings. */
function contradictionsIn(given: Given): (readonly [name: string, mistake: string])[] {
  const { database_url, database_tls, secret_key, secret_keys_previous, rail_timeout_ms } = given
  const { mail, public_url } = given
  const longest = longestRailTimeout(given)
  const found: [boolean, string, string][] = [
    [
      database_url !== undefined && !secret_key,
      'SECRET_KEY',
      'is needed with DATABASE_URL, and must be the same on every node (openssl rand -hex 32)',
    ],
    [
      database_tls === 'off' && /[?&]sslmode=(?!disable(&|$))/.test(database_url ?? ''),
      'DATABASE_TLS',
      'is off, and DATABASE_URL has an sslmode; keep one',
    ],
    [
      secret_keys_previous?.length > 0 && !secret_key,
      'SECRET_KEY_PREVIOUS',
      'is set without SECRET_KEY, which takes over from it',
    ],
    [
      rail_timeout_ms !== undefined && rail_timeout_ms > longest,
      'RAIL_TIMEOUT_MS',
      `must be at most a third of LEASE_MS (${longest})`,
    ],
    [
      mail.server !== undefined && !mail.from,
      'MAIL_FROM',
      'is needed with SMTP_URL: it is the sender of mails',
    ],
    [
      mail.server === undefined && mail.from !== undefined,
      'SMTP_URL',
      'is needed with MAIL_FROM: without a mail server nothing is sent',
    ],
    [
      mail.server !== undefined && public_url === undefined,
      'PUBLIC_URL',
      'is needed with SMTP_URL: mails have links to the console',
    ],
  ]
  return [
    ...found,
    ...halfEfi(given),
    ...halfStarkBank(given),
    ...halfPrices(given),
    ...halfRails(given),
    ...halfBitcoin(given),
    ...halfTron(given),
    ...halfDeposits(given),
    ...halfSigner(given),
  ].flatMap(([wrong, name, mistake]) => (wrong ? [[name, mistake] as const] : []))
}

const evmNetworks = ['ethereum', 'polygon', 'arbitrum', 'optimism'] as const

/** Two answers within this time, also when the second one is slow. */
const EXCHANGES_LEAST_AGE_MS = 4000

function halfPrices({
  prices_from,
  prices_file,
  exchange_urls,
  quoting,
}: Given): [boolean, string, string][] {
  return [
    [
      prices_from !== undefined && prices_file !== undefined,
      'PRICES_FROM',
      'and PRICES_FILE are both set; keep one: production has prices from exchanges or from a file',
    ],
    [
      prices_from === undefined && Object.keys(exchange_urls ?? {}).length > 0,
      'EXCHANGE_URLS',
      'is set without PRICES_FROM=exchanges',
    ],
    [
      prices_from === 'exchanges' && quoting.price_max_age_ms < EXCHANGES_LEAST_AGE_MS,
      'PRICE_MAX_AGE_MS',
      `must be at least ${EXCHANGES_LEAST_AGE_MS} with PRICES_FROM=exchanges: each exchange is asked every ${POLL_MS} milliseconds`,
    ],
  ]
}

function halfEfi({ efi }: Given): [boolean, string, string][] {
  const parts = {
    EFI_CLIENT_ID: efi.client_id,
    EFI_CLIENT_SECRET: efi.client_secret,
    EFI_CERTIFICATE: efi.certificate,
    EFI_PIX_KEY: efi.pix_key,
    EFI_NOTICE_TOKEN: efi.notice_token,
  }
  const given = Object.entries({ ...parts, EFI_CA: efi.ca }).flatMap(([name, value]) => (value ? [name] : []))
  return Object.entries(parts).map(([name, value]) => [
    given.length > 0 && value === undefined,
    name,
    `is needed with ${given.join(', ')}: Pix over Efí is configured whole or not at all ("Pix" in docs/operate/going-live.md)`,
  ])
}

function halfStarkBank({ starkbank, efi }: Given): [boolean, string, string][] {
  const { project_id, private_key, ca } = starkbank
  const is_any = project_id !== undefined || private_key !== undefined || ca !== undefined
  const whole = 'Pix over Stark Bank is configured whole or not at all ("Pix" in docs/operate/going-live.md)'
  return [
    [is_any && project_id === undefined, 'STARKBANK_PROJECT_ID', `is needed: ${whole}`],
    [is_any && private_key === undefined, 'STARKBANK_PRIVATE_KEY', `is needed: ${whole}`],
    [
      project_id !== undefined && efi.client_id !== undefined,
      'STARKBANK_PROJECT_ID',
      'and EFI_CLIENT_ID are both set; keep one: production pays Pix over one provider',
    ],
  ]
}

/** A rail is configured whole or not at all. */
function halfRails({ chains, role, prices_from, prices_file }: Given): [boolean, string, string][] {
  const evm = evmNetworks.map((network) => ({
    name: network.toUpperCase(),
    usdt: chains[network].usdt,
    // Endpoints that cannot be read are a mistake of their own.
    is_reached: chains[network].rpc?.length !== 0,
    start_height: chains[network].start_height,
  }))
  const reached = evm.filter(({ is_reached }) => is_reached).map(({ name }) => `${name}_RPC`)
  const { evm_key, evm_wallet } = chains
  const is_remote = chains.remote.place !== undefined
  return [
    [
      reached.length > 0 && !evm_key && !is_remote && role !== 'api',
      'EVM_WALLET_KEY',
      `is needed with ${reached.join(', ')}: it signs what this node sends. Only a node with SIGNER_URL or ROLE=api goes without`,
    ],
    [
      evm_key !== undefined && reached.length === 0,
      'EVM_WALLET_KEY',
      `is set, and no network is: set ${evm.map(({ name }) => `${name}_RPC`).join(', ')}, or some of them`,
    ],
    [
      evm_wallet !== undefined && !evm_key && !(reached.length > 0 && (is_remote || role === 'api')),
      'EVM_WALLET',
      'is set without EVM_WALLET_KEY, whose address it names',
    ],
    ...evm.flatMap(({ name, usdt, start_height, is_reached }): [boolean, string, string][] => [
      [usdt !== undefined && !is_reached, `${name}_RPC`, `is needed with ${name}_USDT`],
      [start_height !== undefined && !is_reached, `${name}_RPC`, `is needed with ${name}_START_HEIGHT`],
    ]),
    [
      reached.includes('ETHEREUM_RPC') && prices_from === undefined && prices_file === undefined,
      'PRICES_FROM',
      'or PRICES_FILE is needed with ETHEREUM_RPC: the fee of a transfer there is computed from the price of ether (ETH/USDT)',
    ],
  ]
}

function halfBitcoin({ chains, role }: Given): [boolean, string, string][] {
  const { rpc, key, wallet, cookie_file, genesis, start_height, rate_fallback, rate_most } = chains.bitcoin
  const is_reached = rpc?.length !== 0
  const is_remote = chains.remote.place !== undefined
  const parts = {
    BITCOIN_RPC_COOKIE_FILE: cookie_file,
    BITCOIN_GENESIS: genesis,
    BITCOIN_START_HEIGHT: start_height,
  }
  const alone = Object.entries(parts).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  return [
    [
      is_reached && !key && !is_remote && role !== 'api',
      'BITCOIN_WALLET_KEY',
      'is needed with BITCOIN_RPC: it signs what this node sends. Only a node with SIGNER_URL or ROLE=api goes without',
    ],
    [
      is_reached && !key && !wallet && !is_remote && role === 'api',
      'BITCOIN_WALLET',
      'is needed with BITCOIN_RPC on a node without BITCOIN_WALLET_KEY: it looks for the coins of this address',
    ],
    [
      key !== undefined && !is_reached,
      'BITCOIN_WALLET_KEY',
      'is set without BITCOIN_RPC. Set BITCOIN_RPC, or leave the key out',
    ],
    [
      wallet !== undefined && !key && !(is_reached && (is_remote || role === 'api')),
      'BITCOIN_WALLET',
      'is set without BITCOIN_WALLET_KEY, whose address it names',
    ],
    [alone.length > 0 && !is_reached, 'BITCOIN_RPC', `is needed with ${alone.join(', ')}`],
    [
      rate_fallback > rate_most,
      'BITCOIN_RATE_FALLBACK',
      'must be at most BITCOIN_RATE_MAX: nothing would be signed',
    ],
  ]
}

function halfTron({ chains, role }: Given): [boolean, string, string][] {
  const { rpc, key, wallet, usdt, genesis, deposit_xpub, start_height } = chains.tron
  const is_reached = rpc?.length !== 0
  const is_remote = chains.remote.place !== undefined
  const alone = Object.entries({
    TRON_USDT: usdt,
    TRON_GENESIS: genesis,
    TRON_START_HEIGHT: start_height,
  }).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  return [
    [
      is_reached && !key && !is_remote && role !== 'api',
      'TRON_WALLET_KEY',
      'is needed with TRON_RPC: it signs what this node sends. Only a node with SIGNER_URL or ROLE=api goes without',
    ],
    [
      is_reached && !key && !wallet && !is_remote && role === 'api',
      'TRON_WALLET',
      'is needed with TRON_RPC on a node without TRON_WALLET_KEY: it looks for the payments of this address',
    ],
    [
      key !== undefined && !is_reached,
      'TRON_WALLET_KEY',
      'is set without TRON_RPC. Set TRON_RPC, or leave the key out',
    ],
    [
      wallet !== undefined && !key && !(is_reached && (is_remote || role === 'api')),
      'TRON_WALLET',
      'is set without TRON_WALLET_KEY, whose address it names',
    ],
    [alone.length > 0 && !is_reached, 'TRON_RPC', `is needed with ${alone.join(', ')}`],
    [
      start_height !== undefined && is_reached && !deposit_xpub,
      'TRON_DEPOSIT_XPUB',
      'is needed with TRON_START_HEIGHT',
    ],
  ]
}

/** Where customers pay in: a key needs nodes that find the money, and a private key belongs to a public one. */
function halfDeposits({ chains, role }: Given): [boolean, string, string][] {
  const is_evm_reached = evmNetworks.some((network) => chains[network].rpc?.length !== 0)
  const { evm_deposit_xpub, evm_deposit_key, bitcoin, tron } = chains
  const parts = [
    { name: 'EVM', xpub: evm_deposit_xpub, key: evm_deposit_key, is_reached: is_evm_reached },
    {
      ...{ name: 'BITCOIN', xpub: bitcoin.deposit_xpub, key: bitcoin.deposit_key },
      is_reached: bitcoin.rpc?.length !== 0,
    },
    // The private key stays with the operator: nothing is swept on Tron.
    { name: 'TRON', xpub: tron.deposit_xpub, key: undefined, is_reached: tron.rpc?.length !== 0 },
  ]
  return parts.flatMap(({ name, xpub, key, is_reached }): [boolean, string, string][] => [
    [
      xpub !== undefined && !is_reached,
      `${name}_DEPOSIT_XPUB`,
      `is set without a node: deposits would not be found. Set ${name === 'EVM' ? 'the …_RPC of a network' : `${name}_RPC`}`,
    ],
    [
      key !== undefined && xpub === undefined,
      `${name}_DEPOSIT_XPUB`,
      `is needed with ${name}_DEPOSIT_KEY: every node hands out addresses from it`,
    ],
    [
      key !== undefined && xpub !== undefined && !isKeyOf(key, xpub),
      `${name}_DEPOSIT_KEY`,
      `is the private key of another key than ${name}_DEPOSIT_XPUB`,
    ],
    [
      key !== undefined && role === 'api',
      `${name}_DEPOSIT_KEY`,
      'is set on a node with ROLE=api, which moves no coins: leave it out',
    ],
  ])
}

/** With a signer in a process of its own the service has no key, and knows the addresses of the wallets. */
function halfSigner({ chains }: Given): [boolean, string, string][] {
  const { place, certificate, ca, deposits } = chains.remote
  const is_remote = place !== undefined
  const keys = {
    EVM_WALLET_KEY: chains.evm_key,
    BITCOIN_WALLET_KEY: chains.bitcoin.key,
    TRON_WALLET_KEY: chains.tron.key,
    EVM_DEPOSIT_KEY: chains.evm_deposit_key,
    BITCOIN_DEPOSIT_KEY: chains.bitcoin.deposit_key,
  }
  const of_tls = { SIGNER_CLIENT_CERTIFICATE: certificate, SIGNER_CA: ca }
  const is_evm_reached = evmNetworks.some((network) => chains[network].rpc?.length !== 0)
  const wallets = {
    EVM_WALLET: [is_evm_reached, chains.evm_wallet],
    BITCOIN_WALLET: [chains.bitcoin.rpc?.length !== 0, chains.bitcoin.wallet],
    TRON_WALLET: [chains.tron.rpc?.length !== 0, chains.tron.wallet],
  } as const
  const xpubs = { evm: chains.evm_deposit_xpub, bitcoin: chains.bitcoin.deposit_xpub }
  return [
    ...Object.entries(keys).map(([name, value]): [boolean, string, string] => [
      is_remote && value !== undefined,
      name,
      'and SIGNER_URL are both set; keep one: with SIGNER_URL the key belongs to trilho signer, and to no service',
    ]),
    ...Object.entries(wallets).map(([name, [is_paid, value]]): [boolean, string, string] => [
      is_remote && is_paid && value === undefined,
      name,
      'is needed with SIGNER_URL: a signer with another wallet is not asked to sign',
    ]),
    ...Object.entries(of_tls).flatMap(([name, value]): [boolean, string, string][] => [
      [place?.kind === 'https' && value === undefined, name, 'is needed with SIGNER_URL=https://…'],
      [place?.kind !== 'https' && value !== undefined, name, 'is set without SIGNER_URL=https://…'],
    ]),
    [!is_remote && deposits?.length > 0, 'SIGNER_DEPOSITS', 'is set without SIGNER_URL'],
    ...(deposits ?? []).map((kind): [boolean, string, string] => [
      xpubs[kind] === undefined,
      `${kind.toUpperCase()}_DEPOSIT_XPUB`,
      `is needed with ${kind} in SIGNER_DEPOSITS`,
    ]),
  ]
}

function isKeyOf(xprv: string, xpub: string): boolean {
  try {
    openDepositKeys(xprv, xpub)
    return true
  } catch {
    return false
  }
}

function withoutTls(url: string | undefined): string | undefined {
  if (url === undefined || /[?&]sslmode=/.test(url)) return url
  return `${url}${url.includes('?') ? '&' : '?'}sslmode=disable`
}

function textOf(env: Environment, { name, secret }: Setting): string | undefined {
  const direct = env[name]
  const file = secret ? env[`${name}_FILE`] : undefined
  if (direct !== undefined && direct !== '' && file)
    throw new Error(`and ${name}_FILE are both set; keep one`)
  if (direct !== undefined && direct !== '') return direct
  return file ? readSecret(name, file) : undefined
}

function readSecret(name: string, file: string): string {
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

/** The effective settings, for `trilho config check`, with secrets masked. */
export function describeConfig(
  env: Environment,
): { name: string; value: string; source: 'set' | 'file' | 'default' }[] {
  return settingsIn(settings).map(({ name, secret, default: usual = '' }) => {
    const source = env[name] ? 'set' : secret && env[`${name}_FILE`] ? 'file' : 'default'
    const value = source === 'default' ? usual : secret ? '********' : env[name]!
    return { name, value, source }
  })
}

export function renderEnvExample(): string {
  const parts = groups.map(
    ({ title, settings }) => `## ${title}\n\n${settingsIn(settings).map(renderSetting).join('\n')}`,
  )
  return `# Settings are environment variables; all of them are optional. What is written here are the defaults, or an example.\n\n${parts.join('\n')}`
}

function renderSetting({ name, about, example, secret, default: usual }: Setting): string {
  return `# ${about}.${secret ? ` Also as ${name}_FILE.` : ''}\n# ${name}=${usual || example || ''}\n`
}
