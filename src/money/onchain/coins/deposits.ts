import type { Logger } from 'pino'
import { crashPoint } from '../../../core/crash-point.ts'
import { Refusal } from '../../../core/errors.ts'
import { networks } from '../../../core/networks.ts'
import type { Db } from '../../../db/pool.ts'
import { rowSource } from '../../../ledger/command.ts'
import type { World } from '../../../world.ts'
import { pauseRail } from '../../custody/controls.ts'
import { foreignAddressProblem } from '../../deposits/addresses.ts'
import { noteSighting, noteVanished } from '../../deposits/sightings.ts'
import { outpointOf } from './block-effects.ts'
import type { FollowedChain } from './chain.ts'
import type { Followed } from './follower.ts'
import { NETWORK } from './scene.ts'
import { markReported, type StoredBlock, type UnreportedCoin, unreportedCoins } from './store.ts'

/**
 * Reports coins at deposit addresses to the slice of deposits (decision 0061). Following a block writes coins only; what is left to report
 * is read from the tables afterwards. After a crash it is reported again, which changes nothing.
 */
type Reporting = { readonly world: World; readonly log: Pick<Logger, 'error'>; readonly tip: StoredBlock }

/**
 * Reads new blocks, and reports. `db` is one connection that is in no transaction. Nothing is reported before the newest stored block is
 * the head of the nodes' chain: during a reorganisation coins are in no block for a while.
 */
export function followWithDeposits(
  world: World,
  { follow }: Pick<FollowedChain, 'follow'>,
  log: Pick<Logger, 'error'>,
): (db: Db, shouldContinue?: () => boolean) => Promise<Followed> {
  let is_key_checked = false
  return async (db, shouldContinue = () => true) => {
    if (!is_key_checked) await checkKey(world, log)
    is_key_checked = true
    const followed = await follow(db, shouldContinue)
    if (followed.kind === 'at_head' && followed.tip)
      await reportDeposits(db, { world, log, tip: followed.tip }, shouldContinue)
    return followed
  }
}

/** Pauses the rail if the configured key is not that of the addresses: their coins could be reserved, but never signed for. */
async function checkKey(world: World, log: Pick<Logger, 'error'>): Promise<void> {
  const problem = await foreignAddressProblem(world, NETWORK)
  if (problem !== undefined) await pause(world, log, problem)
}

async function pause(world: World, log: Pick<Logger, 'error'>, reason: string): Promise<void> {
  const { changed } = await pauseRail(world, { rail: NETWORK, by: 'service', reason })
  if (changed) log.error({ network: NETWORK }, `deposits: ${reason} Nothing is sent; the rail is paused.`)
}

const PAGE = 200
const REPORTED_AT_ONCE = 20

/** Throws the last failure after all coins were tried: one deposit does not stop the others. */
async function reportDeposits(
  db: Db,
  reporting: Reporting,
  shouldContinue: () => boolean = () => true,
): Promise<void> {
  let failure: unknown
  for (let after = ''; shouldContinue(); ) {
    const page = await unreportedCoins(db, { network: NETWORK, tip: reporting.tip, after, limit: PAGE })
    for (let i = 0; i < page.length; i += REPORTED_AT_ONCE) {
      const coins = page.slice(i, i + REPORTED_AT_ONCE)
      const ends = await Promise.allSettled(coins.map((coin) => report(reporting, coin)))
      for (const end of ends) if (end.status === 'rejected') failure = end.reason
      const ended = coins.filter((_, n) => {
        const end = ends[n]!
        return end.status === 'fulfilled' && end.value
      })
      if (ended.length > 0) crashPoint('before_reported')
      for (const coin of ended) await markReported(db, coin)
    }
    if (page.length < PAGE) break
    after = page.at(-1)!.id
  }
  if (failure !== undefined) throw failure
}

/** Reports the coin's block, or that it is in none. True: nothing is left to report until the block changes. */
async function report(reporting: Reporting, coin: UnreportedCoin): Promise<boolean> {
  try {
    return await (coin.block_hash === null ? reportVanished : reportSighting)(reporting, coin)
  } catch (error) {
    if (error instanceof CoinMoved) return false
    throw error
  }
}

const { confirmations } = networks[NETWORK]

async function reportSighting(reporting: Reporting, coin: UnreportedCoin): Promise<boolean> {
  const { address, amount, block_height, block_hash, depth } = coin
  const block = { height: block_height!, hash: block_hash! }
  const sighting = { ...outputOf(coin), address, amount, block, depth: depth! }
  const deposit = await noteSighting(reporting.world, sighting, { commit: whileInPlace(reporting, coin) })
  crashPoint('after_sighting')
  if (!deposit)
    throw new Error(`${NETWORK}: ${coin.id} pays ${address}, which is no deposit address any more`)
  return deposit.status === 'completed' || (deposit.below_minimum && depth! >= confirmations)
}

/** Pauses the rail if the vanished deposit was credited: the service never takes a credit back by itself, operators decide. */
async function reportVanished(reporting: Reporting, coin: UnreportedCoin): Promise<boolean> {
  const { world, log } = reporting
  const deposit = await noteVanished(world, outputOf(coin), { commit: whileInPlace(reporting, coin) })
  if (deposit?.status === 'completed')
    await pause(
      world,
      log,
      `Deposit ${deposit.id} was credited, and the chain of ${NETWORK} does not have its transaction ${deposit.tx_hash} in block ${deposit.block_height} any more.`,
    )
  return true
}

const outputOf = ({ id }: UnreportedCoin) => {
  const { txid, vout } = outpointOf(id)
  return { network: NETWORK, tx_hash: txid, output_index: vout } as const
}

const coinPlaces = rowSource<{ readonly id: string; readonly block_hash: string | null }>(
  'places of coins',
  'SELECT id, block_hash FROM coins WHERE id = ANY($1::text[])',
)

const storedTips = rowSource<{ readonly id: string; readonly height: bigint }>(
  'newest blocks',
  'SELECT network AS id, max(height) AS height FROM blocks WHERE network = ANY($1::text[]) GROUP BY network',
)

class CoinMoved extends Refusal {
  constructor() {
    super('service_unavailable')
  }
}

/**
 * Commits only if the stored chain still shows what is reported: another node may have followed a reorganisation since this one read
 * the coin, and a credit cannot be taken back.
 */
const whileInPlace =
  ({ world, tip }: Reporting, { id, block_hash }: UnreportedCoin): World['commit'] =>
  (command) =>
    world.commit({
      ...command,
      locks: {
        ...command.locks,
        reads: [
          ...(command.locks.reads ?? []),
          { source: coinPlaces, id },
          { source: storedTips, id: NETWORK },
        ],
      },
      decide(held) {
        const is_there = held.row(coinPlaces, id)?.block_hash === block_hash
        const is_deep = (held.row(storedTips, NETWORK)?.height ?? -1n) >= tip.height
        if (!is_there || !is_deep) throw new CoinMoved()
        return command.decide(held)
      },
    })
