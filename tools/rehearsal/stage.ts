import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { HDKey } from '@scure/bip32'
import { addr } from 'micro-eth-signer'
import { makeCpf } from '../../src/core/document.ts'
import type { Asset } from '../../src/core/money.ts'
import { formatMoney, money } from '../../src/core/money.ts'
import type { Network } from '../../src/core/networks.ts'
import type { EvmNetwork } from '../../src/rails/chain/evm/network.ts'
import { openDepositKeys } from '../../src/rails/signer/deposit-keys.ts'
import { openBank } from '../../test/pix/bank.ts'
import { receivedNotice, sentNotice } from '../../test/pix/efi-answers.ts'
import { efiSettings, NOTICE_TOKEN, startEfiStub } from '../../test/pix/efi-stub.ts'
import { startCluster } from '../../test/support/cluster.ts'
import { compileInto } from '../../test/support/compile.ts'
import { startExchangeStub } from '../../test/support/exchange-stub.ts'
import { type ServerProcess, startServerProcess } from '../../test/support/server-process.ts'
import { openBitcoinChain } from './bitcoin-chain.ts'
import { openBook } from './book.ts'
import type { Closing } from './closing.ts'
import { openEvmChain } from './evm-chain.ts'
import type { Narrator } from './narrator.ts'
import { openOperators } from './operators.ts'
import { openPartner } from './partner.ts'

/** Everything that the rehearsal runs on. Scenes get it as their first argument. */
export type Stage = Awaited<ReturnType<typeof openStage>>

/** How much is played. */
export type Size = { readonly customers: number; readonly rounds: number; readonly during_fail_over: number }

export type Customer = {
  readonly id: string
  readonly name: string
  readonly document: string
  readonly addresses: ReadonlyMap<Network, string>
}

type ReceivedPayment = Parameters<typeof receivedNotice>[0]
type SentPayment = Parameters<typeof sentNotice>[0]

export const evmNetworks = [
  'ethereum',
  'polygon',
  'arbitrum',
  'optimism',
] as const satisfies readonly EvmNetwork[]
export const depositNetworks = [...evmNetworks, 'bitcoin'] as const

/** The parts, as the start and the report name them. Tron and the remote signer get a row each when they are in this version. */
export const parts: readonly {
  readonly part: string
  readonly is: 'real' | 'stub'
  readonly about: string
}[] = [
  {
    part: 'Trilho',
    is: 'real',
    about: 'two nodes, each a process of its own, with the settings of production',
  },
  {
    part: 'PostgreSQL',
    is: 'real',
    about: 'a primary and a synchronous standby, two servers with files of their own',
  },
  {
    part: 'Ethereum, Polygon, Arbitrum, Optimism',
    is: 'real',
    about: 'four EVM nodes (anvil) with the chain ids of these networks; a token contract in place of USDT',
  },
  {
    part: 'Bitcoin',
    is: 'real',
    about: 'a node of Bitcoin Core’s lineage on a chain of its own: bitcoind, or litecoind of Debian',
  },
  { part: 'Efí, the bank of Pix', is: 'stub', about: 'answers as its documentation describes, over TLS' },
  {
    part: 'Exchanges',
    is: 'stub',
    about: 'Binance, Bitso, Mercado Bitcoin, Kraken and Coinbase in their documented forms',
  },
]

const NAMES = [
  'Ana Souza',
  'Bruno Lima',
  'Carla Dias',
  'Davi Rocha',
  'Elisa Nunes',
  'Fabio Reis',
  'Gil Ramos',
  'Heloisa Melo',
]
const BANK_OPENING = 500_000_00n

/** Without the asset's name. */
export const shown = (asset: Asset, units: bigint): string => formatMoney(money(asset, units)).split(' ')[0]!

export async function openStage(options: {
  size: Size
  folder: string
  narrator: Narrator
  closing: Closing
  signal: AbortSignal
}) {
  const { size, folder, narrator, closing } = options
  const { tell } = narrator
  const program = await compileInto(join(folder, 'trilho'))
  tell('Trilho is compiled')
  const cluster = await startCluster()
  closing.push(cluster.stop)
  tell('PostgreSQL: a primary and a synchronous standby')
  const keys = newKeys()
  const chains = await Promise.all(evmNetworks.map((network) => openEvmChain(network, keys, closing)))
  tell('four EVM nodes, two endpoints each')
  const bitcoin = await openBitcoinChain(closing)
  tell(`a node of Bitcoin’s lineage: ${bitcoin.node.program}`)
  const efi = await startEfiStub(openBank({ opening: BANK_OPENING }))
  closing.push(efi.stop)
  const exchanges = await startExchangeStub()
  closing.push(exchanges.stop)
  tell('stubs of Efí and of the exchanges')

  const env: Record<string, string> = {
    ...{ DATABASE_URL: cluster.url, SECRET_KEY: randomBytes(32).toString('hex'), PORT: '0', DRAIN_MS: '0' },
    ...{
      LOG_LEVEL: 'warn',
      LOG_FORMAT: 'json',
      LEASE_MS: '6000',
      RAIL_TIMEOUT_MS: '2000',
      PIX_WAIT_MS: '300',
    },
    ...{ EFI_AT_ONCE: '4', RECONCILE_EVERY_MS: '20000', ...efiSettings(efi) },
    ...{ PRICES_FROM: 'exchanges', EXCHANGE_URLS: exchanges.setting },
    ...{ EVM_WALLET_KEY: keys.key, EVM_WALLET: keys.wallet },
    ...{ EVM_DEPOSIT_XPUB: keys.usdt.publicExtendedKey, EVM_DEPOSIT_KEY: keys.usdt.privateExtendedKey! },
    ...{
      BITCOIN_DEPOSIT_XPUB: keys.btc.publicExtendedKey,
      BITCOIN_DEPOSIT_KEY: keys.btc.privateExtendedKey!,
    },
    ...Object.assign({}, ...chains.map(({ settings }) => settings)),
    ...bitcoin.settings,
  }
  const nodes = openNodes(program, env, closing)
  await Promise.all([nodes.start(0), nodes.start(1)])
  tell('two nodes of Trilho are ready')
  const operators = await openOperators(env)
  const { partner_id, key } = await operators.openPartner('Fintech of the rehearsal')
  return {
    ...{ ...options, cluster, keys, chains, bitcoin, efi, exchanges, env, nodes, operators, partner_id },
    ...{ tell, checked: narrator.checked, waitFor: narrator.waitFor },
    opening: BANK_OPENING,
    book: openBook(),
    partner: openPartner(key, nodes.urls),
    customers: [] as Customer[],
    counts: openCounts(),
    names: NAMES.slice(0, size.customers),
    chainOf: (network: EvmNetwork) => chains.find((chain) => chain.network === network)!,
    trilho: (...args: readonly string[]) => runTrilho(program, args, env),
    /** Efí's notice to one node. It is a hint: the node asks Efí. */
    notifyReceived: (payment: ReceivedPayment) => notify(nodes.urls()[0]!, receivedNotice(payment)),
    notifySent: (payment: SentPayment) => notify(nodes.urls()[0]!, sentNotice(payment)),
  }
}

export type Counts = ReturnType<typeof openCounts>

/** What was played, for the figures of the report. */
const openCounts = () => ({
  ...{ charges: 0, pix_payments: 0, deposits: 0, sweeps: 0, conversions: 0, payouts: 0, refused_payouts: 0 },
  ...{ transfers: 0, dropped: 0, returns: 0, fail_over_ms: 0 },
})

function newKeys() {
  const key = randomBytes(32).toString('hex')
  const master = HDKey.fromMasterSeed(randomBytes(32))
  const usdt = master.derive("m/44'/60'/0'")
  const btc = master.derive("m/84'/0'/0'")
  const { gasSecret } = openDepositKeys(usdt.privateExtendedKey!, usdt.publicExtendedKey!)
  return {
    ...{ key, usdt, btc },
    wallet: addr.fromPrivateKey(new Uint8Array(Buffer.from(key, 'hex'))),
    gas_account: addr.fromPrivateKey(gasSecret()),
  }
}

/** Two nodes, by number. A node that is gone has the address that it had. */
function openNodes(program: string, env: Record<string, string>, closing: Closing) {
  const nodes: ServerProcess[] = []
  const started: ServerProcess[] = []
  closing.push(() => Promise.all(started.map((node) => node.kill('SIGKILL'))))
  return {
    urls: () => nodes.map(({ url }) => url),
    async start(number: number): Promise<void> {
      const node = await startServerProcess({ program: [program], env })
      started.push(node)
      nodes[number] = node
    },
    kill: (number: number, signal: NodeJS.Signals = 'SIGKILL') => nodes[number]!.kill(signal),
    /** The newest warnings and errors of all processes, for a run that does not end well. */
    lastWords: () => started.flatMap((node, index) => lastWordsOf(node, index + 1)),
  }
}

const LAST_WORDS = 6

function lastWordsOf(node: ServerProcess, number: number): string[] {
  const lines = node.output().trim().split('\n').slice(-LAST_WORDS)
  return lines.map((line) => {
    const { msg, err } = line.startsWith('{') ? JSON.parse(line) : { msg: line, err: undefined }
    return `process ${number}: ${[msg, err?.message].filter(Boolean).join(': ')}`
  })
}

async function notify(url: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const path = `/rails/pix/efi/${NOTICE_TOKEN}?ignorar=`
  const { status } = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (status >= 300) throw new Error(`a notice of Efí was answered with ${status}`)
}

/** Runs `trilho … --json` as an operator on the machine would. */
function runTrilho(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ code: number; json: any; err: string }> {
  const { PATH, HOME, TEST_RUN } = process.env
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      [program, ...args, '--json'],
      { env: { PATH, HOME, TEST_RUN, ...env } as NodeJS.ProcessEnv, maxBuffer: 64 * 1024 * 1024 },
      (error, out, err) => {
        const code = error ? Number(error.code ?? 1) : 0
        resolve({ code, json: out === '' ? undefined : JSON.parse(out), err })
      },
    ),
  )
}

export const someDocument = (index: number): string => makeCpf(String(529_982_240 + index))
