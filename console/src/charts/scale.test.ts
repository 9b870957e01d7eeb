import { expect, test } from 'vitest'
import { axisText, heightOf, namedEvery, roomFor, startText, stepFor, ticksFor } from './scale.ts'

test('axis steps are round, and reach the highest value', () => {
  expect(ticksFor(0n)).toEqual([0n, 1n])
  expect(ticksFor(3n)).toEqual([0n, 1n, 2n, 3n])
  expect(ticksFor(62_000_00n)).toEqual([0n, 25_000_00n, 50_000_00n, 75_000_00n])
  for (const highest of [1n, 7n, 12n, 99n, 101n, 4_821_355n, 10n ** 17n + 3n]) {
    const ticks = ticksFor(highest)
    expect(ticks.at(-1)! >= highest).toBe(true)
    expect(ticks.at(-2)! < highest).toBe(true)
    expect(ticks.length).toBeLessThanOrEqual(5)
    expect(stepFor(highest).toString()).toMatch(/^(1|2|25|5)0*$/)
  }
})

test('axis labels are short in both languages, and exact', () => {
  expect(axisText(0n, 2, 'en')).toBe('0')
  expect(axisText(75_000_00n, 2, 'en')).toBe('75k')
  expect(axisText(2_500_000_00n, 2, 'pt-BR')).toBe('2,5M')
  expect(axisText(500_000n, 8, 'en')).toBe('0.005')
  expect(axisText(40n, 0, 'en')).toBe('40')
  expect(axisText(5_000_000_000_00n, 2, 'en')).toBe('5bn')
  expect(axisText(5_000_000_000_00n, 2, 'pt-BR')).toBe('5bi')
  expect(axisText(2n * 10n ** 14n, 2, 'pt-BR')).toBe('2tri')
  expect(axisText(999n * 10n ** 15n, 2, 'en')).toBe('9,990tn')
})

test('the chart leaves room for the longest axis label', () => {
  expect(roomFor(['0', '75k'])).toBe(44)
  expect(roomFor(['0', '10000tri'])).toBeGreaterThan(60)
})

test('a height is proportional to the highest value', () => {
  expect(heightOf(5n, 10n, 100)).toBe(50)
  expect(heightOf(1n, 0n, 100)).toBe(0)
})

test('a day keeps its date in every time zone; an hour is in local time', () => {
  expect(startText('2026-11-15', 'en')).toBe('15 Nov')
  expect(startText('2026-11-15', 'pt-BR')).toBe('15 nov.')
  expect(startText(new Date().toISOString().replace(/:.*/, ':00:00.000Z'), 'en')).toMatch(/^\d\d:00$/)
})

test('long axes label only some of their bars', () => {
  expect([7, 24, 30, 90].map(namedEvery)).toEqual([1, 6, 7, 15])
})
