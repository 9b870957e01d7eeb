import { type Static, Type as T, type TSchema } from 'typebox'
import type { ETHER, FedPair } from './feed.ts'

/**
 * The exchanges and what they answer, as data. A new exchange is one entry of `exchanges`, its names in `marketNames`, and its
 * documented answer in test/support/exchange-answers.ts. All calls are public and need no key.
 */
export type Exchange = {
  readonly url: string
  path(market: string): string
  readonly answer: TSchema
  /** Throws if the answer is about another market, or an error. */
  read(answer: any, market: string): BestPrices
  /** How old the exchange's time stamp may be, where it is not that of the order book. */
  readonly lag_most_ms?: number
}

/** As the exchange wrote them. Of several bids the highest counts, of several asks the lowest. */
export type BestPrices = {
  readonly bids: readonly Figure[]
  readonly asks: readonly Figure[]
  readonly stamp?: Figure | undefined
}

/** A JSON number is kept as text, unless it is a whole number (`parseExact`). */
export type Figure = string | number

const FigureForm = T.Union([T.String({ maxLength: 40 }), T.Integer()])
const Levels = T.Array(T.Array(FigureForm, { minItems: 1, maxItems: 4 }), { minItems: 1, maxItems: 100 })

/** Infers the type of the answer from its schema. */
const exchange = <Schema extends TSchema>(
  one: Omit<Exchange, 'answer' | 'read'> & {
    readonly answer: Schema
    read(answer: Static<Schema>, market: string): BestPrices
  },
): Exchange => one

const FIVE_MINUTES_MS = 300_000

export const exchanges = {
  binance: exchange({
    url: 'https://api.binance.com',
    path: (market) => `/api/v3/ticker/bookTicker?symbol=${market}`,
    answer: T.Object({ symbol: T.String(), bidPrice: FigureForm, askPrice: FigureForm }),
    read({ symbol, bidPrice, askPrice }, market) {
      assertMarket(symbol === market)
      return { bids: [bidPrice], asks: [askPrice] }
    },
  }),
  bitso: exchange({
    url: 'https://api.bitso.com',
    path: (market) => `/v3/ticker/?book=${market}`,
    answer: T.Object({
      success: T.Literal(true),
      payload: T.Object({ book: T.String(), bid: FigureForm, ask: FigureForm, created_at: FigureForm }),
    }),
    read({ payload: { book, bid, ask, created_at: stamp } }, market) {
      assertMarket(book === market)
      return { bids: [bid], asks: [ask], stamp }
    },
  }),
  /** Not the ticker: its `buy` and `sell` are documented as last prices, not as the best ones. */
  mercado_bitcoin: exchange({
    url: 'https://api.mercadobitcoin.net',
    path: (market) => `/api/v4/${market}/orderbook?limit=10`,
    answer: T.Object({ bids: Levels, asks: Levels, timestamp: T.Optional(FigureForm) }),
    read: ({ bids, asks, timestamp: stamp }) => ({
      bids: bids.map(([price]) => price!),
      asks: asks.map(([price]) => price!),
      stamp,
    }),
  }),
  kraken: exchange({
    url: 'https://api.kraken.com',
    path: (market) => `/0/public/Ticker?pair=${market}`,
    answer: T.Object({
      error: T.Array(T.Unknown(), { maxItems: 0 }),
      // The pair has another name here than in the question, for some pairs.
      result: T.Record(
        T.String(),
        T.Object({ a: T.Array(FigureForm, { minItems: 1 }), b: T.Array(FigureForm, { minItems: 1 }) }),
      ),
    }),
    read({ result }) {
      const [ticker, ...others] = Object.values(result)
      assertMarket(ticker !== undefined && others.length === 0)
      return { bids: [ticker!.b[0]!], asks: [ticker!.a[0]!] }
    },
  }),
  coinbase: exchange({
    url: 'https://api.exchange.coinbase.com',
    path: (market) => `/products/${market}/ticker`,
    answer: T.Object({ bid: FigureForm, ask: FigureForm, time: FigureForm }),
    read: ({ bid, ask, time: stamp }) => ({ bids: [bid], asks: [ask], stamp }),
    // The stamp is that of the last trade, and a quiet market trades rarely.
    lag_most_ms: FIVE_MINUTES_MS,
  }),
} as const satisfies Record<string, Exchange>

export type ExchangeName = keyof typeof exchanges
export const exchangeNames = Object.keys(exchanges) as ExchangeName[]

/** Three sources for each pair, and how each exchange calls it. */
export const marketNames: Readonly<
  Record<FedPair | typeof ETHER, Readonly<Partial<Record<ExchangeName, string>>>>
> = {
  'USDT/BRL': { binance: 'USDTBRL', bitso: 'usdt_brl', mercado_bitcoin: 'USDT-BRL' },
  'BTC/USDT': { binance: 'BTCUSDT', kraken: 'XBTUSDT', coinbase: 'BTC-USDT' },
  'ETH/USDT': { binance: 'ETHUSDT', kraken: 'ETHUSDT', coinbase: 'ETH-USDT' },
}

function assertMarket(is_asked_one: boolean): void {
  if (!is_asked_one) throw new Error('it is about another market')
}
