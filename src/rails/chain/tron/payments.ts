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

/** Solidified blocks do not leave the chain. For ten minutes endpoints that were wrong together may show that they were. */
const WATCHED_DEPTH = 200

/** What is not solidified counts as less deep than what is credited, however many blocks follow. */
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

/** The position stays: fewer blocks would not help a node that lacks one of them. */
const NOT_READ: Scanned = { kind: 'read', block_hash: undefined, is_shared: false, hints: [] }

/** So that a deposit shows early: what one endpoint leaves out now is found when the block is solidified. */
async function scanNew(rpc: Rpc, contract: string, range: BlockRange): Promise<Scanned> {
  const read = await rpc.read((node) => readRangeFrom(node, 'wallet', range))
  if (!read) return NOT_READ
  return {
    kind: 'read',
    ...{ block_hash: read.block_hash, is_shared: false },
    hints: read.receipts.flatMap((receipt) => hintsOf(receipt, contract)),
  }
}

/** What any endpoint shows is a hint: one that leaves out a receipt hides nothing from another one. */
async function scanFinal(rpc: Rpc, contract: string, range: BlockRange): Promise<Scanned> {
  const heard = await rpc.all((node) => readRangeFrom(node, 'walletsolidity', range))
  const read = heard.flatMap(({ answer }) => answer ?? [])
  if (read.length < heard.length) return NOT_READ
  const hashes = new Set(read.map(({ block_hash }) => block_hash))
  const receipts = read.flatMap((one) => one.receipts)
  return {
    kind: 'read',
    block_hash: hashes.size === 1 ? read[0]!.block_hash : undefined,
    is_shared: read.length >= rpc.quorum,
    hints: receipts.flatMap((receipt) => hintsOf(receipt, contract)),
    other_tokens: receipts.flatMap((receipt) => otherTokensOf(receipt, contract)),
  }
}

/**
 * Undefined while the node does not have a block, or has it without its transactions, as a node behind the same URL may. A node that cannot
 * answer for all blocks at once, within its limits and the timeout, would never be read: it is asked for a few, and then for the next.
 */
async function readRangeFrom(node: RpcNode, view: TronView, { from, to }: BlockRange) {
  const receipts: TronReceipt[] = []
  let block_hash = ''
  for (let height = from; height <= to; height += BLOCKS_AT_ONCE) {
    const heights = Array.from({ length: Number(BLOCKS_AT_ONCE) }, (_, n) => height + BigInt(n))
    const some = heights.filter((one) => one <= to)
    for (const read of await Promise.all(some.map((one) => readBlockFrom(node, view, one)))) {
      if (!read) return undefined
      for (const receipt of read.receipts) receipts.push(receipt)
      block_hash = read.block.hash
    }
  }
  return { block_hash, receipts }
}

async function readBlockFrom(node: RpcNode, view: TronView, height: bigint) {
  const [block, receipts] = await Promise.all([
    node.ask(tronBlockAt(view, height)),
    node.ask(receiptsInBlock(view, height)),
  ])
  return block && (receipts.length > 0 || !block.has_transactions) ? { block, receipts } : undefined
}

/** Also of a transaction whose end is unclear: it is asked about, and the position stays until the nodes tell its end. */
function hintsOf({ outcome, logs, tx_hash, block_height }: TronReceipt, contract: string) {
  if (outcome === 'failed') return []
  return trc20TransfersIn(logs, contract)
    .filter(isPayment)
    .map(({ to }) => ({ to: addressOfAccount(to), tx_hash, block_height }))
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

/** The solidified chain has no branches. In the newest blocks a receipt and its block may be of two branches: the block is asked for twice. */
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
  // Nodes keep transactions and receipts in two stores; and a node that has the block must have both.
  const is_known = await node.ask(hasTransaction('wallet', tx_hash))
  if (is_known || (before && before.hash === known?.block_hash)) return { kind: 'unclear' }
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
