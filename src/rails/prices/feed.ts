import type { Environment } from '../../core/environment.ts'

/** The pairs with a market price. The third pair is their product. */
export const fedPairs = ['USDT/BRL', 'BTC/USDT'] as const
export type FedPair = (typeof fedPairs)[number]

export type FedPrice = {
  /** In 10^-8. */
  readonly price: bigint
  /** When the market had this price. */
  readonly at: Date
  readonly source: string
}

export type FedPrices = Readonly<Partial<Record<FedPair, FedPrice>>>

/** Returns the last known prices, however old. The caller judges their age. */
export interface PriceFeed<E extends Environment = Environment> {
  readonly environment: E
  latest(): Promise<FedPrices>
}
