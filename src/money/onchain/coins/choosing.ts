import { incarnationOf } from '../../../db/incarnation.ts'
import type { OutputState } from '../../../rails/chain/bitcoin/rail.ts'
import { scriptOfOrder } from '../../../rails/chain/bitcoin/transaction.ts'
import type { ChainOrder, Chosen, WalletState } from '../../../rails/chain/rail.ts'
import { outpointOf } from './block-effects.ts'
import { type CoinPlace, type CoinScene, NETWORK } from './scene.ts'
import { type Selectable, selectCoins } from './selection.ts'
import {
  COINBASE_DEPTH,
  freeCoins,
  reservationsOf,
  reservedOf,
  type StoredBlock,
  tipOf,
  unacceptedSpends,
  unsignedCoins,
} from './store.ts'
import { unminedChange } from './unmined.ts'

/** Only this many of the largest free coins are considered, and all of them are looked up in the mempools. */
const SELECTABLE_MOST = 1000
const SELECTIONS_MOST = 5
const POOL_FRESH_MS = 30_000
/** A log line names this many outputs at most. */
const NAMED_MOST = 10
/** While transfers wait, each of them asks: an answer that is not clean is kept for so long. */
const WAIT_MS = 2000

/** `taken`: foreign transactions spend these outputs. `unclear`: the nodes cannot tell at the moment. */
type PoolState = 'clean' | 'unclear' | { readonly taken: readonly string[] }

/**
 * Watches what the wallet could spend in the mempools of the nodes. A transaction there that spends one of these outputs is foreign: the
 * database is behind the chain, as after the restore of a backup, or another program has the wallet's key.
 */
export type PoolWatch = {
  state(at: CoinPlace, tip: StoredBlock): Promise<PoolState>
  /** A node doubts a coin: the next question asks the nodes again. */
  doubt(): void
}

/**
 * `recheck_ms`: what looks spent stops the rail if it looks so again after that time. Behind the URL of a provider there may be several
 * nodes, and each part of a question may reach another one.
 */
export function openPoolWatch(scene: CoinScene, recheck_ms: number): PoolWatch {
  let clean_until = Number.NEGATIVE_INFINITY
  /** The database's incarnation at the last clean answer. A promoted standby may lack reservations, so the nodes are asked again. */
  let clean_in: string | undefined
  /** Outputs that looked spent when the nodes were asked last, and since when. */
  let suspected: ReadonlyMap<string, number> = new Map()
  /** Counts the doubts: an answer to a question from before the newest doubt keeps nothing clean. */
  let doubts = 0
  let asking: { about: string; until: number; readonly state: Promise<PoolState> } | undefined
  const doubt = () => {
    clean_until = Number.NEGATIVE_INFINITY
    doubts++
  }

  async function ask(at: CoinPlace, tip: StoredBlock, incarnation: string | undefined): Promise<PoolState> {
    const [asked_at, asked_doubts] = [performance.now(), doubts]
    const watched = await untouchedOutputs(scene, at, tip)
    // A block that was stored meanwhile has made some of them.
    if ((await tipOf(scene.db(), at.network))?.hash !== tip.hash) return 'unclear'
    const states = await statesOf(scene, tip, watched)
    const has = (state: OutputState) => states.includes(state)
    if (has('spent')) {
      // Read again: meanwhile a transfer may have reserved or spent the output, or a block may have spent it.
      const still = new Set((await untouchedOutputs(scene, at, tip)).map(({ id }) => id))
      const outputs = watched
        .filter(({ id }, place) => states[place] === 'spent' && still.has(id))
        .map(({ id }) => id)
      suspected = new Map(outputs.map((id) => [id, suspected.get(id) ?? asked_at]))
      const taken = outputs.filter((id) => asked_at - suspected.get(id)! >= recheck_ms)
      if (outputs.length > 0) doubt()
      if (taken.length > 0) {
        const said = `chain: bitcoin: nodes show transactions that spend ${taken.length} output(s) of the wallet and that this database did not sign; nothing is sent`
        scene.log.warn({ network: NETWORK, outputs: taken.slice(0, NAMED_MOST) }, said)
        return { taken }
      }
      if (outputs.length > 0) return 'unclear'
    } else suspected = new Map()
    if (has('unclear')) return 'unclear'
    if (!has('spent') && doubts === asked_doubts) {
      clean_until = asked_at + POOL_FRESH_MS
      clean_in = incarnation
    }
    return 'clean'
  }

  return {
    async state(at, tip) {
      const incarnation = await incarnationOf(scene.db())
      if (incarnation === clean_in && performance.now() < clean_until) return 'clean'
      const aboutNow = () => `${doubts} ${incarnation} ${tip.hash}`
      if (asking?.about === aboutNow() && performance.now() < asking.until) return asking.state
      const begun = { about: aboutNow(), until: Number.POSITIVE_INFINITY, state: ask(at, tip, incarnation) }
      asking = begun
      const keep = () => {
        begun.about = aboutNow()
        begun.until = performance.now() + Math.min(WAIT_MS, recheck_ms / 5)
      }
      begun.state.then((state) => {
        if (state !== 'clean') keep()
        else if (asking === begun) asking = undefined
      }, keep)
      return begun.state
    },
    doubt,
  }
}

type Untouched = { readonly id: string; readonly is_mined: boolean }

const statesOf = (
  { rail }: CoinScene,
  { height: block_height, hash: block_hash }: StoredBlock,
  outputs: readonly Untouched[],
): Promise<readonly OutputState[]> =>
  rail.outputStates(
    { block_height, block_hash },
    outputs.map(({ id, is_mined }) => ({ ...outpointOf(id), is_mined })),
  )

/** Outputs that nothing spends as far as the database knows: free coins, change in mempools, and coins that wait for a signature. */
async function untouchedOutputs(
  scene: CoinScene,
  at: CoinPlace,
  tip: StoredBlock,
): Promise<readonly Untouched[]> {
  const bounds = { coinbase_height: tip.height, final_height: tip.height, limit: SELECTABLE_MOST }
  const has_deposits = scene.canSpendAt !== undefined
  const free = await freeCoins(scene.db(), at, { ...bounds, has_deposits })
  // The largest coins may not be spendable yet: then these are others.
  const spendable = await spendableCoins(scene, at, tip)
  const change = unminedChange(await scene.spendersOf(at), at.script, { is_signed_enough: true })
  const unsigned = await unsignedCoins(scene.db(), at)
  const found = [
    ...[...free, ...spendable].map(({ id }) => ({ id, is_mined: true })),
    ...unsigned,
    ...change.map(({ id }) => ({ id, is_mined: false })),
  ]
  return [...new Map(found.map((output) => [output.id, output])).values()]
}

const spendableCoins = (scene: CoinScene, at: CoinPlace, tip: StoredBlock) =>
  freeCoins(scene.db(), at, {
    coinbase_height: tip.height + 1n - COINBASE_DEPTH,
    final_height: finalHeightOf(scene, tip),
    has_deposits: scene.canSpendAt !== undefined,
    limit: SELECTABLE_MOST,
  })

/** The newest block that is deep enough to be final. */
const finalHeightOf = ({ confirmations }: CoinScene, { height }: StoredBlock): bigint =>
  height + 1n > confirmations ? height + 1n - confirmations : 0n

/**
 * Bitcoin has no nonces, so the number of a reservation takes the place of a nonce. `pool` is the next number plus the foreign
 * transactions that operators have not accepted: with any of them the guard (custody/guard.ts) stops the rail. If only `claimed` is above
 * the next number, nothing is sent, and the rail is not paused.
 */
export async function walletStateOf(
  scene: CoinScene,
  watch: PoolWatch,
  tip: StoredBlock,
): Promise<WalletState> {
  const at = await scene.placeOf()
  const pool_state = await watch.state(at, tip)
  const final_height = finalHeightOf(scene, tip)
  const foreign = await unacceptedSpends(scene.db(), at.wallet_id, final_height)
  const { next_nonce, open } = await reservationsOf(scene.db(), at)
  const stateOf = (final: bigint, mined: bigint, pool: bigint): WalletState => ({
    ...{ wallet: at.address, final, final_height, mined, pool },
    ...(pool_state === 'unclear' ? { claimed: pool + 1n, is_unclear: true as const } : { claimed: pool }),
  })
  if (typeof pool_state === 'object') {
    const state = stateOf(next_nonce, next_nonce, next_nonce + foreign.all + 1n)
    return { ...state, spent_in_pool: pool_state.taken }
  }
  if (foreign.all > 0n)
    return stateOf(next_nonce + foreign.final, next_nonce + foreign.all, next_nonce + foreign.all)
  return stateOf(next_nonce - open, next_nonce - open, next_nonce)
}

type Candidate = Selectable & {
  readonly script: string
  readonly made_by: string | null
  readonly address_index: number | null
}

/** Whether the signer can sign for the coin. A reservation is never undone, so without the key the transfer would be stuck. */
const hasKey = ({ canSpendAt }: CoinScene, { address_index, script }: Candidate): boolean =>
  address_index === null || canSpendAt?.(address_index, script) === true

export async function chooseCoins(scene: CoinScene, watch: PoolWatch, order: ChainOrder): Promise<Chosen> {
  const { rail, db } = scene
  await scene.checkOnce()
  const tip = await scene.tipAtHead()
  if (!tip) return scene.later(order, 'endpoints_unavailable')
  const at = await scene.placeOf()
  const script_bytes = scriptOfOrder(order).length / 2
  const needs = { amount: order.amount, sat_per_vbyte: await rail.satPerVbyte(), script_bytes }
  const free = await spendableCoins(scene, at, tip)
  let coins: readonly Candidate[] = [
    ...free.map((coin) => ({ ...coin, made_by: null, behind: [] })),
    ...unminedChange(await scene.spendersOf(at), at.script).map((coin) => ({ ...coin, address_index: null })),
  ]
  for (let n = 0; n < SELECTIONS_MOST; n++) {
    const chosen = selectCoins(coins, needs)
    if (!chosen) return scene.later(order, 'wallet_too_empty')
    const asked = chosen.map(({ id, made_by }) => ({ id, is_mined: made_by === null }))
    const states = await statesOf(scene, tip, asked)
    const spent = chosen.filter((_, place) => states[place] === 'spent')
    // If no other transfer has reserved a coin, a lost payment of this very transfer may spend it: no other coin may pay it then.
    const reserved = spent.length > 0 ? await reservedOf(db(), spent) : new Set()
    const is_foreign = spent.some(({ id }) => !reserved.has(id))
    if (is_foreign) watch.doubt()
    if (is_foreign || states.includes('unclear')) return scene.later(order, 'endpoints_disagree')
    const doubtful = new Set(
      chosen.filter((coin, place) => states[place] !== 'unspent' || !hasKey(scene, coin)),
    )
    if (doubtful.size === 0)
      return {
        kind: 'chosen',
        coins: chosen.map(({ id, amount, script, made_by }) => ({ id, amount, script, made_by })),
      }
    coins = coins.filter((coin) => !doubtful.has(coin))
  }
  return scene.later(order, 'endpoints_disagree')
}
