import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { size } from '../../../test/support/size.ts'
import { Refusal } from '../../core/errors.ts'
import { type Asset, assetNames, assets, UNITS_MAX } from '../../core/money.ts'
import { formatPrice, parsePrice } from '../../core/price.ts'
import {
  type AmountType,
  convert,
  displayPrice,
  feeRates,
  fromUnits,
  lockedPrice,
  pairOf,
  type Rate,
  rateOf,
  toUnits,
} from './arithmetic.ts'

const RUNS = size(120_000, 20_000)

/** The contract's rules again, in exact fractions without intermediate rounding. */
type Fraction = { readonly n: bigint; readonly d: bigint }
const times = (a: Fraction, b: Fraction): Fraction => ({ n: a.n * b.n, d: a.d * b.d })
const over = (a: Fraction, b: Fraction): Fraction => ({ n: a.n * b.d, d: a.d * b.n })
const floor = ({ n, d }: Fraction) => n / d
const ceil = ({ n, d }: Fraction) => (n + d - 1n) / d
const whole = (n: bigint): Fraction => ({ n, d: 1n })
const scale = (asset: Asset) => whole(10n ** BigInt(assets[asset].decimals))

const pairs = assetNames.flatMap((from) => assetNames.filter((to) => to !== from).map((to) => ({ from, to })))
const market = fc.bigInt({ min: 1n, max: 10n ** 16n - 1n })
const amounts = fc.oneof(
  fc.bigInt({ min: 1n, max: UNITS_MAX }),
  fc.bigInt({ min: 1n, max: 10n ** 10n }),
  fc.bigInt({ min: 1n, max: 1000n }),
)
const order = fc.record({
  sides: fc.constantFrom(...pairs),
  market_price: fc.oneof(market, fc.bigInt({ min: 10n ** 8n, max: 10n ** 9n }), fc.constant(540_000_000n)),
  amount: amounts,
  amount_of: fc.constantFrom('from', 'to'),
  amount_type: fc.constantFrom<AmountType>('gross', 'net'),
  partner_fee_bps: fc.integer({ min: 0, max: 1000 }),
  service_fee_bps: fc.integer({ min: 0, max: 1000 }),
  partner_fee_share_pct: fc.integer({ min: 0, max: 100 }),
})

function attempt<T>(work: () => T): T | string {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
}

describe('contract §10', () => {
  test(`${RUNS} random quotes keep every rule`, () => {
    const seen = { quoted: 0, amount_too_small: 0, amount_too_large: 0 }
    fc.assert(
      fc.property(order, ({ sides: { from, to }, market_price, ...wanted }) => {
        const { side } = pairOf(from, to)!
        const rate = rateOf({ from, to, side, market_price })
        const rates = feeRates(wanted)
        expect(rates.partner_bps + rates.service_bps).toBe(wanted.partner_fee_bps + wanted.service_fee_bps)
        expect(rates.partner_bps).toBeGreaterThanOrEqual(0)
        const made = attempt(() => convert({ ...wanted, rate, ...rates }))

        const price: Fraction = { n: market_price, d: 10n ** 8n }
        const exactTo = (x: bigint) =>
          side === 'buy'
            ? over(times(whole(x), scale(to)), times(price, scale(from)))
            : over(times(times(whole(x), price), scale(to)), scale(from))
        const exactFrom = (y: bigint) =>
          side === 'buy'
            ? over(times(times(whole(y), price), scale(from)), scale(to))
            : over(times(whole(y), scale(from)), times(price, scale(to)))

        const base = wanted.amount_of === 'from' ? wanted.amount : ceil(exactFrom(wanted.amount))
        const share = (bps: number) => ceil({ n: base * BigInt(bps), d: 10_000n })
        const partner = share(rates.partner_bps)
        const service = share(rates.service_bps)
        const converted = wanted.amount_type === 'gross' ? base - partner - service : base
        const from_amount = converted + partner + service
        const exact = wanted.amount_type === 'net' && wanted.amount_of === 'to'
        const to_amount = exact ? wanted.amount : converted > 0n ? floor(exactTo(converted)) : 0n
        if (converted <= 0n || to_amount === 0n) {
          seen.amount_too_small++
          expect(made).toBe('amount_too_small')
          return
        }
        if (from_amount > UNITS_MAX || to_amount > UNITS_MAX) {
          seen.amount_too_large++
          expect(made).toBe('amount_too_large')
          return
        }
        seen.quoted++
        expect(made).toEqual({ from_amount, to_amount, partner_fee: partner, service_fee: service })
        // Interface §4.3, literally.
        if (wanted.amount_type === 'gross' && wanted.amount_of === 'from')
          expect(from_amount).toBe(wanted.amount)
        if (exact) expect(to_amount).toBe(wanted.amount)
        if (wanted.amount_type === 'net' && wanted.amount_of === 'from')
          expect(from_amount - partner - service).toBe(wanted.amount)
        // Never in the customer's favour, and by less than one unit against it.
        expect(toUnits(converted, rate)).toBeGreaterThanOrEqual(to_amount)
        if (!exact) expect(toUnits(converted, rate)).toBe(to_amount)
        else expect(fromUnits(to_amount, rate)).toBe(converted)
      }),
      { numRuns: RUNS },
    )
    // The generator must reach all three outcomes.
    expect(seen.quoted).toBeGreaterThan(RUNS / 3)
    expect(seen.amount_too_small).toBeGreaterThan(RUNS / 100)
    expect(seen.amount_too_large).toBeGreaterThan(RUNS / 100)
  })

  test('converting there and back never gains a unit, whichever way it is asked for', () => {
    const free = { partner_bps: 0, service_bps: 0 }
    let turns = 0
    fc.assert(
      fc.property(
        fc.constantFrom(...pairs),
        market,
        amounts,
        fc.constantFrom<AmountType>('gross', 'net'),
        fc.constantFrom('from', 'to'),
        ({ from, to }, market_price, amount, amount_type, amount_of) => {
          const rate = (a: Asset, b: Asset): Rate =>
            rateOf({ from: a, to: b, side: pairOf(a, b)!.side, market_price })
          const there = attempt(() =>
            convert({ amount, amount_of, amount_type, rate: rate(from, to), ...free }),
          )
          if (typeof there === 'string') return
          const back = attempt(() =>
            convert({
              amount: there.to_amount,
              amount_of: 'from',
              amount_type: 'gross',
              rate: rate(to, from),
              ...free,
            }),
          )
          if (typeof back === 'string') return
          turns++
          expect(back.to_amount).toBeLessThanOrEqual(there.from_amount)
          // Buying that exact amount again costs at least as much.
          const again = attempt(() =>
            convert({
              amount: there.from_amount,
              amount_of: 'to',
              amount_type: 'net',
              rate: rate(to, from),
              ...free,
            }),
          )
          if (typeof again !== 'string') expect(again.from_amount).toBeGreaterThanOrEqual(there.to_amount)
        },
      ),
      { numRuns: 30_000 },
    )
    expect(turns).toBeGreaterThan(5000)
  })

  test('a spread moves the price against the customer, never by more than its rounding beyond the spread', () => {
    fc.assert(
      fc.property(market, market, fc.integer({ min: 0, max: 1000 }), (a, b, spread) => {
        const cross = { units: a * b, scale: 10n ** 16n }
        const buy = lockedPrice(cross, 'buy', spread)
        const sell = lockedPrice(cross, 'sell', spread)
        const exact = (bps: bigint) => ({ n: a * b * bps, d: 10n ** 12n })
        expect(buy).toBe(ceil(exact(10_000n + BigInt(spread))))
        expect(sell).toBe(floor(exact(10_000n - BigInt(spread))))
        expect(buy).toBeGreaterThanOrEqual(sell)
      }),
      { numRuns: 5000 },
    )
    const market_price = { units: 540_000_000n, scale: 10n ** 8n }
    expect(formatPrice(lockedPrice(market_price, 'buy', 25))).toBe('5.4135')
    expect(formatPrice(lockedPrice(market_price, 'sell', 25))).toBe('5.3865')
  })

  test('prices are read and written as exact decimals', () => {
    expect(parsePrice('5.40')).toBe(540_000_000n)
    expect(parsePrice('0.00000001')).toBe(1n)
    expect(parsePrice('99999999.99999999')).toBe(10n ** 16n - 1n)
    for (const wrong of [
      '',
      '0',
      '0.0',
      '-1',
      '+1',
      '01',
      '1.',
      '.5',
      '1e3',
      '1,5',
      '5.400000001',
      '100000000',
      ' 1',
      '٣',
    ])
      expect(parsePrice(wrong), wrong).toBeUndefined()
    fc.assert(fc.property(market, (price) => parsePrice(formatPrice(price)) === price))
  })

  test('only two different assets are a pair', () => {
    for (const asset of assetNames) expect(pairOf(asset, asset)).toBeUndefined()
    expect(pairOf('BRL', 'BTC')).toEqual({ pair: 'BTC/BRL', side: 'buy' })
    expect(pairOf('USDT', 'BRL')).toEqual({ pair: 'USDT/BRL', side: 'sell' })
  })
})

const guide = readFileSync(new URL('../../../docs/guides/conversions.md', import.meta.url), 'utf8')
const lines = guide.split('\n')
const header = lines.findIndex((line) => line.startsWith('| from | to | price |'))
const examples = lines
  .slice(header + 2)
  .slice(
    0,
    lines.slice(header + 2).findIndex((line) => !line.startsWith('|')),
  )
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )

test('the guide has its table of examples', () => expect(examples.length).toBeGreaterThan(10))

test.each(examples)('guide: %s → %s at %s, %s/%s bps, share %s, %s %s %s', (...cells) => {
  const [from, to, price, service, partner, share, amount_type, amount_of, amount, ...results] = cells as [
    Asset,
    Asset,
    string,
    string,
    string,
    string,
    AmountType,
    'from' | 'to',
    string,
    ...string[],
  ]
  const { side } = pairOf(from, to)!
  const rate = rateOf({ from, to, side, market_price: parsePrice(price)! })
  const rates = feeRates({
    partner_fee_bps: Number(partner),
    service_fee_bps: Number(service),
    partner_fee_share_pct: Number(share),
  })
  const { from_amount, to_amount, partner_fee, service_fee } = convert({
    amount: BigInt(amount),
    amount_of,
    amount_type,
    rate,
    ...rates,
  })
  const made = [from_amount, to_amount, partner_fee, service_fee, displayPrice(to, rate)]
  expect(made.map(String)).toEqual(results)
})
