import { HDKey } from '@scure/bip32'
import { systemClock } from '../../src/core/clock.ts'
import { money } from '../../src/core/money.ts'
import { moveCustody } from '../../src/money/custody/moves.ts'
import { type FollowedChain, followedChain } from '../../src/money/onchain/coins/chain.ts'
import { followWithDeposits } from '../../src/money/onchain/coins/deposits.ts'
import type { FollowedChainOptions } from '../../src/money/onchain/coins/scene.ts'
import { transferSteps } from '../../src/money/onchain/steps.ts'
import { transferById } from '../../src/money/onchain/store.ts'
import { readBlock, readSigned } from '../../src/rails/chain/bitcoin/bytes.ts'
import { openBitcoinRpc } from '../../src/rails/chain/bitcoin/nodes.ts'
import type { BitcoinRail, Coin, Outpoint } from '../../src/rails/chain/bitcoin/rail.ts'
import { scriptOf, scriptOfOrder } from '../../src/rails/chain/bitcoin/transaction.ts'
import { openBitcoinRail } from '../../src/rails/chain/bitcoin.ts'
import { sandboxAddresses } from '../../src/rails/chain/deposit-addresses.ts'
import type { ChainRail } from '../../src/rails/chain/rail.ts'
import { localBitcoinSigner } from '../../src/rails/signer/bitcoin.ts'
import { openDepositKeys } from '../../src/rails/signer/deposit-keys.ts'
import { sealOf } from '../../src/rails/signer/seal.ts'
import type { World } from '../../src/world.ts'
import { openBareWorld } from '../support/bare-world.ts'
import { type Bench, openBench, silent } from '../support/rail-bench.ts'
import { type BitcoinNode, startBitcoinNode } from './bitcoin-node.ts'
import { mineCoins, openTestWallet, type TestWallet } from './bitcoin-wallet.ts'

const RATE = 3n
const DUST = 294n

/** The calls of a rail on one node, with a key in the test's hands: what is signed follows the simplest rules that nodes accept. */
export function nodeRail(node: BitcoinNode, wallet: TestWallet): BitcoinRail {
  const output = ({ txid, vout }: Outpoint, with_mempool: boolean) =>
    node.call<object | null>('gettxout', txid, vout, with_mempool)
  const knows = (txid: string) =>
    node.call('getmempoolentry', txid).then(
      () => true,
      () => false,
    )
  const hashAt = (height: bigint) => node.call<string>('getblockhash', Number(height)).catch(() => undefined)
  return {
    wallet: async () => wallet,
    check: async () => {},
    endpoints: () => [],
    satPerVbyte: async () => RATE,
    async head() {
      const { height, hash } = await node.head()
      return { block_height: BigInt(height), block_hash: hash }
    },
    hashAt,
    async block(hash) {
      const { height } = await node.call<{ height: number }>('getblockheader', hash)
      const { parent_hash, transactions } = readBlock(
        Buffer.from(await node.call<string>('getblock', hash, 0), 'hex'),
      )
      return { block_height: BigInt(height), block_hash: hash, parent_hash, transactions }
    },
    knows,
    async outputStates({ block_height, block_hash }, outputs) {
      const has_tip = (await hashAt(block_height)) === block_hash
      return Promise.all(
        outputs.map(async ({ is_mined, ...outpoint }) => {
          if (await output(outpoint, true)) return is_mined && !has_tip ? 'unclear' : 'unspent'
          if (is_mined) return has_tip ? 'spent' : 'unclear'
          return (await knows(outpoint.txid)) || (await output(outpoint, false)) ? 'spent' : 'absent'
        }),
      )
    },
    keepRoom: async () => 'room',
    async attempt(order, { coins, unmined }, made, purpose) {
      const paid = purpose === 'pay' ? [{ script: scriptOfOrder(order), amount: order.amount }] : []
      const sum = coins.reduce((total, { amount }) => total + amount, 0n)
      const vsize = 11n + 68n * BigInt(coins.length) + 31n + 43n
      const behind = RATE * BigInt(unmined.vsize) - unmined.fee
      const fee = vsize * RATE * BigInt(made.length + 1) + (behind > 0n ? behind : 0n)
      const change = sum - paid.reduce((total, { amount }) => total + amount, 0n) - fee
      const outputs = change >= DUST ? [...paid, { script: wallet.script, amount: change }] : paid
      const signed = wallet.spend(coins, outputs)
      return {
        kind: 'signed',
        transaction: { purpose, tx_hash: readSigned(signed).txid, signed, terms: { fee: fee.toString() } },
      }
    },
    async broadcast({ signed, tx_hash }) {
      await node.send(signed).catch(() => {})
      const is_known = await node.call('getmempoolentry', tx_hash).catch(() => undefined)
      return { kind: is_known ? 'accepted' : 'unknown' }
    },
    stop: async () => {},
  }
}

/** A world whose Bitcoin transfers are paid from coins on a node. */
export type CoinsStage = Awaited<ReturnType<typeof openCoinsStage>>

type StageOptions = Partial<
  Pick<FollowedChainOptions, 'replace_after_ms' | 'reserved_most' | 'recheck_ms'>
> & {
  /** The signer also has the keys of deposit addresses. Only with `of_production`. */
  readonly has_deposit_keys?: true
  readonly wallet_key?: Uint8Array
  /** The rail of production, with its signer, in place of `nodeRail`. */
  readonly of_production?: true
  /** How many transactions that signer signs in an hour. */
  readonly count_per_hour?: number
}

/** The private key of the sandbox's deposit addresses, which everybody knows: BIP 84, account 0 of "abandon … about". */
const SANDBOX_SEED =
  '5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc19a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4'
export function sandboxDepositKeys() {
  const account = HDKey.fromMasterSeed(Buffer.from(SANDBOX_SEED, 'hex')).derive("m/84'/0'/0'")
  return openDepositKeys(account.privateExtendedKey!, account.publicExtendedKey)
}

const canSpendAt = (index: number, script: string) =>
  scriptOf(sandboxAddresses().addressOf('bitcoin', index)) === script

const SEAL_KEY = Buffer.alloc(32, 7)

/** The rail and the signer of production over one node. */
function productionRail(
  node: BitcoinNode,
  { key }: TestWallet,
  {
    has_deposit_keys,
    rates,
    count,
  }: { has_deposit_keys: boolean; rates: { fallback: bigint }; count: number },
): BitcoinRail {
  const caps = { fee_most: 100_000n, rate_most: 500_000n }
  const per_hour = { count, amount: 10n ** 12n, cost: 10n ** 9n }
  const signer = localBitcoinSigner({
    ...{ key, sealKey: async () => SEAL_KEY, caps, per_hour },
    ...(has_deposit_keys ? { deposit_keys: sandboxDepositKeys() } : {}),
  })
  const rpc = openBitcoinRpc({ urls: [node.url], genesis: node.genesis, inspect_after_ms: 0 })
  return openBitcoinRail({
    ...{ rpc, signer, caps, rate_fresh_ms: 0 },
    get rate_fallback() {
      return rates.fallback
    },
  })
}

export async function openCoinsStage({
  of_production,
  has_deposit_keys,
  wallet_key,
  count_per_hour = 1000,
  ...options
}: StageOptions = {}) {
  const node = await startBitcoinNode()
  const wallet = openTestWallet(wallet_key)
  /** Satoshis per 1,000 virtual bytes, as the node estimates nothing. */
  const rates = { fallback: 2000n }
  // A block of now: the node has left its initial download.
  await node.mine(1)
  const rail = of_production
    ? productionRail(node, wallet, {
        has_deposit_keys: has_deposit_keys === true,
        rates,
        count: count_per_hour,
      })
    : nodeRail(node, wallet)

  /** A node of the service over a database, which opens after its rails. */
  const openChain = (db: () => World['db']): FollowedChain =>
    followedChain({
      ...{ rail, db, clock: systemClock(), log: silent },
      start_height: 0n,
      ...{ replace_after_ms: 3_600_000, recheck_ms: 0 },
      ...(has_deposit_keys ? { canSpendAt } : {}),
      ...options,
    })
  let bench: Bench
  const chain = openChain(() => bench.world.db)
  bench = await openBench({
    chain: chain as Partial<ChainRail> as Partial<ChainRail<'sandbox'>>,
    transferSeals: async () => (ordered) => sealOf(SEAL_KEY, ordered),
  })
  const { carry } = transferSteps(bench.world, silent)

  return {
    ...{ node, wallet, rail, rates, bench, chain, world: bench.world },
    follow: () => followWith(bench.world, chain),
    async mine(blocks = 1) {
      await node.mine(blocks)
      return followWith(bench.world, chain)
    },
    /** Mines empty blocks, whatever is in the mempool. */
    async mineWithout(blocks = 1) {
      for (let made = 0; made < blocks; made++) await node.mineOnly([])
      return followWith(bench.world, chain)
    },
    /** Mines coins to the wallet, each a reward of one block, and books them. */
    async fund(count = 1): Promise<readonly Coin[]> {
      const coins = await mineCoins(node, wallet.script, count)
      await followWith(bench.world, chain)
      const units = coins.reduce((sum, { amount }) => sum + amount, 0n)
      const parts = { rail: 'bitcoin', direction: 'to_rail', reason: 'mined' } as const
      await bench.world.commit(
        moveCustody(bench.world, { ...parts, reference: coins[0]!.txid, money: money('BTC', units) }),
      )
      return coins
    },
    transfer: (customer_id: string, amount = 100_000n, destination_address = openTestWallet().address) =>
      bench.transfer(customer_id, { network: 'bitcoin', amount, destination_address }),
    carry: async (id: string) => carry((await transferById(bench.world.db, id))!),
    now: async (id: string) => (await transferById(bench.world.db, id))!,
    /** One more node of the service, over another database. */
    openOn(url: string) {
      const opened: { world: World; stop(): Promise<void> } = openBareWorld({
        url,
        log: silent,
        parts: {
          chain: openChain(() => opened.world.db) as Partial<ChainRail> as Partial<ChainRail<'sandbox'>>,
          transferSeals: async () => (ordered) => sealOf(SEAL_KEY, ordered),
        },
      })
      const own = openChain(() => opened.world.db)
      return { ...opened, follow: () => followWith(opened.world, own) }
    },
    async stop() {
      await bench.stop()
      await rail.stop()
      await node.stop()
    },
  }
}

async function followWith(world: World, chain: FollowedChain) {
  const db = await world.db.connect()
  try {
    return await followWithDeposits(world, chain, silent)(db)
  } finally {
    db.release()
  }
}
