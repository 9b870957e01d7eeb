import { describe, expect, test } from 'vitest'
import { type Agreed, type Judgement, judge, type Tick } from './guards.ts'

const PRICE = 5_40000000n
const AT = { now_ms: 1_000_000, age_most_ms: 5000 }

const tick = (source: string, price: bigint, more: Partial<Tick> = {}): Tick => ({
  ...{ source, bid: price - price / 10_000n, ask: price + price / 10_000n, age_ms: 1000 },
  ...more,
})
const three = (a: bigint, b: bigint, c: bigint) => [tick('a', a), tick('b', b), tick('c', c)]
const times = (price: bigint, bps: bigint) => (price * bps) / 10_000n
const stateOf = (one: Partial<Tick>) =>
  judge([tick('a', PRICE, one), tick('b', PRICE), tick('c', PRICE)], [], AT).states.get('a')
const priceOf = ({ market }: Judgement) => (market.state === 'good' ? market.price : market.state)

describe('a source', () => {
  test('is good up to the limits, and refused beyond them', () => {
    expect(stateOf({})).toBe('good')
    expect(stateOf({ age_ms: 5000 })).toBe('good')
    expect(stateOf({ age_ms: 5001 })).toBe('stale')
    expect(stateOf({ age_ms: -1 })).toBe('stale')
    expect(stateOf({ age_ms: Number.NaN })).toBe('stale')
    expect(stateOf({ lag_ms: 9000 })).toBe('good')
    expect(stateOf({ lag_ms: 9001 })).toBe('stale')
    expect(stateOf({ lag_ms: Number.NaN })).toBe('stale')
    expect(stateOf({ lag_ms: 299_000, lag_most_ms: 300_000 })).toBe('good')
    expect(stateOf({ lag_ms: 299_001, lag_most_ms: 300_000 })).toBe('stale')
    expect(stateOf({ lag_ms: -2000 })).toBe('good')
    expect(stateOf({ lag_ms: -2001 })).toBe('ahead')
    expect(stateOf({ bid: PRICE, ask: PRICE })).toBe('good')
    expect(stateOf({ bid: PRICE + 1n, ask: PRICE })).toBe('crossed')
    expect(stateOf({ bid: 0n, ask: PRICE })).toBe('crossed')
    expect(stateOf({ bid: -PRICE, ask: PRICE })).toBe('crossed')
    expect(stateOf({ bid: 995_000n, ask: 1_005_000n })).toBe('far')
    expect(stateOf({ bid: times(PRICE, 9950n), ask: times(PRICE, 10_050n) })).toBe('good')
    expect(stateOf({ bid: times(PRICE, 9950n) - 1n, ask: times(PRICE, 10_050n) })).toBe('wide')
  })

  test('is far from the median beyond one per cent', () => {
    expect(judge(three(times(PRICE, 10_100n), PRICE, PRICE), [], AT).states.get('a')).toBe('good')
    expect(judge(three(times(PRICE, 10_101n), PRICE, PRICE), [], AT).states.get('a')).toBe('far')
    expect(judge(three(times(PRICE, 9899n), PRICE, PRICE), [], AT).states.get('a')).toBe('far')
  })
})

describe('the price', () => {
  test('is the middle of the median bid and the median ask', () => {
    const judged = judge(
      [
        { source: 'a', bid: 5_39000000n, ask: 5_40000000n, age_ms: 300 },
        { source: 'b', bid: 5_39500000n, ask: 5_41000000n, age_ms: 2000 },
        { source: 'c', bid: 5_39900000n, ask: 5_40500000n, age_ms: 100 },
      ],
      [],
      AT,
    )
    expect(judged.market).toEqual({ state: 'good', price: 5_40000000n, age_ms: 2000 })
  })

  test('needs two good sources', () => {
    expect(priceOf(judge([], [], AT))).toBe('too_few')
    expect(priceOf(judge([tick('a', PRICE)], [], AT))).toBe('too_few')
    expect(priceOf(judge([tick('a', PRICE), tick('b', PRICE)], [], AT))).toBe(PRICE)
    expect(priceOf(judge([tick('a', PRICE), tick('b', PRICE, { age_ms: 9000 })], [], AT))).toBe('too_few')
  })

  test('stops for a minute after a jump of more than five per cent, up or down, and then follows', () => {
    for (const bps of [10_501n, 9499n]) {
      let { agreed } = judge(three(PRICE, PRICE, PRICE), [], { ...AT, now_ms: 0 })
      const after = times(PRICE, bps)
      for (const [now_ms, expected] of [
        [1000, 'jump'],
        [30_000, 'jump'],
        [60_000, 'jump'],
        [60_001, after],
      ] as const) {
        const judged = judge(three(after, after, after), agreed, { ...AT, now_ms })
        expect(priceOf(judged)).toBe(expected)
        agreed = judged.agreed
      }
    }
  })

  test('moves by five per cent in a minute and no more, however small the steps', () => {
    let agreed: readonly Agreed[] = []
    const quoted: bigint[] = []
    for (let step = 0; step < 60; step++) {
      const now = PRICE + (PRICE * BigInt(step)) / 500n
      const judged = judge(three(now, now, now), agreed, { ...AT, now_ms: step * 1000 })
      agreed = judged.agreed
      if (judged.market.state === 'good') quoted.push(judged.market.price)
    }
    expect(quoted.at(-1)! <= times(PRICE, 10_500n)).toBe(true)
    expect(quoted.length).toBeLessThan(60)
  })

  test('that stays the same is remembered once', () => {
    let agreed: readonly Agreed[] = []
    for (let now_ms = 0; now_ms < 30_000; now_ms += 10)
      agreed = judge(three(PRICE, PRICE, PRICE), agreed, { ...AT, now_ms }).agreed
    expect(agreed).toEqual([{ price: PRICE, at_ms: 29_990 }])
  })
})

describe('an exchange that lies', () => {
  const lies = [1n, 5000n, 9500n, 9899n, 9950n, 10_050n, 10_099n, 10_101n, 10_500n, 20_000n, 1_000_000n]

  test('alone among three moves nothing beyond what the two others say', () => {
    const [low, high] = [PRICE, times(PRICE, 10_020n)]
    for (const bps of lies) {
      const judged = judge(three(low, high, times(PRICE, bps)), [], AT)
      const price = priceOf(judged)
      expect(typeof price === 'bigint' && price >= low && price <= high, `${bps}: ${price}`).toBe(true)
    }
  })

  test('with one side of its book among three moves nothing either', () => {
    for (const bps of lies) {
      const ask = times(PRICE, bps)
      const price = priceOf(judge([tick('a', PRICE), tick('b', PRICE), tick('c', PRICE, { ask })], [], AT))
      expect(price, `${bps}`).toBe(PRICE)
    }
  })

  test('against one other moves the price by half a per cent at most, or there is none', () => {
    for (const bps of lies) {
      const price = priceOf(judge([tick('a', PRICE), tick('b', times(PRICE, bps))], [], AT))
      if (typeof price !== 'bigint') continue
      expect(price >= times(PRICE, 9949n) && price <= times(PRICE, 10_051n), `${bps}: ${price}`).toBe(true)
    }
    const contradiction = judge([tick('a', PRICE), tick('b', times(PRICE, 10_500n))], [], AT)
    expect(contradiction.market.state).toBe('too_few')
    expect([...contradiction.states.values()]).toEqual(['far', 'far'])
  })

  test('together with a second one of three is stopped for a minute by the jump, and named by nobody', () => {
    const { agreed } = judge(three(PRICE, PRICE, PRICE), [], AT)
    const lie = times(PRICE, 11_000n)
    const judged = judge(three(PRICE, lie, lie), agreed, AT)
    expect(priceOf(judged)).toBe('jump')
    // The guards cannot know who lies: the two are the median now.
    expect(judged.states.get('a')).toBe('far')
    const slow = judge(three(PRICE, times(PRICE, 10_400n), times(PRICE, 10_400n)), agreed, AT)
    expect(priceOf(slow)).toBe(times(PRICE, 10_400n))
  })
})

/**
 * The same rules, written again in another way: with whole lists, counting in place of sorting, and fractions. Slow and plain.
 */
type Fraction = readonly [numerator: bigint, denominator: bigint]
const isAtMost = ([a, b]: Fraction, [c, d]: Fraction) => a * d <= c * b
const between = (a: bigint, b: bigint) => (a < b ? b - a : a - b)

/** The values with at least half of all on either side, themselves included. */
function medians(values: readonly bigint[]): bigint[] {
  const half = values.length / 2
  return values.filter(
    (value) =>
      values.filter((other) => other <= value).length >= half &&
      values.filter((other) => other >= value).length >= half,
  )
}
const lowest = (values: readonly bigint[]) => values.reduce((a, b) => (a < b ? a : b))
const highest = (values: readonly bigint[]) => values.reduce((a, b) => (a > b ? a : b))

type Seen = { readonly price: bigint; readonly at_ms: number }
function modelOf(ticks: readonly Tick[], all_seen: readonly Seen[], now_ms: number, age_most_ms: number) {
  const sound = ticks.filter(({ bid, ask, age_ms, lag_ms, lag_most_ms }) => {
    const is_recent = age_ms <= age_most_ms && age_ms >= 0
    const is_stamped_well =
      lag_ms === undefined || (lag_ms >= -2000 && lag_ms + age_ms <= (lag_most_ms ?? 10_000))
    const is_book = bid > 0n && ask >= bid
    return is_recent && is_stamped_well && is_book && isAtMost([2n * (ask - bid), ask + bid], [1n, 100n])
  })
  const middles = sound.map(({ bid, ask }) => bid + ask)
  const good = sound.filter(({ bid, ask }) =>
    medians(middles).every((median) => isAtMost([between(bid + ask, median), median], [1n, 100n])),
  )
  if (good.length < 2) return { state: 'too_few' as const, good }
  const sides = [good.map(({ bid }) => bid), good.map(({ ask }) => ask)].map(medians)
  const price = sides.reduce((sum, side) => sum + lowest(side) + highest(side), 0n) / 4n
  const is_jump = all_seen.some(
    (seen) =>
      now_ms - seen.at_ms <= 60_000 && !isAtMost([between(price, seen.price), seen.price], [5n, 100n]),
  )
  return { state: is_jump ? ('jump' as const) : ('good' as const), price, good }
}

/** mulberry32: the same numbers in every run. */
function openRandom(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const upTo = (most: number) => Math.floor(next() * (most + 1))
  return { next, upTo, oneOf: <T>(values: readonly T[]): T => values[upTo(values.length - 1)]! }
}

/** Often at a limit, or one unit beside it. */
const OFFSETS_BPS = [
  0, 0, 0, 3, -3, 20, -20, 49, 50, 51, 99, 100, -100, 101, -101, 200, 499, 500, -500, 501, 9000, -9000,
]
const AGES = [0, 100, 2500, 4999, 5000, 5001, 60_000, -1]
const LAGS = [undefined, undefined, 0, 1000, 9000, 9999, 10_000, -1999, -2000, -2001, 299_000]

function randomTick({ upTo, oneOf }: ReturnType<typeof openRandom>, source: string, base: bigint): Tick {
  const middle = base + (base * BigInt(oneOf(OFFSETS_BPS))) / 10_000n + BigInt(upTo(2) - 1)
  const half = (middle * BigInt(oneOf([0, 1, 1, 5, 49, 50, 51, 300, -10]))) / 10_000n
  const lag_ms = oneOf(LAGS)
  return {
    ...{ source, bid: middle - half, ask: middle + half + BigInt(upTo(1)) },
    age_ms: upTo(3) === 0 ? oneOf(AGES) : upTo(4000),
    ...(lag_ms === undefined ? {} : { lag_ms: upTo(3) === 0 ? lag_ms : upTo(3000) }),
    ...(upTo(4) === 0 ? { lag_most_ms: 300_000 } : {}),
  }
}

test('in 10,000 random sequences no price is outside the guards, and all are those of an independent model', () => {
  const counts = { good: 0, jump: 0, too_few: 0 }
  for (let seed = 1; seed <= 10_000; seed++) {
    const random = openRandom(seed)
    let base = BigInt(1 + random.upTo(random.oneOf([50, 10 ** 9, 10 ** 14])))
    let now_ms = random.upTo(10 ** 6)
    let agreed: readonly Agreed[] = []
    const seen: Seen[] = []
    for (let step = 0; step < 8; step++) {
      now_ms += random.oneOf([0, 1, 2500, 2500, 30_000, 60_000, 60_001])
      base += (base * BigInt(random.oneOf([0, 0, 0, 10, -10, 200, -200, 499, 501, -501, 3000]))) / 10_000n
      const ticks = ['a', 'b', 'c', 'd']
        .slice(0, random.oneOf([1, 2, 3, 3, 3, 4]))
        .map((source) => randomTick(random, source, base))
      const judged = judge(ticks, agreed, { now_ms, age_most_ms: 5000 })
      const model = modelOf(ticks, seen, now_ms, 5000)
      const where = `seed ${seed}, step ${step}`
      counts[judged.market.state]++

      if (judged.market.state !== model.state) expect.fail(`${where}: ${judged.market.state}, ${model.state}`)
      const good = ticks.filter(({ source }) => judged.states.get(source) === 'good')
      if (good.length !== model.good.length || good.some((one) => !model.good.includes(one)))
        expect.fail(`${where}: other sources are good`)
      if (judged.market.state === 'good') {
        const { price, age_ms } = judged.market
        if (price !== model.price) expect.fail(`${where}: ${price}, not ${model.price}`)
        const is_inside =
          price >= lowest(good.map(({ bid }) => bid)) &&
          price <= highest(good.map(({ ask }) => ask)) &&
          age_ms === Math.max(...good.map((one) => one.age_ms)) &&
          age_ms <= 5000 &&
          good.length >= 2
        if (!is_inside) expect.fail(`${where}: ${price} is outside the guards`)
      }
      if (model.price !== undefined) seen.push({ price: model.price, at_ms: now_ms })
      agreed = judged.agreed
    }
  }
  // The sequences reach every outcome, often.
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(1000)
})
