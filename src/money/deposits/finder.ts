import type { Logger } from 'pino'
import type { Network } from '../../core/networks.ts'
import type { Db } from '../../db/pool.ts'
import { isOutage } from '../../rails/chain/check.ts'
import type { PaymentSource } from '../../rails/chain/rail.ts'
import { closeOpenException } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { assertOurs } from './addresses.ts'
import { ageOfOldestAddress, newestAddress } from './addresses-store.ts'
import { askAboutDue } from './arrivals.ts'
import { type BlockReader, openBlockReader, readUpTo, tell, toldAbout } from './block-reader.ts'
import { beginScan, noteAtHead, scanOf } from './scans-store.ts'

/**
 * Finds deposits on a network whose logs can be asked for by range (decision 0060). Every block is read twice: when it is new, so that a
 * deposit shows early, and when it is deep enough to be final. The second pass finds what the first one missed: a block that took
 * the place of another one, and a log that a node left out because it was behind.
 *
 * What is read is a hint. Each transaction is then asked about by itself, and only what a quorum of endpoints shows is noted.
 */
export type DepositFinder = {
  readonly network: Network
  /** One run: deposits that are due, then new blocks. `db` is one connection in no transaction. One node at a time calls it. */
  find(db: Db, shouldContinue?: () => boolean): Promise<void>
}

/** One finder for each network of the world whose rail has a source of payments. */
export const depositFinders = (world: World, log: Logger): DepositFinder[] =>
  Object.values(world.chains).flatMap(({ network, payments }) =>
    payments ? [openDepositFinder({ world, network, source: payments, log })] : [],
  )

type FinderOptions = {
  readonly world: World
  readonly network: Network
  readonly source: PaymentSource
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

export function openDepositFinder(options: FinderOptions): DepositFinder {
  const reader = openBlockReader(options)
  return {
    network: options.network,
    async find(db, shouldContinue = () => true) {
      try {
        await assertKey(db, reader)
        await askAboutDue(db, reader, shouldContinue)
        await readBlocks(db, reader, shouldContinue)
      } catch (error) {
        // Outages are not reported here: the endpoints have log lines and metrics of their own.
        if (!isOutage(error)) throw error
      }
    },
  }
}

async function readBlocks(db: Db, reader: BlockReader, shouldContinue: () => boolean): Promise<void> {
  const { network, source, depth } = reader
  const { block_height: head, final_height = head } = await source.head()
  if (!(await scanOf(db, network))) await begin(db, reader, head)
  const is_read = await readUpTo(db, reader, { pass: 'newest', target: head, shouldContinue })
  const deep = head + 1n - depth
  const final = deep < final_height ? deep : final_height
  const is_final = await readUpTo(db, reader, { pass: 'final', target: final, shouldContinue })
  if (!is_read || !is_final) return
  await noteAtHead(db, network, head)
  const reason = `All blocks of ${network} were read, and the endpoints agree.`
  await closeOpenException(db, { kind: 'deposit_unclear', object_id: toldAbout(network), reason })
}

/** The first run begins this many blocks before the oldest address of the network was handed out. */
const START_BELOW = 100n
/** The shortest time between two blocks. A value that is too low makes the first run read more blocks than needed. */
const BLOCK_LEAST_MS: Readonly<Record<Network, bigint>> = {
  ethereum: 12_000n,
  polygon: 1_000n,
  arbitrum: 250n,
  optimism: 1_000n,
  tron: 3_000n,
  bitcoin: 60_000n,
}

/**
 * The API hands out addresses as soon as the network is in the settings, but the first run may come much later: its endpoints may not
 * answer yet, or no node with workers may run.
 */
async function begin(db: Db, { network, source, depth, log }: BlockReader, head: bigint): Promise<void> {
  const { start_height } = source
  const blocks_since = (await ageOfOldestAddress(db, network)) / BLOCK_LEAST_MS[network]
  const below = start_height === undefined ? head - blocks_since - depth - START_BELOW : start_height - 1n
  const height = below < 0n ? 0n : below < head ? below : head
  const hash = await source.hashAt(height)
  if (hash === undefined) throw new Error(`${network}: the endpoints have no block at height ${height}`)
  log.info({ network, height: height.toString() }, `deposits: ${network} is read after block ${height}`)
  await beginScan(db, network, { height, hash })
}

/** Stops the finder if the newest address is not derived from the configured key: deposits at such addresses could not be swept. */
async function assertKey(db: Db, reader: BlockReader): Promise<void> {
  const { world, network } = reader
  const newest = await newestAddress(db, [network])
  try {
    if (newest) assertOurs(world, newest)
  } catch (error) {
    const problem = `${(error as Error).message}. No deposits are found on ${network}, and no addresses handed out. Set the extended public key from which the addresses were derived.`
    await tell(db, reader, { problem })
    throw error
  }
}
