import { crashPoint } from '../../../core/crash-point.ts'
import type { Network } from '../../../core/networks.ts'
import { takeStep } from '../../../db/chore.ts'
import type { Db } from '../../../db/pool.ts'
import type { BitcoinRail, FollowedBlock } from '../../../rails/chain/bitcoin/rail.ts'
import { effectsOf } from './block-effects.ts'
import {
  blockAtHeight,
  insertBlock,
  lockWallet,
  removeBlock,
  type StoredBlock,
  storeEffects,
  tipOf,
  unspentIds,
} from './store.ts'

/**
 * Follows a chain block by block and keeps the coins of a wallet (decision 0058). Each block is one transaction. If the next
 * block is not the child of the newest stored one, the newest one is undone, until the branches meet. One node follows at a
 * time; a second one changes nothing, because each transaction checks the stored tip again.
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
  | { readonly kind: 'at_head' | 'behind'; readonly foreign: readonly string[] }
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
    if (next === undefined) return { kind: 'at_head', foreign }
    const is_child = next !== 'undo' && (tip === undefined || next.parent_hash === tip.hash)
    if (is_child) foreign.push(...(await applyBlock(db, following, tip, next)))
    else if (!(await undoBlock(db, following, tip!))) return { kind: 'lost', foreign, oldest: tip! }
    crashPoint('after_follow')
  }
  return { kind: 'behind', foreign }
}

/** A reorganisation of so many blocks right after the first run is followed too. */
const START_BELOW = 10n

async function firstBlock(
  rail: Following['rail'],
  start_height: bigint | undefined,
): Promise<FollowedBlock | undefined> {
  const { block_height: head } = await rail.head()
  const hash = await rail.hashAt(start_height ?? (head > START_BELOW ? head - START_BELOW : 0n))
  return hash === undefined ? undefined : rail.block(hash)
}

/** Undefined at the head. `undo`: the newest stored block is not in the chain any more, and no block is above its height. */
async function nextBlock(
  db: Db,
  { network, rail }: Following,
  tip: StoredBlock,
): Promise<FollowedBlock | 'undo' | undefined> {
  const above = await rail.hashAt(tip.height + 1n)
  if (above !== undefined) return rail.block(above)
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

/** Another node may follow as well, while its lock is lost: the first one counts. */
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
    const { network, wallet_id, script } = following
    await lockWallet(tx, wallet_id)
    await assertTip(tx, network, tip)
    // The hash of a block proves everything but its height.
    if (tip && block.block_height !== tip.height + 1n)
      throw new Error(`${network}: block ${block.block_hash} is said to be at height ${block.block_height}`)
    await insertBlock(tx, network, block)
    const unspent = await unspentIds(tx, network)
    const effects = effectsOf(block, script, (id) => unspent.has(id))
    return storeEffects(tx, following, block, effects)
  }).catch(stay<string[]>([]))

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
