import { expect, test } from 'vitest'
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

test('without a time from the rail, a young payout is asked about soon and an old one once a minute', () => {
  expect([0, 2000, 40_000, 3_600_000].map((age) => askAgainAfter(age, undefined))).toEqual([
    500, 500, 10_000, 60_000,
  ])
})
