import type { ExchangeName } from '../../src/rails/prices/exchange-table.ts'

/**
 * The example answer of each exchange from its public documentation, read from stored copies of these pages. `text` is the answer,
 * `from` the page. None was recorded from a live exchange. The pages have no examples of the pairs that the service asks for, so
 * `market` names the one of the example.
 */
export type DocumentedAnswer = { readonly from: string; readonly market: string; readonly text: string }

export const documentedAnswers: Readonly<Record<ExchangeName, DocumentedAnswer>> = {
  binance: {
    from: 'https://developers.binance.com/docs/binance-spot-api-docs/rest-api/market-data-endpoints#symbol-order-book-ticker',
    market: 'LTCBTC',
    text: `{
  "symbol": "LTCBTC",
  "bidPrice": "4.00000000",
  "bidQty": "431.00000000",
  "askPrice": "4.00000200",
  "askQty": "9.00000000"
}`,
  },
  /** The page prints the payload alone; the envelope is that of every answer of this API. */
  bitso: {
    from: 'https://docs.bitso.com/bitso-api/docs/ticker',
    market: 'btc_mxn',
    text: `{"success": true, "payload": {
  "high": "472472.82",
  "last": "372110.00",
  "created_at": "2023-03-09T20:58:23+00:00",
  "book": "btc_mxn",
  "volume": "112.81964756",
  "vwap": "388387.4631589659",
  "low": "10000.00",
  "ask": "372800.00",
  "bid": "372110.00",
  "change_24": "-25580.00",
  "rolling_average_change": {
    "6": "-0.5228"
  }
}}`,
  },
  /** Put together from the examples of the fields of OrderBookResponse; `timestamp` has none. */
  mercado_bitcoin: {
    from: 'https://api.mercadobitcoin.net/api/v4/docs',
    market: 'BTC-BRL',
    text: `{
  "asks": [["650000.00000000", "1.50000000"], ["651000.00000000", "2.00000000"]],
  "bids": [["649000.00000000", "1.50000000"], ["648000.00000000", "2.00000000"]]
}`,
  },
  kraken: {
    from: 'https://docs.kraken.com/api-reference/market-data/get-ticker-information',
    market: 'XBTUSD',
    text: `{
  "error": [],
  "result": {
    "XXBTZUSD": {
      "a": ["30300.10000", "1", "1.000"],
      "b": ["30300.00000", "1", "1.000"],
      "c": ["30303.20000", "0.00067643"],
      "v": ["4083.67001100", "4412.73601799"],
      "p": ["30706.77771", "30689.13205"],
      "t": [34619, 38907],
      "l": ["29868.30000", "29868.30000"],
      "h": ["31631.00000", "31631.00000"],
      "o": "30502.80000"
    }
  }
}`,
  },
  coinbase: {
    from: 'https://docs.cdp.coinbase.com/api-reference/exchange-api/rest-api/products/get-product-ticker',
    market: 'BTC-USD',
    text: `{
  "trade_id": 86326522,
  "price": "6268.48",
  "size": "0.00698254",
  "time": "2020-03-20T00:22:57.833Z",
  "bid": "6265.15",
  "ask": "6267.71",
  "volume": "53602.03940154",
  "rfq_volume": "123.122",
  "conversions_volume": "0.00"
}`,
  },
}
