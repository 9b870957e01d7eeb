import type { Holdings } from '../rail.ts'
import type { Rpc } from '../rpc.ts'
import type { RpcNode } from '../rpc-health.ts'
import { newestTronBlock, runConstant, sunOf } from './calls.ts'
import { numberOf, type TronScene, tokenCall } from './payment.ts'
import { addressWord } from './token.ts'

/** A node tells balances as of its newest solidified block only, which is another one every three seconds. */
const TRIES = 5
const BETWEEN_MS = 400
const ASKED_AT_ONCE = 20

/**
 * What the wallet and the addresses hold at one solidified block, the same from every endpoint that answers. `endpoints_disagree`: they
 * tell different figures of one block. Undefined if no block lasted for as long as it takes to ask.
 */
export async function readTronHoldings(
  rpc: Rpc,
  scene: TronScene,
  addresses: readonly string[],
): Promise<Holdings | 'endpoints_disagree' | undefined> {
  for (let i = 0; i < TRIES; i++) {
    const views = (await rpc.all((node) => holdingsFrom(node, scene, addresses))).map(({ answer }) => answer)
    const told = views.flatMap((view) => view ?? [])
    const heights = new Set(told.map(({ block_height }) => block_height))
    if (told.length === views.length && told.length >= rpc.quorum && heights.size === 1) {
      const keys = told.map(({ asset, at_addresses, native, block_hash }) =>
        [asset, at_addresses, native, block_hash].join(' '),
      )
      return new Set(keys).size === 1 ? told[0] : 'endpoints_disagree'
    }
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS))
  }
  return undefined
}

/** Undefined if another block was solidified while the figures were read. */
async function holdingsFrom(
  node: RpcNode,
  scene: TronScene,
  addresses: readonly string[],
): Promise<Holdings | undefined> {
  const { wallet } = scene
  const balanceOf = async (address: string) =>
    numberOf(
      await node.ask(
        runConstant('walletsolidity', tokenCall(scene, 'balanceOf(address)', addressWord(address))),
      ),
    )
  const before = await node.ask(newestTronBlock('walletsolidity'))
  const [asset, native] = await Promise.all([balanceOf(wallet), node.ask(sunOf('walletsolidity', wallet))])
  let at_addresses = 0n
  for (let i = 0; i < addresses.length; i += ASKED_AT_ONCE) {
    const held = await Promise.all(addresses.slice(i, i + ASKED_AT_ONCE).map(balanceOf))
    for (const amount of held) {
      if (amount === undefined) return undefined
      at_addresses += amount
    }
  }
  const after = await node.ask(newestTronBlock('walletsolidity'))
  if (asset === undefined || after.hash !== before.hash) return undefined
  return { wallet, asset, at_addresses, native, block_height: before.height, block_hash: before.hash }
}
