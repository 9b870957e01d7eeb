import { type Static, Type as T } from 'typebox'
import { Value } from 'typebox/value'
import { type NodeError, type RpcCall, rpcCall } from '../rpc-endpoint.ts'

/** The JSON-RPC calls of an EVM node. Numbers are hex text and become bigint; hashes, addresses and data become lower case. */
const Quantity = T.String({ pattern: '^0x[0-9a-fA-F]{1,64}$' })
const Hash = T.String({ pattern: '^0x[0-9a-fA-F]{64}$' })
const Address = T.String({ pattern: '^0x[0-9a-fA-F]{40}$' })
const Data = T.String({ pattern: '^0x(?:[0-9a-fA-F]{2})*$' })
const orNull = <S extends Parameters<typeof T.Optional>[0]>(schema: S) => T.Union([schema, T.Null()])

const lower = (text: string): string => text.toLowerCase()
const quantityOf = (value: bigint): string => `0x${value.toString(16)}`

/** A block by height, or the newest one. */
export type BlockTag = bigint | 'latest' | 'pending'
const tagOf = (tag: BlockTag): string => (typeof tag === 'bigint' ? quantityOf(tag) : tag)

const assertIs = (is_so: boolean): void => {
  if (!is_so) throw new Error('the answer is about something else')
}

const quantityCall = (method: string, ...params: readonly unknown[]): RpcCall<bigint> =>
  rpcCall({ method, params, result: Quantity, read: BigInt })

export const chainId = (): RpcCall<bigint> => quantityCall('eth_chainId')
export const priorityFee = (): RpcCall<bigint> => quantityCall('eth_maxPriorityFeePerGas')
export const nativeBalance = (address: string, tag: BlockTag): RpcCall<bigint> =>
  quantityCall('eth_getBalance', address, tagOf(tag))
/** How many transactions the address has sent: its next nonce. */
export const transactionCount = (address: string, tag: BlockTag): RpcCall<bigint> =>
  quantityCall('eth_getTransactionCount', address, tagOf(tag))

export const isSyncing = (): RpcCall<boolean> =>
  rpcCall({
    method: 'eth_syncing',
    params: [],
    result: T.Union([T.Boolean(), T.Object({})]),
    read: (result) => result !== false,
  })

export const hasContract = (address: string): RpcCall<boolean> =>
  rpcCall({
    method: 'eth_getCode',
    params: [address, 'latest'],
    result: Data,
    read: (code) => code.length > 2,
  })

export type EvmBlock = {
  readonly height: bigint
  readonly hash: string
  readonly at_ms: number
  readonly base_fee: bigint
}

const BlockForm = T.Object({
  number: Quantity,
  hash: Hash,
  timestamp: Quantity,
  baseFeePerGas: Quantity,
})

const blockOf = (block: { number: string; hash: string; timestamp: string; baseFeePerGas: string }) => ({
  height: BigInt(block.number),
  hash: lower(block.hash),
  at_ms: Number(BigInt(block.timestamp)) * 1000,
  base_fee: BigInt(block.baseFeePerGas),
})

export const newestBlock = (): RpcCall<EvmBlock> =>
  rpcCall({ method: 'eth_getBlockByNumber', params: ['latest', false], result: BlockForm, read: blockOf })

/** The newest block that the network's consensus has finalized; null while there is none. */
export const finalizedBlock = (): RpcCall<EvmBlock | null> =>
  rpcCall({
    method: 'eth_getBlockByNumber',
    params: ['finalized', false],
    result: orNull(BlockForm),
    read: (block) => block && blockOf(block),
  })

/** The block that is at this height now; null above the head. */
export const blockAt = (height: bigint): RpcCall<EvmBlock | null> =>
  rpcCall({
    method: 'eth_getBlockByNumber',
    params: [quantityOf(height), false],
    result: orNull(BlockForm),
    read(block) {
      if (block) assertIs(BigInt(block.number) === height)
      return block && blockOf(block)
    },
  })

export type EvmLog = { readonly address: string; readonly topics: readonly string[]; readonly data: string }

export type EvmReceipt = {
  readonly tx_hash: string
  readonly block_height: bigint
  readonly block_hash: string
  readonly succeeded: boolean
  readonly logs: readonly EvmLog[]
  /** Parts of what the transaction cost. Each is undefined if the node does not tell it. */
  readonly cost: ReceiptCost
}

export type ReceiptCost = {
  readonly gas_used: bigint | undefined
  /** Wei for one unit of gas. */
  readonly gas_price: bigint | undefined
  /** On optimism: the fee for its data on ethereum, in wei. */
  readonly l1_fee: bigint | undefined
  /** On optimism: the node tells of a fee that this code does not know how to add up. */
  readonly has_operator_fee: boolean
}

const ReceiptForm = T.Object({
  transactionHash: Hash,
  blockHash: Hash,
  blockNumber: Quantity,
  from: Address,
  status: T.Union([T.Literal('0x0'), T.Literal('0x1')]),
  logs: T.Array(
    T.Object({
      address: Address,
      topics: T.Array(Hash, { maxItems: 4 }),
      data: Data,
      blockHash: Hash,
      transactionHash: Hash,
      removed: T.Optional(T.Boolean()),
    }),
  ),
  // Not needed to know whether a payment arrived: a node that tells them wrongly, or not at all, is no failure.
  gasUsed: T.Optional(T.Unknown()),
  effectiveGasPrice: T.Optional(T.Unknown()),
  l1Fee: T.Optional(T.Unknown()),
  operatorFeeScalar: T.Optional(T.Unknown()),
  operatorFeeConstant: T.Optional(T.Unknown()),
})

const isFrom = (told: { readonly from: string }, from: string | undefined): boolean =>
  from === undefined || lower(told.from) === lower(from)

const quantityIn = (value: unknown): bigint | undefined =>
  Value.Check(Quantity, value) ? BigInt(value) : undefined

const costOf = (receipt: Static<typeof ReceiptForm>): ReceiptCost => ({
  gas_used: quantityIn(receipt.gasUsed),
  gas_price: quantityIn(receipt.effectiveGasPrice),
  l1_fee: quantityIn(receipt.l1Fee),
  has_operator_fee: [receipt.operatorFeeScalar, receipt.operatorFeeConstant].some(
    (value) => value !== undefined && value !== null && quantityIn(value) !== 0n,
  ),
})

/**
 * Null while the transaction is in no block. The hash commits to the sender: where the sender is known, a receipt with another one is
 * invented.
 */
export const receiptOf = (tx_hash: string, from?: string): RpcCall<EvmReceipt | null> =>
  rpcCall({
    method: 'eth_getTransactionReceipt',
    params: [tx_hash],
    // The receipt of a stranger's transaction is as long as the stranger likes.
    ...(from === undefined ? { is_long: 'vast' as const } : {}),
    result: orNull(ReceiptForm),
    read(receipt) {
      if (!receipt) return null
      assertIs(lower(receipt.transactionHash) === tx_hash && isFrom(receipt, from))
      for (const log of receipt.logs)
        assertIs(
          lower(log.transactionHash) === tx_hash &&
            lower(log.blockHash) === lower(receipt.blockHash) &&
            log.removed !== true,
        )
      return {
        tx_hash,
        block_height: BigInt(receipt.blockNumber),
        block_hash: lower(receipt.blockHash),
        succeeded: receipt.status === '0x1',
        logs: receipt.logs.map(({ address, topics, data }) => ({
          address: lower(address),
          topics: topics.map(lower),
          data: lower(data),
        })),
        cost: costOf(receipt),
      }
    },
  })

export type FoundLog = EvmLog & {
  readonly tx_hash: string
  readonly block_height: bigint
  readonly block_hash: string
}

const foundLog = {
  address: Address,
  topics: T.Array(Hash, { maxItems: 4 }),
  data: Data,
  blockNumber: Quantity,
  transactionHash: Hash,
  removed: T.Optional(T.Boolean()),
}
const FoundLogs = T.Array(T.Object({ ...foundLog, blockHash: Hash }))

/** What a contract logged under one topic in a range of blocks, both ends included. `refused`: the range is too long for the node. */
export const logsIn = (wanted: {
  readonly contract: string
  readonly topic: string
  readonly from: bigint
  readonly to: bigint
}): RpcCall<readonly FoundLog[] | 'refused'> =>
  rpcCall<typeof FoundLogs, readonly FoundLog[] | 'refused'>({
    method: 'eth_getLogs',
    params: [
      {
        address: wanted.contract,
        topics: [wanted.topic],
        fromBlock: quantityOf(wanted.from),
        toBlock: quantityOf(wanted.to),
      },
    ],
    result: FoundLogs,
    // A range can be shortened, a block cannot.
    is_long: wanted.from === wanted.to ? 'vast' : true,
    read(logs) {
      const found = logs
        .filter(({ removed }) => removed !== true)
        .map(({ address, topics, data, blockNumber, blockHash, transactionHash }) => ({
          address: lower(address),
          topics: topics.map(lower),
          data: lower(data),
          tx_hash: lower(transactionHash),
          block_height: BigInt(blockNumber),
          block_hash: lower(blockHash),
        }))
      for (const { address, topics, block_height } of found)
        assertIs(
          address === lower(wanted.contract) &&
            topics[0] === wanted.topic &&
            block_height >= wanted.from &&
            block_height <= wanted.to,
        )
      return found
    },
    // Nodes refuse with many codes and texts; the caller asks for fewer blocks.
    readError: () => ({ answer: 'refused' }),
  })

export type PlacedLog = Omit<FoundLog, 'block_hash'> & { readonly log_index: number }

const PlacedLogs = T.Array(T.Object({ ...foundLog, logIndex: Quantity }))
const LOG_INDEX_MOST = 2n ** 31n - 1n

/**
 * What any contract logged in a range of blocks, both ends included, under one topic and with one of `third` as its third topic. Only for
 * display, so a failure does not count against the endpoint.
 */
export const logsOfAnyContract = (wanted: {
  readonly topic: string
  readonly third: readonly string[]
  readonly from: bigint
  readonly to: bigint
}): RpcCall<readonly PlacedLog[] | 'refused'> =>
  rpcCall<typeof PlacedLogs, readonly PlacedLog[] | 'refused'>({
    method: 'eth_getLogs',
    params: [
      {
        topics: [wanted.topic, null, wanted.third],
        fromBlock: quantityOf(wanted.from),
        toBlock: quantityOf(wanted.to),
      },
    ],
    result: PlacedLogs,
    is_long: true,
    is_optional: true,
    read(logs) {
      const third = new Set(wanted.third)
      const found = logs.filter(({ removed }) => removed !== true)
      return found.map(({ address, topics: told, data, blockNumber, transactionHash, logIndex }) => {
        const topics = told.map(lower)
        const block_height = BigInt(blockNumber)
        assertIs(
          topics[0] === wanted.topic &&
            third.has(topics[2] ?? '') &&
            block_height >= wanted.from &&
            block_height <= wanted.to &&
            BigInt(logIndex) <= LOG_INDEX_MOST,
        )
        return {
          ...{ address: lower(address), topics, data: lower(data), tx_hash: lower(transactionHash) },
          ...{ block_height, log_index: Number(logIndex) },
        }
      })
    },
    readError: () => ({ answer: 'refused' }),
  })

/** Whether the node has the transaction, in its pool or in a block. */
export const knowsTransaction = (tx_hash: string, from?: string): RpcCall<boolean> =>
  rpcCall({
    method: 'eth_getTransactionByHash',
    params: [tx_hash],
    result: orNull(T.Object({ hash: Hash, from: Address })),
    read(transaction) {
      if (transaction) assertIs(lower(transaction.hash) === tx_hash && isFrom(transaction, from))
      return transaction !== null
    },
  })

/** An error answer to a broadcast means nothing: the caller asks whether the node knows the transaction. */
export const sendTransaction = (signed: string): RpcCall<void> =>
  rpcCall({
    method: 'eth_sendRawTransaction',
    params: [signed],
    result: T.Unknown(),
    read() {},
    readError: () => ({ answer: undefined }),
  })

type ContractCall = { readonly from?: string; readonly to: string; readonly data: string }

export type CallOutcome = { readonly kind: 'returned'; readonly data: string } | { readonly kind: 'reverted' }

/** Runs a contract without a transaction. */
export const callContract = (call: ContractCall, tag: BlockTag = 'latest'): RpcCall<CallOutcome> =>
  rpcCall<typeof Data, CallOutcome>({
    method: 'eth_call',
    params: [call, tagOf(tag)],
    result: Data,
    read: (data) => ({ kind: 'returned', data: lower(data) }),
    readError: (error) => (isRevert(error) ? { answer: { kind: 'reverted' } } : undefined),
  })

export type GasEstimate =
  | { readonly kind: 'gas'; readonly gas: bigint }
  | { readonly kind: 'reverted' }
  /** The node refuses for another reason, such as a method that it does not offer. */
  | { readonly kind: 'none' }

export const estimateGas = ({
  value,
  ...call
}: ContractCall & { readonly value?: bigint }): RpcCall<GasEstimate> =>
  rpcCall<typeof Quantity, GasEstimate>({
    method: 'eth_estimateGas',
    params: [value === undefined ? call : { ...call, value: quantityOf(value) }],
    result: Quantity,
    read: (gas) => ({ kind: 'gas', gas: BigInt(gas) }),
    readError: (error) => ({ answer: { kind: isRevert(error) ? 'reverted' : 'none' } }),
  })

/** geth and its kin answer 3 for a revert; others only say so in the text. */
const isRevert = ({ code, message }: NodeError): boolean =>
  code === 3 || /revert/i.test(message.slice(0, 200))
