import { randomBytes, randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { HDKey } from '@scure/bip32'
import { afterAll, beforeAll, expect } from 'vitest'
import type { CrashPoint } from '../../src/core/crash-point.ts'
import { type Network, networks } from '../../src/core/networks.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import { scriptOf } from '../../src/rails/chain/bitcoin/transaction.ts'
import { runCli } from '../support/cli.ts'
import { scrape } from '../support/metrics.ts'
import { openDesk } from '../support/operators.ts'
import { countsIn, noteFact } from '../support/proof.ts'
import { retryUntilAnswered } from '../support/retry.ts'
import { someCpf } from '../support/service.ts'
import { size } from '../support/size.ts'
import { eventually, until } from '../support/wait.ts'
import { type BitcoinNode, startBitcoinNode, bitcoinTest as test } from './bitcoin-node.ts'
import { openBitcoinPayers } from './bitcoin-payers.ts'
import { openTestWallet } from './bitcoin-wallet.ts'
import { withoutLater } from './deposit-stage.ts'
import { openEvmPayers } from './evm-payers.ts'
import { type PaidCounts, type PaidIn, type PayersIn, REORGANIZED_MOST } from './payers-in.ts'
import {
  type ChainPlace,
  openProductionStage,
  type ProductionNode,
  type ProductionStage,
  startMiner,
} from './production-stage.ts'
import { behind, type ProxyMode, type RpcProxy, startRpcProxy } from './rpc-proxy.ts'
import { dumpTables, spellingsOf, spellingsOfText } from './secrets.ts'

/**
 * Strangers pay to deposit addresses on two EVM chains and on a chain of Bitcoin's kind, while both service processes are killed at every
 * point of a deposit's way, endpoints are cut and lie, and blocks with deposits are replaced. At the end every customer has what the chains
 * have at the customer's addresses, to the unit.
 */
const EVM = ['ethereum', 'optimism'] as const
const NETWORKS = [...EVM, 'bitcoin'] as const
/** Payments of each network, so that all together are a thousand. */
const COUNT = size(340, 20)
const CUSTOMERS = size(40, 8)
const ROUNDS = 1
const COINS = size(1400, 600)
const PATIENCE_MS = size(600_000, 300_000)
const PATIENT = { timeout: PATIENCE_MS, interval: 250 }
const FAULT_MS = size(3000, 2000)
/** An endpoint that failed rests for half a minute: without pauses none would be left. */
const BETWEEN_FAULTS_MS = size(7000, 4000)

const points: readonly CrashPoint[] = [
  'after_follow',
  'after_position',
  'after_sighting',
  'before_reported',
  'after_commit',
  ...(size(1, 0) === 1 ? (['after_lock', 'before_commit'] as const) : []),
]

const account = HDKey.fromMasterSeed(randomBytes(32))
const btc = account.derive("m/84'/0'/0'")
const usdt = account.derive("m/44'/60'/0'")
const btc_wallet = openTestWallet(randomBytes(32))

let stage: ProductionStage
let bitcoin: BitcoinNode
let bitcoin_endpoints: readonly RpcProxy[]
let mining: ReturnType<typeof keepMining> | undefined

beforeAll(async () => {
  // Three endpoints of two nodes, and the strangers, ask at the same time.
  bitcoin = await startBitcoinNode({ args: ['-rpcthreads=16'] })
  // A block of now: the node has left its initial download.
  await bitcoin.mine(20)
  bitcoin_endpoints = await Promise.all(Array.from({ length: 3 }, () => startRpcProxy(bitcoin.url)))
  stage = await openProductionStage({
    networks: EVM,
    env: {
      ...{ EVM_DEPOSIT_XPUB: usdt.publicExtendedKey, EVM_DEPOSIT_KEY: usdt.privateExtendedKey! },
      ...{ BITCOIN_DEPOSIT_XPUB: btc.publicExtendedKey, BITCOIN_DEPOSIT_KEY: btc.privateExtendedKey! },
      ...{
        BITCOIN_RPC: bitcoin_endpoints.map(({ url }) => url).join(', '),
        BITCOIN_GENESIS: bitcoin.genesis,
      },
      BITCOIN_WALLET_KEY: btc_wallet.key,
    },
  })
})
afterAll(async () => {
  await mining?.stop()
  await stage?.stop()
  await Promise.all(bitcoin_endpoints?.map((endpoint) => endpoint.stop()) ?? [])
  await bitcoin?.stop()
})

const nodes: ProductionNode[] = []
const kills = new Map<string, number>()
const noteKill = (at: string) => kills.set(at, (kills.get(at) ?? 0) + 1)
const faulted = new Map<string, number>()
const trouble = { cut: 0, unavailable: 0 }
const texts: string[] = []

test(
  'deposits on both kinds of chains: each is credited once, and customers have what the chains have',
  async () => {
    const began = performance.now()
    nodes.push(...(await Promise.all([stage.start(), stage.start()])))
    const customers = await openCustomers()
    const payers = await openPayers(customers)

    const enough = { killed: false }
    const stopping = new AbortController()
    const disturbing = [
      ...stage.places.map((place) =>
        disturb(place.network, place.endpoints, evmFaults(place), stopping.signal),
      ),
      disturb('bitcoin', bitcoin_endpoints, bitcoinFaults, stopping.signal),
    ]
    const killing = killNodes().finally(() => {
      enough.killed = true
    })
    const paying = payers.map((one) => payAndReorganize(one, () => enough.killed && haveAllFaulted()))
    await Promise.all([killing, ...paying])
    stopping.abort()
    await Promise.all(disturbing)
    for (const one of payers) await one.settle()
    mining = keepMining()

    const paid = new Map<Network, readonly PaidIn[]>()
    for (const one of payers) paid.set(one.network, await one.payments())
    await until(async () => (await differenceTo(paid)).length === 0, PATIENCE_MS).catch(async () => {
      expect(await differenceTo(paid), await lastWords()).toEqual([])
    })
    await untilClear()
    await expectBalances(customers, paid)
    await expectHeld(customers, paid)
    const rows = await expectBooked()
    await expectReconciled()
    expect((await stage.audit()).production.findings).toEqual([])
    expectDisturbed(payers)
    const searched = await expectNoSecrets()
    tell({ payers, paid, rows, searched, seconds: Math.round((performance.now() - began) / 1000) })
  },
  3 * PATIENCE_MS,
)

type Customer = { readonly id: string; readonly addresses: ReadonlyMap<Network, string> }

async function openCustomers(): Promise<readonly Customer[]> {
  const customers: Customer[] = []
  const { partner_id, worlds } = stage
  for (let i = 0; i < CUSTOMERS; i++) {
    const named = { partner_id, name: 'Ana Souza', document: someCpf() }
    const { id } = await addCustomer(worlds.production, named)
    const addresses = new Map<Network, string>()
    for (const network of NETWORKS) {
      const ask = (tries: number) =>
        stage.client(nodes[tries % 2]!.url).post(`/v1/customers/${id}/deposit_addresses`, { network })
      const { status, json, text } = await retryUntilAnswered(ask, trouble)
      expect(status, text).toBe(201)
      texts.push(text)
      addresses.set(network, json.address)
    }
    customers.push({ id, addresses })
  }
  return customers
}

/** What strangers pay is found from where the service began to read. */
async function openPayers(customers: readonly Customer[]): Promise<readonly PayersIn[]> {
  const { db } = stage.worlds.production
  await until(async () => {
    const { rows } = await db.query(
      'SELECT (SELECT count(*)::integer FROM deposit_scans) AS scans, (SELECT count(*)::integer FROM blocks) AS blocks',
    )
    return rows[0].scans === EVM.length && rows[0].blocks > 0
  }, PATIENCE_MS)
  const on = (network: Network) => customers.map(({ addresses }) => addresses.get(network)!)
  const places = on('bitcoin').map((address) => ({ address, script: scriptOf(address)! }))
  return Promise.all([
    ...stage.places.map((place) => openEvmPayers(place, on(place.network))),
    openBitcoinPayers(bitcoin, places, COINS),
  ])
}

/**
 * Payments, and every third turn a reorganisation, of each depth in turn. Every second one waits for the service to note what it
 * removes, and gives it time to see that it is gone. The wait has an end: what endpoints disagree about is noted when it is deeper.
 */
async function payAndReorganize(payers: PayersIn, isEnough: () => boolean): Promise<void> {
  const { counted, network } = payers
  const isDone = async () =>
    isEnough() &&
    counted.sent >= COUNT &&
    counted.reorganizations.every((count) => count > 0) &&
    (await hasDroppedAndBack(network))
  for (let turn = 0; !(await isDone()); turn++) {
    await payers.pay()
    await sleep(randomInt(counted.sent < COUNT ? size(2000, 1000) : 3000))
    if (turn % 3 !== 2) continue
    const reorganization = Math.floor(turn / 3)
    const depth = 1 + (reorganization % REORGANIZED_MOST)
    const is_noted = (reorganization + Math.floor(reorganization / REORGANIZED_MOST)) % 2 === 0
    if (is_noted) await awaitNoted(payers, depth)
    await payers.reorganize(depth)
    if (is_noted) await sleep(randomInt(SEEN_MS))
  }
}

const NOTED_MS = 15_000
const SEEN_MS = 10_000

async function awaitNoted(payers: PayersIn, depth: number): Promise<void> {
  const hashes = await payers.inNewest(depth)
  for (const began = performance.now(); performance.now() - began < NOTED_MS; await sleep(100)) {
    const { rows } = await stage.worlds.production.db.query(
      'SELECT count(DISTINCT tx_hash)::integer AS count FROM deposits WHERE rail = $1 AND tx_hash = ANY($2)',
      [payers.network, hashes],
    )
    if (rows[0].count === hashes.length) return
  }
}

/** One deposit that vanished, and one that vanished and came back. */
async function hasDroppedAndBack(network: Network): Promise<boolean> {
  const { rows } = await stage.worlds.production.db.query(
    `SELECT bool_or(status = 'dropped') AS dropped, bool_or(status <> 'dropped' AND sequence > 2) AS back FROM deposits
      WHERE rail = $1 AND NOT below_minimum`,
    [network],
  )
  return rows[0].dropped && rows[0].back
}

const hasDied = ({ process }: ProductionNode) => process.signalCode === 'SIGKILL'

/** A node that dies before it is ready has found its work, and its end, early. */
async function startDoomed(point: CrashPoint): Promise<ProductionNode | undefined> {
  try {
    return await stage.start({ CRASH_AT: point })
  } catch (error) {
    if (!/ended with SIGKILL/.test((error as Error).message)) throw error
    return undefined
  }
}

/** In turn each node dies at each point, and then one of them anywhere. */
async function killNodes(): Promise<void> {
  for (const [index, point] of Array.from({ length: ROUNDS }, () => points)
    .flat()
    .entries()) {
    const at = index % 2
    await nodes[at]!.kill('SIGTERM')
    const doomed = await startDoomed(point)
    if (doomed) {
      nodes[at] = doomed
      await until(() => hasDied(doomed), PATIENCE_MS).catch(async () => {
        throw new Error(`no node reached ${point}\n${await lastWords()}`)
      })
    }
    noteKill(point)
    nodes[at] = await stage.start()
    const other = (index + randomInt(2)) % 2
    await sleep(randomInt(6000))
    await nodes[other]!.kill('SIGKILL')
    noteKill('anywhere')
    nodes[other] = await stage.start()
  }
}

type Fault = { readonly name: string; readonly mode: () => ProxyMode | Promise<ProxyMode> }

const commonFaults: readonly Fault[] = [
  { name: 'cut', mode: () => ({ cut: true }) },
  { name: 'late', mode: () => ({ delay_ms: 3000 }) },
  { name: 'bad gateway', mode: () => ({ raw: { status: 502, body: '<html>Bad gateway</html>' } }) },
]

const rewriting = (rewrites: Readonly<Record<string, (result: any) => unknown>>): ProxyMode => ({
  rewrite(request, reply) {
    const rewrite = rewrites[request.method]
    return rewrite && reply.error === undefined ? { ...reply, result: rewrite(reply.result) } : reply
  },
})

type Log = { readonly topics: readonly string[]; readonly data: string }
const more = (log: Log) => ({ ...log, data: `0x${(BigInt(log.data) + 1n).toString(16).padStart(64, '0')}` })

function evmFaults({ node }: ChainPlace): readonly Fault[] {
  const mined = (rewrite: (receipt: any) => unknown) =>
    rewriting({ eth_getTransactionReceipt: (receipt) => receipt && rewrite(receipt) })
  return [
    ...commonFaults,
    { name: 'behind', mode: async () => withoutLater(node, await behind(node.url)) },
    { name: 'leaves out logs', mode: () => rewriting({ eth_getLogs: () => [] }) },
    {
      name: 'invents logs',
      mode: () =>
        rewriting({
          eth_getLogs: (logs: Log[]) => [
            ...logs,
            ...logs.map((log) => ({ ...more(log), transactionHash: `0x${randomBytes(32).toString('hex')}` })),
          ],
        }),
    },
    {
      name: 'shows other amounts',
      mode: () => ({
        ...rewriting({
          eth_getLogs: (logs: Log[]) => logs.map(more),
          eth_getTransactionReceipt: (receipt) => receipt && { ...receipt, logs: receipt.logs.map(more) },
        }),
      }),
    },
    { name: 'shows failures', mode: () => mined((receipt) => ({ ...receipt, status: '0x0', logs: [] })) },
    { name: 'knows no receipt', mode: () => mined(() => null) },
  ]
}

const bitcoinFaults: readonly Fault[] = [
  ...commonFaults,
  {
    name: 'behind',
    async mode() {
      const info = await bitcoin.call<{ blocks: number }>('getblockchaininfo')
      return {
        rewrite({ method, params }, reply) {
          if (method === 'getblockchaininfo') return { ...reply, result: info }
          const is_later = method === 'getblockhash' && params[0] > info.blocks
          return is_later
            ? { id: reply.id, error: { code: -8, message: 'Block height out of range' } }
            : reply
        },
      }
    },
  },
  {
    name: 'changes blocks',
    mode: () =>
      rewriting({
        // The last output of the last transaction, or its lock time.
        getblock: (block) =>
          typeof block === 'string' ? `${block.slice(0, -20)}00${block.slice(-18)}` : block,
      }),
  },
  {
    name: 'shows other blocks',
    mode: () => rewriting({ getblockhash: () => randomBytes(32).toString('hex') }),
  },
]

/** One endpoint after the other fails, until the signal. At the end all endpoints work. Counts faults that a node met. */
async function disturb(
  network: Network,
  endpoints: readonly RpcProxy[],
  faults: readonly Fault[],
  signal: AbortSignal,
): Promise<void> {
  for (const { name } of faults) faulted.set(`${network}: ${name}`, 0)
  for (let turn = 0; !signal.aborted; turn++) {
    const endpoint = endpoints[(turn + Math.floor(turn / faults.length)) % endpoints.length]!
    const { name, mode } = faults[turn % faults.length]!
    const key = `${network}: ${name}`
    const fault = await (async () => mode())().catch(() => undefined)
    // The node itself was too busy to say where it stands.
    if (!fault) continue
    endpoint.become(fault)
    endpoint.taken()
    await sleep(FAULT_MS, undefined, { signal }).catch(() => {})
    if (endpoint.taken().requests > 0) faulted.set(key, faulted.get(key)! + 1)
    endpoint.become({})
    await sleep(BETWEEN_FAULTS_MS, undefined, { signal }).catch(() => {})
  }
}

const haveAllFaulted = () => [...faulted.values()].every((count) => count > 0)

type StoredDeposit = PaidIn & {
  readonly id: string
  readonly rail: Network
  readonly status: 'pending' | 'completed' | 'dropped'
  readonly sequence: number
  readonly below_minimum: boolean
}

async function deposits(): Promise<StoredDeposit[]> {
  const { rows } = await stage.worlds.production.db.query(
    'SELECT id, rail, tx_hash, output_index, address, amount, status, sequence, below_minimum FROM deposits WHERE tx_hash IS NOT NULL ORDER BY id',
  )
  return rows
}

const isSmall = (network: Network, amount: bigint) => amount < networks[network].deposit_least

/** What the chains have and the deposits do not show, or the other way round. */
async function differenceTo(paid: ReadonlyMap<Network, readonly PaidIn[]>): Promise<string[]> {
  const lineOf = (network: Network, { tx_hash, output_index, address, amount }: PaidIn, status: string) =>
    [network, tx_hash, output_index, address.toLowerCase(), amount, status].join(' ')
  const expected = [...paid].flatMap(([network, payments]) =>
    payments.map((one) => lineOf(network, one, isSmall(network, one.amount) ? 'pending' : 'completed')),
  )
  const stored = (await deposits())
    .filter(({ status }) => status !== 'dropped')
    .map((one) => lineOf(one.rail, one, one.status))
  const [want, have] = [new Set(expected), new Set(stored)]
  expect([want.size, have.size]).toEqual([expected.length, stored.length])
  return [
    ...expected.filter((line) => !have.has(line)).map((line) => `missing: ${line}`),
    ...stored.filter((line) => !want.has(line)).map((line) => `too much: ${line}`),
  ]
}

/** An endpoint whose newest block is old rests: the chains go on. */
function keepMining() {
  const miners = stage.places.map((place) => startMiner(place, { every_ms: 2000 }))
  return { stop: () => Promise.all(miners.map((miner) => miner.stop())) }
}

/** For a run that does not end well: positions, exceptions, and the newest warnings of the nodes. */
async function lastWords(): Promise<string> {
  const { db } = stage.worlds.production
  const { rows: scans } = await db.query('SELECT row_to_json(s)::text AS line FROM deposit_scans s')
  const { rows: exceptions } = await db.query(
    'SELECT row_to_json(e)::text AS line FROM exceptions e WHERE closed_at IS NULL',
  )
  const warnings = nodes.flatMap((node) =>
    node
      .output()
      .split('\n')
      .filter((line) => /"level":(40|50|60)|deposit/.test(line))
      .slice(-20),
  )
  return [...scans, ...exceptions]
    .map(({ line }) => line)
    .concat(warnings)
    .join('\n')
}

/** Once the endpoints agree, the service says so. */
const untilClear = () =>
  until(async () => {
    const { rows } = await stage.worlds.production.db.query(
      `SELECT FROM exceptions WHERE kind = 'deposit_unclear' AND closed_at IS NULL`,
    )
    return rows.length === 0
  }, PATIENCE_MS)

async function expectBalances(
  customers: readonly Customer[],
  paid: ReadonlyMap<Network, readonly PaidIn[]>,
): Promise<void> {
  for (const { id, addresses } of customers) {
    const expected = { USDT: 0n, BTC: 0n }
    for (const [network, payments] of paid)
      for (const { address, amount } of payments)
        if (address === addresses.get(network) && !isSmall(network, amount))
          expected[networks[network].asset] += amount
    const { json, text } = await stage.client(nodes[0]!.url).get(`/v1/customers/${id}/balances`)
    texts.push(text)
    const shown = Object.fromEntries(
      json.data.map((one: { asset: string; available: string }) => [one.asset, BigInt(one.available)]),
    )
    expect({ USDT: shown.USDT ?? 0n, BTC: shown.BTC ?? 0n }, id).toEqual(expected)
  }
}

/** The token itself, and the set of unspent outputs, say the same as logs and blocks. */
async function expectHeld(
  customers: readonly Customer[],
  paid: ReadonlyMap<Network, readonly PaidIn[]>,
): Promise<void> {
  const sumAt = (network: Network, address: string) =>
    paid.get(network)!.reduce((sum, one) => (one.address === address ? sum + one.amount : sum), 0n)
  for (const { addresses } of customers) {
    for (const { network, token } of stage.places) {
      const address = addresses.get(network)!
      expect(await token.balanceOf(address)).toBe(sumAt(network, address))
    }
  }
  const scripts = customers.map(({ addresses }) => `raw(${scriptOf(addresses.get('bitcoin')!)})`)
  const { total_amount } = await bitcoin.call<{ total_amount: number }>('scantxoutset', 'start', scripts)
  const sum = paid.get('bitcoin')!.reduce((total, { amount }) => total + amount, 0n)
  expect(BigInt(Math.round(total_amount * 10 ** 8))).toBe(sum)
}

/** One entry for each credit and none for anything else; one event for each state. */
async function expectBooked(): Promise<readonly StoredDeposit[]> {
  const { db } = stage.worlds.production
  const rows = await deposits()
  const { rows: entries } = await db.query(
    `SELECT cause_id, count(*)::integer AS lines, sum(amount) FILTER (WHERE account NOT LIKE 'external:%') AS amount FROM entries
      WHERE cause_id = ANY($1) GROUP BY cause_id ORDER BY cause_id`,
    [rows.map(({ id }) => id)],
  )
  expect(entries.map(({ cause_id, lines, amount }) => [cause_id, lines, BigInt(amount)])).toEqual(
    rows.filter(({ status }) => status === 'completed').map(({ id, amount }) => [id, 2, amount]),
  )
  const { rows: events } = await db.query(
    `SELECT object_id, array_agg(type ORDER BY sequence) AS types, array_agg(sequence ORDER BY sequence) AS places FROM events
      WHERE type LIKE 'deposit.%' GROUP BY object_id ORDER BY object_id`,
  )
  const told = new Map(events.map(({ object_id, types, places }) => [object_id, { types, places }]))
  expect(told.size).toBe(rows.length)
  for (const { id, status, sequence } of rows) {
    const { types, places } = told.get(id)!
    expect(places, id).toEqual(Array.from({ length: sequence }, (_, index) => index + 1))
    // Pending and dropped by turns, and completed once at the most, as the last one.
    const turns = types.map(
      (_: string, index: number) => `deposit.${index % 2 === 0 ? 'pending' : 'dropped'}`,
    )
    if (status === 'completed') turns[turns.length - 1] = 'deposit.completed'
    expect(types, id).toEqual(turns)
    expect(types.at(-1), id).toBe(`deposit.${status}`)
  }
  return rows
}

/** The wallet's own tokens are booked by two operators; all else came in as deposits. */
async function expectReconciled(): Promise<void> {
  const { propose, approve } = openDesk(() => stage.office)
  const world = stage.worlds.production
  for (const { network, token } of stage.places) {
    const amount = (await token.balanceOf(stage.wallet)).toString()
    const move = { rail: network, asset: 'USDT', direction: 'to_rail', amount } as const
    const details = { ...move, reason: 'funding', reference: network }
    const { id } = await propose(world, { name: 'move_custody', details }, 'maria@operator.example')
    await approve(world, id, 'joao@operator.example')
  }
  await eventually(async () => {
    const done = await runCli(['reconcile', '--json'], stage.env)
    expect(done.code, done.err).toBe(0)
    texts.push(done.out)
    const { data } = JSON.parse(done.out)
    expect(
      data.map(({ rail, difference }: { rail: string; difference: string }) => [rail, difference]).sort(),
    ).toEqual(NETWORKS.map((network) => [network, '0']).sort())
  }, PATIENT)
}

const sumOf = (payers: readonly PayersIn[], of: (counted: PaidCounts) => number): number =>
  payers.reduce((sum, { counted }) => sum + of(counted), 0)

/** Nothing passes because nothing happened. */
function expectDisturbed(payers: readonly PayersIn[]): void {
  for (const { network, counted } of payers) {
    expect(counted.sent, network).toBeGreaterThanOrEqual(COUNT)
    expect(
      counted.reorganizations.filter((count) => count > 0),
      network,
    ).toHaveLength(REORGANIZED_MOST)
    for (const name of ['zero', 'small', 'moved', 'later', 'never'] as const)
      expect(counted[name], `${network}: ${name}`).toBeGreaterThan(0)
    if (network !== 'bitcoin') expect(counted.failed, network).toBeGreaterThan(0)
    expect(counted.sent, `${network}: several in a transaction`).toBeGreaterThan(counted.transactions)
  }
  for (const point of points) expect(kills.get(point), point).toBe(ROUNDS)
  expect(kills.get('anywhere')).toBe(points.length * ROUNDS)
  for (const [name, count] of faulted) expect(count, name).toBeGreaterThan(0)
}

/** The keys and the URLs of the endpoints are in no log, table, answer or metric. */
async function expectNoSecrets(): Promise<string> {
  const [evm_key, btc_key] = [stage.key, btc_wallet.key]
  const spellings = [
    ...[evm_key, btc_key].flatMap((key) => [
      ...spellingsOf(Buffer.from(key, 'hex')),
      ...spellingsOfText(key),
    ]),
    ...[usdt, btc].flatMap((key) => [
      ...spellingsOfText(key.privateExtendedKey!),
      ...spellingsOf(Buffer.from(key.privateKey!)),
    ]),
    ...spellingsOfText('secret-path-of-the-provider'),
    ...spellingsOfText(new URL(bitcoin.url).password),
  ]
  for (const { url } of nodes) {
    const api = stage.client(url)
    const pages = await Promise.all(['/v1/deposits?limit=100', '/v1/events?limit=100'].map(api.get))
    texts.push(...pages.map(({ text }) => text), await scrape(url))
  }
  const searched = {
    'the logs of all processes': stage.output(),
    'all tables': await dumpTables(stage.database.url),
    'answers and metrics': texts.join('\n'),
  }
  for (const [name, text] of Object.entries(searched)) {
    expect(text.length, name).toBeGreaterThan(1000)
    for (const spelling of spellings)
      if (text.includes(spelling)) throw new Error(`a secret is in ${name}: ${spelling.slice(0, 6)}…`)
  }
  return Object.entries(searched)
    .map(([name, text]) => `${name} (${Math.round(text.length / 1024)} KiB)`)
    .join(', ')
}

function tell({
  payers,
  paid,
  rows,
  searched,
  seconds,
}: {
  payers: readonly PayersIn[]
  paid: ReadonlyMap<Network, readonly PaidIn[]>
  rows: readonly StoredDeposit[]
  searched: string
  seconds: number
}): void {
  const dropped = rows.filter(({ status }) => status === 'dropped')
  expect(new Set(dropped.map(({ rail }) => rail)).size, 'dropped deposits on each chain').toBe(
    NETWORKS.length,
  )
  const back = rows.filter(({ status, sequence }) => status === 'completed' && sequence > 2)
  expect(new Set(back.map(({ rail }) => rail)).size, 'dropped, and back, on each chain').toBe(NETWORKS.length)
  const credited = rows.filter(({ status }) => status === 'completed').length
  const small = rows.filter(({ status }) => status === 'pending').length
  const in_chains = [...paid].map(([network, payments]) => `${payments.length} on ${network}`).join(', ')
  noteFact(
    `${sumOf(payers, ({ sent }) => sent)} payments in ${sumOf(payers, ({ transactions }) => transactions)} transactions to ${CUSTOMERS} customers, over 2 anvil chains and ${bitcoin.program}, 3 endpoints each, by 2 nodes on one database, in ${seconds} s; in the chains at the end: ${in_chains}`,
  )
  noteFact(
    `${credited} deposits credited, each with one entry and one event for each state; ${small} below the minimum, pending; ${dropped.length} dropped and not credited; ${back.length} dropped, back, and credited once; each customer’s balance is what the chains have, to the unit; reconciliation 0 on 3 networks, audit clean`,
  )
  noteFact(`deposits, kill -9: ${countsIn(Object.fromEntries(kills))}`)
  noteFact(
    `deposits, reorganisations that removed payments, of depths 1 to 6: ${payers.map(({ network, counted }) => `${network} ${counted.reorganizations.join(' + ')}`).join('; ')}; transactions in another block at once ${sumOf(payers, ({ moved }) => moved)}, later ${sumOf(payers, ({ later }) => later)}, never ${sumOf(payers, ({ never }) => never)}`,
  )
  noteFact(
    `deposits, payments of zero ${sumOf(payers, ({ zero }) => zero)}, transactions that failed ${sumOf(payers, ({ failed }) => failed)}; faults of endpoints: ${countsIn(Object.fromEntries(faulted))}`,
  )
  noteFact(`deposits, no wallet key, no deposit key and no endpoint URL in ${searched}`)
}
