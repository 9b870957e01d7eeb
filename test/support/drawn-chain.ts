import { createHash } from 'node:crypto'
import type { BitcoinRail, BlockTransaction, FollowedBlock } from '../../src/rails/chain/bitcoin/rail.ts'

/** A chain of blocks that a test draws by hand, with any number of branches. */
export type DrawnChain = ReturnType<typeof drawChain>

const hashOf = (...parts: readonly unknown[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex')

let drawn = 0

export function drawChain(first_height = 0n) {
  const blocks = new Map<string, FollowedBlock>()
  const genesis: FollowedBlock = {
    block_height: first_height,
    block_hash: hashOf('genesis', ++drawn),
    parent_hash: '0'.repeat(64),
    transactions: [],
  }
  blocks.set(genesis.block_hash, genesis)
  let head = genesis

  /** The blocks from the first one up to this one. */
  const branchOf = (tip: FollowedBlock): FollowedBlock[] => {
    const parent = blocks.get(tip.parent_hash)
    return parent ? [...branchOf(parent), tip] : [tip]
  }
  const at = (height: bigint) => branchOf(head).find(({ block_height }) => block_height === height)

  return {
    genesis,
    branchOf,
    head: () => head,
    setHead(block: FollowedBlock) {
      head = block
    },
    /** A block on top of another one, by default of the head, which it becomes then. */
    grow(transactions: readonly BlockTransaction[] = [], on?: FollowedBlock): FollowedBlock {
      const parent = on ?? head
      const block: FollowedBlock = {
        block_height: parent.block_height + 1n,
        block_hash: hashOf(parent.block_hash, ++drawn),
        parent_hash: parent.block_hash,
        transactions,
      }
      blocks.set(block.block_hash, block)
      if (!on) head = block
      return block
    },
    rail: {
      head: async () => head,
      hashAt: async (height) => at(height)?.block_hash,
      async block(hash) {
        const found = blocks.get(hash)
        if (!found) throw new Error(`no block ${hash}`)
        return found
      },
    } satisfies Pick<BitcoinRail, 'head' | 'hashAt' | 'block'>,
  }
}

/** A transaction with a name of its own. */
export const drawTransaction = (
  name: string,
  { inputs = [], outputs = [] }: Partial<Omit<BlockTransaction, 'txid'>>,
): BlockTransaction => ({ txid: hashOf('transaction', name), inputs, outputs })
