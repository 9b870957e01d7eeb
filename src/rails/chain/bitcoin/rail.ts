import type { Attempt, Block, Broadcast, ChainOrder, Made, Purpose } from '../rail.ts'
import type { EndpointFacts } from '../rpc-health.ts'

/** An output of a transaction, by the transaction that made it. */
export type Outpoint = { readonly txid: string; readonly vout: number }

/** An output that can be spent. `script` is hex; amounts are satoshis. */
export type Coin = Outpoint & {
  readonly amount: bigint
  readonly script: string
  /** Of the deposit address that the output pays, whose key spends it. Absent: the output pays the wallet itself. */
  readonly address_index?: number
}

export type BlockTransaction = {
  readonly txid: string
  /** None for the transaction that pays the miner. */
  readonly inputs: readonly Outpoint[]
  readonly outputs: readonly { readonly amount: bigint; readonly script: string }[]
}

export type FollowedBlock = Block & {
  readonly parent_hash: string
  /** The first one pays the miner. */
  readonly transactions: readonly BlockTransaction[]
}

/** What a transfer spends: coins that were reserved for it, and nothing else, in every transaction that is signed for it. */
export type Spending = {
  readonly coins: readonly Coin[]
  /** Own transactions that are not mined yet and that made some of the coins: the fee pays for them too. */
  readonly unmined: { readonly vsize: number; readonly fee: bigint }
  /** Their change was spent by another transfer: replacing them would make that one impossible. */
  readonly is_spent_further: boolean
}

/** `is_mined`: a block that the database has made the output. Otherwise it is change of an own transaction that no such block has. */
export type WatchedOutput = Outpoint & { readonly is_mined: boolean }

/**
 * `spent`: a node shows that a transaction spends the output, in its mempool or in a newer block. `unspent`: no node shows that, and of a mined
 * output all nodes show that it is there, of any other at least one. `absent`: no node has the transaction of an output that is not mined.
 * `unclear`: a node cannot tell, as during a reorganisation, while it has a newer block than the others, or before it has read its mempool.
 */
export type OutputState = 'unspent' | 'spent' | 'absent' | 'unclear'

/**
 * Bitcoin, as nodes tell it. A node has no wallet of ours and no index: the service follows blocks and keeps its own set of coins
 * (`money/onchain/coins`), and hands what is to be spent to this rail. Answers that decide about money come from two endpoints
 * where two are configured.
 */
export interface BitcoinRail {
  /** The wallet's address, and the script that pays it. */
  wallet(): Promise<{ readonly address: string; readonly script: string }>
  /** Throws what is wrong with the set-up: another genesis block, a node that synchronizes, the wallet. */
  check(): Promise<void>
  endpoints(): readonly EndpointFacts[]
  /** Today's rate for a transaction that should be mined soon, in satoshis per virtual byte, rounded up. */
  satPerVbyte(): Promise<bigint>
  /** The newest block on which the endpoints agree. */
  head(): Promise<Block>
  /** The block at this height; undefined above `head`. Throws `EndpointsDisagree` if endpoints have different blocks there. */
  hashAt(height: bigint): Promise<string | undefined>
  /** From any endpoint: the hash proves everything but the height, which a follower compares with the one it expects. */
  block(hash: string): Promise<FollowedBlock>
  /** Whether any node has the transaction in its mempool. */
  knows(txid: string): Promise<boolean>
  /**
   * What the nodes show of outputs that nothing spends as far as the database knows, in the same order. Mined ones are in blocks up to `tip`.
   */
  outputStates(tip: Block, outputs: readonly WatchedOutput[]): Promise<readonly OutputState[]>
  /**
   * Asked before coins are reserved: whether the signer's limits of an hour leave room for the payment. The room is kept for it for
   * half a minute.
   */
  keepRoom(order: ChainOrder): Promise<'room' | 'signer_limit' | 'signer_unavailable'>
  /** Terms are `fee` and `vsize` of the signed transaction, and `rate`, today's when it was signed, in satoshis per 1,000 virtual bytes. */
  attempt(
    order: ChainOrder,
    spending: Spending,
    made: readonly Attempt[],
    purpose: Purpose,
    signal?: AbortSignal,
  ): Promise<Made>
  broadcast(attempt: Attempt, signal?: AbortSignal): Promise<Broadcast>
  stop(): Promise<void>
}

/** What a signed transaction makes: read from its bytes, so that its change is known before it is mined. */
export type SignedFacts = BlockTransaction & { readonly vsize: number }
