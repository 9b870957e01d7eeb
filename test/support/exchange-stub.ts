import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ExchangeName, exchangeNames } from '../../src/rails/prices/exchange-table.ts'

/** A stub of all exchanges, on this machine, in the hands of a test. Each answers in its documented form. */
export type ExchangeStub = Awaited<ReturnType<typeof startExchangeStub>>

type Prices = { readonly bid: string; readonly ask: string; readonly at: Date }

/** A whole answer in the documented form, as it left the stub. */
export type Served = Prices & {
  readonly name: ExchangeName
  readonly market: string
  readonly served_at: number
}

/** What an exchange does instead of answering as it should. */
export type Misdeed =
  | 'html'
  | 'silent'
  | 'stalled'
  | 'cut'
  | 'long'
  | 'redirect'
  | 'failing'
  /** `only`: to questions about this market. */
  | { readonly status: 429; readonly retry_after?: string; readonly only?: string }
  | { readonly text: string }
  /** All prices times this, in basis points. */
  | { readonly factor_bps: number }
  /** Goes on answering what it said at that moment. */
  | { readonly frozen_at: Date }

const forms: Readonly<Record<ExchangeName, (market: string, prices: Prices) => unknown>> = {
  binance: (symbol, { bid, ask }) => ({ symbol, bidPrice: bid, bidQty: '1.0', askPrice: ask, askQty: '1.0' }),
  bitso: (book, { bid, ask, at }) => ({
    success: true,
    payload: { book, bid, ask, last: bid, created_at: at.toISOString().replace(/\.\d+Z$/, '+00:00') },
  }),
  mercado_bitcoin: (_, { bid, ask, at }) => ({
    bids: [[bid, '1.5']],
    asks: [[ask, '1.5']],
    timestamp: Math.floor(at.getTime() / 1000),
  }),
  kraken: (market, { bid, ask }) => ({
    error: [],
    result: { [market]: { a: [ask, '1', '1.000'], b: [bid, '1', '1.000'] } },
  }),
  coinbase: (_, { bid, ask, at }) => ({ trade_id: 1, price: bid, bid, ask, time: at.toISOString() }),
}

/** The order book around a price is 0.02 % wide. */
const HALF_SPREAD = 0.0001

export async function startExchangeStub() {
  const market_prices = { USDT: 5.4, BTC: 100_000, ETH: 3000 }
  const misdeeds = new Map<string, Misdeed>()
  const asked = new Map<string, number>()
  const served: Served[] = []
  const base = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  function answer(name: ExchangeName, url: string, response: ServerResponse): void {
    const misdeed = misdeeds.get(name)
    const market = /symbol=(\w+)|book=(\w+)|v4\/([\w-]+)|pair=(\w+)|products\/([\w-]+)/.exec(url)!
    const called = market.slice(1).find((part) => part !== undefined)!
    const is_spared = typeof misdeed === 'object' && 'only' in misdeed && misdeed.only !== called
    if (misdeed && !is_spared && isDone(misdeed, response)) return
    const frozen_at = typeof misdeed === 'object' && 'frozen_at' in misdeed ? misdeed.frozen_at : undefined
    const factor = typeof misdeed === 'object' && 'factor_bps' in misdeed ? misdeed.factor_bps / 10_000 : 1
    const price = priceOf(called) * factor
    const prices = {
      bid: (price * (1 - HALF_SPREAD)).toFixed(6),
      ask: (price * (1 + HALF_SPREAD)).toFixed(6),
      at: frozen_at ?? new Date(),
    }
    served.push({ name, market: called, ...prices, served_at: Date.now() })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(forms[name](called, prices)))
  }

  const priceOf = (called: string): number =>
    /^(?:usdt|USDT)/.test(called)
      ? market_prices.USDT
      : /^ETH/.test(called)
        ? market_prices.ETH
        : market_prices.BTC

  const server = createServer((request, response) => {
    const [, name, ...path] = request.url!.split('/')
    asked.set(name!, (asked.get(name!) ?? 0) + 1)
    answer(name as ExchangeName, `/${path.join('/')}`, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  const urls = Object.fromEntries(exchangeNames.map((name) => [name, `${base()}/${name}`]))
  return {
    urls,
    /** As the setting EXCHANGE_URLS. */
    setting: Object.entries(urls)
      .map(([name, url]) => `${name}=${url}`)
      .join(', '),
    /** Undefined: the exchange answers as it should again. */
    become(name: ExchangeName, misdeed: Misdeed | undefined): void {
      if (misdeed === undefined) misdeeds.delete(name)
      else misdeeds.set(name, misdeed)
    },
    move(asset: keyof typeof market_prices, price: number): void {
      market_prices[asset] = price
    },
    asked: (name: ExchangeName): number => asked.get(name) ?? 0,
    served: served as readonly Served[],
    async stop(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Returns whether the misdeed is the whole answer. */
function isDone(misdeed: Misdeed, response: ServerResponse): boolean {
  if (misdeed === 'silent') return true
  if (misdeed === 'stalled') response.writeHead(200, { 'content-length': '500' }).write('{"symbol": "USDT')
  else if (misdeed === 'html') response.end('<!doctype html><title>Just a moment…</title>')
  else if (misdeed === 'failing') response.writeHead(502).end('{}')
  else if (misdeed === 'redirect') response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
  else if (misdeed === 'long') response.end(`{"symbol": "${'x'.repeat(200_000)}"}`)
  else if (misdeed === 'cut') {
    response.writeHead(200, { 'content-length': '500' }).write('{"symbol": "USDT')
    setTimeout(() => response.destroy(), 20)
  } else if ('status' in misdeed) {
    const { status, retry_after } = misdeed
    response.writeHead(status, retry_after === undefined ? {} : { 'retry-after': retry_after }).end('{}')
  } else if ('text' in misdeed) response.end(misdeed.text)
  else return false
  return true
}
