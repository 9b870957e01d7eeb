/**
 * Which prices of exchanges are believed, as pure functions over what the exchanges said and when. Every refusal has a name, which
 * metrics and the console show. Reasons: decision 0062.
 */

/** The best bid and ask of one exchange, in 10^-8, as this node received them. */
export type Tick = {
  readonly source: string
  readonly bid: bigint
  readonly ask: bigint
  /** Time since the answer arrived, by a clock that never jumps. */
  readonly age_ms: number
  /** How old the answer was on arrival by the exchange's own time stamp; negative if the stamp was ahead. */
  readonly lag_ms?: number
  /** How old the answer may be by that stamp: a stamp of the last trade may be older than one of the order book. */
  readonly lag_most_ms?: number
}

/** Why a source is left out. `far`: too far from the median of the sources, or two sources contradict each other. */
export type SourceGuard = 'stale' | 'ahead' | 'crossed' | 'wide' | 'far'

/** Why a pair has no price although some source has one. */
export type MarketGuard = 'too_few' | 'jump'

/** A price on which the sources agreed, quoted or not, and when that was last so. */
export type Agreed = { readonly price: bigint; readonly at_ms: number }

export type Judgement = {
  readonly states: ReadonlyMap<string, 'good' | SourceGuard>
  /** Without a price nothing is quoted. */
  readonly market:
    | { readonly state: 'good'; readonly price: bigint; readonly age_ms: number }
    | { readonly state: MarketGuard }
  /** To be handed to the next judgement. */
  readonly agreed: readonly Agreed[]
}

export const SOURCES_LEAST = 2
/** From the best bid to the best ask, in basis points of the middle. */
const SPREAD_MOST_BPS = 100n
const DISTANCE_MOST_BPS = 100n
const JUMP_MOST_BPS = 500n
const JUMP_WINDOW_MS = 60_000
/** Of the time stamp of an order book. */
export const LAG_MOST_MS = 10_000
/** Tolerated lead of an exchange's clock. A larger lead would make an old answer look new. */
export const AHEAD_MOST_MS = 2000

const BPS = 10_000n

/**
 * `now_ms` is of the clock that `Agreed.at_ms` was measured with, and never jumps. A source is judged alone first (age, spread), then
 * among those that are left (distance). The price is the middle of the median bid and the median ask.
 */
export function judge(
  ticks: readonly Tick[],
  agreed: readonly Agreed[],
  { now_ms, age_most_ms }: { readonly now_ms: number; readonly age_most_ms: number },
): Judgement {
  const states = new Map<string, 'good' | SourceGuard>()
  const sound: Tick[] = []
  for (const tick of ticks) {
    const guard = guardOf(tick, age_most_ms)
    states.set(tick.source, guard ?? 'good')
    if (!guard) sound.push(tick)
  }
  const near = nearOnes(sound)
  for (const tick of sound) if (!near.includes(tick)) states.set(tick.source, 'far')

  const recent = agreed.filter(({ at_ms }) => now_ms - at_ms <= JUMP_WINDOW_MS)
  if (near.length < SOURCES_LEAST) return { states, market: { state: 'too_few' }, agreed: recent }
  const price = priceOf(near)
  const market = recent.some((before) => isJump(before.price, price))
    ? ({ state: 'jump' } as const)
    : ({ state: 'good', price, age_ms: Math.max(...near.map(({ age_ms }) => age_ms)) } as const)
  return { states, market, agreed: withAgreed(recent, { price, at_ms: now_ms }) }
}

function guardOf({ bid, ask, ...tick }: Tick, age_most_ms: number): SourceGuard | undefined {
  const { age_ms, lag_ms = 0, lag_most_ms = LAG_MOST_MS } = tick
  // Written so that a time that is no number is refused.
  if (!(age_ms >= 0 && age_ms <= age_most_ms)) return 'stale'
  if (!(lag_ms + age_ms <= lag_most_ms)) return 'stale'
  if (!(lag_ms >= -AHEAD_MOST_MS)) return 'ahead'
  if (bid <= 0n || bid > ask) return 'crossed'
  // (ask − bid) ÷ ((ask + bid) ÷ 2), without a division.
  if ((ask - bid) * 2n * BPS > (ask + bid) * SPREAD_MOST_BPS) return 'wide'
  return undefined
}

/**
 * The ticks near the median. Of an even number there are two in the middle, and a tick must be near both: of two sources that
 * contradict each other nobody knows which one lies, so both are left out.
 */
function nearOnes(ticks: readonly Tick[]): readonly Tick[] {
  const sorted = sortedBy(ticks.map(twiceTheMiddle))
  const middles = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return ticks.filter((tick) =>
    middles.every(
      (middle) =>
        middle !== undefined && distance(twiceTheMiddle(tick), middle) * BPS <= middle * DISTANCE_MOST_BPS,
    ),
  )
}

/** Rounded down to 10^-8: the side of the customer is not known here, and the spread of quotes is applied later. */
function priceOf(ticks: readonly Tick[]): bigint {
  const bid = twiceTheMedian(ticks.map((tick) => tick.bid))
  const ask = twiceTheMedian(ticks.map((tick) => tick.ask))
  return (bid + ask) / 4n
}

const isJump = (before: bigint, now: bigint): boolean => distance(before, now) * BPS > before * JUMP_MOST_BPS

/** A price that stays is one entry, so that the list is bounded by how often the price changes. */
function withAgreed(recent: readonly Agreed[], newest: Agreed): readonly Agreed[] {
  const last = recent.at(-1)
  return [...(last?.price === newest.price ? recent.slice(0, -1) : recent), newest]
}

const twiceTheMiddle = ({ bid, ask }: Tick): bigint => bid + ask
const distance = (a: bigint, b: bigint): bigint => (a > b ? a - b : b - a)
const sortedBy = (values: readonly bigint[]): readonly bigint[] =>
  values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))

function twiceTheMedian(values: readonly bigint[]): bigint {
  const sorted = sortedBy(values)
  return sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!
}
