import type { Db } from '../../../db/pool.ts'
import { InvalidAnswer } from '../../../rails/answers.ts'
import { readSigned } from '../../../rails/chain/bitcoin/bytes.ts'
import type { BitcoinRail, Spending } from '../../../rails/chain/bitcoin/rail.ts'
import { scriptOfOrder } from '../../../rails/chain/bitcoin/transaction.ts'
import { orNone, orUnavailable, unavailable } from '../../../rails/chain/check.ts'
import type { Attempt, ChainOrder, ChainRail, Made, Purpose, Screened } from '../../../rails/chain/rail.ts'
import { pauseRail } from '../../custody/controls.ts'
import { addWallet, recordForeign } from '../../custody/wallets.ts'
import { coinIdOf, outpointOf } from './block-effects.ts'
import { chooseCoins, openPoolWatch, walletStateOf } from './choosing.ts'
import { finalityOfBlock, holdingsOfCoins, lookAtCoins } from './evidence.ts'
import { type Followed, follow } from './follower.ts'
import { type CoinScene, type FollowedChainOptions, NETWORK, openCoinScene } from './scene.ts'
import { coinsOf, isSpentFurther, reservationsOf, type StoredCoin, unacceptedSpends } from './store.ts'
import { unminedBehind } from './unmined.ts'

/**
 * Bitcoin as a chain of transfers: what the nodes tell (`rails/chain/bitcoin`), and the coins that the service found in the blocks
 * (decision 0058). Nothing is reserved or signed while the newest stored block is not the head of the nodes' chain.
 */
export type FollowedChain = ChainRail<'production'> & {
  /** Reads new blocks. `db` is one connection that is in no transaction. One node at a time calls it. */
  follow(db: Db, shouldContinue?: () => boolean): Promise<Followed>
}

const RESERVED_MOST = 64
const REPLACE_AFTER_MS = 1_800_000
const RECHECK_MS = 10_000

export function followedChain(options: FollowedChainOptions): FollowedChain {
  const { rail, order_most } = options
  const scene = openCoinScene(options)
  const watch = openPoolWatch(scene, options.recheck_ms ?? RECHECK_MS)

  return {
    environment: 'production',
    network: NETWORK,
    is_configured: true,
    has_wallet: true,
    reserved_most: options.reserved_most ?? RESERVED_MOST,
    replace_after_ms: options.replace_after_ms ?? REPLACE_AFTER_MS,
    ...(order_most === undefined ? {} : { order_most }),
    endpoints: () => rail.endpoints(),

    async check() {
      await rail.check()
      await scene.placeOf()
    },

    feeInputs: () =>
      orUnavailable(async () => {
        await scene.checkOnce()
        if (!(await scene.tipInChain({ near: true }))) return unavailable()
        return { gas_price_wei: 0n, eth_price: 0n, sat_per_vbyte: await rail.satPerVbyte() }
      }),

    wallet: () =>
      orUnavailable(async () => {
        const tip = await scene.tipAtHead()
        return tip ? walletStateOf(scene, watch, tip) : unavailable()
      }),

    holdings: () => orUnavailable(() => holdingsOfCoins(scene)),

    async screen(order) {
      if (order_most !== undefined && order.amount > order_most) return scene.later(order, 'signer_limit')
      return (await orNone(() => screenOrder(scene, order))) ?? scene.later(order, 'endpoints_unavailable')
    },

    chooseCoins: async (order) =>
      (await orNone(() => chooseCoins(scene, watch, order))) ?? scene.later(order, 'endpoints_unavailable'),

    attempt: async (order, _, made, purpose, signal) =>
      (await orNone(() =>
        sign(scene, { order, made, purpose }, (spending) =>
          rail.attempt(order, spending, made, purpose, signal),
        ),
      )) ?? scene.later(order, 'endpoints_unavailable'),

    broadcast: async (_, attempt, signal) =>
      attempt.purpose === 'pay' && (await hasForeign(scene))
        ? { kind: 'unknown' }
        : rail.broadcast(attempt, signal),
    look: (order, _, made) => lookAtCoins(scene, order, made),
    finality: (block) => finalityOfBlock(scene, block),
    follow: (db, shouldContinue) => followAndStop(scene, db, options, shouldContinue),
  }
}

/** Nodes do not relay outputs whose spending costs more than a third of them, at 3 satoshis per virtual byte. */
const INPUT_VBYTES = { witness: 67n, legacy: 148n }
const dustOf = (script: string): bigint => {
  const input = /^(?:00|51)/.test(script) ? INPUT_VBYTES.witness : INPUT_VBYTES.legacy
  return (8n + 1n + BigInt(script.length / 2) + input) * 3n
}

async function screenOrder(scene: CoinScene, order: ChainOrder): Promise<Screened> {
  const script = scriptOfOrder(order)
  if (order.amount < dustOf(script)) return { kind: 'refused', rail_code: 'dust' }
  if (!(await scene.tipAtHead())) return scene.later(order, 'endpoints_unavailable')
  // The money would not leave the wallet, and the books would say that it did.
  if (script === (await scene.placeOf()).script) return { kind: 'refused', rail_code: 'own_address' }
  // Coins that are reserved and cannot be signed for within this hour would be missing for other transfers.
  const room = await scene.rail.keepRoom(order)
  return room === 'room' ? { kind: 'payable' } : scene.later(order, room)
}

/** A cancel may also be signed for coins that are spent or gone: it pays nobody, and operators need it to resolve the transfer. */
async function sign(
  scene: CoinScene,
  { order, made, purpose }: { order: ChainOrder; made: readonly Attempt[]; purpose: Purpose },
  ask: (spending: Spending) => ReturnType<BitcoinRail['attempt']>,
): Promise<Made> {
  await scene.checkOnce()
  if (!(await scene.tipAtHead())) return scene.later(order, 'endpoints_unavailable')
  const db = scene.db()
  const is_cancel = purpose === 'cancel'
  if (!is_cancel && (await hasForeign(scene))) return scene.later(order, 'endpoints_disagree')
  const coins = await coinsOf(db, order.id)
  // A block spends one of the coins, so nothing else that spends it is mined. If nothing was signed here, a stranger spent it.
  if (coins.some(({ spent_by }) => spent_by !== null) && !(is_cancel && made.length === 0))
    return scene.later(order, made.length > 0 ? 'not_worth_it' : 'endpoints_disagree')
  const unmined = coins.filter(({ block_height }) => block_height === null)
  const makers = unmined.flatMap(({ made_by }) => made_by ?? [])
  const known = unminedBehind(await scene.spendersOf(await scene.placeOf()), makers)
  // A reorganisation removed a transaction that made one of the coins: wait until it is in a block again.
  if (!is_cancel && (!known || makers.length < unmined.length))
    return scene.later(order, 'endpoints_disagree')
  const behind = known ?? []
  const answer = await ask({
    coins: coins.map(({ id, amount, script, address_index }) => ({
      ...{ ...outpointOf(id), amount, script },
      ...(address_index === null ? {} : { address_index }),
    })),
    unmined: {
      vsize: behind.reduce((sum, { vsize }) => sum + vsize, 0),
      fee: behind.reduce((sum, { fee }) => sum + fee, 0n),
    },
    is_spent_further: await isSpentFurther(db, order.id),
  })
  if (answer.kind === 'signed') assertSpends(answer.transaction.signed, coins)
  return answer
}

/** Whether a stored block has a foreign transaction. The guard learns of it a moment later, when the rail is paused. */
async function hasForeign(scene: CoinScene): Promise<boolean> {
  const { wallet_id } = await scene.placeOf()
  return (await unacceptedSpends(scene.db(), wallet_id)).all > 0n
}

function assertSpends(signed: string, coins: readonly StoredCoin[]): void {
  const inputs = readSigned(signed).inputs.map(coinIdOf).sort()
  const reserved = coins.map(({ id }) => id).sort()
  if (inputs.join() !== reserved.join())
    throw new InvalidAnswer({
      rail: NETWORK,
      call: 'sign',
      problem: 'the transaction spends other coins than the transfer has reserved',
    })
}

/** Pauses the rail if a foreign transaction spends coins, or if the chain left the oldest stored block. */
async function followAndStop(
  scene: CoinScene,
  db: Db,
  { start_height }: Pick<FollowedChainOptions, 'start_height'>,
  shouldContinue?: () => boolean,
): Promise<Followed> {
  const { rail, log, clock } = scene
  const { address: wallet, ...at } = await scene.placeOf()
  await addWallet(db, NETWORK, { wallet })
  const from = start_height === undefined ? {} : { start_height }
  const followed = await follow(db, { ...at, rail, ...from }, shouldContinue)
  const world = { db: scene.db(), clock }
  const stop = async (reason: string) => {
    const { changed } = await pauseRail(world, { rail: NETWORK, by: 'service', reason })
    if (changed)
      log.error({ network: NETWORK, wallet }, `custody: ${reason} Nothing is sent; the rail is paused.`)
  }
  // Counts all foreign transactions, not only the new ones: an earlier run may have crashed before it paused the rail.
  const { all: foreign } = await unacceptedSpends(db, at.wallet_id)
  if (foreign > 0n) {
    const { next_nonce } = await reservationsOf(db, at)
    const state = { wallet, mined: next_nonce + foreign, pool: next_nonce + foreign }
    await stop(await recordForeign(world, { network: NETWORK, state, next_nonce }))
  }
  if (followed.kind === 'lost') {
    const { height, hash } = followed.oldest
    await stop(
      `The chain of bitcoin does not have block ${height} (${hash}) any more, the oldest stored one.`,
    )
  }
  return followed
}
