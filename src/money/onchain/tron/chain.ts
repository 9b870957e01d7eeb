import type { Logger } from 'pino'
import type { Clock } from '../../../core/clock.ts'
import type { Db, Pool } from '../../../db/pool.ts'
import { orNone, orUnavailable, unavailable } from '../../../rails/chain/check.ts'
import type { WalletState } from '../../../rails/chain/rail.ts'
import type { TronBlock } from '../../../rails/chain/tron/calls.ts'
import type { TronRail } from '../../../rails/chain/tron.ts'
import { TRON_EXPIRY_MS } from '../../../rails/signer/tron.ts'
import { pauseRail } from '../../custody/controls.ts'
import { addWallet, recordForeign, walletIdOf } from '../../custody/wallets.ts'
import type { FollowedChain } from '../coins/chain.ts'
import type { Followed } from '../coins/follower.ts'
import { reservationsOf, unacceptedSpends } from '../coins/store.ts'
import { beginWalletScan, keepQuiet, storeOutgoing, type WalletScan, walletScanOf } from './store.ts'

/**
 * Tron as a chain of transfers (decision 0071). A wallet there has no nonces, so the nodes cannot tell whether the database is behind the
 * chain, as after the restore of a backup. Therefore the service reads every solidified block for USDT that leaves the wallet: a
 * transaction that the database did not sign pauses the rail. Nothing is signed while the blocks are not read.
 */
export type TronChainOptions = {
  readonly rail: TronRail
  /** The database of the world, which is opened after its rails. */
  readonly db: () => Pool
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

const NETWORK = 'tron'
/** The reading may be this far behind the newest solidified block, about half a minute. */
const BEHIND_MOST = 10n
/** If no block was read for longer than this, the database may be an older copy of itself, which lacks payments. */
const GAP_MS = 120_000
/** The same by the node's clock, so that an endpoint cannot hide a gap. The newest solidified block is about a minute old. */
const AGE_MOST_MS = GAP_MS + 60_000
/** After a gap nothing is signed for this long: payments that were signed before the gap may still be mined. */
const QUIET_MS = TRON_EXPIRY_MS + 60_000
/** Blocks that are asked for at once, and stored at once. */
const BLOCKS_AT_ONCE = 8

export function tronChain(options: TronChainOptions): FollowedChain {
  const { rail, db, clock } = options
  const { address, solidHead, outgoingAt: _, ...chain } = rail

  /** The position of the reading; undefined while the wallet may have made payments that the database does not know. */
  async function readUpToNow(wallet_id: string): Promise<WalletScan | undefined> {
    const head = await solidHead()
    const scan = await walletScanOf(db(), wallet_id)
    if (!scan?.is_same_incarnation || head.height - scan.height > BEHIND_MOST) return undefined
    if (clock.now() - scan.block_at.getTime() > AGE_MOST_MS) return undefined
    return scan.quiet_until !== null && scan.block_at <= scan.quiet_until ? undefined : scan
  }

  return {
    ...chain,
    wallet: () =>
      orUnavailable(async () => {
        const wallet = await address()
        const scan = await readUpToNow(walletIdOf(NETWORK, wallet))
        return scan ? (await stateOf(db(), wallet, scan.height)).state : unavailable()
      }),

    async attempt(order, reservation, made, purpose, signal) {
      const is_read = await orNone(async () => readUpToNow(walletIdOf(NETWORK, await address())))
      if (is_read) return rail.attempt(order, reservation, made, purpose, signal)
      return { kind: 'later', at: new Date(clock.now() + RETRY_MS), why: 'endpoints_unavailable' }
    },

    follow: (connection, shouldContinue) => readOutgoing(options, connection, shouldContinue),
  }
}

const RETRY_MS = 5000

/** The nonce is the number of the reservation. Foreign transactions count behind it, until operators accept them as a gap. */
async function stateOf(
  db: Db,
  wallet: string,
  final_height: bigint,
): Promise<{ readonly state: WalletState; readonly next_nonce: bigint; readonly foreign: bigint }> {
  const wallet_id = walletIdOf(NETWORK, wallet)
  const { all: foreign } = await unacceptedSpends(db, wallet_id, final_height)
  const { next_nonce, open } = await reservationsOf(db, { wallet_id, network: NETWORK })
  const pool = next_nonce + foreign
  // All that was read is final.
  const mined = foreign > 0n ? pool : next_nonce - open
  const state = { wallet, final: mined, final_height, mined, pool, claimed: pool }
  return { state, next_nonce, foreign }
}

/** Reads new solidified blocks. One node at a time calls it. */
async function readOutgoing(
  options: TronChainOptions,
  db: Db,
  shouldContinue: () => boolean = () => true,
): Promise<Followed> {
  const { rail, clock } = options
  const wallet = await rail.address()
  const wallet_id = walletIdOf(NETWORK, wallet)
  await addWallet(db, NETWORK, { wallet })
  const head = await rail.solidHead()
  const before = await walletScanOf(db, wallet_id)
  // Reading begins at the newest block: what the wallet paid before is no transfer of this database.
  if (!before) {
    const quiet_until = new Date(Math.max(head.at_ms, clock.now()) + QUIET_MS)
    await beginWalletScan(db, wallet_id, { block: head, quiet_until })
  } else await keepQuietIfBehind(options, db, { wallet, before, head })
  const foreign: string[] = []
  let at = (await walletScanOf(db, wallet_id))!.height
  while (at < head.height && shouldContinue()) {
    const count = Number(head.height - at < BigInt(BLOCKS_AT_ONCE) ? head.height - at : BLOCKS_AT_ONCE)
    const heights = Array.from({ length: count }, (_, n) => at + BigInt(n) + 1n)
    const blocks = await Promise.all(heights.map((height) => rail.outgoingAt(height)))
    const stored = await storeOutgoing(db, clock, { wallet_id, from: at, blocks })
    if (!stored) break
    foreign.push(...stored)
    at = heights.at(-1)!
  }
  await stopIfForeign(options, db, wallet)
  return at < head.height ? { kind: 'behind', foreign } : { kind: 'at_head', foreign, tip: undefined }
}

/** After a gap, a restore or a promotion nothing is signed until every payment that may have been signed before has expired. */
async function keepQuietIfBehind(
  { clock, log }: TronChainOptions,
  db: Db,
  { wallet, before, head }: { wallet: string; before: WalletScan; head: Pick<TronBlock, 'at_ms'> },
): Promise<void> {
  const { wallet_id, block_at, quiet_until, is_same_incarnation } = before
  const now = Math.max(head.at_ms, clock.now())
  const is_gap = head.at_ms - block_at.getTime() > GAP_MS || clock.now() - block_at.getTime() > AGE_MOST_MS
  // A quiet time that still lasts is not extended: no copy of this database has signed anything since it began.
  const is_quiet = quiet_until !== null && quiet_until.getTime() >= now
  if (is_same_incarnation && (!is_gap || is_quiet)) return
  const until = new Date(now + QUIET_MS)
  await keepQuiet(db, wallet_id, until)
  const why = is_same_incarnation
    ? `the blocks of tron were not read since ${block_at.toISOString()}`
    : 'the database was restored, or a standby was promoted'
  log.warn(
    { network: NETWORK, wallet },
    `custody: ${why}; nothing is signed on tron until ${until.toISOString()}, when all earlier payments are known`,
  )
}

/** Counts all foreign transactions, not only the new ones: an earlier run may have crashed before it paused the rail. */
async function stopIfForeign(
  { db: pool, clock, log }: TronChainOptions,
  db: Db,
  wallet: string,
): Promise<void> {
  // Compares no nonces, but counts foreign transactions: another node may reserve a nonce between two reads.
  const { state, next_nonce, foreign } = await stateOf(db, wallet, 0n)
  if (foreign === 0n) return
  const world = { db: pool(), clock }
  const reason = await recordForeign(world, { network: NETWORK, state, next_nonce })
  const { changed } = await pauseRail(world, { rail: NETWORK, by: 'service', reason })
  if (changed)
    log.error({ network: NETWORK, wallet }, `custody: ${reason} Nothing is sent; the rail is paused.`)
}
