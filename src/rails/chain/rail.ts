import type { Environment } from '../../core/environment.ts'
import type { Asset } from '../../core/money.ts'

export type ChainOrder = {
  readonly id: string
  readonly asset: Extract<Asset, 'USDT' | 'BTC'>
  readonly network: string
  readonly destination_address: string
  readonly amount: bigint
  readonly created_at: Date
}

/** Signed once. Every broadcast sends the same bytes, so at most one transaction can confirm. */
export type SignedTransaction = { readonly tx_hash: string; readonly signed: string }

export type Prepared =
  | ({ readonly kind: 'signed' } & SignedTransaction)
  /** Definite: nothing was broadcast, and nothing will be. */
  | { readonly kind: 'refused'; readonly rail_code: string }
  | { readonly kind: 'later'; readonly at: Date }

/** `unknown`: the network may have the bytes; they are broadcast again. */
export type Broadcast = { readonly kind: 'accepted' } | { readonly kind: 'unknown' }

export type ChainStatus =
  | { readonly kind: 'waiting' }
  /** The transaction has enough confirmations and did what was ordered. */
  | ({ readonly kind: 'confirmed' } & Charge)
  /** Final and without effect: reverted, or replaced by a conflicting transaction. */
  | ({ readonly kind: 'failed'; readonly rail_code: string } & Charge)
  /** No node knows the transaction: broadcast the same bytes again. */
  | { readonly kind: 'absent' }

/**
 * The network's charge for a mined transaction, in smallest units of the transfer's asset. Absent if it is paid in another coin:
 * gas is paid in ether, which is not an asset of the ledger.
 */
export type Charge = { readonly charged?: bigint }

/** Inputs of the fee formula, in smallest units. */
export type FeeInputs = {
  readonly gas_price_wei: bigint
  /** Smallest units of USDT for one ETH. */
  readonly eth_price: bigint
  readonly sat_per_vbyte: bigint
}

export interface ChainRail<E extends Environment = Environment> {
  readonly environment: E
  /** Throws `rail_unavailable` if the network is not configured or its prices are unknown. */
  feeInputs(network: string): Promise<FeeInputs>
  /** In the calls below an aborted signal means that the answer is no longer awaited. */
  prepare(order: ChainOrder, signal?: AbortSignal): Promise<Prepared>
  broadcast(order: ChainOrder, transaction: SignedTransaction, signal?: AbortSignal): Promise<Broadcast>
  status(order: ChainOrder, transaction: SignedTransaction, signal?: AbortSignal): Promise<ChainStatus>
}
