import { refuse } from '../../core/errors.ts'
import { type Network, networkNames } from '../../core/networks.ts'
import type { Db, Pool } from '../../db/pool.ts'
import { wholeOf } from '../../db/share.ts'
import type { World } from '../../world.ts'
import { holdingsOfRail, type StoredHoldings, storeHoldings, sumLeaving } from './store.ts'

/**
 * What the wallets of the rails hold. A worker node asks the chains and stores the figures; a transfer is accepted by the stored ones, so
 * that no order waits for a chain. No lock is taken: orders of the same second may pass together, and then one of them waits until
 * the wallet is funded.
 */
export const HOLDINGS_EVERY_MS = 15_000
/** Older figures count as none. */
const HOLDINGS_AGE_MS = 60_000
/** Orders of one second share the figures. */
const SHARED_MS = 1000
const RETRY_AFTER_SECONDS = 15

/** What must stay in the wallet; null: nothing. */
export type Floors = { readonly floor: bigint | null; readonly gas_floor: bigint | null }

/** The networks with a wallet on a real chain. */
export const networksWithWallet = ({ chains }: Pick<World, 'chains'>): Network[] =>
  networkNames.filter((network) => chains[network].has_wallet)

/** Asks every chain and stores the answers. Throws the last failure after all chains were asked. */
export async function refreshHoldings({ chains }: Pick<World, 'chains'>, db: Db): Promise<void> {
  let failure: unknown
  const asked = networksWithWallet({ chains }).map(async (network) => ({
    network,
    held: await chains[network].holdings().catch((error: unknown) => {
      failure = error
      return undefined
    }),
  }))
  for (const { network, held } of await Promise.all(asked)) if (held) await storeHoldings(db, network, held)
  if (failure !== undefined) throw failure
}

type Figures = { readonly held: StoredHoldings; readonly leaving: bigint }
type Shared = { readonly until: number; readonly figures: Promise<Figures | undefined> }

/** By pool: each node and world has one. */
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
  return { held, leaving: await sumLeaving(db, network, held.block_height) }
}

/** Refuses an order that the wallet cannot pay, or that would leave less than the floors. Call it before the command. */
export async function assertHeld(
  world: Pick<World, 'db' | 'chains'>,
  { network, units }: { readonly network: Network; readonly units: bigint },
  { floor, gas_floor }: Floors,
): Promise<void> {
  if (!world.chains[network].has_wallet) return
  const figures = await figuresOf(world, network)
  const is_known = figures !== undefined && figures.held.age_ms <= HOLDINGS_AGE_MS
  if (
    !is_known ||
    figures.held.asset_amount - figures.leaving - units < (floor ?? 0n) ||
    figures.held.native_amount < (gas_floor ?? 0n)
  )
    refuse('rail_unavailable', {
      message: is_known
        ? `The service cannot pay this amount on ${network} right now. Nothing moved. Send less, or retry later with the same idempotency key.`
        : `The service does not know yet what it can pay on ${network}. Nothing moved. Retry with the same idempotency key.`,
      retry_after_seconds: RETRY_AFTER_SECONDS,
    })
}
