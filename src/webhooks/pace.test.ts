import { expect, test } from 'vitest'
import { openPace } from './pace.ts'

test('the sustained rate is per_second, and a burst is what two seconds saved', () => {
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

test("the attempts of one partner use nothing of another partner's pace", () => {
  const pace = openPace(100, () => 0)
  pace.spend('a', 200)
  expect([pace.left('a'), pace.left('b')]).toEqual([0, 200])
})
