import { readSigned } from '../../../rails/chain/bitcoin/bytes.ts'
import { scriptOfOrder } from '../../../rails/chain/bitcoin/transaction.ts'
import { unavailable } from '../../../rails/chain/check.ts'
import type { Attempt, Block, ChainOrder, Finality, Holdings, Seen } from '../../../rails/chain/rail.ts'
import { type CoinScene, NETWORK } from './scene.ts'
import { areCoinsGone, blockAtHeight, coinsOf, type StoredCoin, sumCoinsAt } from './store.ts'

/** A block with five blocks on top counts as final. */
const FINAL_DEPTH = 6n

/** What the followed blocks show of a transfer: which of its transactions spends its coins, and at which depth. */
export async function lookAtCoins(
  scene: CoinScene,
  order: ChainOrder,
  made: readonly Attempt[],
): Promise<Seen> {
  const { rail } = scene
  const coins = await coinsOf(scene.db(), order.id)
  const spent = coins.find(({ spent_by }) => spent_by !== null)
  if (spent) return (await minedBy(scene, { order, made, coins, spent })) ?? { kind: 'waiting' }
  if (coins.some(({ block_height }) => block_height === null) && (await isGone(scene, order)))
    return { kind: 'taken' }
  for (const { tx_hash } of [...made].reverse()) if (await rail.knows(tx_hash)) return { kind: 'waiting' }
  return { kind: 'absent' }
}

/** Whether a coin is lost: a reorganisation removed the transaction that made it, and a final block has another one in its place. */
async function isGone(scene: CoinScene, { id }: ChainOrder): Promise<boolean> {
  const tip = await scene.tipInChain()
  return tip !== undefined && areCoinsGone(scene.db(), id, tip.height + 1n - FINAL_DEPTH)
}

/** Undefined while the block is not deep enough, or the nodes' chain does not have the newest stored block. */
async function minedBy(
  scene: CoinScene,
  {
    order,
    made,
    coins,
    spent,
  }: {
    readonly order: ChainOrder
    readonly made: readonly Attempt[]
    readonly coins: readonly StoredCoin[]
    readonly spent: StoredCoin
  },
): Promise<Seen | undefined> {
  const tip = await scene.tipInChain()
  const height = spent.spent_height
  if (!tip || height === null || tip.height - height + 1n < scene.confirmations) return undefined
  const mined = made.find(({ tx_hash }) => tx_hash === spent.spent_by)
  if (!mined || coins.some(({ spent_by }) => spent_by !== mined.tx_hash)) return { kind: 'taken' }
  const block_hash =
    (await blockAtHeight(scene.db(), NETWORK, height))?.hash ?? (await scene.rail.hashAt(height))
  if (block_hash === undefined) return undefined
  return {
    kind: 'mined',
    tx_hash: mined.tx_hash,
    effect: effectOf(order, mined),
    block_height: height,
    block_hash,
    charged: sumOf(coins) - sumOf(readSigned(mined.signed).outputs),
  }
}

const sumOf = (parts: readonly { readonly amount: bigint }[]): bigint =>
  parts.reduce((sum, { amount }) => sum + amount, 0n)

/** Read from the stored bytes. They must have the hash of the mined transaction, which covers its outputs. */
function effectOf(order: ChainOrder, { purpose, signed, tx_hash }: Attempt): 'paid' | 'none' | 'other' {
  const { txid, outputs } = readSigned(signed)
  if (txid !== tx_hash) return 'other'
  if (purpose === 'cancel') return 'none'
  const script = scriptOfOrder(order)
  const paid = outputs.filter((output) => output.script === script && output.amount === order.amount)
  return paid.length === 1 ? 'paid' : 'other'
}

export async function finalityOfBlock(
  scene: CoinScene,
  { block_height, block_hash }: Block,
): Promise<Finality> {
  const tip = await scene.tipInChain()
  if (!tip || tip.height < block_height) return 'open'
  const stored = await blockAtHeight(scene.db(), NETWORK, block_height)
  const hash = stored?.hash ?? (await scene.rail.hashAt(block_height))
  if (hash !== block_hash) return 'gone'
  return tip.height - block_height + 1n >= FINAL_DEPTH ? 'final' : 'open'
}

/** At the newest block that `lookAtCoins` calls deep enough. Throws `rail_unavailable` while the follower is behind. */
export async function holdingsOfCoins(scene: CoinScene): Promise<Holdings> {
  const at = await scene.placeOf()
  const tip = await scene.tipInChain({ near: true })
  const block = tip && (await blockAtHeight(scene.db(), NETWORK, tip.height + 1n - scene.confirmations))
  if (!block) return unavailable()
  const { height: block_height, hash: block_hash } = block
  const { in_wallet, at_addresses } = await sumCoinsAt(scene.db(), at, block_height)
  // If the block was undone meanwhile, the sum may be of another branch.
  const after = await blockAtHeight(scene.db(), NETWORK, block_height)
  if (after?.hash !== block_hash) return unavailable()
  const held = scene.canSpendAt
    ? { asset: in_wallet + at_addresses, at_addresses: 0n }
    : { asset: in_wallet, at_addresses }
  return { wallet: at.address, ...held, native: held.asset, block_height, block_hash }
}
