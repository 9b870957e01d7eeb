import type { Environment } from '../../core/environment.ts'

/** The pairs with a market price. The third pair is their product. */
export const fedPairs = ['USDT/BRL', 'BTC/USDT'] as const
export type FedPair = (typeof fedPairs)[number]

/** The price of ether is for the fee on ethereum only: nothing is quoted from it. */
export const ETHER = 'ETH/USDT'

export type FedPrice = {
  /** In 10^-8. */
  readonly price: bigint
  /** When the market had this price. */
  readonly at: Date
  readonly source: string
  /** The market no longer confirms the price: nothing is quoted from it, however young it is. */
  readonly withdrawn?: true
}

export type FedPrices = Readonly<Partial<Record<FedPair, FedPrice>>>

/** Returns the last known prices, however old. The caller judges their age. */
export interface PriceFeed<E extends Environment = Environment> {
  readonly environment: E
  latest(): Promise<FedPrices>
  /** What each source of each pair said last. Absent where prices do not come from several sources. */
  markets?(): readonly MarketFacts[]
}

/** A feed that also knows the price of ether. */
export type MarketFeed = PriceFeed<'production'> & { ether(): Promise<FedPrice | undefined> }

export type MarketFacts = {
  readonly pair: string
  /** `good`, or the guard that refuses a price of this pair. */
  readonly state: string
  readonly sources: readonly SourceFacts[]
}

export type SourceFacts = {
  readonly source: string
  /** `good`, `waiting` before the first answer, the guard that refuses what the source says, or why its last answer failed. */
  readonly state: string
  /** The middle of bid and ask, in 10^-8. Absent if the last answer failed. */
  readonly price?: bigint
  readonly age_ms?: number
  /** What was wrong with the last answer; short, printable ASCII. */
  readonly problem?: string
}
