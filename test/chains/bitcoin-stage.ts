import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { type BitcoinRpcOptions, openBitcoinRpc } from '../../src/rails/chain/bitcoin/nodes.ts'
import type { BitcoinRail, Coin, Spending } from '../../src/rails/chain/bitcoin/rail.ts'
import { type BitcoinRailOptions, openBitcoinRail } from '../../src/rails/chain/bitcoin.ts'
import type { Attempt, ChainOrder, Purpose } from '../../src/rails/chain/rail.ts'
import { localBitcoinSigner } from '../../src/rails/signer/bitcoin.ts'
import { sealOf } from '../../src/rails/signer/seal.ts'
import type { BitcoinNode } from './bitcoin-node.ts'
import { openTestWallet } from './bitcoin-wallet.ts'

/** The rail over given endpoints of one chain, with a wallet of its own. */
export type BitcoinScene = {
  readonly rail: BitcoinRail
  readonly address: string
  readonly script: string
  /** The key of the wallet, for a second program that uses it. */
  readonly key: Buffer
  order(changes?: Partial<ChainOrder>): ChainOrder
  /** Signs, and fails if nothing was signed. */
  sign(order: ChainOrder, spending: Spending, made?: readonly Attempt[], purpose?: Purpose): Promise<Attempt>
}

export type BitcoinSceneOptions = Partial<Omit<BitcoinRailOptions, 'rpc'>> & {
  readonly urls?: readonly string[]
  readonly rpc_options?: Partial<BitcoinRpcOptions>
  /** Of a wallet that another scene has too. */
  readonly key?: Buffer
}

export const BITCOIN_DESTINATION = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
const seal_key = createHash('sha256').update('seals of tests').digest()

export const spendingOf = (coins: readonly Coin[], changes: Partial<Spending> = {}): Spending => ({
  coins,
  unmined: { vsize: 0, fee: 0n },
  is_spent_further: false,
  ...changes,
})

export function openBitcoinScene(node: BitcoinNode, changes: BitcoinSceneOptions = {}): BitcoinScene {
  const { urls = [node.url], rpc_options, key = randomBytes(32), ...rest } = changes
  const { address, script } = openTestWallet(key)
  const caps = { fee_most: 100_000n, rate_most: 500_000n }
  const per_hour = { count: 1000, amount: 10n ** 12n, cost: 10n ** 9n }
  const signer = localBitcoinSigner({
    key: key.toString('hex'),
    sealKey: async () => seal_key,
    caps,
    per_hour,
  })
  // Inspects at each use, so that a test does not wait for the next inspection.
  const rpc = openBitcoinRpc({ urls, genesis: node.genesis, inspect_after_ms: 0, ...rpc_options })
  const rail = openBitcoinRail({ rpc, signer, caps, rate_fallback: 2000n, rate_fresh_ms: 0, ...rest })
  return {
    ...{ rail, address, script, key },
    order(fields = {}) {
      const order = {
        ...({ id: `tr_${randomBytes(4).toString('hex')}`, asset: 'BTC', network: 'bitcoin' } as const),
        ...{ amount: 1_500_000n, destination_address: BITCOIN_DESTINATION, created_at: new Date() },
        ...fields,
      }
      return { seal: sealOf(seal_key, { ...order, transfer_id: order.id }), ...order }
    },
    async sign(order, spending, made = [], purpose = 'pay') {
      const found = await rail.attempt(order, spending, made, purpose)
      expect(found).toMatchObject({ kind: 'signed' })
      if (found.kind !== 'signed') throw new Error('nothing was signed')
      return { ...found.transaction, attempt: made.length + 1, created_at: new Date() }
    },
  }
}
