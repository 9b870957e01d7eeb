import type { Logger } from 'pino'
import type { Clock } from '../../../core/clock.ts'
import { networks } from '../../../core/networks.ts'
import type { Pool } from '../../../db/pool.ts'
import type { BitcoinRail } from '../../../rails/chain/bitcoin/rail.ts'
import { openCheck } from '../../../rails/chain/check.ts'
import type { ChainOrder, Later, LaterReason } from '../../../rails/chain/rail.ts'
import { walletIdOf } from '../../custody/wallets.ts'
import { type OpenSpender, openSpenders, type StoredBlock, tipOf } from './store.ts'

/** What every question about the coins needs: the nodes, the database, the wallet, and where the follower is. */
export const NETWORK = 'bitcoin'

export type FollowedChainOptions = {
  readonly rail: BitcoinRail
  /** The database of the world, which is opened after its rails. */
  readonly db: () => Pool
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** The first block that is read. Coins of earlier blocks are not found. */
  readonly start_height?: bigint
  /**
   * Whether the signer has the key of a coin at a deposit address, by its index and script. Absent: it has none of these keys, and such
   * coins are not spent.
   */
  readonly canSpendAt?: (address_index: number, script: string) => boolean
  /** The signer's limit of an hour: it never signs an order above it. */
  readonly order_most?: bigint
  readonly confirmations?: number
  readonly reserved_most?: number
  readonly replace_after_ms?: number
  /** How long a coin must look spent by a foreign transaction until the rail is paused. Meanwhile nothing is sent. */
  readonly recheck_ms?: number
}

export type CoinPlace = {
  readonly address: string
  readonly script: string
  readonly wallet_id: string
  readonly network: typeof NETWORK
}

export type CoinScene = ReturnType<typeof openCoinScene>

const RETRY_MS = 5000
/** Holdings are read only while the newest stored block is at most this far below the head. */
const NEAR_BLOCKS = 2n

export function openCoinScene(options: FollowedChainOptions) {
  const { rail, db, clock, log } = options
  let place: CoinPlace | undefined

  return {
    ...{ rail, db, clock, log, canSpendAt: options.canSpendAt },
    confirmations: BigInt(options.confirmations ?? networks[NETWORK].confirmations),

    async placeOf(): Promise<CoinPlace> {
      if (!place) {
        const { address, script } = await rail.wallet()
        place = { address, script, wallet_id: walletIdOf(NETWORK, address), network: NETWORK }
      }
      return place
    },

    /** Nothing is accepted, chosen or signed before the set-up was found right once. */
    checkOnce: openCheck(() => rail.check(), log),

    /** The newest stored block, if it is the head of the nodes' chain. The nodes are asked first. */
    async tipAtHead(): Promise<StoredBlock | undefined> {
      const head = await rail.head()
      const tip = await tipOf(db(), NETWORK)
      return tip?.hash === head.block_hash ? tip : undefined
    },

    /** The newest stored block, if it is in the nodes' chain; `near`: and at most some blocks below the head. */
    async tipInChain({ near = false } = {}): Promise<StoredBlock | undefined> {
      const tip = await tipOf(db(), NETWORK)
      if (!tip || (await rail.hashAt(tip.height)) !== tip.hash) return undefined
      if (near && (await rail.head()).block_height - tip.height > NEAR_BLOCKS) return undefined
      return tip
    },

    async spendersOf(at: CoinPlace): Promise<ReadonlyMap<string, OpenSpender>> {
      return new Map((await openSpenders(db(), at)).map((spender) => [spender.transfer_id, spender]))
    },

    later(order: ChainOrder, why: LaterReason): Later {
      const said = `chain: bitcoin transfer ${order.id} waits: ${why}`
      log.info({ network: NETWORK, transfer_id: order.id, why }, said)
      return { kind: 'later', at: new Date(clock.now() + RETRY_MS), why }
    },
  }
}
