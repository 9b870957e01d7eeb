import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addr } from 'micro-eth-signer'
import { encodeFunctionData } from 'viem'
import { networks } from '../../src/core/networks.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import type { EvmNetwork } from '../../src/rails/chain/evm/network.ts'
import { type Api, openApi } from '../support/api.ts'
import { asAdmin, createDatabase } from '../support/database.ts'
import { openDesk } from '../support/operators.ts'
import { openDirectAccess, someCpf, spawnServer, testEnv } from '../support/service.ts'
import { type Anvil, hex, startAnvil } from './anvil.ts'
import { type RpcProxy, startRpcProxy } from './rpc-proxy.ts'
import { deployToken, type TestToken, tokenArtefact } from './token.ts'

/**
 * Servers, each a process of its own, over one database. Their production world pays on anvil chains, and reaches each chain
 * through endpoints that can be cut and that can lie.
 */
export type ProductionStage = Awaited<ReturnType<typeof openProductionStage>>

export type ProductionNode = Awaited<ReturnType<typeof spawnServer>>

/** One chain of the stage. */
export type ChainPlace = {
  readonly network: EvmNetwork
  readonly node: Anvil
  readonly token: TestToken
  readonly endpoints: readonly RpcProxy[]
}

export type StoredTransfer = {
  readonly id: string
  readonly network: EvmNetwork
  readonly customer_id: string
  readonly status: 'pending' | 'processing' | 'confirmed' | 'failed'
  readonly amount_net: bigint
  readonly fee: bigint
  readonly destination_address: string
  readonly idempotency_key: string
  readonly tx_hash: string | null
  readonly wallet_id: string | null
  readonly nonce: bigint | null
  readonly failure_code: string | null
  readonly rail_code: string | null
}

const ETHER = 10n ** 18n
/** Deeper than any reorganisation of the tests: the token and its owner's acts stay. */
export const DEPTH = 8
export const LEASE_MS = 6000

export async function openProductionStage(options: {
  networks: readonly EvmNetwork[]
  endpoints?: number
  env?: Record<string, string>
}) {
  const key = randomBytes(32).toString('hex')
  const wallet = addr.fromPrivateKey(new Uint8Array(Buffer.from(key, 'hex')))
  const folder = await mkdtemp(join(tmpdir(), 'trilho-chains-'))
  const prices = join(folder, 'prices.json')
  await writeFile(prices, JSON.stringify(pricesNow()))
  const database = await createDatabase()
  const direct = openDirectAccess(database)
  const places = await Promise.all(
    options.networks.map((network) => openPlace(network, wallet, options.endpoints ?? 3)),
  )
  const env = testEnv(database.url, {
    ...{ EVM_WALLET_KEY: key, EVM_WALLET: wallet, PRICES_FILE: prices },
    ...Object.fromEntries(places.flatMap(settingsOf)),
    ...{ LEASE_MS: String(LEASE_MS), RAIL_TIMEOUT_MS: '2000', LOG_LEVEL: 'debug' },
    ...options.env,
  })
  const partner = await direct.partner('', { environment: 'production' })
  const started: ProductionNode[] = []
  const world = direct.worlds.production

  return {
    ...direct,
    ...{ env, places, wallet, key, partner_id: partner.partner_id },
    placeOf: (network: EvmNetwork): ChainPlace => places.find((place) => place.network === network)!,
    async start(more: Record<string, string> = {}): Promise<ProductionNode> {
      const node = await spawnServer({ ...env, ...more })
      started.push(node)
      return node
    },
    /** The text that all servers have printed. */
    output: (): string => started.map((node) => node.output()).join('\n'),
    client: (url: string): Api => openApi(url, partner.key),
    async customer(units: bigint): Promise<string> {
      const { partner_id } = partner
      const { id } = await addCustomer(world, { partner_id, name: 'Ana Souza', document: someCpf() })
      const { propose, approve } = openDesk(() => direct.office)
      const details = { partner_id, customer_id: id, asset: 'USDT', amount: units.toString() } as const
      const order = { ...details, reason: 'funding', reference: randomBytes(6).toString('hex') }
      const proposed = await propose(world, { name: 'credit', details: order }, 'maria@operator.example')
      await approve(world, proposed.id, 'joao@operator.example')
      return id
    },
    async transfers(): Promise<StoredTransfer[]> {
      const { rows } = await world.db.query(
        `SELECT id, network, customer_id, status, amount_net, fee, destination_address, idempotency_key, tx_hash, wallet_id, nonce,
          failure_code, rail_code FROM transfers ORDER BY id`,
      )
      return rows
    },
    /**
     * Makes transfers due whose next question is later than any lease could last, so that a test does not wait for the pauses
     * between questions.
     */
    async hurry(): Promise<void> {
      await asAdmin(database.url, [
        `UPDATE live.transfers SET next_attempt_at = now() WHERE status IN ('pending', 'processing')
          AND next_attempt_at > now() + interval '${LEASE_MS + 500} ms'`,
      ])
    },
    async stop(): Promise<void> {
      await Promise.all(started.map((node) => node.kill('SIGKILL')))
      await direct.stop()
      await Promise.all(
        places.map(async ({ node, endpoints }) => {
          await Promise.all(endpoints.map((endpoint) => endpoint.stop()))
          await node.stop()
        }),
      )
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function openPlace(network: EvmNetwork, wallet: string, count: number): Promise<ChainPlace> {
  const node = await startAnvil({ chain_id: Number(networks[network].chain_id) })
  const token = await deployToken(node)
  await token.mint(wallet, 10n ** 13n)
  await node.setBalance(wallet, 1000n * ETHER)
  // What the wallet holds is read at a final block.
  await node.mine(2 * networks[network].confirmations)
  const endpoints = await Promise.all(Array.from({ length: count }, () => startRpcProxy(node.url)))
  return { network, node, token, endpoints }
}

const settingsOf = ({ network, endpoints, token }: ChainPlace): [string, string][] => [
  [`${network.toUpperCase()}_RPC`, endpoints.map(({ url }) => url).join(', ')],
  [`${network.toUpperCase()}_USDT`, token.contract],
]

function pricesNow() {
  // The service uses a price for ten minutes; a proof may take longer.
  const at = new Date(Date.now() + 3_600_000).toISOString()
  const price = (units: string) => ({ price: units, at, source: 'test' })
  return { 'USDT/BRL': price('5.4'), 'BTC/USDT': price('90000'), 'ETH/USDT': price('3000') }
}

/** An act of the token's owner that stands before everything else that is in the pool, in the block that it is mined in. */
export async function actFirst(
  { node, token }: ChainPlace,
  functionName: string,
  ...args: readonly unknown[]
): Promise<void> {
  const [owner] = await node.call<string[]>('eth_accounts')
  const data = encodeFunctionData({ abi: tokenArtefact.abi, functionName, args })
  const fee = hex(900n * 10n ** 9n)
  const act = { from: owner, to: token.contract, data, gas: hex(200_000) }
  const tx_hash = await node.call<string>('eth_sendTransaction', {
    ...act,
    ...{ maxFeePerGas: fee, maxPriorityFeePerGas: fee },
  })
  await node.mine()
  const receipt = await node.call<{ status: string; transactionIndex: string } | null>(
    'eth_getTransactionReceipt',
    tx_hash,
  )
  if (receipt?.status !== '0x1' || BigInt(receipt.transactionIndex) !== 0n)
    throw new Error(`${functionName} was not the first transaction of its block`)
}

/** Mines a block every now and then, as a chain does. */
export function startMiner(
  { node }: ChainPlace,
  { every_ms, blocks = 1 }: { every_ms: number; blocks?: number },
) {
  let ended = false
  let base_fee: bigint | undefined
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work)
    turn = done.catch(() => {})
    return done
  }
  const mine = async () => {
    if (base_fee !== undefined) await node.call('anvil_setNextBlockBaseFeePerGas', hex(base_fee))
    await node.mine(base_fee === undefined ? blocks : 1)
  }
  const mining = (async () => {
    while (!ended) {
      await inTurn(mine)
      await new Promise((resolve) => setTimeout(resolve, every_ms))
    }
  })()
  return {
    /** Nothing is mined meanwhile. */
    inTurn,
    /** The base fee of all further blocks; undefined: as the chain computes it. */
    holdBaseFee(wei: bigint | undefined) {
      base_fee = wei
    },
    async stop() {
      ended = true
      await mining
    },
  }
}
