import { expect, test } from 'vitest'
import { networkNames } from '../../core/networks.ts'
import { simulatedChain } from '../../rails/chain/simulated.ts'
import type { Journal } from '../../rails/journal.ts'
import { pollAgainAfter } from '../onchain/pace.ts'
import { askAgainAfter } from './pace.ts'

/** How often a worker polls for due payouts. */
const POLL_MS = 500

test.each([10_000, 15_000, 60_000, 600_000])(
  'an outcome that the rail announced for %s ms is asked for within a second of that time, whenever the worker polls',
  (end_ms) => {
    for (const delay of [0, 1, POLL_MS / 2, POLL_MS]) {
      let now = 0
      for (let asked = 0; now < end_ms; asked++) {
        expect(asked).toBeLessThan(60)
        // The first answer does not say when to ask again.
        now += askAgainAfter(now, asked === 0 ? undefined : end_ms - now) + delay
      }
      expect(now - end_ms).toBeLessThan(1000)
    }
  },
)

const HOUR_MS = 3_600_000

test('without a time from the rail, a young payout is asked about soon and an old one once a minute', () => {
  expect([0, 2000, 40_000, HOUR_MS].map((age) => askAgainAfter(age, undefined))).toEqual([
    500, 500, 10_000, 60_000,
  ])
})

test('a payout or transfer that never ends is asked about every ten minutes in the end', () => {
  expect([2 * HOUR_MS, 10 * HOUR_MS, 1000 * HOUR_MS].map((age) => askAgainAfter(age, undefined))).toEqual([
    120_000, 600_000, 600_000,
  ])
  expect(askAgainAfter(1000 * HOUR_MS, 3000)).toBe(3000)
  for (const network of networkNames) {
    expect(pollAgainAfter(network, 900_000)).toBeLessThanOrEqual(60_000)
    expect(pollAgainAfter(network, 1000 * HOUR_MS)).toBe(600_000)
  }
})

test('the sandbox signer that never signs puts an old transfer off for ten minutes', async () => {
  const clock = { now: () => Date.UTC(2026, 10, 17), adjust() {} }
  const journal: Journal = { add() {}, has: () => false }
  const chain = simulatedChain({ network: 'polygon', clock, journal, broadcast_ms: 1000, confirm_ms: 3000 })
  const delayAt = async (age: number) => {
    const created_at = new Date(clock.now() - age)
    const destination_address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
    const order = { id: 'tr_x', asset: 'USDT', network: 'polygon', amount: 19_007n } as const
    const screened = await chain.screen({ ...order, destination_address, created_at, seal: null })
    return screened.kind === 'later' ? screened.at.getTime() - clock.now() : undefined
  }
  expect([await delayAt(60_000), await delayAt(HOUR_MS), await delayAt(1000 * HOUR_MS)]).toEqual([
    5000, 60_000, 600_000,
  ])
})
