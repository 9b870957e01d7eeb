import { expect, test } from 'vitest'
import { openActivity } from './activity.ts'

const range = { least_ms: 250, most_ms: 4000 }

function openClocked() {
  let now = 1000
  const activity = openActivity(() => now)
  const woken_at: number[] = []
  activity.onActive(() => woken_at.push(now))
  return {
    activity,
    woken_at,
    pass: (ms: number) => {
      now += ms
    },
    now: () => now,
  }
}

test('the poll interval grows with the idle time, from the least to the most', () => {
  const { activity, pass } = openClocked()
  expect(activity.pollInterval(range)).toBe(250)
  pass(16_000)
  expect(activity.pollInterval(range)).toBe(1000)
  pass(600_000)
  expect(activity.pollInterval(range)).toBe(4000)
  expect(activity.isActiveSince(2000)).toBe(false)
  activity.mark()
  expect(activity.isActiveSince(2000)).toBe(true)
  expect(activity.pollInterval(range)).toBe(250)
})

test('a worker that found work polls again soon, while the other workers stay backed off', () => {
  const { activity, pass, now } = openClocked()
  pass(600_000)
  const found_at = now()
  pass(1000)
  expect(activity.pollInterval(range, found_at)).toBe(250)
  expect(activity.pollInterval(range)).toBe(4000)
})

test('only the first activity after an idle time calls the listeners', () => {
  const { activity, woken_at, pass } = openClocked()
  activity.mark()
  expect(woken_at).toEqual([])
  pass(5000)
  activity.mark()
  activity.mark()
  pass(1000)
  activity.mark()
  expect(woken_at).toEqual([6000])
})
