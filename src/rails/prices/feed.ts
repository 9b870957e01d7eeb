import type { Environment } from '../../core/environment.ts'

/** The pairs that a market is watched for. The third one is their product. */
export const fedPairs = ['USDT/BRL', 'BTC/USDT'] as const
export type FedPair = (typeof fedPairs)[number]

export type FedPrice = {
  /** In 10^-8. */
  readonly price: bigint
  /** When the market was seen at this price. */
  readonly at: Date
  readonly source: string
}

export type FedPrices = Readonly<Partial<Record<FedPair, FedPrice>>>

/** Tells what it last saw, however old; whether that is fresh enough is not its business. */
export interface PriceFeed<E extends Environment = Environment> {
  readonly environment: E
  latest(): Promise<FedPrices>
}
