import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ExchangeStub, type Misdeed, startExchangeStub } from '../../../test/support/exchange-stub.ts'
import { until } from '../../../test/support/wait.ts'
import { systemClock } from '../../core/clock.ts'
import { type ExchangePrices, exchangePrices } from './exchanges.ts'
import { pauseOf } from './ticker-source.ts'

let stub: ExchangeStub
const opened: ExchangePrices[] = []

beforeEach(async () => {
  stub = await startExchangeStub()
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((prices) => prices.stop()))
  await stub.stop()
})

type Line = { readonly level: string; readonly text: string }

function open(more: Partial<Parameters<typeof exchangePrices>[0]> = {}) {
  const lines: Line[] = []
  const noting = (level: string) => (_: unknown, text?: unknown) =>
    void lines.push({ level, text: String(text) })
  const log = { warn: noting('warn'), info: noting('info') } as never
  const prices = exchangePrices({
    ...{ urls: stub.urls, age_most_ms: 60_000, clock: systemClock(), log, poll_ms: 25, timeout_ms: 60_000 },
    ...more,
  })
  opened.push(prices)
  const usdt = async () => (await prices.latest())['USDT/BRL']
  const market = (pair = 'USDT/BRL') => prices.markets().find((one) => one.pair === pair)!
  const stateOf = (source: string, pair?: string) =>
    market(pair).sources.find((one) => one.source === source)!.state
  return { prices, lines, usdt, market, stateOf }
}

test('the first call waits for the first answers, and every pair has its price', async () => {
  const { prices, market } = open()
  expect(prices.markets()).toEqual([])
  const before = Date.now()
  const latest = await prices.latest()
  expect(latest).toEqual({
    'USDT/BRL': { price: 5_40000000n, at: expect.any(Date), source: 'binance+bitso+mercado_bitcoin' },
    'BTC/USDT': { price: 100_000_00000000n, at: expect.any(Date), source: 'binance+kraken+coinbase' },
  })
  expect(latest['USDT/BRL']!.at.getTime()).toBeGreaterThanOrEqual(before - 5)
  expect(await prices.ether()).toMatchObject({ price: 3000_00000000n })
  expect(market()).toMatchObject({
    state: 'good',
    sources: [
      { source: 'binance', state: 'good', price: 5_40000000n },
      { source: 'bitso', state: 'good' },
      { source: 'mercado_bitcoin', state: 'good' },
    ],
  })
})

test('a feed that nobody reads asks nobody', async () => {
  const { prices } = open()
  await prices.stop()
  expect(stub.asked('binance')).toBe(0)
  expect(await prices.latest()).toEqual({})
})

const misdeeds: readonly [string, Misdeed, string][] = [
  ['answers HTML', 'html', 'invalid'],
  ['closes within the body', 'cut', 'unreachable'],
  ['answers without end', 'long', 'too_long'],
  ['redirects', 'redirect', 'http_status'],
  ['answers 502', 'failing', 'http_status'],
  ['answers 429', { status: 429, retry_after: '1' }, 'rate_limited'],
  ['says 1e9', { text: '{"symbol": "USDTBRL", "bidPrice": "1e9", "askPrice": "1e9"}' }, 'invalid'],
  ['says NaN', { text: '{"symbol": "USDTBRL", "bidPrice": "NaN", "askPrice": "NaN"}' }, 'invalid'],
  [
    'says zero',
    { text: '{"symbol": "USDTBRL", "bidPrice": "0.00000000", "askPrice": "0.00000000"}' },
    'invalid',
  ],
  [
    'has its bid above its ask',
    { text: '{"symbol": "USDTBRL", "bidPrice": "5.5", "askPrice": "5.4"}' },
    'crossed',
  ],
  ['has a wide book', { text: '{"symbol": "USDTBRL", "bidPrice": "5.3", "askPrice": "5.5"}' }, 'wide'],
  ['lies by 5 % upwards', { factor_bps: 10_500 }, 'far'],
  ['lies by 5 % downwards', { factor_bps: 9500 }, 'far'],
]

describe('one exchange of three', () => {
  test.each(misdeeds)('that %s is left out, and the price stays', async (_, misdeed, state) => {
    stub.become('binance', misdeed)
    const { usdt, stateOf, lines } = open()
    expect(await usdt()).toMatchObject({ price: 5_40000000n, source: 'bitso+mercado_bitcoin' })
    expect(stateOf('binance')).toBe(state)
    expect(stateOf('bitso')).toBe('good')
    expect(lines[0]).toMatchObject({
      level: 'warn',
      text: expect.stringMatching(/^prices: binance is left out of /),
    })
  })

  test.each(['silent', 'stalled'] as const)('that is %s is left out at the deadline', async (misdeed) => {
    stub.become('bitso', misdeed)
    const { usdt, stateOf } = open({ timeout_ms: 300 })
    await usdt()
    await until(async () => (await usdt())?.source === 'binance+mercado_bitcoin', 20_000)
    expect(stateOf('bitso')).toBe('timeout')
  })

  test('that is frozen is left out by its time stamp, at the latest when the others have moved on', async () => {
    stub.become('bitso', { frozen_at: new Date(Date.now() - 15_000) })
    const { usdt, stateOf } = open()
    expect(await usdt()).toMatchObject({ source: 'binance+mercado_bitcoin' })
    expect(stateOf('bitso')).toBe('stale')
  })

  test('whose clock is ahead is left out', async () => {
    stub.become('bitso', { frozen_at: new Date(Date.now() + 60_000) })
    const { usdt, stateOf } = open()
    expect(await usdt()).toMatchObject({ source: 'binance+mercado_bitcoin' })
    expect(stateOf('bitso')).toBe('ahead')
  })

  test('that comes back is used again, and one line told of it', async () => {
    stub.become('binance', 'html')
    const { usdt, stateOf, lines } = open()
    await usdt()
    await until(async () => stub.asked('binance') > 4, 20_000)
    stub.become('binance', undefined)
    await until(async () => stateOf('binance') === 'good', 20_000)
    expect(await usdt()).toMatchObject({ source: 'binance+bitso+mercado_bitcoin' })
    expect(
      lines.filter(({ text }) => text.startsWith('prices: binance is left out of USDT/BRL')),
    ).toHaveLength(1)
  })
})

describe('without two good sources', () => {
  test('the last price is withdrawn at once, and given again with the second source', async () => {
    const { usdt, market, lines } = open()
    expect((await usdt())!.withdrawn).toBeUndefined()
    stub.become('binance', 'failing')
    stub.become('bitso', 'html')
    await until(async () => market().state === 'too_few', 20_000)
    expect(await usdt()).toMatchObject({ price: 5_40000000n, withdrawn: true })
    expect(lines.map(({ text }) => text)).toContain(
      'prices: USDT/BRL has no price: too_few. Quotes are refused until it has one',
    )
    stub.become('bitso', undefined)
    await until(async () => market().state === 'good', 20_000)
    expect((await usdt())!.withdrawn).toBeUndefined()
    expect(lines).toContainEqual({ level: 'info', text: 'prices: USDT/BRL has a price again' })
  })

  test('from the start there is no price at all', async () => {
    for (const name of ['binance', 'bitso'] as const) stub.become(name, 'failing')
    const { prices } = open()
    expect((await prices.latest())['USDT/BRL']).toBeUndefined()
    expect((await prices.latest())['BTC/USDT']).toBeDefined()
  })

  test('two that contradict each other make no price', async () => {
    stub.become('binance', 'failing')
    stub.become('bitso', { factor_bps: 10_500 })
    const { usdt, stateOf, market } = open()
    expect(await usdt()).toBeUndefined()
    expect([market().state, stateOf('bitso'), stateOf('mercado_bitcoin')]).toEqual(['too_few', 'far', 'far'])
  })
})

test('a market that jumps has no price, and the price before is withdrawn', async () => {
  const { usdt, market } = open()
  await usdt()
  stub.move('USDT', 5.4 * 1.06)
  await until(async () => market().state === 'jump', 20_000)
  expect(await usdt()).toMatchObject({ withdrawn: true })
})

describe('an exchange is spared', () => {
  test('it is asked once at a time and once in each interval', async () => {
    const { usdt } = open({ poll_ms: 60_000 })
    await Promise.all(Array.from({ length: 20 }, () => usdt()))
    expect(stub.asked('bitso')).toBe(1)
    // Three pairs.
    expect(stub.asked('binance')).toBe(3)
  })

  test('after 429 it is not asked before the time that it names', async () => {
    stub.become('bitso', { status: 429, retry_after: '600' })
    const { usdt } = open()
    await usdt()
    await until(async () => stub.asked('mercado_bitcoin') > 10, 20_000)
    expect(stub.asked('bitso')).toBe(1)
  })

  test('after 429 about one pair it is not asked about the others either', async () => {
    stub.become('binance', { status: 429, retry_after: '600', only: 'USDTBRL' })
    const { usdt, stateOf } = open()
    await usdt()
    await until(async () => stateOf('binance', 'ETH/USDT') === 'rate_limited', 20_000)
    await until(async () => stateOf('binance', 'BTC/USDT') === 'rate_limited', 20_000)
    const asked = stub.asked('binance')
    const others = stub.asked('kraken')
    await until(async () => stub.asked('kraken') > others + 10, 20_000)
    expect(stub.asked('binance')).toBe(asked)
  })

  test('Retry-After is seconds or a date, bounded; nonsense means a minute', () => {
    const clock = { now: () => Date.UTC(2026, 10, 18, 10) }
    expect(pauseOf('7', clock)).toBe(7000)
    expect(pauseOf('Wed, 18 Nov 2026 10:00:30 GMT', clock)).toBe(30_000)
    expect(pauseOf('999999', clock)).toBe(600_000)
    expect(pauseOf('Wed, 18 Nov 2099 10:00:30 GMT', clock)).toBe(600_000)
    for (const nonsense of [undefined, '', '0', '-5', 'soon', 'Wed, 18 Nov 2020 10:00:30 GMT', ['1', '2']])
      expect(pauseOf(nonsense, clock)).toBe(60_000)
  })
})

describe('a clock that jumps', () => {
  const openWithClock = () => {
    let shift = 0
    const clock = { now: () => Date.now() + shift, adjust: () => {} }
    const jump = (ms: number) => {
      shift += ms
    }
    // Asked once: what was seen before the jump is all there is.
    return { jump, clock, ...open({ clock, poll_ms: 60_000 }) }
  }

  test('forwards, as after a suspended machine, withdraws the price', async () => {
    const { usdt, jump, clock } = openWithClock()
    expect((await usdt())!.withdrawn).toBeUndefined()
    jump(3_600_000)
    expect(await usdt()).toMatchObject({ withdrawn: true })
    expect((await usdt())!.at.getTime()).toBeLessThan(clock.now() - 3_500_000)
  })

  test('backwards does not make a price younger than it is', async () => {
    const { usdt, jump, clock } = openWithClock()
    await usdt()
    jump(-3_600_000)
    const price = (await usdt())!
    expect(price.at.getTime()).toBeLessThanOrEqual(clock.now())
  })
})

test('a stop ends a request under way at once', async () => {
  stub.become('kraken', 'silent')
  const { prices } = open({ timeout_ms: 600_000 })
  const first = prices.latest()
  await until(async () => stub.asked('kraken') > 0, 20_000)
  await prices.stop()
  await first
  const asked = stub.asked('binance')
  expect(await prices.latest()).toBeDefined()
  expect(stub.asked('binance')).toBe(asked)
})
