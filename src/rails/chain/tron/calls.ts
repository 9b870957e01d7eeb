import { type Static, Type as T } from 'typebox'
import { type RpcCall, rpcCall } from '../rpc-endpoint.ts'
import { tronHexOf } from './address.ts'
import type { TronLog } from './token.ts'

/**
 * Calls of a full node of Tron (java-tron's HTTP API), and the form of their answers. `walletsolidity` tells the state as of the newest
 * solidified block, which more than two thirds of the producers have built upon: it is final. A node leaves out fields of the value 0.
 */
export type TronView = 'wallet' | 'walletsolidity'

/** The largest amounts do not fit into a `number`: `parseExact` keeps them as text. */
const Count = T.Union([T.Integer({ minimum: 0 }), T.String({ pattern: '^[0-9]{1,30}$' })])
const countOf = (value: Static<typeof Count> | undefined): bigint => BigInt(value ?? 0)

const Hash = T.String({ pattern: '^[0-9a-f]{64}$' })
const Hex = T.String({ pattern: '^(?:[0-9a-f]{2})*$' })

export type TronBlock = {
  readonly height: bigint
  readonly hash: string
  readonly parent_hash: string
  readonly at_ms: number
  /** By the root of its transactions, which is zero in a block without any. */
  readonly has_transactions: boolean
}

const NO_TRANSACTIONS = '0'.repeat(64)
const TIME_MOST = 8.64e15

const BlockForm = T.Object({
  blockID: Hash,
  block_header: T.Object({
    raw_data: T.Object({
      number: T.Optional(Count),
      timestamp: T.Optional(T.Integer({ minimum: 0, maximum: TIME_MOST })),
      parentHash: T.Optional(Hash),
      txTrieRoot: T.Optional(Hash),
    }),
  }),
})

const HEIGHT_DIGITS = 16

function blockOf({ blockID: hash, block_header: { raw_data } }: Static<typeof BlockForm>): TronBlock {
  const height = countOf(raw_data.number)
  // The first eight bytes of the id are the height.
  if (BigInt(`0x${hash.slice(0, HEIGHT_DIGITS)}`) !== height)
    throw new Error('the id is not one of this height')
  return {
    ...{ height, hash, parent_hash: raw_data.parentHash ?? '', at_ms: raw_data.timestamp ?? 0 },
    has_transactions: raw_data.txTrieRoot !== NO_TRANSACTIONS,
  }
}

/** The newest block, without its transactions. */
export const newestTronBlock = (view: TronView): RpcCall<TronBlock> =>
  rpcCall({ method: `${view}/getblock`, params: [{ detail: false }], result: BlockForm, read: blockOf })

/** Undefined above the newest block of the view. */
export const tronBlockAt = (view: TronView, height: bigint): RpcCall<TronBlock | undefined> =>
  rpcCall({
    method: `${view}/getblock`,
    params: [{ id_or_num: height.toString(), detail: false }],
    result: T.Union([BlockForm, NothingForm]),
    read(found) {
      if (!('blockID' in found)) return undefined
      const block = blockOf(found as Static<typeof BlockForm>)
      if (block.height !== height) throw new Error('another block')
      return block
    },
  })

/** What a node answers about something that it does not have. */
const NothingForm = T.Object({}, { additionalProperties: false })

const LogForm = T.Object({
  address: T.String({ pattern: '^(?:41)?[0-9a-f]{40}$' }),
  topics: T.Optional(T.Array(Hash)),
  data: T.Optional(Hex),
})

const InfoForm = T.Object({
  id: Hash,
  blockNumber: T.Optional(Count),
  blockTimeStamp: T.Optional(Count),
  fee: T.Optional(Count),
  /** Absent where the transaction went well. */
  result: T.Optional(T.String()),
  receipt: T.Optional(T.Object({ result: T.Optional(T.String()), energy_usage_total: T.Optional(Count) })),
  log: T.Optional(T.Array(LogForm)),
})

/** A transaction in a block. */
export type TronReceipt = {
  readonly tx_hash: string
  readonly block_height: bigint
  /** `unclear`: the node says neither that the call went well nor that it failed. */
  readonly outcome: 'succeeded' | 'failed' | 'unclear'
  /** All that the transaction cost, in sun. */
  readonly fee: bigint
  readonly logs: readonly TronLog[]
}

function receiptOf(info: Static<typeof InfoForm>): TronReceipt {
  const { id, blockNumber, fee, log = [] } = info
  return {
    tx_hash: id,
    block_height: countOf(blockNumber),
    outcome: outcomeOf(info),
    fee: countOf(fee),
    logs: log.map(({ address, topics = [], data = '' }) => ({
      address: address.slice(-ACCOUNT_DIGITS),
      topics,
      data,
    })),
  }
}

const ACCOUNT_DIGITS = 40

/** Ends of a call without effect, by java-tron's `contractResult`. */
const failures: readonly string[] = [
  ...['REVERT', 'BAD_JUMP_DESTINATION', 'OUT_OF_MEMORY', 'PRECOMPILED_CONTRACT', 'STACK_TOO_SMALL'],
  ...['STACK_TOO_LARGE', 'ILLEGAL_OPERATION', 'STACK_OVERFLOW', 'OUT_OF_ENERGY', 'OUT_OF_TIME'],
  ...['JVM_STACK_OVER_FLOW', 'TRANSFER_FAILED', 'INVALID_CODE'],
]

function outcomeOf({ result, receipt }: Static<typeof InfoForm>): TronReceipt['outcome'] {
  const ended = receipt?.result ?? ''
  if (result === undefined) return ended === 'SUCCESS' ? 'succeeded' : 'unclear'
  return result === 'FAILED' && failures.includes(ended) ? 'failed' : 'unclear'
}

/** Undefined while no block of the view has the transaction. */
export const tronReceiptOf = (view: TronView, tx_hash: string): RpcCall<TronReceipt | undefined> =>
  rpcCall({
    method: `${view}/gettransactioninfobyid`,
    params: [{ value: tx_hash }],
    is_long: 'vast',
    result: T.Union([InfoForm, NothingForm]),
    read(found) {
      if (!('id' in found)) return undefined
      const receipt = receiptOf(found as Static<typeof InfoForm>)
      if (receipt.tx_hash !== tx_hash) throw new Error('another transaction')
      return receipt
    },
  })

/** All transactions of a block. Empty also for a block that the node does not have: ask for the block too. */
export const receiptsInBlock = (view: TronView, height: bigint): RpcCall<readonly TronReceipt[]> =>
  rpcCall({
    method: `${view}/gettransactioninfobyblocknum`,
    params: [{ num: Number(height) }],
    is_long: 'vast',
    result: T.Union([T.Array(InfoForm), NothingForm]),
    read(found) {
      const receipts = Array.isArray(found) ? found.map(receiptOf) : []
      if (receipts.some(({ block_height }) => block_height !== height)) throw new Error('another block')
      return receipts
    },
  })

/**
 * Whether a block of the view has the transaction. Nodes keep this in another store than the receipts, and also where receipts are
 * switched off.
 */
export const hasTransaction = (view: TronView, tx_hash: string): RpcCall<boolean> =>
  rpcCall({
    method: `${view}/gettransactionbyid`,
    params: [{ value: tx_hash }],
    is_long: 'vast',
    result: T.Union([T.Object({ txID: Hash }), NothingForm]),
    read(found) {
      if (!('txID' in found)) return false
      if (found.txID !== tx_hash) throw new Error('another transaction')
      return true
    },
  })

export type ConstantCall = {
  readonly owner: string
  readonly contract: string
  /** Such as `balanceOf(address)`. */
  readonly signature: string
  /** Its arguments, as hex. */
  readonly parameter: string
}

/** `energy`: what the call would need. */
export type ConstantOutcome =
  | { readonly kind: 'returned'; readonly data: string; readonly energy: bigint }
  | { readonly kind: 'reverted' }

/** Runs a call on the newest state of the view, without a transaction. */
export const runConstant = (view: TronView, call: ConstantCall): RpcCall<ConstantOutcome> =>
  rpcCall({
    method: `${view}/triggerconstantcontract`,
    params: [
      {
        owner_address: tronHexOf(call.owner),
        contract_address: tronHexOf(call.contract),
        function_selector: call.signature,
        parameter: call.parameter,
      },
    ],
    result: T.Object({
      result: T.Object({ result: T.Optional(T.Boolean()), message: T.Optional(T.String()) }),
      energy_used: T.Optional(Count),
      constant_result: T.Optional(T.Array(Hex)),
      transaction: T.Optional(
        T.Object({ ret: T.Optional(T.Array(T.Object({ ret: T.Optional(T.String()) }))) }),
      ),
    }),
    read({ result, energy_used, constant_result = [], transaction }) {
      const is_failed = transaction?.ret?.some(({ ret }) => ret !== undefined && ret !== 'SUCCESS') ?? false
      // A node that could not run the call at all says so without a result: that is no revert.
      if (result.result !== true && !is_failed) throw new Error('the call was not run')
      if (is_failed || result.message !== undefined) return { kind: 'reverted' }
      return { kind: 'returned', data: constant_result.join(''), energy: countOf(energy_used) }
    },
  })

/** What an account may use today without paying TRX: staked energy, and two kinds of bandwidth, each of which pays whole or not at all. */
export type TronResources = {
  readonly energy: bigint
  readonly staked_bandwidth: bigint
  readonly free_bandwidth: bigint
}

export const accountResources = (address: string): RpcCall<TronResources> =>
  rpcCall({
    method: 'wallet/getaccountresource',
    params: [{ address: tronHexOf(address) }],
    result: T.Object({
      freeNetLimit: T.Optional(Count),
      freeNetUsed: T.Optional(Count),
      NetLimit: T.Optional(Count),
      NetUsed: T.Optional(Count),
      EnergyLimit: T.Optional(Count),
      EnergyUsed: T.Optional(Count),
      Error: T.Optional(T.Unknown()),
    }),
    read(found) {
      if (found.Error !== undefined) throw new Error('the node failed')
      return {
        energy: restOf(found.EnergyLimit, found.EnergyUsed),
        staked_bandwidth: restOf(found.NetLimit, found.NetUsed),
        free_bandwidth: restOf(found.freeNetLimit, found.freeNetUsed),
      }
    },
  })

function restOf(limit: Static<typeof Count> | undefined, used: Static<typeof Count> | undefined): bigint {
  const rest = countOf(limit) - countOf(used)
  return rest > 0n ? rest : 0n
}

/** TRX of an account, in sun. An account that was never paid has none. */
export const sunOf = (view: TronView, address: string): RpcCall<bigint> =>
  rpcCall({
    method: `${view}/getaccount`,
    params: [{ address: tronHexOf(address) }],
    result: T.Union([T.Object({ address: T.String(), balance: T.Optional(Count) }), NothingForm]),
    read(found) {
      if (!('address' in found)) return 0n
      if (found.address !== tronHexOf(address)) throw new Error('another account')
      return countOf(found.balance as Static<typeof Count> | undefined)
    },
  })

/** In sun: for a unit of energy, and for a byte. */
export type TronPrices = { readonly energy: bigint; readonly byte: bigint }

export const tronPrices = (): RpcCall<TronPrices> =>
  rpcCall({
    method: 'wallet/getchainparameters',
    params: [{}],
    is_long: true,
    result: T.Object({
      chainParameter: T.Array(T.Object({ key: T.String(), value: T.Optional(T.Unknown()) })),
    }),
    read({ chainParameter }) {
      const priceOf = (name: string) => {
        const text = String(chainParameter.find(({ key }) => key === name)?.value)
        if (!/^[1-9][0-9]{0,11}$/.test(text)) throw new Error(`no price ${name}`)
        return BigInt(text)
      }
      return { energy: priceOf('getEnergyFee'), byte: priceOf('getTransactionFee') }
    },
  })

/**
 * Sends signed bytes. `known`: the node has taken them, now or before. Any other answer means nothing: the chain tells what became of
 * the transaction.
 */
export const broadcastHex = (signed: string): RpcCall<'known' | 'unknown'> =>
  rpcCall({
    method: 'wallet/broadcasthex',
    params: [{ transaction: signed }],
    result: T.Object({ result: T.Optional(T.Boolean()), code: T.Optional(T.Unknown()) }),
    read: ({ result, code }) => (result === true || code === 'DUP_TRANSACTION_ERROR' ? 'known' : 'unknown'),
  })
