import { expect, test } from 'vitest'
import { readConfig } from '../node/config.ts'
import { retryDelay } from './schedule.ts'

const { retry_ms } = readConfig({}).webhooks
const delay = (tries: number, retry_after?: string, random = 0) =>
  retryDelay({ tries, retry_ms, retry_after, now: Date.parse('2026-11-15T12:00:00Z'), random })

test('the schedule is that of the contract, and ends', () => {
  const seconds = Array.from({ length: 10 }, (_, i) => (delay(i + 1) ?? Number.NaN) / 1000)
  expect(seconds).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400, Number.NaN])
})

test('the jitter only adds, up to a fifth', () => {
  expect(delay(1, undefined, 0.999)).toBeLessThan(6000)
  for (let i = 0; i < 100; i++)
    expect(retryDelay({ tries: 2, retry_ms, retry_after: undefined, now: 0 })).toBeGreaterThanOrEqual(300_000)
})

test.each([
  ['60', 60_000],
  ['1', 5000],
  ['0', 5000],
  ['Sun, 15 Nov 2026 12:02:00 GMT', 120_000],
  ['Sun, 15 Nov 2026 11:00:00 GMT', 5000],
  ['999999999', 86_400_000],
  ['Fri, 01 Jan 2100 00:00:00 GMT', 86_400_000],
  ['-5', 5000],
  ['1e9', 5000],
  ['soon', 5000],
  ['', 5000],
])('Retry-After: %s after the first failure', (text, ms) => expect(delay(1, text)).toBe(ms))

test('a Retry-After is cut to a day before the jitter, and only ever makes the wait longer', () => {
  for (const text of ['999999999', 'Fri, 01 Jan 2100 00:00:00 GMT']) {
    expect(delay(1, text, 0)).toBe(86_400_000)
    expect(delay(1, text, 0.5)).toBe(95_040_000)
  }
  for (const tries of [1, 2, 5, 9])
    for (const text of [
      '0',
      '1',
      '60',
      'Sun, 15 Nov 2026 12:02:00 GMT',
      'Sun, 15 Nov 2020 12:02:00 GMT',
      'soon',
    ])
      expect(delay(tries, text)).toBeGreaterThanOrEqual(delay(tries)!)
})

test('parsing a long Retry-After takes about as long as a short one', () => {
  const cpu = (text: string) => {
    const before = process.cpuUsage()
    for (let i = 0; i < 20; i++) delay(1, text)
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  const hostile = 'Mon, '.repeat(3000)
  cpu('60')
  // Quadratic time would be thousands of times slower at 15,000 characters, however busy the machine is.
  expect(cpu(hostile)).toBeLessThan(100 * Math.max(cpu('Sun, 15 Nov 2026 12:02:00 GMT'), 100))
})
