import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FeeInput, gasLimitOf, type Offered, offerFees } from './fees.ts'

const gwei = 10n ** 9n
const input = (changes: Partial<FeeInput> = {}): FeeInput => ({
  purpose: 'pay',
  gas_limit: 65_000n,
  base_fee: 20n * gwei,
  priority: 2n * gwei,
  priority_most: 100n * gwei,
  cost_most: 10n ** 18n,
  made: [],
  ...changes,
})
const offered = (max_fee: bigint, priority: bigint, purpose: 'pay' | 'cancel' = 'pay'): Offered => ({
  ...{ max_fee, priority, purpose },
})
const later = (why: string) => ({ kind: 'later', why })
const offer = (max_fee: bigint, priority: bigint) => ({ kind: 'offer', fees: { max_fee, priority } })

describe('the first transaction', () => {
  test('offers twice the base fee and the priority', () => {
    expect(offerFees(input())).toEqual(offer(42n * gwei, 2n * gwei))
  })

  test('offers no higher priority than allowed', () => {
    expect(offerFees(input({ priority: 500n * gwei }))).toEqual(offer(140n * gwei, 100n * gwei))
  })

  test('waits while it could cost more than the cap', () => {
    const cost = 42n * gwei * 65_000n
    expect(offerFees(input({ cost_most: cost }))).toMatchObject({ kind: 'offer' })
    expect(offerFees(input({ cost_most: cost - 1n }))).toEqual(later('fee_above_cap'))
  })
})

describe('a replacement', () => {
  test('waits while the newest transaction offers as much as today’s fees', () => {
    expect(offerFees(input({ made: [offered(42n * gwei, 2n * gwei)] }))).toEqual(later('not_worth_it'))
    expect(offerFees(input({ made: [offered(50n * gwei, 3n * gwei)] }))).toEqual(later('not_worth_it'))
  })

  test('raises both fields by an eighth, rounded up, when one of today’s is higher', () => {
    expect(offerFees(input({ made: [offered(41n * gwei, 2n * gwei)] }))).toEqual(
      offer(46_125_000_000n, 2_250_000_000n),
    )
    expect(offerFees(input({ base_fee: 4n, priority: 1n, made: [offered(8n, 1n)] }))).toEqual(offer(9n, 2n))
  })

  test('offers today’s fees where they are higher than that', () => {
    expect(offerFees(input({ base_fee: 60n * gwei, made: [offered(42n * gwei, 2n * gwei)] }))).toEqual(
      offer(122n * gwei, 2_250_000_000n),
    )
  })

  test('is above the highest of all transactions ever made, not only above the newest', () => {
    const made = [offered(80n * gwei, 1n * gwei), offered(40n * gwei, 9n * gwei)]
    expect(offerFees(input({ made }))).toEqual(offer(90n * gwei, 10_125_000_000n))
  })

  test('waits while it could cost more than the cap', () => {
    const made = [offered(41n * gwei, 2n * gwei)]
    expect(offerFees(input({ made, cost_most: 46_125_000_000n * 65_000n - 1n }))).toEqual(
      later('fee_above_cap'),
    )
  })

  test('that cancels is always worth it the first time, and then as any other', () => {
    const made = [offered(80n * gwei, 8n * gwei)]
    const canceled = offer(90n * gwei, 9n * gwei)
    expect(offerFees(input({ purpose: 'cancel', made }))).toEqual(canceled)
    const twice = [...made, offered(90n * gwei, 9n * gwei, 'cancel')]
    expect(offerFees(input({ purpose: 'cancel', made: twice }))).toEqual(later('not_worth_it'))
  })

  test('always passes the rule of nodes, and never costs more than the cap', () => {
    const fee = fc.bigInt({ min: 0n, max: 10n ** 13n })
    const one = fc.tuple(fee, fee).map(([a, b]) => offered(a + b, a))
    fc.assert(
      fc.property(fee, fee, fc.array(one, { maxLength: 5 }), (base_fee, priority, made) => {
        const found = offerFees(input({ base_fee, priority, made, priority_most: 10n ** 14n }))
        if (found.kind === 'later') return
        const { fees } = found
        expect(fees.max_fee * 65_000n).toBeLessThanOrEqual(10n ** 18n)
        expect(fees.priority).toBeLessThanOrEqual(fees.max_fee)
        for (const { max_fee, priority } of made)
          for (const [next, before] of [
            [fees.max_fee, max_fee],
            [fees.priority, priority],
          ] as const) {
            expect(next).toBeGreaterThan(before)
            expect(next * 1000n).toBeGreaterThanOrEqual(before * 1125n)
          }
      }),
    )
  })
})

test('gas is a fifth more than estimated, and enough for a recipient without tokens', () => {
  expect(gasLimitOf('pay', 63_221n)).toBe(75_866n)
  expect(gasLimitOf('pay', 41_297n)).toBe(65_000n)
  expect(gasLimitOf('pay', undefined)).toBe(100_000n)
  expect(gasLimitOf('cancel', 21_000n)).toBe(25_200n)
  expect(gasLimitOf('cancel', 90_000n)).toBe(108_000n)
})
