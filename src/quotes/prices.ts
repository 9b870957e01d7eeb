import { refuse } from '../core/errors.ts'
import { PRICE_DECIMALS } from '../core/price.ts'
import { type FedPair, type FedPrice, type FedPrices, fedPairs } from '../rails/prices/feed.ts'
import type { Pair, Ratio } from './arithmetic.ts'
import type { SetPrice } from './store.ts'

/** What a pair is worth, and how old that knowledge is. The cross pair is the product of the other two, and as old as the older. */
export type MarketPrice = Ratio & { readonly at: Date; readonly source: string }

const made: Readonly<Record<Pair, readonly FedPair[]>> = {
  'USDT/BRL': ['USDT/BRL'],
  'BTC/USDT': ['BTC/USDT'],
  'BTC/BRL': ['BTC/USDT', 'USDT/BRL'],
}

const SCALE = 10n ** BigInt(PRICE_DECIMALS)

/** What a partner set in its sandbox stands before what the feed saw. */
export function withSetPrices(
  fed: FedPrices,
  set: (pair: FedPair) => SetPrice | undefined,
  now: Date,
): FedPrices {
  const prices: Partial<Record<FedPair, FedPrice>> = { ...fed }
  for (const pair of fedPairs) {
    const own = set(pair)
    if (own) prices[pair] = { price: own.price, at: own.observed_at ?? now, source: 'set' }
  }
  return prices
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
    }
  }
  return product
}

/**
 * The last that was seen, however old: for the books of the treasury, where neither side of a trade is BRL. Nobody's amount
 * depends on it. Where none was ever seen, nothing there is counted in BRL, and the trade is worth nothing.
 */
export const lastPrice = (pair: Pair, fed: FedPrices): Ratio =>
  marketPrice(pair, fed) ?? { units: 0n, scale: 1n }

/** Nobody is quoted from a price that is too old, from the future, or not there. */
export function freshPrice(pair: Pair, fed: FedPrices, now: Date, max_age_ms: number): MarketPrice {
  const price = marketPrice(pair, fed)
  if (!price || !isFresh(price, now, max_age_ms)) refuse('price_unavailable', { retry_after_seconds: 5 })
  return price
}

/** A clock that runs ahead a little is forgiven; one that runs far ahead would make an old price look fresh for long. */
const AHEAD_MS = 1000

export function isFresh({ at }: { at: Date }, now: Date, max_age_ms: number): boolean {
  const age = now.getTime() - at.getTime()
  return age <= max_age_ms && age >= -AHEAD_MS
}
