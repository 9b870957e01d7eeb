import { randomBytes } from 'node:crypto'
import { encodeFunctionData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { networks } from '../../src/core/networks.ts'
import { type DepositFinder, openDepositFinder } from '../../src/money/deposits/finder.ts'
import { sandboxAddresses } from '../../src/rails/chain/deposit-addresses.ts'
import type { ChainRail, PaymentSource } from '../../src/rails/chain/rail.ts'
import type { World } from '../../src/world.ts'
import { type Bench, openBench, silent } from '../support/rail-bench.ts'
import type { Anvil } from './anvil.ts'
import { depositBench } from './deposit-bench.ts'
import { openEvmStage, type SceneOptions } from './evm-stage.ts'
import type { ProxyMode } from './rpc-proxy.ts'
import { tokenArtefact } from './token.ts'

/** A world whose customers pay in on a chain of anvil, which is reached through two endpoints that can lie. */
export type DepositStage = Awaited<ReturnType<typeof openDepositStage>>

const NETWORK = 'polygon' as const
export const DEEP = networks[NETWORK].confirmations

/** Pays tokens by transactions that a test has in its hands: it says when they are mined, and in which block of a new branch. */
export function openPayer(node: Anvil, contract: string) {
  const account = privateKeyToAccount(`0x${randomBytes(32).toString('hex')}`)
  let nonce = 0
  const call = (functionName: string, ...args: readonly unknown[]) =>
    encodeFunctionData({ abi: tokenArtefact.abi, functionName, args })
  const sign = (data: `0x${string}`, priority: bigint) =>
    account.signTransaction({
      ...{ chainId: Number(networks[NETWORK].chain_id), nonce: nonce++, to: contract as `0x${string}`, data },
      ...{ gas: 200_000n, maxFeePerGas: 900n * 10n ** 9n, maxPriorityFeePerGas: priority },
    })
  return {
    address: account.address,
    sign: (to: string, amount: bigint, priority = 2n * 10n ** 9n) =>
      sign(call('transfer', to, amount), priority),
    send: (raw: string) => node.call<string>('eth_sendRawTransaction', raw),
  }
}

/** An endpoint that is behind does not have the receipts of later blocks either. */
export async function withoutLater(node: Anvil, mode: ProxyMode): Promise<ProxyMode> {
  const head = BigInt(await node.call<string>('eth_blockNumber'))
  return {
    rewrite(request, reply) {
      const { method, params } = request
      const is_later =
        (method === 'eth_getTransactionReceipt' && BigInt(reply.result?.blockNumber ?? 0) > head) ||
        (method === 'eth_getBlockByNumber' && /^0x/.test(params[0]) && BigInt(params[0]) > head)
      if (is_later) return { ...reply, result: null }
      if (method !== 'eth_getLogs') return mode.rewrite?.(request, reply)
      const logs = reply.result.filter((log: { blockNumber: string }) => BigInt(log.blockNumber) <= head)
      return { ...reply, result: logs }
    },
  }
}

/** The deposit address of the second customer gets the fees of the token: a transfer with a fee pays two addresses. */
export const TOKEN_OWNER = sandboxAddresses().addressOf(NETWORK, 1)

export async function openDepositStage(options: SceneOptions = {}) {
  const stage = await openEvmStage(NETWORK)
  const { node, endpoints } = stage
  const scene = await stage.open({ deposits: {}, token_owner: TOKEN_OWNER, ...options })
  const { token, chain } = scene
  const payments = chain.payments!
  const rails = { payments, finality: chain.finality } as Partial<ChainRail> as Partial<ChainRail<'sandbox'>>
  const bench: Bench = await openBench({ chain: rails })
  const { world } = bench

  const payer = openPayer(node, token.contract)
  const fund = async ({ address }: { readonly address: string }) => {
    await node.setBalance(address, 10n ** 20n)
    await token.mint(address, 10n ** 15n)
  }
  await fund(payer)
  // Deeper than any reorganisation of the tests.
  await node.mine(2 * DEEP)

  const openFinder = (changes: { world?: World; source?: Partial<PaymentSource> } = {}): DepositFinder =>
    openDepositFinder({
      world: changes.world ?? world,
      network: NETWORK,
      source: { ...payments, ...changes.source },
      log: silent,
    })
  const finder = openFinder()

  const deposit_bench = depositBench(bench, NETWORK, finder)
  await deposit_bench.find()

  async function pay(to: string, amount: bigint): Promise<string> {
    const tx_hash = await payer.send(await payer.sign(to, amount))
    await node.mine()
    return tx_hash
  }

  return {
    ...deposit_bench,
    ...{
      stage,
      scene,
      node,
      endpoints,
      token,
      bench,
      world,
      payer,
      openFinder,
      pay,
      fund,
      network: NETWORK,
    },
    openPayer: () => openPayer(node, token.contract),
    without: (mode: ProxyMode) => withoutLater(node, mode),
    async stop() {
      await bench.stop()
      await stage.stop()
    },
  }
}
