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
  const known = seen.filter(({ now, in_chain }) => now !== null || in_chain !== null)
  if (known.length === 0) return undefined
  if (known.some(({ now }) => now === null)) return false
  // A node that does not know an output which is in the chain of another node has a block that spends it.
  return known.length === seen.length || known.every(({ now }) => now!.confirmations === 0)
}

async function seenBy(node: RpcNode, outpoint: Outpoint): Promise<SeenOutput> {
  const [now, in_chain] = await Promise.all([
    node.ask(unspentOutput(outpoint, { with_mempool: true })),
    node.ask(unspentOutput(outpoint, { with_mempool: false })),
  ])
  return { now, in_chain }
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
