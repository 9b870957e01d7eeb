import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type CountedRequest,
  type Counter,
  counterKey,
  judgeRequest,
  openCounter,
  type Verdict,
  type WindowLimit,
  windowEnd,
  windowOf,
  windowStart,
} from './windows.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const noon = Date.UTC(2026, 10, 15, 12)

const minute = (limit: number, name = 'minute'): WindowLimit => ({ name, kind: 'minute', limit })
const day = (limit: number): WindowLimit => ({ name: 'day', kind: 'day', limit })
const request = (now: number, window_limits: readonly WindowLimit[], subject = 'key_1'): CountedRequest => ({
  subject,
  window_limits,
  now,
})

/** Requests in order of time, each with a minute window, and perhaps a day and an endpoint's window. */
const limit = fc.integer({ min: 1, max: 6 })
const traffic = fc
  .record({
    start: fc.integer({ min: noon, max: noon + 2 * DAY }),
    minute: limit,
    day: fc.integer({ min: 1, max: 12 }),
    endpoint: limit,
    requests: fc.array(
      fc.record({
        after: fc.oneof(
          fc.constant(0),
          fc.integer({ min: 0, max: 40_000 }),
          fc.integer({ min: 0, max: DAY }),
        ),
        subject: fc.constantFrom('key_1', 'key_2'),
        counts: fc.subarray(['day', 'endpoint'] as const),
      }),
      { maxLength: 60 },
    ),
  })
  .map(({ start, requests, ...limits }) => {
    let now = start
    return requests.map(({ after, subject, counts }): CountedRequest => {
      now += after
      const window_limits = [
        minute(limits.minute),
        ...(counts.includes('day') ? [day(limits.day)] : []),
        ...(counts.includes('endpoint') ? [minute(limits.endpoint, 'POST /v1/quotes')] : []),
      ]
      return { subject, window_limits, now }
    })
  })

const copy = (counters: ReadonlyMap<string, Counter>) =>
  new Map([...counters].map(([key, counter]) => [key, { ...counter }]))

/** The counts in the current window of each want. */
const counted = (counters: ReadonlyMap<string, Counter>, { subject, window_limits, now }: CountedRequest) =>
  window_limits.map((want) => {
    const counter = counters.get(counterKey(subject, want.name))
    return counter?.starts_at === windowStart(want.kind, now) ? counter.count : 0
  })

function replay(
  requests: readonly CountedRequest[],
  check: (step: {
    request: CountedRequest
    verdict: Verdict
    before: Map<string, Counter>
    after: Map<string, Counter>
  }) => void,
): void {
  const counters = new Map<string, Counter>()
  for (const one of requests) {
    const before = copy(counters)
    const verdict = judgeRequest(counters, one)
    check({ request: one, verdict, before, after: copy(counters) })
  }
}

describe('for any requests at any times', () => {
  test('a window admits every request up to its limit, and none beyond', () => {
    fc.assert(
      fc.property(traffic, (requests) => {
        const accepted = new Map<string, number>()
        replay(requests, ({ request: { subject, window_limits, now }, verdict }) => {
          const places = window_limits.map((want) => ({
            want,
            name: `${subject} ${want.name} ${windowStart(want.kind, now)}`,
          }))
          const fits = places.every(({ want, name }) => (accepted.get(name) ?? 0) < want.limit)
          expect(verdict.refused === undefined).toBe(fits)
          if (fits) for (const { name } of places) accepted.set(name, (accepted.get(name) ?? 0) + 1)
          for (const { want, name } of places) expect(accepted.get(name) ?? 0).toBeLessThanOrEqual(want.limit)
        })
      }),
    )
  })

  test('an admitted request counts once in all of its windows, a refused one in none', () => {
    fc.assert(
      fc.property(traffic, (requests) => {
        replay(requests, ({ request, verdict, before, after }) => {
          if (verdict.refused) return expect(after).toEqual(before)
          expect(counted(after, request)).toEqual(counted(before, request).map((count) => count + 1))
          const touched = request.window_limits.map((want) => counterKey(request.subject, want.name))
          for (const [key, counter] of before)
            if (!touched.includes(key)) expect(after.get(key)).toEqual(counter)
        })
      }),
    )
  })

  test('of several full windows, the one with the longest wait is reported', () => {
    fc.assert(
      fc.property(traffic, (requests) => {
        replay(requests, ({ request, verdict, before }) => {
          const { window_limits, now } = request
          const counts = counted(before, request)
          const full = window_limits.filter((want, i) => counts[i]! >= want.limit)
          const waits = full.map((want) => Math.ceil((windowEnd(want.kind, now) - now) / 1000))
          expect(verdict.refused?.retry_after_seconds).toBe(waits.length > 0 ? Math.max(...waits) : undefined)
          if (!verdict.refused) return
          const { name, limit, retry_after_seconds } = verdict.refused
          expect(full.map((want) => [want.name, want.limit])).toContainEqual([name, limit])
          expect(retry_after_seconds).toBeGreaterThanOrEqual(1)
          // After that wait the window that refused has ended.
          const told = full.find((want) => want.name === name)!
          expect(windowStart(told.kind, now + retry_after_seconds * 1000)).toBeGreaterThan(
            windowStart(told.kind, now),
          )
        })
      }),
    )
  })

  test('the headers show what is left of the minute, never below zero, and when it ends', () => {
    fc.assert(
      fc.property(traffic, (requests) => {
        replay(requests, ({ request, verdict, after }) => {
          const { limit, remaining, resets_at } = verdict.window
          expect(limit).toBe(request.window_limits[0]!.limit)
          expect(remaining).toBe(limit - counted(after, request)[0]!)
          expect(remaining).toBeGreaterThanOrEqual(0)
          expect(resets_at * 1000).toBeGreaterThan(request.now)
          expect(resets_at * 1000 - request.now).toBeLessThanOrEqual(MINUTE)
          expect(resets_at % 60).toBe(0)
          expect(windowOf(after, request)).toEqual(verdict.window)
        })
      }),
    )
  })
})

test('windows are whole minutes and whole UTC days', () => {
  const now = Date.UTC(2026, 10, 15, 23, 59, 59, 999)
  expect([windowStart('minute', now), windowEnd('minute', now)]).toEqual([now - 59_999, now + 1])
  expect([windowStart('day', now), windowEnd('day', now)]).toEqual([now - DAY + 1, now + 1])
  expect(windowStart('minute', now + 1)).toBe(now + 1)
  expect(windowEnd('day', now + 1)).toBe(now + 1 + DAY)
})

test('in the last millisecond of a minute Retry-After is one second', () => {
  const counters = new Map<string, Counter>()
  judgeRequest(counters, request(noon, [minute(1)]))
  expect(judgeRequest(counters, request(noon + MINUTE - 1, [minute(1)])).refused?.retry_after_seconds).toBe(1)
  expect(judgeRequest(counters, request(noon + MINUTE, [minute(1)])).refused).toBeUndefined()
})

test('a limit lowered below what was used leaves nothing, and a raised one admits again', () => {
  const counters = new Map<string, Counter>()
  for (let i = 0; i < 5; i++) judgeRequest(counters, request(noon, [minute(5)]))
  const lowered = judgeRequest(counters, request(noon, [minute(2)]))
  expect(lowered.window.remaining).toBe(0)
  expect(lowered.refused).toMatchObject({ limit: 2 })
  expect(judgeRequest(counters, request(noon, [minute(7)])).window.remaining).toBe(1)
})

test('a full day keeps refusing in every new minute, and the refusal names the day', () => {
  const counters = new Map<string, Counter>()
  const window_limits = [minute(1), day(2)]
  judgeRequest(counters, request(noon, window_limits))
  judgeRequest(counters, request(noon + MINUTE, window_limits))
  const third = judgeRequest(counters, request(noon + 2 * MINUTE, window_limits))
  expect(third.refused).toEqual({ name: 'day', limit: 2, retry_after_seconds: 12 * 3600 - 120 })
  expect(third.window.remaining).toBe(1)
  expect(judgeRequest(counters, request(noon + DAY / 2, window_limits)).refused).toBeUndefined()
})

test('when minute and day are both full the longer wait is reported, in either order', () => {
  for (const window_limits of [
    [minute(1), day(1)],
    [day(1), minute(1)],
  ]) {
    const counters = new Map<string, Counter>()
    judgeRequest(counters, request(noon, window_limits))
    const { refused } = judgeRequest(counters, request(noon + 1, window_limits))
    expect(refused).toEqual({ name: 'day', limit: 1, retry_after_seconds: 12 * 3600 })
  }
})

test('windowOf counts nothing', () => {
  const counters = new Map<string, Counter>()
  expect(windowOf(counters, request(noon, [minute(3)]))).toEqual({
    limit: 3,
    remaining: 3,
    resets_at: (noon + MINUTE) / 1000,
  })
  expect(counters.size).toBe(0)
  expect(openCounter('key_1', minute(3), noon + 1)).toEqual({
    subject: 'key_1',
    name: 'minute',
    starts_at: noon,
    ends_at: noon + MINUTE,
    count: 0,
  })
})
