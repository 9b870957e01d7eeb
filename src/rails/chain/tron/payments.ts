import { networks } from '../../../core/networks.ts'
import type { BlockRange, KnownBlock, PaymentSource, Scanned, TokenArrival } from '../rail.ts'
import type { Rpc } from '../rpc.ts'
import type { RpcNode } from '../rpc-health.ts'
import { isPayment, type TransactionView, transactionSeen } from '../transaction-views.ts'
import { accountHexOf, addressOfAccount } from './address.ts'
import {
  hasTransaction,
  newestTronBlock,
  receiptsInBlock,
  type TronBlock,
  type TronReceipt,
  type TronView,
  tronBlockAt,
  tronReceiptOf,
} from './calls.ts'
import { anyTransfersIn, trc20TransfersIn } from './token.ts'

/**
 * How payments to deposit addresses are found on Tron (decision 0075). A node tells no logs by address, so the receipts of each block are
 * read: as soon as the block is made, from one endpoint, and again when it is solidified, from all of them.
 */
type PaymentOptions = Pick<PaymentSource, 'start_height'> & { readonly contract: string }

/** The receipts of a block have half a megabyte. */
const SPAN_MOST = 8n
const BLOCKS_AT_ONCE = 2n

/** Solidified blocks do not leave the chain. Credits are watched for ten minutes all the same, in case all endpoints were wrong. */
const WATCHED_DEPTH = 200

/** Before its block is solidified, a payment never counts as deep enough for a credit, however many blocks follow. */
const OPEN_DEPTH_MOST = networks.tron.confirmations - 1

export function tronPayments(rpc: Rpc, { contract, ...options }: PaymentOptions): PaymentSource {
  return {
    ...options,
    ...{ span_most: SPAN_MOST, watched_depth: WATCHED_DEPTH },
    async head() {
      const heads = await rpc.all(async (node) => {
        const solid = await node.ask(newestTronBlock('walletsolidity'))
        return { newest: await node.ask(newestTronBlock('wallet')), solid }
      })
      const newest = lowestOf(heads.map(({ answer }) => answer.newest))
      const { height: final_height } = lowestOf(heads.map(({ answer }) => answer.solid))
      return { block_height: newest.height, block_hash: newest.hash, final_height }
    },
    hashAt: (height) =>
      rpc.agree(
        async (node) => (await node.ask(tronBlockAt('wallet', height)))?.hash,
        (hash) => hash ?? '',
      ),
    scan: ({ is_final, ...range }) =>
      is_final ? scanFinal(rpc, contract, range) : scanNew(rpc, contract, range),
    transaction: async (tx_hash, known) => {
      const heard = await rpc.all((node) => viewOnTron(node, contract, { tx_hash, known }))
      return transactionSeen(
        heard.map(({ answer }) => answer),
        { quorum: rpc.quorum, known },
      )
    },
  }
}

const lowestOf = (blocks: readonly TronBlock[]): TronBlock =>
  blocks.reduce((one, other) => (other.height < one.height ? other : one))

/** Leaves the position where it is, and does not make the caller ask for fewer blocks: a missing block would be missing still. */
const NOT_READ: Scanned = { kind: 'read', block_hash: undefined, is_shared: false, hints: [] }

/** Reads new blocks from one endpoint, so that deposits show early. What it leaves out is found when the block is solidified. */
async function scanNew(rpc: Rpc, contract: string, range: BlockRange): Promise<Scanned> {
  const read = await rpc.read((node) => readRangeFrom(node, 'wallet', range))
  if (!read) return NOT_READ
  return {
    kind: 'read',
    ...{ block_hash: read.block_hash, is_shared: false },
    hints: read.found.flatMap((one) => hintsOf(one, contract)),
  }
}

/** Reads solidified blocks from every endpoint, and returns what any of them shows, so that no single endpoint can hide a receipt. */
async function scanFinal(rpc: Rpc, contract: string, range: BlockRange): Promise<Scanned> {
  const heard = await rpc.all((node) => readRangeFrom(node, 'walletsolidity', range))
  const read = heard.flatMap(({ answer }) => answer ?? [])
  if (read.length < heard.length) return NOT_READ
  const hashes = new Set(read.map(({ block_hash }) => block_hash))
  const found = read.flatMap((one) => one.found)
  return {
    kind: 'read',
    block_hash: hashes.size === 1 ? read[0]!.block_hash : undefined,
    is_shared: read.length >= rpc.quorum,
    hints: found.flatMap((one) => hintsOf(one, contract)),
    other_tokens: found.flatMap(({ receipt }) => otherTokensOf(receipt, contract)),
  }
}

type FoundReceipt = { readonly receipt: TronReceipt; readonly block_hash: string }

/**
 * Undefined while the node lacks a block or its transactions, as another node behind the same URL may. Asks for a few blocks at a time: a
 * node whose limits or speed do not allow the whole range at once would never be read.
 */
async function readRangeFrom(node: RpcNode, view: TronView, { from, to }: BlockRange) {
  const found: FoundReceipt[] = []
  let block_hash = ''
  for (let height = from; height <= to; height += BLOCKS_AT_ONCE) {
    const heights = Array.from({ length: Number(BLOCKS_AT_ONCE) }, (_, n) => height + BigInt(n))
    const some = heights.filter((one) => one <= to)
    for (const read of await Promise.all(some.map((one) => readBlockFrom(node, view, one)))) {
      if (!read) return undefined
      block_hash = read.block.hash
      for (const receipt of read.receipts) found.push({ receipt, block_hash })
    }
  }
  return { block_hash, found }
}

async function readBlockFrom(node: RpcNode, view: TronView, height: bigint) {
  const [block, receipts] = await Promise.all([
    node.ask(tronBlockAt(view, height)),
    node.ask(receiptsInBlock(view, height)),
  ])
  return block && (receipts.length > 0 || !block.has_transactions) ? { block, receipts } : undefined
}

/** Includes transactions with an unclear outcome: they are asked about, and the position stays until the nodes tell the outcome. */
function hintsOf({ receipt, block_hash }: FoundReceipt, contract: string) {
  const { outcome, logs, tx_hash, block_height } = receipt
  if (outcome === 'failed') return []
  return trc20TransfersIn(logs, contract)
    .filter(isPayment)
    .map(({ to }) => ({ to: addressOfAccount(to), tx_hash, block_height, block_hash }))
}

function otherTokensOf({ outcome, logs, ...mined }: TronReceipt, contract: string): TokenArrival[] {
  if (outcome !== 'succeeded') return []
  const usdt = accountHexOf(contract)
  const { tx_hash, block_height } = mined
  return anyTransfersIn(logs)
    .filter((transfer) => transfer.token !== usdt && isPayment(transfer))
    .map(({ token, log_index, to, amount }) => ({
      ...{ contract: addressOfAccount(token), tx_hash, log_index, block_height },
      ...{ address: addressOfAccount(to), amount },
    }))
}

type Asked = { readonly tx_hash: string; readonly known: KnownBlock | undefined }

/** The solidified chain has no branches. A newer receipt and its block may be of two branches, so the known block is compared too. */
async function viewOnTron(
  node: RpcNode,
  contract: string,
  { tx_hash, known }: Asked,
): Promise<TransactionView> {
  const head = await node.ask(newestTronBlock('wallet'))
  const final = await node.ask(tronReceiptOf('walletsolidity', tx_hash))
  if (final) {
    const block = await node.ask(tronBlockAt('walletsolidity', final.block_height))
    return minedView(final, block, { contract, head: head.height, depth_most: Infinity })
  }
  const before = known && (await node.ask(tronBlockAt('wallet', known.block_height)))
  const receipt = await node.ask(tronReceiptOf('wallet', tx_hash))
  if (receipt) {
    const block = await node.ask(tronBlockAt('wallet', receipt.block_height))
    const is_moving = before?.height === block?.height && before?.hash !== block?.hash
    if (is_moving) return { kind: 'unclear' }
    return minedView(receipt, block, { contract, head: head.height, depth_most: OPEN_DEPTH_MOST })
  }
  // Not absent: the node has the transaction without its receipt, or no other block than that in which it was seen.
  const is_known = await node.ask(hasTransaction('wallet', tx_hash))
  if (known && before?.hash === known.block_hash) return { kind: 'incomplete', head: head.height }
  if (is_known || (known && !before)) return { kind: 'unclear' }
  return { kind: 'absent', head: head.height }
}

type Seen = { readonly contract: string; readonly head: bigint; readonly depth_most: number }

function minedView(
  { outcome, logs, block_height }: TronReceipt,
  block: TronBlock | undefined,
  { contract, head, depth_most }: Seen,
): TransactionView {
  if (!block || outcome === 'unclear' || head < block_height) return { kind: 'unclear' }
  const transfers = outcome === 'succeeded' ? trc20TransfersIn(logs, contract).filter(isPayment) : []
  const payments = transfers.map(({ log_index, from, to, amount }) => ({
    ...{ output_index: log_index, amount },
    ...{ from: addressOfAccount(from), to: addressOfAccount(to) },
  }))
  const depth = Math.min(Number(head - block_height + 1n), depth_most)
  return { kind: 'mined', block_height, block_hash: block.hash, depth, payments, head }
}
