import { expect, test } from 'vitest'
import { nextAttempt } from './arrivals.ts'
import { CREDITED_AT_ONCE, type Deposit } from './store.ts'

const NOW = new Date('2026-11-18T12:00:00Z')
const HOUR_MS = 3_600_000
const ago = (hours: number) => new Date(NOW.getTime() - hours * HOUR_MS)
const deposit = (changes: Partial<Deposit>): Deposit => ({
  ...CREDITED_AT_ONCE,
  ...{ id: 'dep_1', partner_id: 'pa_1', customer_id: 'cus_1', asset: 'USDT', amount: 5n, rail: 'polygon' },
  ...{ reason: null, reference: null, created_at: ago(0), status: 'pending', depth: 1 },
  ...changes,
})
const seconds = (finality: 'final' | 'open' | 'gone', changes: Partial<Deposit>) => {
  const at = nextAttempt(finality)(deposit(changes), NOW)
  return at && (at.getTime() - NOW.getTime()) / 1000
}

test('the chain is asked about a deposit until it ends', () => {
  expect(seconds('open', {})).toBe(5)
  expect(seconds('open', { below_minimum: true })).toBe(60)
  expect(seconds('open', { depth: 32 })).toBe(600)
  expect(seconds('open', { depth: 32, below_minimum: true })).toBeNull()
  const completed = { status: 'completed', depth: 32 } as const
  expect(seconds('open', { ...completed, completed_at: ago(0) })).toBe(60)
  expect(seconds('open', { ...completed, completed_at: ago(4) })).toBe(3600)
  expect(seconds('open', { ...completed, completed_at: ago(24) })).toBeNull()
  expect(seconds('final', { ...completed, completed_at: ago(0) })).toBeNull()
  expect(seconds('gone', { ...completed, completed_at: ago(48) })).toBe(600)
  expect(seconds('gone', { status: 'dropped', depth: 0 })).toBe(60)
  expect(seconds('gone', { status: 'dropped', depth: 0, created_at: ago(24) })).toBeNull()
})
