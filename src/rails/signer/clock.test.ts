import { expect, test } from 'vitest'
import { openSignerClock } from './clock.ts'

test('the time of the signer runs no faster than the monotonic clock, and never back', () => {
  let wall = 1_000_000
  let elapsed = 50
  const clock = openSignerClock({ now: () => wall }, { now: () => elapsed })
  expect(clock.now()).toBe(1_000_000)
  wall += 3_600_000
  expect(clock.now()).toBe(1_000_000)
  elapsed += 7000
  expect(clock.now()).toBe(1_007_000)
  wall = 5
  expect(clock.now()).toBe(1_007_000)
  clock.notBefore(1_008_000)
  expect(clock.now()).toBe(1_008_000)
})
