import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { networks } from '../../src/core/networks.ts'
import type { EvmNetwork } from '../../src/rails/chain/evm/network.ts'
import { openEvmRpc } from '../../src/rails/chain/evm/network.ts'
import { type EvmChainOptions, evmChain } from '../../src/rails/chain/evm.ts'
import type {
  Attempt,
  ChainOrder,
  ChainRail,
  Purpose,
  Reservation,
  Seen,
} from '../../src/rails/chain/rail.ts'
import type { Rpc } from '../../src/rails/chain/rpc.ts'
import { localSigner } from '../../src/rails/signer/local.ts'
import { type Sealable, sealOf } from '../../src/rails/signer/seal.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { type RpcProxy, startRpcProxy } from './rpc-proxy.ts'
import { deployToken, type TestToken } from './token.ts'

/** One node behind two endpoints. Each scene on it has a token and a wallet of its own. */
export type EvmStage = {
  readonly node: Anvil
  readonly network: EvmNetwork
  readonly endpoints: readonly [RpcProxy, RpcProxy]
  open(changes?: SceneOptions): Promise<StageScene>
  /** Ends all scenes, and lets both endpoints pass everything on. */
  clear(): Promise<void>
  stop(): Promise<void>
}

export type SceneOptions = Partial<EvmChainOptions> & {
  readonly urls?: readonly string[]
  readonly rpc_options?: Partial<Parameters<typeof openEvmRpc>[0]>
  readonly tokens?: bigint
  readonly gas_coin?: bigint
  readonly signatures_per_hour?: number
  readonly usdt_per_hour?: bigint
  /** Who gets the token's fees. */
  readonly token_owner?: string
}

export type StageScene = {
  readonly chain: ChainRail<'production'>
  readonly rpc: Rpc
  readonly token: TestToken
  /** The key of the wallet, for a second program that uses it. */
  readonly key: `0x${string}`
  readonly wallet: string
  readonly warnings: readonly string[]
  order(changes?: Partial<ChainOrder>): ChainOrder
  /** Signs, and fails if nothing was signed. */
  sign(order: ChainOrder, made?: readonly Attempt[], purpose?: Purpose, nonce?: bigint): Promise<Attempt>
  look(order: ChainOrder, made: readonly Attempt[], nonce?: bigint): Promise<Seen>
  /** As the service seals what a customer orders. */
  readonly seal: (ordered: Sealable) => string
}

const ETHER = 10n ** 18n
const seal_key = createHash('sha256').update('seals of tests').digest()
export const randomAddress = () => `0x${randomBytes(20).toString('hex')}`

export async function openEvmStage(network: EvmNetwork): Promise<EvmStage> {
  const node = await startAnvil({ chain_id: Number(networks[network].chain_id) })
  const endpoints = [await startRpcProxy(node.url), await startRpcProxy(node.url)] as const
  const opened: Rpc[] = []
  const clear = async () => {
    for (const endpoint of endpoints) endpoint.become({})
    await Promise.all(opened.splice(0).map((rpc) => rpc.stop()))
  }
  return {
    node,
    network,
    endpoints,
    async open(changes = {}) {
      const scene = await openScene({ node, network, urls: endpoints.map(({ url }) => url) }, changes)
      opened.push(scene.rpc)
      return scene
    },
    clear,
    async stop() {
      await clear()
      await Promise.all(endpoints.map((endpoint) => endpoint.stop()))
      await node.stop()
    },
  }
}

type Place = { readonly node: Anvil; readonly network: EvmNetwork; readonly urls: readonly string[] }

async function openScene({ node, network, urls }: Place, changes: SceneOptions): Promise<StageScene> {
  const {
    tokens = 10n ** 9n,
    gas_coin = 10n * ETHER,
    rpc_options,
    signatures_per_hour = 1000,
    usdt_per_hour = 10n ** 15n,
    token_owner,
    ...rest
  } = changes
  const key = randomBytes(32).toString('hex')
  const token = await deployToken(node, token_owner)
  const { contract } = token
  const per_hour = { count: signatures_per_hour, amount: usdt_per_hour, cost: 100n * ETHER }
  const limits = { contract, cost_most_wei: ETHER, per_hour }
  const signer = localSigner({ key, sealKey: async () => seal_key, networks: { [network]: limits } })
  const wallet = (await signer.addresses())[network]!
  if (tokens > 0n) await token.mint(wallet, tokens)
  await node.setBalance(wallet, gas_coin)
  const warnings: string[] = []
  const log = { info() {}, warn: (...line: unknown[]) => void warnings.push(String(line.at(-1))) }
  // Inspects at each use, so that a test does not wait for the next inspection. Blocks of anvil are dated as it pleases.
  const fresh = { inspect_after_ms: 0, head_age_most_ms: 86_400_000, behind_most: 1000n, timeout_ms: 60_000 }
  const rpc = openEvmRpc({ network, urls: rest.urls ?? urls, ...fresh, ...rpc_options })
  const chain = evmChain({
    network,
    rpc,
    signer,
    contract,
    cost_most_wei: ETHER,
    log,
    fees_fresh_ms: 0,
    ...rest,
  })
  const reserved = (nonce: bigint): Reservation => ({ wallet, nonce })

  return {
    ...{ chain, rpc, token, wallet, warnings, key: `0x${key}` },
    order(fields = {}) {
      const order = {
        ...{
          id: `tr_${randomBytes(4).toString('hex')}`,
          asset: 'USDT' as const,
          network,
          amount: 1_500_000n,
        },
        ...{ destination_address: randomAddress(), created_at: new Date() },
        ...fields,
      }
      return { seal: sealOf(seal_key, { ...order, transfer_id: order.id }), ...order }
    },
    async sign(order, made = [], purpose = 'pay', nonce = 0n) {
      const found = await chain.attempt(order, reserved(nonce), made, purpose)
      expect(found.kind).toBe('signed')
      if (found.kind !== 'signed') throw new Error('nothing was signed')
      return { ...found.transaction, attempt: made.length + 1, created_at: new Date() }
    },
    seal: (ordered) => sealOf(seal_key, ordered),
    look: (order, made, nonce = 0n) => chain.look(order, reserved(nonce), made),
  }
}
