import { expect, test } from 'vitest'
import { openLooks, REST } from './looks.ts'

/** A minute after the last look, which found nothing. */
function stage(rest_ms = REST.least_ms) {
  let time = 60_000
  const looks = openLooks({ pollInterval: () => rest_ms }, () => time)
  const look = (found = false) => {
    looks.begin()
    looks.end(found)
  }
  return { looks, look, pass: (ms: number) => void (time += ms) }
}

test('the first look is at once, the next after a rest', () => {
  const { looks, look, pass } = stage()
  expect(looks.isTime()).toBe(true)
  look()
  expect([looks.isTime(), looks.restMs()]).toEqual([false, REST.least_ms])
  pass(REST.least_ms)
  expect(looks.isTime()).toBe(true)
})

test('news is looked for at once, but not again and again', () => {
  const { looks, look, pass } = stage(REST.most_ms)
  look()
  pass(500)
  looks.news()
  expect([looks.isTime(), looks.restMs()]).toEqual([true, 0])
  look()
  looks.news()
  expect(looks.isTime()).toBe(false)
  expect(looks.restMs()).toBeLessThan(50)
  pass(looks.restMs())
  expect(looks.isTime()).toBe(true)
})

test('what comes during a look is looked for after it', () => {
  const { looks, pass } = stage(REST.most_ms)
  looks.begin()
  pass(20)
  looks.news()
  looks.end(true)
  expect(looks.isTime()).toBe(true)
  looks.begin()
  looks.due(30)
  looks.end(true)
  expect(looks.restMs()).toBe(30)
})

test('what becomes due is looked for at its time, the earliest first', () => {
  const { looks, look, pass } = stage()
  look()
  looks.due(700)
  looks.due(300)
  looks.due(900)
  expect(looks.restMs()).toBe(300)
  pass(300)
  expect(looks.isTime()).toBe(true)
})

test('after a look that failed there is another one before long', () => {
  const { looks, pass } = stage(REST.most_ms)
  looks.begin()
  expect(looks.isTime()).toBe(false)
  expect(looks.restMs()).toBeLessThan(REST.least_ms)
  pass(looks.restMs())
  expect(looks.isTime()).toBe(true)
})

test('who looks in vain again and again looks less often, until something is found', () => {
  const { looks, look, pass } = stage(REST.most_ms)
  const restOfNews = (found: boolean) => {
    look(found)
    looks.news()
    const rest = looks.restMs()
    pass(rest)
    return rest
  }
  const rests = Array.from({ length: 6 }, () => restOfNews(false))
  expect(rests[0]).toBeLessThan(20)
  expect(rests.at(-1)).toBe(50)
  // After a silence it is at once all the same.
  look()
  pass(200)
  looks.news()
  expect(looks.isTime()).toBe(true)
  expect(restOfNews(true)).toBeLessThan(20)
})
