import type { Holdings } from '../rail.ts'
import type { Rpc } from '../rpc.ts'
import type { RpcNode } from '../rpc-health.ts'
import { accountHexOf, addressOfAccount } from './address.ts'
import { newestTronBlock, receiptsInBlock, runConstant, sunOf, type TronBlock, tronBlockAt } from './calls.ts'
import { numberOf, type TronScene, tokenCall } from './payment.ts'
import { addressWord } from './token.ts'

/** A node tells balances as of its newest solidified block only, which is another one every three seconds. */
const TRIES = 8
const BETWEEN_MS = 400
const ASKED_AT_ONCE = 20
/** A reading that falls further behind than this begins anew. */
const BLOCKS_MOST = 200n

/** The balances that one endpoint has told so far. They are those at `block`, except for `stale` addresses, which must be read again. */
type Reading = {
  block: TronBlock
  readonly held: Map<string, bigint>
  stale: readonly string[]
}

/**
 * What the wallet and the addresses hold at one solidified block, the same from every endpoint that answers. Many addresses take longer
 * than a block: the blocks that were solidified meanwhile are read, and only the addresses that the token names in them are asked again.
 * `endpoints_disagree`: they tell different figures of one block. Undefined if the endpoints did not come to one block in time.
 */
export async function readTronHoldings(
  rpc: Rpc,
  scene: TronScene,
  addresses: readonly string[],
): Promise<Holdings | 'endpoints_disagree' | undefined> {
  const readings = new Map<number, Reading>()
  for (let i = 0; i < TRIES; i++) {
    const views = (await rpc.all((node) => holdingsFrom(node, scene, addresses, readings))).map(
      ({ answer }) => answer,
    )
    const told = views.flatMap((view) => view ?? [])
    const heights = new Set(told.map(({ block_height }) => block_height))
    if (told.length === views.length && told.length >= rpc.quorum && heights.size === 1)
      return new Set(told.map(keyOf)).size === 1 ? told[0] : 'endpoints_disagree'
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS))
  }
  return undefined
}

const keyOf = ({ asset, at_addresses, native, block_hash }: Holdings): string =>
  [asset, at_addresses, native, block_hash].join(' ')

/** Undefined if another block was solidified while the figures were read. */
async function holdingsFrom(
  node: RpcNode,
  scene: TronScene,
  addresses: readonly string[],
  readings: Map<number, Reading>,
): Promise<Holdings | undefined> {
  const { wallet } = scene
  const reading = await readingAt(node, scene, { addresses, before: readings.get(node.endpoint) })
  readings.set(node.endpoint, reading)
  const { block, held } = reading
  const [asset, native] = await Promise.all([
    balanceOf(node, scene, wallet),
    node.ask(sunOf('walletsolidity', wallet)),
  ])
  if (!(await readStale(node, scene, reading))) return undefined
  const after = await node.ask(newestTronBlock('walletsolidity'))
  if (asset === undefined || after.hash !== block.hash) return undefined
  const held_at = addresses.map((address) => ({ address, amount: held.get(address)! }))
  const at_addresses = held_at.reduce((sum, { amount }) => sum + amount, 0n)
  return { wallet, asset, at_addresses, held_at, native, block_height: block.height, block_hash: block.hash }
}

/** Moves a reading to the newest solidified block: addresses that the token has named since become stale. Or begins a new reading. */
async function readingAt(
  node: RpcNode,
  scene: TronScene,
  { addresses, before }: { readonly addresses: readonly string[]; readonly before: Reading | undefined },
): Promise<Reading> {
  const block = await node.ask(newestTronBlock('walletsolidity'))
  const begun = { block, held: new Map<string, bigint>(), stale: addresses }
  if (!before || block.height < before.block.height || block.height - before.block.height > BLOCKS_MOST)
    return begun
  const touched = new Set(before.stale)
  for (let height = before.block.height + 1n; height <= block.height; height++) {
    const named = await namedIn(node, scene, height)
    if (!named) return begun
    for (const address of before.held.keys()) if (named.has(address)) touched.add(address)
  }
  return { block, held: before.held, stale: [...touched] }
}

async function readStale(node: RpcNode, scene: TronScene, reading: Reading): Promise<boolean> {
  const { held } = reading
  while (reading.stale.length > 0) {
    const some = reading.stale.slice(0, ASKED_AT_ONCE)
    const amounts = await Promise.all(some.map((address) => balanceOf(node, scene, address)))
    if (amounts.includes(undefined)) return false
    for (const [n, address] of some.entries()) held.set(address, amounts[n]!)
    reading.stale = reading.stale.slice(ASKED_AT_ONCE)
  }
  return true
}

const balanceOf = async (node: RpcNode, scene: TronScene, address: string): Promise<bigint | undefined> =>
  numberOf(
    await node.ask(
      runConstant('walletsolidity', tokenCall(scene, 'balanceOf(address)', addressWord(address))),
    ),
  )

/** All addresses that logs of the token name, in whatever event: no balance of another address has changed. Undefined without the block. */
async function namedIn(
  node: RpcNode,
  { contract }: TronScene,
  height: bigint,
): Promise<ReadonlySet<string> | undefined> {
  const [block, receipts] = await Promise.all([
    node.ask(tronBlockAt('walletsolidity', height)),
    node.ask(receiptsInBlock('walletsolidity', height)),
  ])
  if (!block || (block.has_transactions && receipts.length === 0)) return undefined
  const account = accountHexOf(contract)
  const words = receipts.flatMap(({ logs }) =>
    logs.flatMap(({ address, topics, data }) =>
      address === account ? [...topics, ...(data.match(/.{64}/g) ?? [])] : [],
    ),
  )
  return new Set(
    words.flatMap((word) => {
      const named = /^0{24}([0-9a-f]{40})$/.exec(word)?.[1]
      return named === undefined ? [] : [addressOfAccount(named)]
    }),
  )
}
