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

/** Signed once. The same bytes are broadcast however often it takes, so at most one transaction can ever confirm. */
export type SignedTransaction = { readonly tx_hash: string; readonly signed: string }

export type Prepared =
  | ({ readonly kind: 'signed' } & SignedTransaction)
  /** Definite: nothing was or will be broadcast. */
  | { readonly kind: 'refused'; readonly rail_code: string }
  | { readonly kind: 'later'; readonly at: Date }

/** Anything but `accepted` is neutral: the bytes may be out there, and are sent again. */
export type Broadcast = { readonly kind: 'accepted' } | { readonly kind: 'unknown' }

export type ChainStatus =
  | { readonly kind: 'waiting' }
  /** Deep enough below the head, and what was asked for is what happened. */
  | ({ readonly kind: 'confirmed' } & Charge)
  /** Final, and without effect: reverted, or replaced by a transaction that conflicts with it. */
  | ({ readonly kind: 'failed'; readonly rail_code: string } & Charge)
  /** No node knows it: broadcast the same bytes again. */
  | { readonly kind: 'absent' }

/**
 * What the network took for what was mined, in smallest units of the transfer's asset. Absent where it is paid in another
 * coin: gas is ether, not USDT, and no asset of the ledger.
 */
export type Charge = { readonly charged?: bigint }

/** What the fees are made of, in the smallest units. */
export type FeeInputs = {
  readonly gas_price_wei: bigint
  /** Smallest units of USDT for one ETH. */
  readonly eth_price: bigint
  readonly sat_per_vbyte: bigint
}

export interface ChainRail<E extends Environment = Environment> {
  readonly environment: E
  /** Throws `rail_unavailable` when a network is not configured, or its prices are not to be had. */
  feeInputs(network: string): Promise<FeeInputs>
  /** The signal of each tells that nobody waits for the answer any more. */
  prepare(order: ChainOrder, signal?: AbortSignal): Promise<Prepared>
  broadcast(order: ChainOrder, transaction: SignedTransaction, signal?: AbortSignal): Promise<Broadcast>
  status(order: ChainOrder, transaction: SignedTransaction, signal?: AbortSignal): Promise<ChainStatus>
}
