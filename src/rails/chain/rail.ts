import type { Environment } from '../../core/environment.ts'
import type { Asset } from '../../core/money.ts'
import { type Network, networkNames } from '../../core/networks.ts'
import type { EndpointFacts } from './rpc-health.ts'

export type ChainOrder = {
  readonly id: string
  readonly asset: Extract<Asset, 'USDT' | 'BTC'>
  readonly network: Network
  readonly destination_address: string
  readonly amount: bigint
  readonly created_at: Date
  /** Made at acceptance, for the signer (`signer/seal.ts`). Null where nothing is signed for real. */
  readonly seal: string | null
}

/**
 * What a transfer spends, reserved once and stored before anything is signed. Every transaction that is ever signed for the
 * transfer spends exactly this, so at most one of them can be mined. On Tron, which has neither nonces nor coins, the nonce is the number of
 * the reservation in its wallet, and another transaction is signed only when no earlier one can be mined (`Seen`, `expired`).
 */
export type Reservation = {
  /** The address that pays. */
  readonly wallet: string
  readonly nonce: bigint
}

/** An output that a transfer is going to spend, where a chain has coins. Amounts are in smallest units. */
export type ChosenCoin = {
  /** Transaction and number of the output: txid:vout. */
  readonly id: string
  readonly amount: bigint
  readonly script: string
  /** The transfer whose transaction makes the output, if that transaction is not mined yet. */
  readonly made_by: string | null
}

export type Chosen = { readonly kind: 'chosen'; readonly coins: readonly ChosenCoin[] } | Later

/** The wallet that pays, and its next nonce as the chain counts it. */
export type WalletState = {
  readonly wallet: string
  /**
   * The next nonce at `final_height`, the newest block that is deep enough to be final, at which `holdings` are read. Where endpoints
   * differ, the lowest nonce and the lowest height. Never above `mined`.
   */
  readonly final: bigint
  readonly final_height: bigint
  /** The next nonce after the mined transactions. Where endpoints differ, the lowest. */
  readonly mined: bigint
  /** The next nonce after those in a mempool too. Where endpoints differ, the highest that two of them know. Never below `mined`. */
  readonly pool: bigint
  /** The highest next nonce that any endpoint tells. Above `pool`: one endpoint is wrong, or alone knows a transaction. */
  readonly claimed: bigint
  /** Fewer endpoints answered than must agree on what is final. */
  readonly is_alone?: true
  /** The nodes cannot tell whether a foreign transaction is in a mempool: nothing is sent, and no rail is resumed. */
  readonly is_unclear?: true
  /** Of a wallet with coins: those that a foreign transaction in a mempool spends. */
  readonly spent_in_pool?: readonly string[]
}

/** What the wallet and the deposit addresses hold at one block, which is deep enough to be final. */
export type Holdings = Block & {
  readonly wallet: string
  /** What transfers can be paid from, in smallest units of the network's asset. */
  readonly asset: bigint
  /** What customers paid in and no transfer can spend yet: the sum over the addresses that were asked about. */
  readonly at_addresses: bigint
  /** The same by address; absent on a chain with coins. */
  readonly held_at?: readonly { readonly address: string; readonly amount: bigint }[]
  /** The coin that pays for gas, in its smallest unit. */
  readonly native: bigint
}

/** `cancel` pays nobody: it spends the reservation so that the payment can no longer be mined. */
export type Purpose = 'pay' | 'cancel'

/** Fees and limits that a transaction offers, as decimal text; a replacement is computed from them. */
export type Terms = Readonly<Record<string, string>>

/** A transaction as it was signed. */
export type Signed = {
  readonly purpose: Purpose
  readonly tx_hash: string
  readonly signed: string
  readonly terms: Terms
}

/** A stored transaction of a transfer. Attempts count from 1; nothing of one ever changes. */
export type Attempt = Signed & { readonly attempt: number; readonly created_at: Date }

/** Why a transfer is not signed yet, or not signed again. */
export const laterReasons = [
  /** By plan: the sandbox signs after a while. */
  'scheduled',
  /** What waits offers enough: a replacement would gain nothing. */
  'not_worth_it',
  'fee_above_cap',
  'wallet_too_empty',
  'gas_coin_too_low',
  'wallet_blocked',
  /** The token's contract refuses the payment now: it is paused, or does not tell why. */
  'token_reverts',
  'signer_limit',
  /** The signer is another process: it does not answer, or it is not the one that the settings describe. */
  'signer_unavailable',
  'endpoints_unavailable',
  'endpoints_disagree',
  /** Another transfer spends the change of the payment: a cancel would make the other one impossible. */
  'change_is_spent',
  /** As many transfers as may hold a nonce of the wallet. */
  'nonces_in_use',
  /** An open proposal holds the transfer, and its nonce with it. */
  'held_by_proposal',
  'rail_paused',
] as const
export type LaterReason = (typeof laterReasons)[number]

/** Nothing was signed; the rail is asked again at that time. */
export type Later = { readonly kind: 'later'; readonly at: Date; readonly why: LaterReason }

/** Whether the order can be paid at all, asked before anything is reserved. */
export type Screened =
  | { readonly kind: 'payable' }
  /** Definite: nothing was signed, and nothing will be. */
  | { readonly kind: 'refused'; readonly rail_code: string }
  | Later

export type Made = { readonly kind: 'signed'; readonly transaction: Signed } | Later

/** `unknown`: the network may have the bytes; they are broadcast again. An error answer means nothing else. */
export type Broadcast = { readonly kind: 'accepted' } | { readonly kind: 'unknown' }

/** What the chain shows of a reservation. */
export type Seen =
  /** No node knows any of the transactions: broadcast the newest one again. */
  | { readonly kind: 'absent' }
  /** In a pool, or mined and not deep enough. */
  | { readonly kind: 'waiting' }
  /** Deep enough to be final. `paid`: exactly the order. `none`: reverted, or a cancel. `other`: neither, for a person. */
  | ({
      readonly kind: 'mined'
      readonly tx_hash: string
      readonly effect: 'paid' | 'none' | 'other'
    } & Block &
      Charge &
      GasPaid)
  /**
   * None of the transactions is in the chain, and none can be mined any more: their time has passed by a final block. Only on a chain whose
   * transactions expire. Only now may another one be signed, or the transfer fail. `is_drafted`: the signer may have signed one that the
   * database does not know, which can still be mined, so the transfer may not fail yet.
   */
  | { readonly kind: 'expired'; readonly is_drafted?: true }
  /** Spent by a transaction that is none of ours: another program uses the wallet's key. */
  | { readonly kind: 'taken' }

export type Block = { readonly block_height: bigint; readonly block_hash: string }

/**
 * Whether a block is in the chain for good. `gone`: another block is at its height, although it was deep enough to count as final.
 */
export type Finality = 'final' | 'open' | 'gone'

/**
 * The network's charge for a mined transaction, in smallest units of the transfer's asset. Absent if it is paid in another coin:
 * gas is paid in ether, which is not an asset of the ledger.
 */
export type Charge = { readonly charged?: bigint }

/**
 * What the network charged for a mined transaction in the coin that pays for gas, in its smallest unit. Not booked: the ledger has no
 * such asset. Absent if no node tells it: it is never computed from what was offered.
 */
export type GasPaid = { readonly gas_paid_wei?: bigint }

/** A payment of the network's asset within a transaction. */
export type Payment = {
  /** The place of the log entry among those of the transaction: the place within the block changes with the block. */
  readonly output_index: number
  readonly from: string
  readonly to: string
  readonly amount: bigint
}

/** That a transaction pays an address: one endpoint says so, and nothing is credited for it. */
export type PaymentHint = { readonly to: string; readonly tx_hash: string } & KnownBlock

export type Scanned =
  /**
   * `block_hash` is that of the last block; undefined if endpoints tell different ones. `is_shared`: a quorum has read the blocks.
   * `other_tokens`: transfers of other tokens to any address, in a final range, where logs cannot be asked for by address.
   */
  | {
      readonly kind: 'read'
      readonly block_hash: string | undefined
      readonly is_shared: boolean
      readonly hints: readonly PaymentHint[]
      readonly other_tokens?: readonly TokenArrival[]
    }
  /** An endpoint did not answer, or the range is too long for it. */
  | { readonly kind: 'refused' }

/** What a quorum of endpoints shows of a transaction. */
export type TransactionSeen =
  /** In a block of the chain. `depth` counts blocks on top, its own included. Without effect: no payments. */
  | ({
      readonly kind: 'mined'
      readonly depth: number
      readonly payments: readonly Payment[]
    } & Block)
  /** In a mempool, and in no block. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'absent' }
  /** Too few endpoints answered, or they differ. `contradiction`: the latter. */
  | { readonly kind: 'unclear'; readonly contradiction: boolean }

/** Where payments to deposit addresses are found. Hints come from any endpoint; what is credited, from a quorum (decision 0060). */
export type PaymentSource = {
  /** The first block that is read, at the first run. */
  readonly start_height?: bigint
  /** A credited payment is watched at least until it is this deep. */
  readonly watched_depth?: number
  /** How many blocks are read at once at most, where they are read one by one. */
  readonly span_most?: bigint
  /** The newest block that all endpoints have. `final_height`: the newest that nothing can replace, where nodes tell it. */
  head(): Promise<Block & { readonly final_height?: bigint }>
  /** As one endpoint tells it. Undefined above its head. */
  hashAt(height: bigint): Promise<string | undefined>
  /** `is_final`: the blocks are deep enough to be final, and are not read again. */
  scan(range: BlockRange & { readonly is_final: boolean }): Promise<Scanned>
  /**
   * `known`: where the transaction was seen before. Only an endpoint with another block there proves that it is gone: one that is not
   * there yet, or that has this block and not the transaction, proves nothing.
   */
  transaction(tx_hash: string, known?: KnownBlock): Promise<TransactionSeen>
  /**
   * Transfers of other tokens than the asset to these addresses, as any endpoint tells them. They are shown, and never credited. Absent
   * where `scan` tells them.
   */
  otherTokens?(wanted: OtherTokensWanted): Promise<OtherTokens>
}

export type BlockRange = { readonly from: bigint; readonly to: bigint }

export type OtherTokensWanted = BlockRange & { readonly addresses: readonly string[] }

/** `refused`: too much for every endpoint that answers. */
export type OtherTokens = readonly TokenArrival[] | 'refused'

/** A transfer of a token that the service does not know. The contract's name and symbol are a stranger's text, and never read. */
export type TokenArrival = {
  readonly contract: string
  readonly tx_hash: string
  /** The place of the log in its block; on Tron in its transaction. */
  readonly log_index: number
  readonly block_height: bigint
  readonly address: string
  readonly amount: bigint
}

export type KnownBlock = { readonly block_height: bigint; readonly block_hash: string }

/** Inputs of the fee formula, in smallest units. */
export type FeeInputs = {
  readonly gas_price_wei: bigint
  /** Smallest units of USDT for one ETH. */
  readonly eth_price: bigint
  readonly sat_per_vbyte: bigint
}

/** One network. A rail knows no database: what it spends is reserved by its caller and handed to it. */
export interface ChainRail<E extends Environment = Environment> {
  readonly environment: E
  readonly network: Network
  /** False in production without endpoints of this network. */
  readonly is_configured: boolean
  /** Throws what is wrong with the set-up: the chain, the contract, the node, the wallet. */
  check(): Promise<void>
  /** The health of the nodes that are asked; none where the chain is simulated. */
  endpoints(): readonly EndpointFacts[]
  /** A wallet on a real chain is behind the rail: its holdings are reconciled, and its nonces are compared with the database. */
  readonly has_wallet: boolean
  /** How many transfers may hold a nonce of the wallet at once. */
  readonly reserved_most: number
  /** The most that its signer ever signs for one order; absent: no bound. Such an order gets no nonce: it would never be spent. */
  readonly order_most?: bigint
  /** A transaction that waits for longer is replaced by one with higher fees. */
  readonly replace_after_ms: number
  /** Throws `rail_unavailable` if the network is not configured or its prices are unknown. */
  feeInputs(): Promise<FeeInputs>
  wallet(): Promise<WalletState>
  /**
   * Throws `rail_unavailable` without a wallet, while no endpoint answers, and while endpoints tell different figures
   * (`details.why` is `endpoints_disagree`). `addresses`: deposit addresses that may hold something, for a chain that cannot tell by
   * itself.
   */
  holdings(addresses?: readonly string[]): Promise<Holdings>
  /** In the calls below an aborted signal means that the answer is no longer awaited. */
  screen(order: ChainOrder, signal?: AbortSignal): Promise<Screened>
  /**
   * The coins to reserve for the order together with its nonce. Absent where a nonce is all that a transaction spends. On a chain
   * with coins the nonce is the number of the reservation in its wallet.
   */
  chooseCoins?(order: ChainOrder, signal?: AbortSignal): Promise<Chosen>
  /** Signs the next transaction of a transfer: the first one, a replacement with higher fees, or a cancel. Sends nothing. */
  attempt(
    order: ChainOrder,
    reservation: Reservation,
    made: readonly Attempt[],
    purpose: Purpose,
    signal?: AbortSignal,
  ): Promise<Made>
  broadcast(order: ChainOrder, attempt: Attempt, signal?: AbortSignal): Promise<Broadcast>
  look(
    order: ChainOrder,
    reservation: Reservation,
    made: readonly Attempt[],
    signal?: AbortSignal,
  ): Promise<Seen>
  /** Absent where nobody pays in. */
  readonly payments?: PaymentSource
  /** Absent where what is deep enough never vanishes, as on a simulated chain. */
  finality?(block: Block, signal?: AbortSignal): Promise<Finality>
}

/** The rails of one environment. */
export type Chains<E extends Environment = Environment> = Readonly<Record<Network, ChainRail<E>>>

export const chainsOf = <E extends Environment>(open: (network: Network) => ChainRail<E>): Chains<E> =>
  Object.fromEntries(networkNames.map((network) => [network, open(network)])) as unknown as Chains<E>
