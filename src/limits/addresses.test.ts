import { describe, expect, test } from 'vitest'
import { openAddressLimit } from './addresses.ts'

const noon = Date.UTC(2026, 10, 15, 12)
const clockAt = (start: number) => {
  let now = start
  return { now: () => now, adjust: () => {}, go: (ms: number) => (now += ms) }
}

const MINUTE = 60_000
const open = (options: { limit: number; remembered?: number }) => {
  const clock = clockAt(noon)
  const addresses = openAddressLimit({ clock: clock as never, ...options })
  /** Sends this many requests and returns how many are admitted. */
  const letIn = (count: number, address: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => addresses.take(address(i))).filter(({ refused }) => !refused)
      .length
  return { ...addresses, clock, letIn }
}

describe('an address', () => {
  test('is admitted up to its limit in every minute', () => {
    const { letIn, clock, windowOf } = open({ limit: 5 })
    expect(letIn(8, () => '192.0.2.1')).toBe(5)
    expect(letIn(8, () => '192.0.2.2')).toBe(5)
    expect(windowOf('192.0.2.1')).toEqual({ limit: 5, remaining: 0, resets_at: (noon + MINUTE) / 1000 })
    clock.go(MINUTE)
    expect(letIn(8, () => '192.0.2.1')).toBe(5)
  })

  test('gets its count back when the request turns out to be authenticated', () => {
    const { letIn, giveBack } = open({ limit: 5 })
    expect(letIn(5, () => '192.0.2.1')).toBe(5)
    giveBack('192.0.2.1')
    expect(letIn(5, () => '192.0.2.1')).toBe(1)
  })

  test('of IPv6 counts as its /64, and its /48 has ten times that limit', () => {
    const { letIn, take, windowOf } = open({ limit: 5 })
    expect(letIn(100, (i) => `2001:db8:1:1::${i}`)).toBe(5)
    expect(letIn(200, (i) => `2001:db8:1:${(i + 2).toString(16)}::1`)).toBe(45)
    const refused = take('2001:db8:1:ffff::1')
    expect(refused.refused).toEqual({ name: 'address', limit: 50, retry_after_seconds: 60 })
    expect(windowOf('2001:db8:1:fffe::1').remaining).toBe(0)
    expect(letIn(10, () => '2001:db8:2::1')).toBe(5)
    // An IPv4-mapped IPv6 address is the same IPv4 address.
    expect(letIn(10, () => '198.51.100.7')).toBe(5)
  })
})

test('a full memory of addresses forgets the one that was counted longest ago', () => {
  const { letIn, size } = open({ limit: 2, remembered: 1000 })
  expect(letIn(3, () => '192.0.2.1')).toBe(2)
  expect(letIn(999, (i) => `198.51.${i >> 8}.${i & 255}`)).toBe(999)
  expect(size()).toBe(1000)
  expect(letIn(1, () => '192.0.2.1')).toBe(0)
  expect(letIn(1, () => '203.0.113.1')).toBe(1)
  expect(size()).toBe(1000)
  expect(letIn(1, () => '192.0.2.1')).toBe(1)
})

test('the addresses of one /48 take no more entries than the requests it may send', () => {
  const { letIn, size } = open({ limit: 100 })
  expect(letIn(3000, (i) => `2001:db8:5:${i.toString(16)}::1`)).toBe(1000)
  expect(size()).toBe(1001)
})
