import { expect, test } from 'vitest'
import { isCostly, isSlow, LANES_MAX, type Lanes, lanesAfter, newLanes } from './lanes.ts'

const TIMEOUT_MS = 10_000
const after = (times: number, took_ms: number, delivered: boolean, from: Lanes = newLanes): Lanes => {
  let lanes = from
  for (let i = 0; i < times; i++)
    lanes = lanesAfter(lanes, { took_ms, delivered, lengthy: false }, TIMEOUT_MS)
  return lanes
}

test('a receiver that answers quickly gets all lanes, one after the other', () => {
  expect(after(1, 100, true).count).toBe(3)
  expect(after(50, 100, true).count).toBe(LANES_MAX)
})

test.each([
  [9000, true],
  [9000, false],
  [10_000, false],
  [5001, true],
])('a receiver that takes %i ms has a single lane, whether it delivers (%s) or not', (took_ms, delivered) => {
  expect(isSlow(after(50, took_ms, delivered))).toBe(true)
})

test.each([100, 600, 1000, 2500, 4000, 9000])(
  'at %i ms per attempt, lanes × duration is at most one time-out',
  (ms) => {
    expect(after(50, ms, true).count * ms).toBeLessThanOrEqual(TIMEOUT_MS)
  },
)

test('a quick receiver that begins to hang loses its lanes at the first attempt, and gets them back by answering', () => {
  const full = after(50, 50, true)
  const hanging = after(1, TIMEOUT_MS, false, full)
  expect(isSlow(hanging)).toBe(true)
  expect(after(1, 50, true, hanging).count).toBe(2)
  expect(after(40, 50, true, hanging).count).toBe(LANES_MAX)
})

test('a receiver that fails quickly keeps two lanes, and is not slow', () => {
  expect(after(50, 50, false, after(50, 50, true)).count).toBe(2)
})

test('an endpoint is costly after two failures in a row, until two good answers in a row', () => {
  expect(isCostly(after(1, 5, false))).toBe(false)
  const failing = after(2, 5, false)
  expect(isCostly(failing)).toBe(true)
  expect(isCostly(after(50, 5, false))).toBe(true)
  expect(isCostly(after(2, 5, true, after(50, 5, false)))).toBe(false)
})

test('an endpoint that answers 200 with a long body is costly too', () => {
  let lanes = newLanes
  for (let i = 0; i < 2; i++)
    lanes = lanesAfter(lanes, { took_ms: 5, delivered: true, lengthy: true }, TIMEOUT_MS)
  expect(isCostly(lanes)).toBe(true)
})
