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
  isInMempool,
  isMempoolLoaded,
  mempoolRate,
  rawBlock,
  unspentOutput,
} from './calls.ts'
import { todaysRate } from './fees.ts'
import type { FollowedBlock, OutputState, WatchedOutput } from './rail.ts'
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

/**
 * What looks spent is asked about once more: behind the URL of a provider there may be several nodes, of which one answers the first part of a
 * question and another one the second part.
 */
export async function readOutputStates(
  rpc: Rpc,
  tip: Block,
  outputs: readonly WatchedOutput[],
): Promise<readonly OutputState[]> {
  const states = await statesOnce(rpc, tip, outputs)
  const doubted = outputs.filter((_, at) => states[at] === 'spent')
  if (doubted.length === 0) return states
  const again = await statesOnce(rpc, tip, doubted)
  return states.map((state, at) =>
    state !== 'spent' || again[doubted.indexOf(outputs[at]!)] === 'spent' ? state : 'unclear',
  )
}

async function statesOnce(
  rpc: Rpc,
  tip: Block,
  outputs: readonly WatchedOutput[],
): Promise<readonly OutputState[]> {
  const nodes = await askQuorum(rpc, (node) => statesAt(node, tip, outputs))
  return outputs.map((_, at): OutputState => {
    const said = new Set(nodes.map((states) => states[at]!))
    const first = (['spent', 'unclear', 'unspent'] as const).find((state) => said.has(state))
    return first ?? 'absent'
  })
}

/**
 * A node does not tell a spent output from one that was never made, so it must also show that it has what made the output: for mined
 * outputs, that the newest stored block is in its chain; for others, that it has their transaction. It must show that before the question
 * and after it, because a block may arrive or disappear meanwhile. A newer block may have both the transaction and what spends its output.
 * A node that has just started and reads its stored mempool does not show yet what spends an output.
 */
async function statesAt(
  node: RpcNode,
  { block_height, block_hash }: Block,
  outputs: readonly WatchedOutput[],
): Promise<readonly OutputState[]> {
  const look = async () => ({
    has_tip: (await node.ask(blockHash(block_height))) === block_hash,
    is_ahead: (await node.ask(blockHash(block_height + 1n))) !== null,
    places: await Promise.all(outputs.map((output) => placeOf(node, output))),
  })
  const is_loaded = await node.ask(isMempoolLoaded())
  const before = await look()
  const now = await Promise.all(outputs.map((output) => node.ask(unspentOutput(output, WITH_MEMPOOL))))
  const after = await look()
  const has_tip = before.has_tip && after.has_tip
  const is_ahead = before.is_ahead || after.is_ahead
  return outputs.map(({ is_mined }, at) => {
    const is_there = now[at] !== null
    const unspent = is_loaded ? 'unspent' : 'unclear'
    if (is_mined) return has_tip ? (is_there ? unspent : 'spent') : 'unclear'
    if (is_there) return unspent
    const place = before.places[at]
    if (place !== after.places[at]) return 'unclear'
    if (place !== undefined) return 'spent'
    return is_ahead || !is_loaded ? 'unclear' : 'absent'
  })
}

const WITH_MEMPOOL = { with_mempool: true }

/** Where the node has the transaction of an output that is not mined as far as the database knows. */
async function placeOf(node: RpcNode, output: WatchedOutput): Promise<'mempool' | 'chain' | undefined> {
  if (output.is_mined) return undefined
  if (await node.ask(isInMempool(output.txid))) return 'mempool'
  return (await node.ask(unspentOutput(output, { with_mempool: false }))) ? 'chain' : undefined
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
