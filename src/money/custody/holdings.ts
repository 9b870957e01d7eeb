import { Refusal, refuse } from '../../core/errors.ts'
import { type Network, networkNames } from '../../core/networks.ts'
import type { Db, Pool } from '../../db/pool.ts'
import { wholeOf } from '../../db/share.ts'
import type { LaterReason } from '../../rails/chain/rail.ts'
import { closeOpenException, recordException } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { holdingsOfRail, type StoredHoldings, storeHoldings, sumLeaving } from './store.ts'

/**
 * What the wallets of the rails hold. A worker node asks the chains and stores the figures; a transfer is accepted by the stored ones, so
 * that no order waits for a chain. No lock is taken: a node counts what its own orders claim, but orders of the same second on two
 * nodes may pass together, and then one of them waits until the wallet is funded (decision 0053).
 */
export const HOLDINGS_EVERY_MS = 15_000
/** Figures that are older are not used: transfers are refused. */
const HOLDINGS_AGE_MS = 60_000
/** A node reads the stored figures once in this time; all orders meanwhile share them. */
const SHARED_MS = 1000
const RETRY_AFTER_SECONDS = 15

/** What must stay in the wallet; null: nothing. */
export type Floors = { readonly floor: bigint | null; readonly gas_floor: bigint | null }

/** The networks with a wallet on a real chain. */
export const networksWithWallet = ({ chains }: Pick<World, 'chains'>): Network[] =>
  networkNames.filter((network) => chains[network].has_wallet)

/** Asks every chain and stores the answers. Throws the last failure after all chains were asked. */
export async function refreshHoldings(world: Pick<World, 'chains' | 'clock'>, db: Db): Promise<void> {
  const { chains } = world
  const asked = networksWithWallet(world).map(async (network) => ({
    network,
    read: await chains[network].holdings().then(
      (held) => ({ held }),
      (failure: unknown) => ({ failure }),
    ),
  }))
  let last: { readonly failure: unknown } | undefined
  for (const { network, read } of await Promise.all(asked)) {
    if ('held' in read) await storeHoldings(db, network, read.held)
    else last = read
    await noteAge(world, db, network, 'held' in read ? undefined : read.failure)
  }
  if (last) throw last.failure
}

const isUsable = ({ age_ms }: StoredHoldings): boolean => age_ms !== null && age_ms <= HOLDINGS_AGE_MS

/** Figures that are too old stop the acceptance of transfers: a person must look at the endpoints. */
async function noteAge(
  { clock }: Pick<World, 'clock'>,
  db: Db,
  network: Network,
  failure: unknown,
): Promise<void> {
  const object_id = `holdings ${network}`
  const stored = await holdingsOfRail(db, network)
  if (!stored) return
  if (isUsable(stored)) {
    if (failure === undefined)
      await closeOpenException(db, {
        kind: 'holdings_old',
        object_id,
        reason: 'The holdings were read again.',
      })
    return
  }
  const disagree = failure instanceof Refusal && failure.details?.why === 'endpoints_disagree'
  const why: LaterReason = disagree ? 'endpoints_disagree' : 'endpoints_unavailable'
  const cause = disagree
    ? `The endpoints of ${network} tell different figures of one block.`
    : `No endpoint of ${network} tells it at block ${stored.block_height} or later.`
  const problem = `What wallet ${stored.wallet} holds was not read for more than a minute. ${cause} No transfers are accepted on ${network}.`
  await recordException(db, clock, {
    kind: 'holdings_old',
    rail: network,
    object_id,
    partner_id: null,
    details: { problem, why, block: stored.block_height },
  })
}

type Figures = {
  readonly held: StoredHoldings
  readonly leaving: bigint
  /** What orders on this node claimed since the figures were read. */
  claimed: bigint
}
type Shared = { readonly until: number; readonly figures: Promise<Figures | undefined> }

/** Keyed by pool: a node has one pool per world. */
const memory = new WeakMap<Pool, Map<Network, Shared>>()

function figuresOf(world: Pick<World, 'db'>, network: Network): Promise<Figures | undefined> {
  const pool = wholeOf(world.db)
  const known = memory.get(pool) ?? new Map<Network, Shared>()
  memory.set(pool, known)
  const before = known.get(network)
  if (before && performance.now() < before.until) return before.figures
  const figures = readFigures(pool, network)
  known.set(network, { figures, until: performance.now() + SHARED_MS })
  figures.catch(() => known.delete(network))
  return figures
}

async function readFigures(db: Db, network: Network): Promise<Figures | undefined> {
  const held = await holdingsOfRail(db, network)
  if (!held) return undefined
  return { held, leaving: await sumLeaving(db, network, held.block_height), claimed: 0n }
}

/** An amount that an order reserves in this node's figures, until it is released or the figures are read again. */
export type HeldClaim = { release(): void }

export const nothingClaimed: HeldClaim = { release() {} }

/** Why every order on the network is refused, for operators; undefined if the wallet can pay some, and where no real wallet is. */
export async function holdingsProblem(
  world: Pick<World, 'db' | 'chains'>,
  network: Network,
  { floor, gas_floor }: Floors,
): Promise<string | undefined> {
  if (!world.chains[network].has_wallet) return undefined
  const figures = await figuresOf(world, network)
  if (figures === undefined || !isUsable(figures.held))
    return 'The holdings of the wallet were not read within the last minute.'
  if (figures.held.asset_amount - figures.leaving <= (floor ?? 0n))
    return floor === null ? 'The wallet has nothing to pay with.' : 'The wallet is at its floor or below.'
  return figures.held.native_amount < (gas_floor ?? 0n) ? 'The wallet is below its gas floor.' : undefined
}

type HeldOrder = { readonly network: Network; readonly units: bigint }

/** Refuses an order that the wallet cannot pay, or that would leave less than the floors. Call it before the command. */
export async function assertHeld(
  world: Pick<World, 'db' | 'chains'>,
  order: HeldOrder,
  floors: Floors,
): Promise<void> {
  if (world.chains[order.network].has_wallet) judge(await figuresOf(world, order.network), order, floors)
}

/**
 * As `assertHeld`, and the amount counts against other orders of this node: release the claim if no transfer is made. Claim
 * only what the customer's balance covers, because a claim can make the node refuse other orders.
 */
export async function claimHeld(
  world: Pick<World, 'db' | 'chains'>,
  order: HeldOrder,
  floors: Floors,
): Promise<HeldClaim> {
  if (!world.chains[order.network].has_wallet) return nothingClaimed
  // No await between the judgement and the claim.
  const figures = judge(await figuresOf(world, order.network), order, floors)
  figures.claimed += order.units
  let is_open = true
  return {
    release() {
      if (is_open) figures.claimed -= order.units
      is_open = false
    },
  }
}

/** Returns the figures if the wallet can pay the order. */
function judge(
  figures: Figures | undefined,
  { network, units }: HeldOrder,
  { floor, gas_floor }: Floors,
): Figures {
  const is_known = figures !== undefined && isUsable(figures.held)
  if (
    !is_known ||
    figures.held.asset_amount - figures.leaving - figures.claimed - units < (floor ?? 0n) ||
    figures.held.native_amount < (gas_floor ?? 0n)
  )
    return refuse('rail_unavailable', {
      message: is_known
        ? `The service cannot pay this amount on ${network} right now. Nothing moved. Send less, or retry later with the same idempotency key.`
        : `The service does not know yet what it can pay on ${network}. Nothing moved. Retry with the same idempotency key.`,
      retry_after_seconds: RETRY_AFTER_SECONDS,
    })
  return figures
}
