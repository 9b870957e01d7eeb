import { networks } from '../../../core/networks.ts'
import type { ChainOrder, LaterReason } from '../rail.ts'
import type { Rpc } from '../rpc.ts'
import type { RpcNode } from '../rpc-health.ts'
import { callContract, nativeBalance, newestBlock, priorityFee } from './calls.ts'
import { GAS_FALLBACK, todaysFees } from './fees.ts'
import type { EvmScene } from './network.ts'
import { isSameAddress, readBalance, readToken, transferData, ZERO_ADDRESS } from './token.ts'

/** Whether an order can be paid, before anything is reserved for it. */
export type Screening =
  /** `gas_wei`: at most so much does its gas cost by today's fees. */
  | { readonly kind: 'payable'; readonly gas_wei: bigint }
  | { readonly kind: 'refused'; readonly rail_code: string }
  /** A person or time can change it: the wallet is empty, or the token is paused or reverts for a reason that it does not tell. */
  | { readonly kind: 'later'; readonly why: LaterReason }

export async function screenOrder(
  rpc: Rpc,
  scene: EvmScene & { readonly priority_most: bigint },
  order: ChainOrder,
  signal?: AbortSignal,
): Promise<Screening> {
  const rail_code = forbiddenDestination(scene, order.destination_address)
  if (rail_code) return { kind: 'refused', rail_code }
  const found = await rpc.read((node) => simulate(node, scene, order), signal)
  if (found.kind !== 'refused') return found
  // A refusal gives the money back, so one endpoint alone cannot cause it.
  const keyOf = (screening: Screening) => screening.kind
  const agreed = await rpc.agree((node) => simulate(node, scene, order), keyOf, signal)
  return agreed ?? { kind: 'later', why: 'endpoints_disagree' }
}

function forbiddenDestination({ network, contract, wallet }: EvmScene, destination: string) {
  if (isSameAddress(destination, ZERO_ADDRESS)) return 'destination_is_zero'
  if (isSameAddress(destination, wallet)) return 'destination_is_wallet'
  const contracts = [contract, ...networks[network].usdt_contracts]
  return contracts.some((one) => isSameAddress(destination, one)) ? 'destination_is_token' : undefined
}

/** Runs the transfer on the node's newest state, without a transaction. */
async function simulate(
  node: RpcNode,
  scene: EvmScene & { readonly priority_most: bigint },
  { destination_address, amount }: ChainOrder,
): Promise<Screening> {
  const { contract, wallet, priority_most } = scene
  const data = transferData(destination_address, amount)
  const [tokens, native, block, priority, outcome] = await Promise.all([
    readBalance(node, contract, wallet),
    node.ask(nativeBalance(wallet, 'latest')),
    node.ask(newestBlock()),
    node.ask(priorityFee()),
    node.ask(callContract({ from: wallet, to: contract, data })),
  ])
  if (tokens === undefined || tokens < amount) return { kind: 'later', why: 'wallet_too_empty' }
  const { max_fee } = todaysFees({ base_fee: block.base_fee, priority, priority_most })
  const gas_wei = max_fee * GAS_FALLBACK
  if (native < gas_wei) return { kind: 'later', why: 'gas_coin_too_low' }
  const went_well = outcome.kind === 'returned' && !(outcome.data.length > 2 && BigInt(outcome.data) === 0n)
  return went_well ? { kind: 'payable', gas_wei } : explainRevert(node, scene, destination_address)
}

/** The lists of blocked addresses of the USDT contracts: Tether's own, and those of USDT0 and of other issuers. */
const blockedGetters = ['isBlackListed(address)', 'isBlacklisted(address)', 'isBlocked(address)'] as const

/** A revert is a refusal only if the token itself says that it blocks the destination. A token that is paused will pay again. */
async function explainRevert(node: RpcNode, scene: EvmScene, destination: string): Promise<Screening> {
  const { contract, wallet } = scene
  const isListed = async (address: string) => {
    const answers = await Promise.all(
      blockedGetters.map((signature) => readToken(node, contract, { signature, of: address })),
    )
    return answers.includes(1n)
  }
  const [destination_blocked, wallet_blocked] = await Promise.all([isListed(destination), isListed(wallet)])
  // All orders would fail: a person must see to the wallet before customers are refused one by one.
  if (wallet_blocked) return { kind: 'later', why: 'wallet_blocked' }
  return destination_blocked
    ? { kind: 'refused', rail_code: 'token_refuses' }
    : { kind: 'later', why: 'token_reverts' }
}
