import { expect, test } from 'vitest'
import { openPolling, POLL_INTERVAL } from './polling.ts'

/** A clock that the test moves, and `poll` for a whole poll. */
function stage(rest_ms = POLL_INTERVAL.least_ms) {
  let time = 60_000
  const polling = openPolling({ pollInterval: () => rest_ms }, () => time)
  const poll = (found = false) => {
    polling.begin()
    polling.end(found)
  }
  return { polling, poll, pass: (ms: number) => void (time += ms) }
}

test('the first poll is due at once, the next after a rest', () => {
  const { polling, poll, pass } = stage()
  expect(polling.isDue()).toBe(true)
  poll()
  expect([polling.isDue(), polling.delayMs()]).toEqual([false, POLL_INTERVAL.least_ms])
  pass(POLL_INTERVAL.least_ms)
  expect(polling.isDue()).toBe(true)
})

test('a wake-up makes a poll due at once, but not many times in a row', () => {
  const { polling, poll, pass } = stage(POLL_INTERVAL.most_ms)
  poll()
  pass(500)
  polling.wake()
  expect([polling.isDue(), polling.delayMs()]).toEqual([true, 0])
  poll()
  polling.wake()
  expect(polling.isDue()).toBe(false)
  expect(polling.delayMs()).toBeLessThan(50)
  pass(polling.delayMs())
  expect(polling.isDue()).toBe(true)
})

test('a wake-up or due time that comes during a poll leads to another poll', () => {
  const { polling, pass } = stage(POLL_INTERVAL.most_ms)
  polling.begin()
  pass(20)
  polling.wake()
  polling.end(true)
  expect(polling.isDue()).toBe(true)
  polling.begin()
  polling.dueIn(30)
  polling.end(true)
  expect(polling.delayMs()).toBe(30)
})

test('a poll is due at the earliest announced time', () => {
  const { polling, poll, pass } = stage()
  poll()
  polling.dueIn(700)
  polling.dueIn(300)
  polling.dueIn(900)
  expect(polling.delayMs()).toBe(300)
  pass(300)
  expect(polling.isDue()).toBe(true)
})

test('a failed poll is repeated soon', () => {
  const { polling, pass } = stage(POLL_INTERVAL.most_ms)
  polling.begin()
  expect(polling.isDue()).toBe(false)
  expect(polling.delayMs()).toBeLessThan(POLL_INTERVAL.least_ms)
  pass(polling.delayMs())
  expect(polling.isDue()).toBe(true)
})

test('after several empty polls the least time between polls grows, until one finds something', () => {
  const { polling, poll, pass } = stage(POLL_INTERVAL.most_ms)
  const restOfNews = (found: boolean) => {
    poll(found)
    polling.wake()
    const rest = polling.delayMs()
    pass(rest)
    return rest
  }
  const rests = Array.from({ length: 6 }, () => restOfNews(false))
  expect(rests[0]).toBeLessThan(20)
  expect(rests.at(-1)).toBe(50)
  // After a pause a wake-up still makes a poll due at once.
  poll()
  pass(200)
  polling.wake()
  expect(polling.isDue()).toBe(true)
  expect(restOfNews(true)).toBeLessThan(20)
})
