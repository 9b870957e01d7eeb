import { crashPoint } from '../../../core/crash-point.ts'
import type { Network } from '../../../core/networks.ts'
import { takeStep } from '../../../db/chore.ts'
import type { Db } from '../../../db/pool.ts'
import type { BitcoinRail, FollowedBlock } from '../../../rails/chain/bitcoin/rail.ts'
import { addressOfScript } from '../../../rails/chain/bitcoin/transaction.ts'
import { addressIndexes } from '../../deposits/addresses-store.ts'
import { coinIdOf, effectsOf, type OwnScripts } from './block-effects.ts'
import {
  areCoinsBelow,
  blockAtHeight,
  insertBlock,
  lockWallet,
  removeBlock,
  type StoredBlock,
  storeEffects,
  tipOf,
  unspentAmong,
} from './store.ts'

/**
 * Follows a chain block by block and keeps the coins of a wallet and of the deposit addresses (decisions 0058 and 0061). Each block is one
 * transaction. If the next block is not the child of the newest stored one, stored blocks are undone until the branches meet. One node
 * follows at a time; a second one changes nothing, because each transaction checks the stored tip again.
 */
export type Following = {
  readonly network: Network
  readonly wallet_id: string
  readonly script: string
  readonly rail: Pick<BitcoinRail, 'head' | 'hashAt' | 'block'>
  /** The first block that is read; undefined: some blocks below the head at the first run. */
  readonly start_height?: bigint
}

export type Followed =
  /** `foreign`: transactions that spend coins and that this database did not sign, seen for the first time. */
  | { readonly kind: 'at_head'; readonly foreign: readonly string[]; readonly tip: StoredBlock | undefined }
  | { readonly kind: 'behind'; readonly foreign: readonly string[] }
  /** The chain left the oldest stored block: what happened before it is not known any more. */
  | { readonly kind: 'lost'; readonly foreign: readonly string[]; readonly oldest: StoredBlock }

/** `db` is one connection that is in no transaction while the chain is asked. */
export async function follow(
  db: Db,
  following: Following,
  shouldContinue: () => boolean = () => true,
): Promise<Followed> {
  const { network, rail, start_height } = following
  const foreign: string[] = []
  while (shouldContinue()) {
    const tip = await tipOf(db, network)
    const next =
      tip === undefined ? await firstBlock(rail, start_height) : await nextBlock(db, following, tip)
    if (next === undefined) return { kind: 'at_head', foreign, tip }
    const is_child = next !== 'undo' && (tip === undefined || next.parent_hash === tip.hash)
    if (is_child) foreign.push(...(await applyBlock(db, following, tip, next)))
    else if (!(await undoBlock(db, following, tip!))) {
      if (await areCoinsBelow(db, network, tip!.height)) return { kind: 'lost', foreign, oldest: tip! }
      foreign.push(...(await replaceFirst(db, following, tip!)))
    }
    crashPoint('after_follow')
  }
  return { kind: 'behind', foreign }
}

/** The first run begins this many blocks below the head, so that a reorganisation right after it can be followed. */
const START_BELOW = 10n

async function firstBlock(
  rail: Following['rail'],
  start_height: bigint | undefined,
): Promise<FollowedBlock | undefined> {
  const { block_height: head } = await rail.head()
  return blockAt(rail, start_height ?? (head > START_BELOW ? head - START_BELOW : 0n))
}

/** Checks the height: one endpoint alone tells it, and the hash of the block does not prove it. */
async function blockAt(rail: Following['rail'], height: bigint): Promise<FollowedBlock | undefined> {
  const hash = await rail.hashAt(height)
  if (hash === undefined) return undefined
  const block = await rail.block(hash)
  if (block.block_height !== height)
    throw new Error(`block ${hash} at height ${height} is said to be at height ${block.block_height}`)
  return block
}

/** Undefined at the head. `undo`: the newest stored block is not in the chain any more, and no block is above its height. */
async function nextBlock(
  db: Db,
  { network, rail }: Following,
  tip: StoredBlock,
): Promise<FollowedBlock | 'undo' | undefined> {
  const above = await blockAt(rail, tip.height + 1n)
  if (above !== undefined) return above
  const head = await rail.head()
  // A head above the tip is new: the next run finds it.
  const stored =
    head.block_height > tip.height ? undefined : await blockAtHeight(db, network, head.block_height)
  return stored === undefined || stored.hash === head.block_hash ? undefined : 'undo'
}

class TipMoved extends Error {}

const stay = <T>(otherwise: T) => {
  return (error: unknown): T => {
    if (error instanceof TipMoved) return otherwise
    throw error
  }
}

/** Refuses the step if another node has moved the stored tip: a node that lost its lock may still be following. */
async function assertTip(tx: Db, network: Network, tip: StoredBlock | undefined): Promise<void> {
  if ((await tipOf(tx, network))?.hash !== tip?.hash) throw new TipMoved()
}

const applyBlock = (
  db: Db,
  following: Following,
  tip: StoredBlock | undefined,
  block: FollowedBlock,
): Promise<string[]> =>
  takeStep(db, async (tx) => {
    const { network, wallet_id } = following
    await lockWallet(tx, wallet_id)
    await assertTip(tx, network, tip)
    return storeBlock(tx, following, block)
  }).catch(stay<string[]>([]))

async function storeBlock(tx: Db, following: Following, block: FollowedBlock): Promise<string[]> {
  const { network } = following
  await insertBlock(tx, network, block)
  const inputs = block.transactions.flatMap((transaction) => transaction.inputs.map(coinIdOf))
  const unspent = await unspentAmong(tx, network, inputs)
  const effects = effectsOf(block, await ownScripts(tx, following, block), (id) => unspent.has(id))
  return storeEffects(tx, following, block, effects)
}

/** The wallet's script, and those of the block's outputs that pay deposit addresses: one statement per block finds them. */
async function ownScripts(tx: Db, { network, script }: Following, block: FollowedBlock): Promise<OwnScripts> {
  const scripts = new Map<string, string>()
  for (const { outputs } of block.transactions)
    for (const output of outputs) {
      const address = scripts.has(output.script) ? undefined : addressOfScript(output.script)
      if (address !== undefined) scripts.set(output.script, address)
    }
  const indexes = await addressIndexes(tx, network, [...scripts.values()])
  const own = new Map<string, number | null>([[script, null]])
  for (const [found, address] of scripts) {
    const index = indexes.get(address)
    // The wallet's change would be credited to the customer of that address.
    if (index !== undefined && found === script)
      throw new Error(`${network}: the wallet ${address} is a deposit address too, at index ${index}`)
    if (index !== undefined) own.set(found, index)
  }
  return own
}

/**
 * The oldest stored block has left the chain, and no coin is older, as in a reorganisation right after the first run. Replaces that block
 * by the one that the chain now has at its height.
 */
async function replaceFirst(db: Db, following: Following, first: StoredBlock): Promise<string[]> {
  const { network, wallet_id, rail } = following
  const block = await blockAt(rail, first.height)
  if (!block) throw new Error(`${network}: the endpoints have no block at height ${first.height} any more`)
  return takeStep(db, async (tx) => {
    await lockWallet(tx, wallet_id)
    await assertTip(tx, network, first)
    await removeBlock(tx, network, first.height)
    return storeBlock(tx, following, block)
  }).catch(stay<string[]>([]))
}

/** False for the oldest stored block: the one below is not known. */
const undoBlock = (db: Db, { network, wallet_id }: Following, tip: StoredBlock): Promise<boolean> =>
  takeStep(db, async (tx) => {
    await lockWallet(tx, wallet_id)
    await assertTip(tx, network, tip)
    await removeBlock(tx, network, tip.height)
    if ((await tipOf(tx, network)) === undefined) throw new OldestBlock()
    return true
  })
    .catch(stay(true))
    .catch((error: unknown) => {
      if (error instanceof OldestBlock) return false
      throw error
    })

class OldestBlock extends Error {}
