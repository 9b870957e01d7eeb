import type { AnyoneOfPartner } from '../../core/actor.ts'
import { refuse } from '../../core/errors.ts'
import { PRICE_DECIMALS } from '../../core/price.ts'
import type { FedPair, FedPrices } from '../../rails/prices/feed.ts'
import type { SetPrices, World } from '../../world.ts'
import { lockedPrice, type Pair, pairNames, type Ratio } from './arithmetic.ts'

/** The market price of a pair with its time. The cross pair is the product of the other two, with the older time. */
type MarketPrice = Ratio & { readonly at: Date; readonly source: string; readonly withdrawn: boolean }

const made: Readonly<Record<Pair, readonly FedPair[]>> = {
  'USDT/BRL': ['USDT/BRL'],
  'BTC/USDT': ['BTC/USDT'],
  'BTC/BRL': ['BTC/USDT', 'USDT/BRL'],
}

const SCALE = 10n ** BigInt(PRICE_DECIMALS)

/** Production: only the market sets prices. */
export const noSetPrices: SetPrices<'production'> = {
  environment: 'production',
  reads: () => [],
  held: () => ({}),
  current: async () => ({}),
}

export function marketPrice(pair: Pair, fed: FedPrices): MarketPrice | undefined {
  const factors = made[pair].map((factor) => fed[factor])
  let product: MarketPrice | undefined
  for (const factor of factors) {
    if (!factor) return undefined
    product = {
      units: (product?.units ?? 1n) * factor.price,
      scale: (product?.scale ?? 1n) * SCALE,
      at: product && product.at < factor.at ? product.at : factor.at,
      source:
        !product || product.source === factor.source ? factor.source : `${product.source}, ${factor.source}`,
      withdrawn: (product?.withdrawn ?? false) || factor.withdrawn === true,
    }
  }
  return product
}

/**
 * The last known price, however old: only for the treasury's valuation of trades without a BRL side. No customer's amount depends
 * on it. Without any known price the trade is valued at zero.
 */
export const lastPrice = (pair: Pair, fed: FedPrices): Ratio =>
  marketPrice(pair, fed) ?? { units: 0n, scale: 1n }

/** Refuses a price that is too old, from the future, withdrawn, or unknown. */
export function freshPrice(pair: Pair, fed: FedPrices, now: Date, max_age_ms: number): MarketPrice {
  const price = marketPrice(pair, fed)
  if (!price || !isFresh(price, now, max_age_ms)) refuse('price_unavailable', { retry_after_seconds: 5 })
  return price
}

/** Tolerated lead of the feed's clock. A larger lead would make an old price look fresh for long. */
const AHEAD_MS = 1000

export function isFresh(
  { at, withdrawn }: { readonly at: Date; readonly withdrawn?: boolean },
  now: Date,
  max_age_ms: number,
): boolean {
  const age = now.getTime() - at.getTime()
  return !withdrawn && age <= max_age_ms && age >= -AHEAD_MS
}

/** The current market price of each pair, and the price that a quote would lock. Pairs without a fresh price are left out. */
export type CurrentPrice = {
  readonly pair: Pair
  readonly price: bigint
  readonly buy_price: bigint
  readonly sell_price: bigint
  readonly source: string
  readonly observed_at: Date
  readonly age_ms: number
  readonly fresh: boolean
}

export async function currentPrices(world: World, { partner_id }: AnyoneOfPartner): Promise<CurrentPrice[]> {
  const now = new Date(world.clock.now())
  const { spread_bps, price_max_age_ms } = world.quoting
  const set = await world.set_prices.current(world.db, partner_id, now)
  const fed = { ...(await world.prices.latest()), ...set }
  return pairNames.flatMap((pair) => {
    const price = marketPrice(pair, fed)
    if (!price) return []
    return {
      pair,
      price: lockedPrice(price, 'sell', 0),
      buy_price: lockedPrice(price, 'buy', spread_bps),
      sell_price: lockedPrice(price, 'sell', spread_bps),
      source: price.source,
      observed_at: price.at,
      age_ms: Math.max(0, now.getTime() - price.at.getTime()),
      fresh: isFresh(price, now, price_max_age_ms),
    }
  })
}
