import { type Network, networks } from '../../../core/networks.ts'
import { openRpc, type Rpc, type RpcOptions } from '../rpc.ts'
import { chainId, newestBlock } from './calls.ts'

export type EvmNetwork = { [N in Network]: (typeof networks)[N]['kind'] extends 'evm' ? N : never }[Network]

export const isEvmNetwork = (network: Network): network is EvmNetwork => networks[network].kind === 'evm'

/** What the parts of an EVM rail need to know about their network. Addresses may have any case. */
export type EvmPlace = {
  readonly network: EvmNetwork
  readonly chain_id: bigint
  readonly confirmations: bigint
  /** The contract that is paid from. */
  readonly contract: string
}

export type EvmScene = EvmPlace & { readonly wallet: string }

/** About 30 seconds of blocks; and how old the newest block may be before the node counts as stuck. */
const freshness: Readonly<Record<EvmNetwork, { behind_most: bigint; head_age_most_ms: number }>> = {
  ethereum: { behind_most: 3n, head_age_most_ms: 180_000 },
  polygon: { behind_most: 15n, head_age_most_ms: 120_000 },
  arbitrum: { behind_most: 120n, head_age_most_ms: 120_000 },
  optimism: { behind_most: 15n, head_age_most_ms: 120_000 },
}

type EvmRpcOptions = { readonly network: EvmNetwork; readonly urls: readonly string[] } & Partial<
  Omit<RpcOptions, 'network' | 'urls' | 'chain' | 'inspect'>
>

export function openEvmRpc(options: EvmRpcOptions): Rpc {
  return openRpc({
    ...freshness[options.network],
    ...options,
    chain: networks[options.network].chain_id.toString(),
    async inspect(node) {
      const [chain_id, { height, at_ms }] = await Promise.all([node.ask(chainId()), node.ask(newestBlock())])
      return { chain: chain_id.toString(), height, at_ms }
    },
  })
}
