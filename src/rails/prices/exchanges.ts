import type { Logger } from 'pino'
import { Agent } from 'undici'
import type { Clock } from '../../core/clock.ts'
import { type Exchange, type ExchangeName, exchangeNames, exchanges, marketNames } from './exchange-table.ts'
import { ETHER, type FedPrice, type FedPrices, fedPairs, type MarketFacts, type MarketFeed } from './feed.ts'
import { type Agreed, type Judgement, judge } from './guards.ts'
import { ANSWER_MOST_BYTES, openTickerSource, type TickerSource, type Truce } from './ticker-source.ts'

/**
 * Prices from the public tickers of exchanges. Each node asks for itself, in the background: `latest` reads memory, apart from the
 * first call, which starts the polling and waits for the first answers. A command of the command line that needs no price asks nobody.
 */
export type ExchangePrices = MarketFeed & { markets(): readonly MarketFacts[]; stop(): Promise<void> }

export type ExchangeUrls = Readonly<Partial<Record<ExchangeName, string>>>

type ExchangeOptions = {
  readonly urls: ExchangeUrls
  /** What was seen longer ago is not used. */
  readonly age_most_ms: number
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn' | 'info'>
  readonly poll_ms?: number
  readonly timeout_ms?: number
}

export const POLL_MS = 2500
const TIMEOUT_MS = 1500
/** However old the settings allow a price to be. */
const AGE_MOST_MS = 10_000
const CONNECTIONS_MOST = 4
const pairs = Object.keys(marketNames) as (keyof typeof marketNames)[]

export function exchangePrices(options: ExchangeOptions): ExchangePrices {
  const dispatcher = new Agent({ connections: CONNECTIONS_MOST, maxResponseSize: ANSWER_MOST_BYTES })
  const truces = new Map(exchangeNames.map((name) => [name, { until_ms: 0 }]))
  const shared = { dispatcher, truceOf: (name: ExchangeName): Truce => truces.get(name)! }
  let markets: ReadonlyMap<string, Market> | undefined
  let is_stopped = false

  async function opened(): Promise<ReadonlyMap<string, Market>> {
    if (is_stopped) return markets ?? new Map()
    markets ??= new Map(pairs.map((pair) => [pair, openMarket(pair, shared, options)]))
    await Promise.all([...markets.values()].map(({ first }) => first))
    return markets
  }

  return {
    environment: 'production',
    async latest() {
      const known = await opened()
      const prices: Partial<Record<string, FedPrice>> = {}
      for (const pair of fedPairs) {
        const price = known.get(pair)?.price()
        if (price) prices[pair] = price
      }
      return prices as FedPrices
    },
    ether: async () => (await opened()).get(ETHER)?.price(),
    markets: () => [...(markets?.values() ?? [])].map(({ facts }) => facts()),
    async stop() {
      is_stopped = true
      await dispatcher.destroy()
      await Promise.all([...(markets?.values() ?? [])].map((market) => market.stop()))
    },
  }
}

type Market = {
  readonly first: Promise<unknown>
  price(): FedPrice | undefined
  facts(): MarketFacts
  stop(): Promise<unknown>
}

type Shared = { readonly dispatcher: Agent; truceOf(name: ExchangeName): Truce }

function openMarket(pair: keyof typeof marketNames, shared: Shared, options: ExchangeOptions): Market {
  const { urls, age_most_ms, clock, log, poll_ms = POLL_MS, timeout_ms = TIMEOUT_MS } = options
  let agreed: readonly Agreed[] = []
  let last: FedPrice | undefined
  const tell = openReports(pair, log)
  const sources = (Object.entries(marketNames[pair]) as [ExchangeName, string][]).map(([name, market]) => {
    const exchange: Exchange = exchanges[name]
    const own = { name, exchange, market, url: urls[name] ?? exchange.url, truce: shared.truceOf(name) }
    const { dispatcher } = shared
    return openTickerSource({ ...own, dispatcher, clock, poll_ms, timeout_ms, onPolled: () => tell(facts()) })
  })

  function judgeNow(): Judgement {
    const ticks = sources.flatMap((source) => source.tick() ?? [])
    const now_ms = performance.now()
    const judgement = judge(ticks, agreed, { now_ms, age_most_ms: Math.min(AGE_MOST_MS, age_most_ms) })
    agreed = judgement.agreed
    const { market, states } = judgement
    if (market.state === 'good') {
      const names = [...states].filter(([, state]) => state === 'good').map(([name]) => name)
      const at = new Date(clock.now() - market.age_ms)
      last = { price: market.price, at, source: names.join('+') }
    }
    return judgement
  }

  function facts(): MarketFacts {
    const { market, states } = judgeNow()
    return { pair, state: market.state, sources: sources.map((source) => factsOf(source, states)) }
  }

  return {
    first: Promise.all(sources.map(({ first }) => first)),
    price() {
      const { market } = judgeNow()
      return last && market.state !== 'good' ? { ...last, withdrawn: true } : last
    },
    facts,
    stop: () => Promise.all(sources.map((source) => source.stop())),
  }
}

function factsOf(source: TickerSource, states: Judgement['states']): MarketFacts['sources'][number] {
  const tick = source.tick()
  const failure = source.failure()
  return {
    source: source.name,
    state: states.get(source.name) ?? failure?.kind ?? 'waiting',
    ...(tick && { price: (tick.bid + tick.ask) / 2n, age_ms: tick.age_ms }),
    ...(failure && { problem: failure.message }),
  }
}

const TELL_AGAIN_MS = 60_000

/** At most a line a minute for each source, and one for the pair. */
function openReports(pair: string, log: ExchangeOptions['log']): (facts: MarketFacts) => void {
  const told_at = new Map<string, number>()
  let is_quoted: boolean | undefined
  const mayTell = (about: string): boolean => {
    const now = performance.now()
    if (now - (told_at.get(about) ?? -Infinity) < TELL_AGAIN_MS) return false
    told_at.set(about, now)
    return true
  }
  return ({ state, sources }) => {
    // Nothing is reported until every source has answered once: before that, too few sources are good.
    if (sources.some((source) => source.state === 'waiting')) return
    for (const one of sources) {
      if (one.state === 'good' || !mayTell(one.source)) continue
      const { source, state: guard, problem } = one
      log.warn(
        { pair, source, guard },
        `prices: ${source} is left out of ${pair}: ${guard}${problem ? ` (${problem})` : ''}`,
      )
    }
    if (state !== 'good' && mayTell('the pair'))
      log.warn(
        { pair, guard: state },
        `prices: ${pair} has no price: ${state}. Quotes are refused until it has one`,
      )
    if (state === 'good' && is_quoted === false && mayTell('again'))
      log.info({ pair }, `prices: ${pair} has a price again`)
    is_quoted = state === 'good'
  }
}
