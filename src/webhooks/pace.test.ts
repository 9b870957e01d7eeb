import { expect, test } from 'vitest'
import { openPace } from './pace.ts'

test('over a while so many begin per second, and at once what was saved in two', () => {
  let now = 0
  const pace = openPace(100, () => now)
  let begun = 0
  for (; now < 60_000; now += 10) {
    const count = pace.left('a')
    pace.spend('a', count)
    begun += count
  }
  expect(begun).toBeGreaterThanOrEqual(60 * 100)
  expect(begun).toBeLessThanOrEqual(62 * 100)
})

test('one partner spends nothing of another', () => {
  const pace = openPace(100, () => 0)
  pace.spend('a', 200)
  expect([pace.left('a'), pace.left('b')]).toEqual([0, 200])
})
