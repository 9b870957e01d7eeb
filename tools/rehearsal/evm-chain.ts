import { randomBytes } from 'node:crypto'
import { encodeFunctionData, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { networks } from '../../src/core/networks.ts'
import type { EvmNetwork } from '../../src/rails/chain/evm/network.ts'
import { startAnvil } from '../../test/chains/anvil.ts'
import { startMiner } from '../../test/chains/production-stage.ts'
import { startRpcProxy } from '../../test/chains/rpc-proxy.ts'
import { deployToken, tokenArtefact } from '../../test/chains/token.ts'
import type { Closing } from './closing.ts'

/** The operator's own tokens, which are in the wallet at the beginning. */
const WALLET_TOKENS = 50_000_000_000n
const STRANGER_TOKENS = 10n ** 13n
const ETHER = 10n ** 18n
const GAS = 200_000n
const GWEI = 10n ** 9n
const BLOCK_MS = 500
const BLOCKS = 2

/** An EVM chain of its own with a token in place of USDT, two endpoints, and a stranger who pays customers. */
export async function openEvmChain(
  network: EvmNetwork,
  { wallet, gas_account }: { wallet: string; gas_account: string },
  closing: Closing,
) {
  const node = await startAnvil({ chain_id: Number(networks[network].chain_id) }).catch((error: Error) => {
    throw new Error(`anvil does not start; its package exists for Linux on x64 only. ${error.message}`)
  })
  closing.push(node.stop)
  const token = await deployToken(node)
  const stranger = privateKeyToAccount(`0x${randomBytes(32).toString('hex')}`)
  await token.mint(wallet, WALLET_TOKENS)
  await token.mint(stranger.address, STRANGER_TOKENS)
  for (const address of [wallet, gas_account, stranger.address]) await node.setBalance(address, 100n * ETHER)
  // What the wallet holds is read at a final block.
  await node.mine(2 * networks[network].confirmations)
  const endpoints = [await startRpcProxy(node.url), await startRpcProxy(node.url)]
  closing.push(() => Promise.all(endpoints.map((endpoint) => endpoint.stop())))
  const miner = startMiner({ network, node, token, endpoints }, { every_ms: BLOCK_MS, blocks: BLOCKS })
  closing.push(() => miner.stop())
  let nonce = 0

  return {
    ...{ network, node, token, funded: WALLET_TOKENS },
    settings: { [`${network.toUpperCase()}_RPC`]: endpoints.map(({ url }) => url).join(', ') },
    /** The signer refuses payments of any other token. */
    contract: { [`${network.toUpperCase()}_USDT`]: token.contract },
    /** The stranger pays; the next block has the payment. Returns the signed transaction too, so that it can be mined again. */
    async pay(address: string, amount: bigint): Promise<{ tx_hash: string; raw: string }> {
      const data = encodeFunctionData({
        ...{ abi: tokenArtefact.abi, functionName: 'transfer' },
        args: [address, amount],
      })
      const raw = await stranger.signTransaction({
        ...{ chainId: node.chain_id, nonce: nonce++, to: token.contract as Hex, gas: GAS, data },
        ...{ maxFeePerGas: 500n * GWEI, maxPriorityFeePerGas: GWEI },
      })
      return { tx_hash: await node.call<string>('eth_sendRawTransaction', raw), raw }
    },
    /** Nothing is mined meanwhile. */
    still: miner.inTurn,
    sendAgain: (raw: string) => node.call<string>('eth_sendRawTransaction', raw),
  }
}
