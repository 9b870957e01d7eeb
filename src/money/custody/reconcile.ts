import { formatMoney, money } from '../../core/money.ts'
import { type Network, networks } from '../../core/networks.ts'
import { takeStep } from '../../db/chore.ts'
import type { Db } from '../../db/pool.ts'
import type { Charge } from '../../rails/chain/rail.ts'
import { closeOpenException, recordException } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { networksWithWallet } from './holdings.ts'
import {
  bookedOn,
  type DepositSum,
  newestReconciliations,
  type PixReconciliation,
  type Reconciliation,
  type ReconciliationParts,
  storeReconciliation,
  type TransferPart,
} from './store.ts'

/**
 * Compares the books with the chain, to the smallest unit (decision 0053). H is the newest final block:
 *
 *   difference = outside(H) − booked + on_its_way
 *
 * `outside(H)` is what the wallet and the deposit addresses hold at H; `booked` is −external:<rail> in the ledger. `on_its_way` is the
 * sum of transfers that are mined by H and not booked, less the sum of those that are booked and mined after H. Where the network
 * charges in the asset itself, as Bitcoin does, the charge belongs to both sums, that of a canceled transfer too. Deposits count the
 * other way: those in a block up to H that are not credited are subtracted, those that are credited from a block after H added. The chain
 * is asked for H first; the ledger is read after that, over one snapshot; then the chain is asked about the transfers that were open in
 * the snapshot. A node that does not know a mined transaction for a moment makes a difference, so one difference opens no exception.
 */
export type ChainBooks = {
  /** Transfers of the rail that have a nonce and are not final. A foreign transaction may have spent the nonce of one that is not signed. */
  openReserved(db: Db, network: Network): Promise<readonly OpenTransfer[]>
  /** Transfers that are booked as ended, in a block above this height, with what left the wallet: the amount, the charge, or both. */
  minedAbove(db: Db, network: Network, height: bigint): Promise<readonly TransferPart[]>
  /** Transfers that operators confirmed in the last week and whose block is not known. */
  withoutBlock(db: Db, network: Network): Promise<readonly TransferPart[]>
  /** Deposit addresses that may hold something. */
  paidAddresses(db: Db, network: Network): Promise<readonly string[]>
  /** Deposits to these addresses that the ledger and the chain do not both have at this height. */
  deposits(
    db: Db,
    network: Network,
    at: { readonly height: bigint; readonly addresses: readonly string[] },
  ): Promise<{ readonly arrived: DepositSum; readonly credited_later: DepositSum }>
}

export type OpenTransfer = TransferPart & {
  /** Asks the chain. `waiting`: not mined, or not final. */
  look(world: World): Promise<Sighting>
}

export type Sighting =
  | { readonly kind: 'waiting' }
  /** `paid`: exactly the order. `none`: nothing left the wallet. `other`: a person must judge. */
  | ({
      readonly kind: 'mined'
      readonly block_height: bigint
      readonly effect: 'paid' | 'none' | 'other'
    } & Charge)
  | { readonly kind: 'taken' }

/**
 * One comparison of one rail, stored. Opens the exception if the comparison before found a difference too, or closes it. `db` is
 * one connection, which is in no transaction while the chain is asked.
 */
async function reconcileOn(
  db: Db,
  { world, network, books }: { readonly world: World; readonly network: Network; readonly books: ChainBooks },
): Promise<Reconciliation> {
  const { held, read } = await readBoth(db, { world, network, books })
  const { asset, at_addresses, block_height, block_hash, wallet } = held
  const outside = asset + at_addresses
  const { not_booked_yet, other } = await askAbout(world, read.open, block_height)
  const { arrived, credited_later } = read
  const on_its_way =
    sumOf(not_booked_yet) - sumOf(read.mined_later) - BigInt(arrived.amount) + BigInt(credited_later.amount)
  const made: Reconciliation = {
    ...{ id: world.newId('reconciliation'), rail: network, asset: networks[network].asset, wallet },
    ...{ block_height, block_hash, outside, booked: read.booked, on_its_way },
    difference: outside - read.booked + on_its_way,
    parts: {
      ...{ not_booked_yet, mined_later: read.mined_later, other, without_block: read.without_block },
      ...{ arrived, credited_later },
    },
    at: new Date(world.clock.now()),
  }
  const [before] = await newestReconciliations(db, network, 1)
  await storeReconciliation(db, made)
  await noteDifference(world, db, made, before)
  return made
}

/** Deposits may be credited at new addresses while the chain is asked: then both are read again, so many times at most. */
const READS = 4

/** What the chain has at the paid addresses, and a snapshot of the ledger in which the same addresses are paid. */
async function readBoth(
  db: Db,
  { world, network, books }: { readonly world: World; readonly network: Network; readonly books: ChainBooks },
) {
  let addresses = await books.paidAddresses(db, network)
  for (let i = 1; ; i++) {
    const held = await world.chains[network].holdings(addresses)
    const height = held.block_height
    const asked = addresses
    const { now, ...read } = await takeStep(db, async (tx) => {
      await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY')
      return {
        booked: await bookedOn(tx, network),
        open: await books.openReserved(tx, network),
        mined_later: await books.minedAbove(tx, network, height),
        without_block: await books.withoutBlock(tx, network),
        ...(await books.deposits(tx, network, { height, addresses: asked })),
        now: await books.paidAddresses(tx, network),
      }
    })
    if (i === READS || isSameSet(asked, now)) return { held, read }
    addresses = now
  }
}

const isSameSet = (one: readonly string[], other: readonly string[]): boolean => {
  const known = new Set(one)
  return other.length === one.length && other.every((each) => known.has(each))
}

async function askAbout(
  world: World,
  open: readonly OpenTransfer[],
  height: bigint,
): Promise<Pick<ReconciliationParts, 'not_booked_yet' | 'other'>> {
  const not_booked_yet: TransferPart[] = []
  const other: TransferPart[] = []
  for (let i = 0; i < open.length; i += ASKED_AT_ONCE) {
    const asked = open.slice(i, i + ASKED_AT_ONCE)
    const sightings = await Promise.all(asked.map((transfer) => transfer.look(world)))
    sightings.forEach((seen, n) => {
      const { transfer_id, amount, tx_hash } = asked[n]!
      const part = { transfer_id, amount, tx_hash }
      if (seen.kind === 'taken') other.push(part)
      if (seen.kind !== 'mined' || seen.block_height > height) return
      const left = (seen.effect === 'paid' ? BigInt(amount) : 0n) + (seen.charged ?? 0n)
      if (seen.effect === 'other') other.push(part)
      else if (left > 0n) not_booked_yet.push({ ...part, amount: left.toString() })
    })
  }
  return { not_booked_yet, other }
}

const ASKED_AT_ONCE = 20

const sumOf = (parts: readonly TransferPart[]): bigint =>
  parts.reduce((sum, { amount }) => sum + BigInt(amount), 0n)

const objectOf = (rail: string) => `reconciliation ${rail}`

/** One difference alone opens no exception; a comparison without one closes it. */
export async function noteDifference(
  world: World,
  db: Db,
  made: Reconciliation | PixReconciliation,
  before: Pick<Reconciliation, 'difference'> | undefined,
): Promise<void> {
  const { rail, asset, difference, outside, booked, on_its_way } = made
  if (difference === 0n) {
    const reason = `Reconciliation ${made.id} found no difference.`
    return closeOpenException(db, { kind: 'reconciliation', object_id: objectOf(rail), reason })
  }
  if (!before || before.difference === 0n) return
  const inWords = (units: bigint) =>
    units < 0n ? `−${formatMoney(money(asset, -units))}` : formatMoney(money(asset, units))
  await recordException(db, world.clock, {
    kind: 'reconciliation',
    rail,
    object_id: objectOf(rail),
    partner_id: null,
    details: {
      problem: differenceInWords(rail, difference),
      outside: inWords(outside),
      booked: inWords(booked),
      on_its_way: inWords(on_its_way),
      ...(made.block_height === null ? {} : { block: made.block_height }),
      reconciliation: made.id,
    },
  })
}

export function differenceInWords(rail: Network | 'pix', difference: bigint): string {
  const asset = rail === 'pix' ? 'BRL' : networks[rail].asset
  const units = formatMoney(money(asset, difference < 0n ? -difference : difference))
  const holder = rail === 'pix' ? 'The account at the Pix provider' : 'The wallet'
  return `${holder} holds ${units} ${difference > 0n ? 'more' : 'less'} than the books say.`
}

export async function reconcile(world: World, network: Network, books: ChainBooks): Promise<Reconciliation> {
  const client = await world.db.connect()
  try {
    return await reconcileOn(client, { world, network, books })
  } finally {
    client.release()
  }
}

/** Compares every rail with a wallet. Throws the last failure after all of them were tried. */
export async function reconcileAll(world: World, books: ChainBooks, db: Db): Promise<void> {
  let failure: unknown
  for (const network of networksWithWallet(world))
    await reconcileOn(db, { world, network, books }).catch((error: unknown) => {
      failure = error
    })
  if (failure !== undefined) throw failure
}
