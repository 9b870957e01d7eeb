import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { makeCpf } from '../../src/core/document.ts'
import type { Asset } from '../../src/core/money.ts'
import { formatMoney, money } from '../../src/core/money.ts'
import type { Network } from '../../src/core/networks.ts'
import type { EvmNetwork } from '../../src/rails/chain/evm/network.ts'
import { receivedNotice, sentNotice } from '../../test/pix/efi-answers.ts'
import { NOTICE_TOKEN } from '../../test/pix/efi-stub.ts'
import { compileInto } from '../../test/support/compile.ts'
import { type ServerProcess, startServerProcess } from '../../test/support/server-process.ts'
import { openBook } from './book.ts'
import type { Closing } from './closing.ts'
import { newKeys, publicSettings } from './keys.ts'
import type { Narrator } from './narrator.ts'
import { openOperators } from './operators.ts'
import { openOutside } from './outside.ts'
import { openPartner } from './partner.ts'
import { openSigner, signerPlaces } from './signer-process.ts'

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
  const keys = newKeys()
  const outside = await openOutside({ keys, tell, closing })
  const places = signerPlaces(folder)
  const env: Record<string, string> = {
    ...{ SECRET_KEY: randomBytes(32).toString('hex'), DATA_DIR: join(folder, 'service') },
    ...{ PORT: '0', DRAIN_MS: '0', LOG_LEVEL: 'warn', LOG_FORMAT: 'json' },
    ...{ LEASE_MS: '6000', RAIL_TIMEOUT_MS: '2000', PIX_WAIT_MS: '300', RECONCILE_EVERY_MS: '20000' },
    ...{ SIGNER_URL: places.address, SIGNER_DEPOSITS: 'evm, bitcoin', ...publicSettings(keys) },
    ...outside.settings,
  }
  const nodes = openNodes(program, env, closing)
  await Promise.all([nodes.start(0), nodes.start(1)])
  tell('two nodes of Trilho are ready; they have no key of a wallet')
  const signer = await openSigner({ program, places, keys, contracts: outside.contracts, closing })
  const sealed = await runTrilho(program, ['signer', 'seal-key', '--to', places.seal_key], env)
  if (sealed.code !== 0) throw new Error(`trilho signer seal-key exits ${sealed.code}: ${sealed.err}`)
  await signer.start()
  tell('trilho signer is ready: a third process, with the keys')
  const operators = await openOperators(env)
  const { partner_id, key } = await operators.openPartner('Fintech of the rehearsal')
  return {
    ...{ ...options, ...outside, keys, env, nodes, signer, operators, partner_id },
    ...{ tell, checked: narrator.checked, waitFor: narrator.waitFor },
    book: openBook(),
    partner: openPartner(key, nodes.urls),
    customers: [] as Customer[],
    counts: openCounts(),
    /** What an operator wrote down. */
    noted: { signer_head: '' },
    names: NAMES.slice(0, size.customers),
    chainOf: (network: EvmNetwork) => outside.chains.find((chain) => chain.network === network)!,
    trilho: (...args: readonly string[]) => runTrilho(program, args, env),
    /** The same on the machine of the signer, which has other settings. */
    trilhoAtSigner: (...args: readonly string[]) => runTrilho(program, args, signer.env),
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
  ...{ waited_for_signer: 0, signatures: 0, signed_and_mined: 0, searched_mb: 0 },
})

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
    pids: () => nodes.map(({ process }) => process.pid!),
    /** What all processes have printed until now, those that were killed among them. */
    printed: () => started.map((node) => node.output()),
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
