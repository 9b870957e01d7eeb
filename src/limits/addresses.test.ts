import { describe, expect, test } from 'vitest'
import { openAddresses } from './addresses.ts'

const noon = Date.UTC(2026, 10, 15, 12)
const clockAt = (start: number) => {
  let now = start
  return { now: () => now, adjust: () => {}, go: (ms: number) => (now += ms) }
}

const MINUTE = 60_000
const open = (options: { limit: number; remembered?: number }) => {
  const clock = clockAt(noon)
  const addresses = openAddresses({ clock: clock as never, ...options })
  /** How many of so many requests are let in. */
  const letIn = (count: number, address: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => addresses.take(address(i))).filter(({ refused }) => !refused)
      .length
  return { ...addresses, clock, letIn }
}

describe('an address', () => {
  test('is let in as often as its limit says, in every minute', () => {
    const { letIn, clock, windowOf } = open({ limit: 5 })
    expect(letIn(8, () => '192.0.2.1')).toBe(5)
    expect(letIn(8, () => '192.0.2.2')).toBe(5)
    expect(windowOf('192.0.2.1')).toEqual({ limit: 5, remaining: 0, resets_at: (noon + MINUTE) / 1000 })
    clock.go(MINUTE)
    expect(letIn(8, () => '192.0.2.1')).toBe(5)
  })

  test('that turned out to be known has its count back', () => {
    const { letIn, giveBack } = open({ limit: 5 })
    expect(letIn(5, () => '192.0.2.1')).toBe(5)
    giveBack('192.0.2.1')
    expect(letIn(5, () => '192.0.2.1')).toBe(1)
  })

  test('of IPv6 is its /64, and ten of those are a /48', () => {
    const { letIn, take, windowOf } = open({ limit: 5 })
    expect(letIn(100, (i) => `2001:db8:1:1::${i}`)).toBe(5)
    expect(letIn(200, (i) => `2001:db8:1:${(i + 2).toString(16)}::1`)).toBe(45)
    const refused = take('2001:db8:1:ffff::1')
    expect(refused.refused).toEqual({ name: 'address', limit: 50, retry_after_seconds: 60 })
    expect(windowOf('2001:db8:1:fffe::1').remaining).toBe(0)
    expect(letIn(10, () => '2001:db8:2::1')).toBe(5)
    // However it is written, an IPv4 address is one.
    expect(letIn(10, () => '198.51.100.7')).toBe(5)
  })
})

test('so many addresses are remembered; the one that was counted longest ago is forgotten first', () => {
  const { letIn, size } = open({ limit: 2, remembered: 1000 })
  expect(letIn(3, () => '192.0.2.1')).toBe(2)
  expect(letIn(999, (i) => `198.51.${i >> 8}.${i & 255}`)).toBe(999)
  expect(size()).toBe(1000)
  expect(letIn(1, () => '192.0.2.1')).toBe(0)
  expect(letIn(1, () => '203.0.113.1')).toBe(1)
  expect(size()).toBe(1000)
  expect(letIn(1, () => '192.0.2.1')).toBe(1)
})

test('all addresses of a site cost no more room than the site may send requests', () => {
  const { letIn, size } = open({ limit: 100 })
  expect(letIn(3000, (i) => `2001:db8:5:${i.toString(16)}::1`)).toBe(1000)
  expect(size()).toBe(1001)
})
