import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mulDiv, mulDivAgainstHouse, mulDivTowardsZero } from './money.ts'

test.each([
  [7n, 'down', 3n],
  [7n, 'half_up', 4n],
  [7n, 'up', 4n],
  [6n, 'down', 3n],
  [6n, 'half_up', 3n],
  [6n, 'up', 3n],
  [0n, 'up', 0n],
] as const)('half of %s, rounded %s, is %s', (units, rounding, half) => {
  expect(mulDiv(units, 1n, 2n, rounding)).toBe(half)
})

test('a third is rounded half up, and always up only when asked', () => {
  expect([1n, 2n].map((units) => mulDiv(units, 1n, 3n, 'half_up'))).toEqual([0n, 1n])
  expect([1n, 2n].map((units) => mulDiv(units, 1n, 3n, 'up'))).toEqual([1n, 1n])
})

test('towards zero a debt is worth as much as a holding of the same size', () => {
  const amount = fc.bigInt({ min: 0n, max: 10n ** 30n })
  const over = fc.bigInt({ min: 1n, max: 10n ** 12n })
  fc.assert(
    fc.property(amount, amount, over, (units, times, by) => {
      const held = mulDivTowardsZero(units, times, by)
      expect(held).toBe(mulDiv(units, times, by, 'down'))
      expect(mulDivTowardsZero(-units, times, by)).toBe(-held)
    }),
  )
})

test('against the house a debt is rounded up and a holding down', () => {
  expect([7n, 6n, -6n, -7n].map((units) => mulDivAgainstHouse(units, 1n, 3n))).toEqual([2n, 2n, -2n, -3n])
})

test('a division by zero throws', () => {
  expect(() => mulDiv(1n, 1n, 0n, 'down')).toThrow()
  expect(() => mulDivTowardsZero(1n, 1n, 0n)).toThrow()
  expect(() => mulDivAgainstHouse(1n, 1n, 0n)).toThrow()
})
