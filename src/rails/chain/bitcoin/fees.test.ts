import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BitcoinFeeInput, type BitcoinOffered, offerFee, todaysRate } from './fees.ts'

const input = (changes: Partial<BitcoinFeeInput> = {}): BitcoinFeeInput => ({
  ...{ purpose: 'pay', vsize: 141, rate: 10_000n, unmined: { vsize: 0, fee: 0n }, made: [] },
  ...{ fee_most: 100_000n, rate_most: 500_000n },
  ...changes,
})
const offered = (fee: bigint, vsize = 141, purpose: 'pay' | 'cancel' = 'pay'): BitcoinOffered => ({
  ...{ fee, vsize, purpose },
})
const offer = (fee: bigint) => ({ kind: 'offer', fee })
const later = (why: string) => ({ kind: 'later', why })

test('today’s rate is the estimate, else the fallback, and never below that of the mempool', () => {
  expect(todaysRate({ estimated: 5000n, mempool: 1000n }, 3000n)).toBe(5000n)
  expect(todaysRate({ estimated: undefined, mempool: 1000n }, 3000n)).toBe(3000n)
  expect(todaysRate({ estimated: undefined, mempool: 4000n }, 3000n)).toBe(4000n)
  expect(todaysRate({ estimated: 1200n, mempool: 9000n }, 0n)).toBe(9000n)
})

describe('the first transaction', () => {
  test('pays today’s rate, rounded up to a satoshi', () => {
    expect(offerFee(input())).toEqual(offer(1410n))
    expect(offerFee(input({ rate: 1001n }))).toEqual(offer(142n))
  })

  test('pays what is missing for its ancestors, and nothing less because they paid more', () => {
    expect(offerFee(input({ unmined: { vsize: 200, fee: 400n } }))).toEqual(offer(3010n))
    expect(offerFee(input({ unmined: { vsize: 200, fee: 9000n } }))).toEqual(offer(1410n))
  })

  test('waits while it would cost more than a cap', () => {
    expect(offerFee(input({ fee_most: 1410n }))).toEqual(offer(1410n))
    expect(offerFee(input({ fee_most: 1409n }))).toEqual(later('fee_above_cap'))
    expect(offerFee(input({ rate_most: 10_000n }))).toEqual(offer(1410n))
    expect(offerFee(input({ rate_most: 9990n }))).toEqual(later('fee_above_cap'))
  })
})

describe('a replacement', () => {
  test('waits until today’s fee is an eighth higher', () => {
    expect(offerFee(input({ made: [offered(1410n)] }))).toEqual(later('not_worth_it'))
    expect(offerFee(input({ made: [offered(1254n)] }))).toEqual(later('not_worth_it'))
    expect(offerFee(input({ made: [offered(1253n)] }))).toEqual(offer(1410n))
  })

  test('pays 1 satoshi for each virtual byte more than each transaction before it', () => {
    expect(offerFee(input({ rate: 1200n, made: [offered(141n)] }))).toEqual(offer(282n))
    expect(offerFee(input({ made: [offered(5000n), offered(1000n)] }))).toEqual(offer(5141n))
  })

  test('has a higher rate than a smaller transaction before it', () => {
    expect(offerFee(input({ rate: 200_000n, made: [offered(20_000n, 110)] }))).toEqual(offer(28_200n))
    expect(offerFee(input({ rate: 165_000n, made: [offered(20_000n, 110)] }))).toEqual(offer(25_637n))
  })

  test('that cancels is always worth it the first time, and then as any other', () => {
    const made = [offered(8000n)]
    expect(offerFee(input({ purpose: 'cancel', vsize: 110, made }))).toEqual(offer(8110n))
    const twice = [...made, offered(8110n, 110, 'cancel')]
    expect(offerFee(input({ purpose: 'cancel', vsize: 110, made: twice }))).toEqual(later('not_worth_it'))
  })

  test('always passes the rules of nodes, and never costs more than the caps', () => {
    const fee = fc.bigInt({ min: 110n, max: 200_000n })
    const vsize = fc.integer({ min: 110, max: 3000 })
    const one = fc.tuple(fee, vsize).map(([fee, vsize]) => offered(fee, vsize))
    const rate = fc.bigInt({ min: 1000n, max: 1_000_000n })
    fc.assert(
      fc.property(rate, vsize, fc.array(one, { maxLength: 5 }), (rate, vsize, made) => {
        const found = offerFee(input({ rate, vsize, made }))
        if (found.kind === 'later') return
        expect(found.fee).toBeLessThanOrEqual(100_000n)
        expect(found.fee * 1000n).toBeLessThan(500_000n * BigInt(vsize) + 1000n)
        expect(found.fee * 1000n).toBeGreaterThanOrEqual(rate * BigInt(vsize))
        for (const before of made) {
          expect(found.fee).toBeGreaterThanOrEqual(before.fee + BigInt(vsize))
          expect(found.fee * BigInt(before.vsize)).toBeGreaterThan(before.fee * BigInt(vsize))
        }
      }),
    )
  })
})
