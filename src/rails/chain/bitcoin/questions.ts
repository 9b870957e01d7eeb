import { ChainCheckFailed, checkEndpoints } from '../check.ts'
import type { Block } from '../rail.ts'
import { EndpointsDisagree, EndpointsUnavailable, type Rpc } from '../rpc.ts'
import { EndpointFailure } from '../rpc-endpoint.ts'
import type { RpcNode } from '../rpc-health.ts'
import {
  blockHash,
  blockHeight,
  chainInfo,
  estimatedRate,
  mempoolRate,
  rawBlock,
  type UnspentOutput,
  unspentOutput,
} from './calls.ts'
import { todaysRate } from './fees.ts'
import type { FollowedBlock, Outpoint } from './rail.ts'
import { provesWork } from './work.ts'

/** What the rail asks all of its nodes, and what follows from their answers. */
export const checkBitcoin = (rpc: Rpc): Promise<void> =>
  checkEndpoints('bitcoin', rpc, async (node) => {
    const { is_syncing } = await node.ask(chainInfo())
    if (is_syncing)
      throw new ChainCheckFailed(
        'sync',
        `bitcoin: endpoint ${node.endpoint}: the node is still synchronizing. Wait until it has caught up.`,
      )
  })

/** A transaction should be mined within as many blocks. */
const TARGET_BLOCKS = 3

export const readRate = (rpc: Rpc, fallback: bigint): Promise<bigint> =>
  rpc.read(async (node) => {
    const [estimated, mempool] = await Promise.all([
      node.ask(estimatedRate(TARGET_BLOCKS)),
      node.ask(mempoolRate()),
    ])
    return todaysRate({ estimated, mempool }, fallback)
  })

/** Endpoints of one network may differ in this many of their newest blocks. */
const FORK_MOST = 6n

/** The newest block that all endpoints have in their chain. */
export async function readHead(rpc: Rpc): Promise<Block> {
  const infos = await askQuorum(rpc, (node) => node.ask(chainInfo()))
  const lowest = infos.map(({ height }) => height).reduce((a, b) => (a < b ? a : b))
  const least = lowest > FORK_MOST ? lowest - FORK_MOST : 0n
  for (let height = lowest; height >= least; height--) {
    const hashes = await askQuorum(rpc, (node) => node.ask(blockHash(height)))
    const [block_hash] = hashes
    if (block_hash && hashes.every((hash) => hash === block_hash)) return { block_height: height, block_hash }
  }
  throw new EndpointsDisagree('bitcoin', `the blocks from ${least} to ${lowest}`)
}

/** Undefined if any endpoint has no block at this height yet: the height is above the head that all of them share. */
export async function readHashAt(rpc: Rpc, height: bigint): Promise<string | undefined> {
  const hashes = await askQuorum(rpc, (node) => node.ask(blockHash(height)))
  if (hashes.includes(null)) return undefined
  if (new Set(hashes).size > 1) throw new EndpointsDisagree('bitcoin', `block ${height}`)
  return hashes[0]!
}

/** Asks the next endpoint if one does not have the block, or has pruned it. On mainnet, throws if the block proves too little work. */
export async function readBlockOf(rpc: Rpc, hash: string, is_mainnet: boolean): Promise<FollowedBlock> {
  if (is_mainnet && !provesWork(hash))
    throw new Error(
      `bitcoin: block ${hash} proves less work than any block since 2018. A node invented it: compare the nodes of BITCOIN_RPC with a block explorer. Or BITCOIN_START_HEIGHT is older.`,
    )
  return rpc.read(async (node) => {
    const [block, height] = await Promise.all([node.ask(rawBlock(hash)), node.ask(blockHeight(hash))])
    if (!block || height === null)
      throw new EndpointFailure({
        ...{ endpoint: node.endpoint, kind: 'node_error' },
        problem: `the node does not have block ${hash}`,
      })
    const { parent_hash, transactions } = block
    return { block_height: height, block_hash: hash, parent_hash, transactions }
  })
}

/** What one node shows of an output: with its mempool, and in its chain alone. */
type SeenOutput = { readonly now: UnspentOutput | null; readonly in_chain: UnspentOutput | null }

export async function readIsUnspent(rpc: Rpc, outpoint: Outpoint): Promise<boolean | undefined> {
  const seen = await askQuorum(rpc, (node) => seenBy(node, outpoint))
  const known = seen.filter(isKnown)
  if (known.length === 0) return undefined
  if (known.some(({ now }) => now === null)) return false
  if (known.length === seen.length || known.every(({ now }) => now!.confirmations === 0)) return true
  return (await isMissingFromItsChain(rpc, outpoint)) ? false : undefined
}

/**
 * Whether a node has the block that made the output, and not the output: then it also has a block that spends the output. A node without
 * that block is behind, or follows another branch: it cannot tell.
 */
async function isMissingFromItsChain(rpc: Rpc, outpoint: Outpoint): Promise<boolean> {
  const made_in = (await askQuorum(rpc, (node) => makingBlock(node, outpoint))).find(
    (block) => block !== null,
  )
  if (!made_in) return false
  const missing = await askQuorum(
    rpc,
    async (node) =>
      (await node.ask(blockHash(made_in.height))) === made_in.hash && !isKnown(await seenBy(node, outpoint)),
  )
  return missing.includes(true)
}

const isKnown = ({ now, in_chain }: SeenOutput): boolean => now !== null || in_chain !== null

/**
 * The chain is asked before the mempool: the other way round, a block that arrives between the two questions and makes the output would
 * look like a transaction of the mempool that spends it. And once more after it, because a reorganisation may have removed the output.
 */
async function seenBy(node: RpcNode, outpoint: Outpoint): Promise<SeenOutput> {
  const in_chain = await node.ask(unspentOutput(outpoint, { with_mempool: false }))
  const now = await node.ask(unspentOutput(outpoint, { with_mempool: true }))
  if (now !== null || in_chain === null) return { now, in_chain }
  return { now, in_chain: await node.ask(unspentOutput(outpoint, { with_mempool: false })) }
}

/** The block in which the node has the transaction of the output; null if no block of its chain has it any more. */
async function makingBlock(
  node: RpcNode,
  outpoint: Outpoint,
): Promise<{ readonly height: bigint; readonly hash: string } | null> {
  const output = await node.ask(unspentOutput(outpoint, { with_mempool: false }))
  const best = output && (await node.ask(blockHeight(output.best_block)))
  if (!output || best === null) return null
  const height = best + 1n - BigInt(output.confirmations)
  const hash = await node.ask(blockHash(height))
  return hash === null ? null : { height, hash }
}

/** The answers of all healthy endpoints, which are two or more where two are configured. */
async function askQuorum<Answer>(
  rpc: Rpc,
  work: (node: RpcNode) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const heard = await rpc.all(work)
  if (heard.length < rpc.quorum) throw new EndpointsUnavailable('bitcoin', 'too_few')
  return heard.map(({ answer }) => answer)
}
