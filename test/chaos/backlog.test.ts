import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { openTransferWorker } from '../../src/money/onchain/worker.ts'
import { openPayoutWorker } from '../../src/money/pix/worker.ts'
import type { PixRail } from '../../src/rails/pix/rail.ts'
import { endToEndId, simulatedTerms } from '../../src/rails/pix/simulated.ts'
import { inParallel, times } from '../support/parallel.ts'
import { noteFact } from '../support/proof.ts'
import { type Bench, openBench, silent } from '../support/rail-bench.ts'
import { size } from '../support/size.ts'
import { promptly, until } from '../support/wait.ts'

/** Workers with more to do than they have hands: nobody waits for what is not its own. */
let bench: Bench
const stopping: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stopping.splice(0).reverse()) await stop()
  expect(await bench.findings()).toEqual([])
  await bench.stop()
})

/** One look every half second with 32 hands would take 9 seconds for the small number. */
const LEFT = size(1000, 600)
const LEFT_WITHIN_MS = size(3000, 8000)
const OPEN_TRANSFERS = size(2000, 300)
const HANGING = 32
const TIMEOUT_MS = 300_000
const AT_ONCE = 64
const MUCH = 10n ** 15n

const SETTLED = { kind: 'settled', end_to_end_id: 'E00000000202611151200abcdefghijk' } as const

/** One for each payout. */
const e2eOf = (send_id: string) => endToEndId({ send_id, sent_at: new Date('2026-11-15T12:00:00Z') })

const pixThat = (more: Partial<PixRail<'sandbox'>>): PixRail<'sandbox'> => ({
  environment: 'sandbox',
  ...simulatedTerms,
  ready: async () => {},
  holder: async (_, asking) => ({ kind: 'held', holder: asking! }),
  send: async () => ({ kind: 'unknown' }),
  status: async ({ send_id }) => ({ ...SETTLED, end_to_end_id: e2eOf(send_id) }),
  ...more,
})

const count = async (sql: string): Promise<number> => {
  const { rows } = await bench.world.db.query(`SELECT count(*)::int AS n FROM ${sql}`)
  return rows[0].n
}

const leaveBehind = () => bench.admin('UPDATE payouts SET next_attempt_at = now()')

function startPayoutWorker() {
  const payouts = openPayoutWorker(bench.world, silent)
  stopping.push(payouts.stop)
  return payouts
}

describe('payouts that a dead node left behind', () => {
  test(
    'are settled as fast as the rail answers, not as often as somebody looks',
    async () => {
      bench = await openBench({ pix: pixThat({}) })
      const customer = await bench.customer({ BRL: MUCH })
      await inParallel(times(LEFT, String), AT_ONCE, () => bench.payout(customer))
      await leaveBehind()
      const began = performance.now()
      startPayoutWorker()
      await promptly(async () => (await count(`payouts WHERE status = 'processing'`)) === 0, LEFT_WITHIN_MS)
      const ms = Math.round(performance.now() - began)
      noteFact(
        `${LEFT} payouts left behind by a dead node, over a rail that answers at once: settled in ${ms} ms`,
      )
    },
    TIMEOUT_MS,
  )

  test(
    'of one partner with very many do not delay the one of another partner',
    async () => {
      bench = await openBench({
        pix: pixThat({
          // A slow rail: thousands take long, whoever is first in the queue does not.
          async status({ send_id }) {
            await sleep(100)
            return { ...SETTLED, end_to_end_id: e2eOf(send_id) }
          },
        }),
      })
      const heavy = await bench.customer({ BRL: MUCH })
      await inParallel(times(LEFT, String), AT_ONCE, () => bench.payout(heavy))
      const by = await bench.openActor()
      const small = await bench.payout(await bench.customer({ BRL: MUCH }, by), { by })
      await leaveBehind()
      // The small one is the last in the order of time.
      await bench.admin(
        `UPDATE payouts SET next_attempt_at = now() - interval '1 s' WHERE id <> '${small.id}'`,
      )
      startPayoutWorker()
      await until(async () => (await bench.payoutNow(small.id)).status === 'completed', 60_000)
      // By the times of the database: the test may hear of it later.
      const before = `completed_at < (SELECT completed_at FROM payouts WHERE id = '${small.id}')`
      expect(await count(`payouts WHERE ${before}`)).toBeLessThan(LEFT / 2)
    },
    TIMEOUT_MS,
  )
})

describe('calls that never return', () => {
  const RAIL_TIMEOUT_MS = 1500

  test(
    'delay nobody beyond their deadline, and do not keep a process from stopping',
    async () => {
      bench = await openBench({
        lease_ms: 60_000,
        rail_timeout_ms: RAIL_TIMEOUT_MS,
        pix: pixThat({
          status: (order) =>
            order.description === 'hang'
              ? new Promise(() => {})
              : Promise.resolve({ ...SETTLED, end_to_end_id: e2eOf(order.send_id) }),
        }),
      })
      const customer = await bench.customer({ BRL: MUCH })
      const hanging = await Promise.all(times(HANGING, () => bench.payout(customer, { description: 'hang' })))
      await leaveBehind()
      const payouts = startPayoutWorker()
      await until(async () => (await count('payouts WHERE attempts >= 2')) === HANGING, 20_000)
      const fine = await bench.payout(customer)
      await bench.admin(`UPDATE payouts SET next_attempt_at = now() WHERE id = '${fine.id}'`)
      const began = performance.now()
      await until(async () => (await bench.payoutNow(fine.id)).status === 'completed', 30_000)
      const delayed = Math.round(performance.now() - began)
      // Each was given up and is asked again.
      await until(async () => (await count('payouts WHERE attempts >= 3')) === HANGING, 30_000)
      const stopping = performance.now()
      await payouts.stop()
      // Without a deadline of the calls it would never end; the lease lasts a minute.
      expect(performance.now() - stopping).toBeLessThan(30_000)
      expect(await count(`payouts WHERE status = 'processing'`)).toBe(hanging.length)
      noteFact(
        `${HANGING} status queries to a rail that never answers (deadline ${RAIL_TIMEOUT_MS} ms): another payout was settled after ${delayed} ms, the process stopped`,
      )
    },
    TIMEOUT_MS,
  )
})

test(
  'transfers that stay open for ever do not delay a new one',
  async () => {
    bench = await openBench()
    const customer = await bench.customer({ USDT: MUCH })
    const transfers = openTransferWorker(bench.world, silent)
    stopping.push(transfers.stop)
    const ordinary = async (): Promise<number> => {
      const began = performance.now()
      const { id } = await bench.transfer(customer)
      await until(async () => (await bench.transferNow(id)).status === 'confirmed', 60_000)
      return performance.now() - began
    }
    const alone = await ordinary()
    await inParallel(times(OPEN_TRANSFERS, String), AT_ONCE, () =>
      bench.transfer(customer, { amount: 19_003n }),
    )
    await until(
      async () => (await count(`transfers WHERE status = 'processing'`)) === OPEN_TRANSFERS,
      120_000,
    )
    await sleep(size(5000, 0))
    const beside = await ordinary()
    const delay = Math.round(beside - alone)
    // Three seconds are the chain's own; what a busy machine adds is not what is judged here.
    expect(delay).toBeLessThan(size(1000, 20_000))
    noteFact(
      `${OPEN_TRANSFERS} transfers that stay open: a new one takes ${Math.round(beside)} ms instead of ${Math.round(alone)} ms`,
    )
  },
  TIMEOUT_MS,
)
