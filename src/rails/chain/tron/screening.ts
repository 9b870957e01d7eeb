import { networks } from '../../../core/networks.ts'
import type { ChainOrder, LaterReason } from '../rail.ts'
import type { Rpc } from '../rpc.ts'
import type { RpcNode } from '../rpc-health.ts'
import { runConstant } from './calls.ts'
import type { TronCost } from './costs.ts'
import { foresee, numberOf, type TronScene, tokenCall } from './payment.ts'
import { addressWord } from './token.ts'

/** Whether an order can be paid, before anything is reserved for it. As on EVM networks (`evm/screening.ts`). */
export type TronScreening =
  | { readonly kind: 'payable'; readonly cost: TronCost }
  | { readonly kind: 'refused'; readonly rail_code: string }
  | { readonly kind: 'later'; readonly why: LaterReason }

export async function screenTronOrder(
  rpc: Rpc,
  scene: TronScene,
  order: ChainOrder,
  signal?: AbortSignal,
): Promise<TronScreening> {
  const { destination_address: destination } = order
  if (destination === scene.wallet) return { kind: 'refused', rail_code: 'destination_is_wallet' }
  if ([scene.contract, ...networks.tron.usdt_contracts].includes(destination))
    return { kind: 'refused', rail_code: 'destination_is_token' }
  const found = await rpc.read((node) => screenFrom(node, scene, order), signal)
  if (found.kind !== 'refused') return found
  // A refusal gives the money back, so one endpoint alone cannot cause it.
  const agreed = await rpc.agree(
    (node) => screenFrom(node, scene, order),
    ({ kind }) => kind,
    signal,
  )
  return agreed ?? { kind: 'later', why: 'endpoints_disagree' }
}

async function screenFrom(node: RpcNode, scene: TronScene, order: ChainOrder): Promise<TronScreening> {
  const prospect = await foresee(node, scene, order)
  if (prospect.kind === 'possible') return { kind: 'payable', cost: prospect.cost }
  return prospect.kind === 'later' ? prospect : explainRevert(node, scene, order.destination_address)
}

/** A revert is a refusal only if the token itself says that it blocks the destination. A token that is paused will pay again. */
async function explainRevert(node: RpcNode, scene: TronScene, destination: string): Promise<TronScreening> {
  const isListed = async (address: string) =>
    numberOf(
      await node.ask(runConstant('wallet', tokenCall(scene, 'isBlackListed(address)', addressWord(address)))),
    ) === 1n
  const [destination_blocked, wallet_blocked] = await Promise.all([
    isListed(destination),
    isListed(scene.wallet),
  ])
  // All orders would fail: a person must see to the wallet before customers are refused one by one.
  if (wallet_blocked) return { kind: 'later', why: 'wallet_blocked' }
  return destination_blocked
    ? { kind: 'refused', rail_code: 'token_refuses' }
    : { kind: 'later', why: 'token_reverts' }
}
