import { Type as T } from 'typebox'
import { type NodeError, type RpcCall, rpcCall } from '../rpc-endpoint.ts'
import { type BlockBytes, readBlock } from './bytes.ts'
import { satoshisOf } from './exact-json.ts'
import type { Outpoint } from './rail.ts'

/**
 * The JSON-RPC calls of a node of Bitcoin Core's lineage. Amounts come as text (`exact-json.ts`); rates are in satoshis per 1,000
 * virtual bytes, as nodes have them.
 */
const Hash = T.String({ pattern: '^[0-9a-f]{64}$' })
const Hex = T.String({ pattern: '^(?:[0-9a-f]{2})*$' })
const Height = T.Integer({ minimum: 0 })
const Seconds = T.Integer({ minimum: 0 })
const Amount = T.Union([T.String({ maxLength: 40 }), T.Integer({ minimum: 0 })])

/** Error codes of nodes. */
const NOT_FOUND = -5
const NO_SUCH_HEIGHT = -8
const NO_DATA = -1

const assertIs = (is_so: boolean): void => {
  if (!is_so) throw new Error('the answer is about something else')
}

const onCode =
  <Answer>(code: number, answer: Answer) =>
  (error: NodeError) =>
    error.code === code ? { answer } : undefined

export type ChainInfo = {
  readonly height: bigint
  readonly hash: string
  /** Of the newest block; where the node does not tell, the median of the last eleven, about an hour before. */
  readonly at_ms: number
  readonly is_syncing: boolean
  readonly is_pruned: boolean
}

const ChainInfoForm = T.Object({
  chain: T.String(),
  blocks: Height,
  headers: Height,
  bestblockhash: Hash,
  time: T.Optional(Seconds),
  mediantime: Seconds,
  initialblockdownload: T.Boolean(),
  pruned: T.Boolean(),
  // Text in older nodes, a list in newer ones. Nodes warn about each other's versions: nothing follows from it.
  warnings: T.Optional(T.Union([T.String(), T.Array(T.String())])),
})

export const chainInfo = (): RpcCall<ChainInfo> =>
  rpcCall({
    method: 'getblockchaininfo',
    params: [],
    result: ChainInfoForm,
    read: (info) => ({
      height: BigInt(info.blocks),
      hash: info.bestblockhash,
      at_ms: (info.time ?? info.mediantime) * 1000,
      is_syncing: info.initialblockdownload,
      is_pruned: info.pruned,
    }),
  })

/** The block at this height in the node's chain; null above its head. */
export const blockHash = (height: bigint): RpcCall<string | null> =>
  rpcCall<typeof Hash, string | null>({
    method: 'getblockhash',
    params: [Number(height)],
    result: Hash,
    read: (hash) => hash,
    readError: onCode(NO_SUCH_HEIGHT, null),
  })

/** Null if the node does not know the block, or has pruned it. */
export const rawBlock = (hash: string): RpcCall<BlockBytes | null> =>
  rpcCall<typeof RawBlock, BlockBytes | null>({
    method: 'getblock',
    params: [hash, 0],
    result: RawBlock,
    is_long: true,
    read(hex) {
      const block = readBlock(Buffer.from(hex, 'hex'))
      assertIs(block.hash === hash)
      return block
    },
    readError: ({ code }) => (code === NOT_FOUND || code === NO_DATA ? { answer: null } : undefined),
  })
// No pattern: a regular expression over megabytes takes longer than reading them, and what is not hex fails to be a block.
const RawBlock = T.String()

/** Null if the node does not know the block. Blocks that left the chain have a height too. */
export const blockHeight = (hash: string): RpcCall<bigint | null> =>
  rpcCall<typeof BlockHeader, bigint | null>({
    method: 'getblockheader',
    params: [hash],
    result: BlockHeader,
    read(header) {
      assertIs(header.hash === hash)
      return BigInt(header.height)
    },
    readError: onCode(NOT_FOUND, null),
  })
const BlockHeader = T.Object({ hash: Hash, height: Height })

/** Whether the node has the transaction in its mempool. */
export const isInMempool = (txid: string): RpcCall<boolean> =>
  rpcCall<typeof MempoolEntry, boolean>({
    method: 'getmempoolentry',
    params: [txid],
    result: MempoolEntry,
    read: () => true,
    readError: onCode(NOT_FOUND, false),
  })
const MempoolEntry = T.Object({ vsize: T.Integer({ minimum: 1 }) })

export type UnspentOutput = {
  readonly amount: bigint
  readonly script: string
  /** 0 while its transaction is in the mempool only. */
  readonly confirmations: number
}

const OutputForm = T.Object({
  bestblock: Hash,
  confirmations: T.Integer({ minimum: 0 }),
  value: Amount,
  scriptPubKey: T.Object({ hex: Hex }),
  coinbase: T.Boolean(),
})

/** Null if the output is spent, or was never made: a node does not tell one from the other. */
export const unspentOutput = (
  { txid, vout }: Outpoint,
  options: { readonly with_mempool: boolean },
): RpcCall<UnspentOutput | null> =>
  rpcCall({
    method: 'gettxout',
    params: [txid, vout, options.with_mempool],
    result: T.Union([OutputForm, T.Null()]),
    read: (output) =>
      output && {
        amount: satoshisOf(output.value),
        script: output.scriptPubKey.hex,
        confirmations: output.confirmations,
      },
  })

/** An error answer decides nothing: even "already spent" may be about this transaction. The caller asks whether the node has it. */
export const sendRaw = (signed: string): RpcCall<void> =>
  rpcCall({
    method: 'sendrawtransaction',
    params: [signed],
    result: T.Unknown(),
    read() {},
    readError: () => ({ answer: undefined }),
  })

/** Undefined if the node has not seen enough transactions to tell. */
export const estimatedRate = (target_blocks: number): RpcCall<bigint | undefined> =>
  rpcCall<typeof Estimate, bigint | undefined>({
    method: 'estimatesmartfee',
    params: [target_blocks, 'ECONOMICAL'],
    result: Estimate,
    read: ({ feerate }) => (feerate === undefined ? undefined : satoshisOf(feerate)),
    // A node that only relays blocks estimates nothing.
    readError: () => ({ answer: undefined }),
  })
const Estimate = T.Object({ feerate: T.Optional(Amount), errors: T.Optional(T.Array(T.String())) })

/** Whether the node has finished reading its stored mempool after a start. A node without the field `loaded` counts as finished. */
export const isMempoolLoaded = (): RpcCall<boolean> =>
  rpcCall({
    method: 'getmempoolinfo',
    params: [],
    result: T.Object({ loaded: T.Optional(T.Boolean()) }),
    read: ({ loaded }) => loaded ?? true,
  })

/** The least rate of a transaction that enters the mempool now: it rises while the mempool is full. */
export const mempoolRate = (): RpcCall<bigint> =>
  rpcCall({
    method: 'getmempoolinfo',
    params: [],
    result: T.Object({ mempoolminfee: Amount, minrelaytxfee: Amount }),
    read({ mempoolminfee, minrelaytxfee }) {
      const [now, always] = [satoshisOf(mempoolminfee), satoshisOf(minrelaytxfee)]
      return now > always ? now : always
    },
  })
