import { type Intent, SignatureRefused, type Signer } from '../../signer/signer.ts'
import type { Attempt, Purpose, Reservation, Signed, Terms } from '../rail.ts'
import type { Rpc } from '../rpc.ts'
import type { RpcNode } from '../rpc-health.ts'
import { estimateGas, newestBlock, priorityFee } from './calls.ts'
import { type GasFees, gasLimitOf, type Offered, offerFees } from './fees.ts'
import { readL1Fee } from './l1-fee.ts'
import type { EvmScene } from './network.ts'
import { isSameAddress, transferData } from './token.ts'
import { type EvmTransaction, encodeUnsigned, factsOfSigned } from './transaction.ts'

/** What the next transaction of a transfer is made from. */
export type Commission = {
  readonly intent: Intent
  readonly reservation: Reservation
  readonly made: readonly Attempt[]
  readonly purpose: Purpose
}

export type FeeBounds = { readonly priority_most: bigint; readonly cost_most: bigint }

export type Drafted =
  | { readonly kind: 'drafted'; readonly transaction: EvmTransaction }
  | { readonly kind: 'later'; readonly why: 'fee_above_cap' | 'not_worth_it' | 'token_reverts' }

type Target = { readonly to: string; readonly data: string }

export async function draftTransaction(
  rpc: Rpc,
  scene: EvmScene & FeeBounds,
  { intent, reservation, made, purpose }: Commission,
  signal?: AbortSignal,
): Promise<Drafted> {
  const { wallet, contract, chain_id, priority_most, cost_most } = scene
  if (!isSameAddress(reservation.wallet, wallet))
    throw new SignatureRefused('wallet', intent.transfer_id, 'the reservation is of another wallet.')
  const target: Target =
    purpose === 'pay'
      ? { to: contract, data: transferData(intent.destination_address, intent.amount) }
      : { to: wallet, data: '0x' }
  const market = await rpc.read((node) => readMarket(node, wallet, target), signal)
  if (purpose === 'pay' && market.estimate.kind === 'reverted') return { kind: 'later', why: 'token_reverts' }
  const estimated = market.estimate.kind === 'gas' ? market.estimate.gas : undefined
  const gas_limit = gasLimitOf(purpose, estimated)
  const offer = offerFees({
    ...{ purpose, gas_limit, priority_most, cost_most, made: made.map(offeredBy) },
    base_fee: market.base_fee,
    priority: market.priority,
  })
  if (offer.kind === 'later') return offer
  const { nonce } = reservation
  const transaction: EvmTransaction = { chain_id, nonce, ...target, gas_limit, ...offer.fees }
  const cost = transaction.max_fee * gas_limit + (await l1FeeOf(rpc, scene, transaction, signal))
  return cost > cost_most ? { kind: 'later', why: 'fee_above_cap' } : { kind: 'drafted', transaction }
}

async function l1FeeOf(
  rpc: Rpc,
  { network }: EvmScene,
  transaction: EvmTransaction,
  signal?: AbortSignal,
): Promise<bigint> {
  if (network !== 'optimism') return 0n
  return (await rpc.read((node) => readL1Fee(node, encodeUnsigned(transaction)), signal)) ?? 0n
}

async function readMarket(node: RpcNode, from: string, target: Target) {
  const [block, priority, estimate] = await Promise.all([
    node.ask(newestBlock()),
    node.ask(priorityFee()),
    node.ask(estimateGas({ from, ...target })),
  ])
  return { base_fee: block.base_fee, priority, estimate }
}

export const termsOf = ({ max_fee, priority, gas_limit }: GasFees & { gas_limit: bigint }): Terms => ({
  max_fee_per_gas: max_fee.toString(),
  max_priority_fee_per_gas: priority.toString(),
  gas_limit: gas_limit.toString(),
})

export function offeredBy({ purpose, terms }: Pick<Attempt, 'purpose' | 'terms'>): Offered {
  const { max_fee_per_gas, max_priority_fee_per_gas } = terms
  if (max_fee_per_gas === undefined || max_priority_fee_per_gas === undefined)
    throw new Error('the terms of an attempt lack its fees')
  return { purpose, max_fee: BigInt(max_fee_per_gas), priority: BigInt(max_priority_fee_per_gas) }
}

/** The signer may be another program: its bytes count only if they are the ones that were asked for, signed by the wallet. */
export async function signDraft(
  signer: Signer,
  transaction: EvmTransaction,
  { intent, purpose, reservation }: Commission,
): Promise<Signed> {
  const unsigned = encodeUnsigned(transaction)
  const { signed } = await signer.sign({ intent, purpose, unsigned, reservation })
  const facts = factsOfSigned(signed)
  if (facts?.unsigned !== unsigned || !isSameAddress(facts.sender, reservation.wallet))
    throw new Error(
      `The signer's answer for ${intent.transfer_id} is not the transaction that it was asked to sign.`,
    )
  return { purpose, tx_hash: facts.tx_hash, signed, terms: termsOf(transaction) }
}
