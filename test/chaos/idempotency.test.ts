import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Reply } from '../support/api.ts'
import { allFinal, balanceOf, expectOnce, payoutOrder, readJournal, sum } from '../support/once.ts'
import { inParallel, times } from '../support/parallel.ts'
import { noteFact } from '../support/proof.ts'
import { retryUntilAnswered, type Trouble } from '../support/retry.ts'
import { size } from '../support/size.ts'
import { openStage, type Stage } from '../support/stage.ts'
import { until } from '../support/wait.ts'

/** Contract §7: however many equal requests come at once, wherever they go and whoever dies: one payout, one answer. */
const KEYS = size(200, 10)
const COPIES = 50
const KEYS_AT_ONCE = 5
const KILLS = size(10, 2)
const BALANCE = 1_000_000n
/** In the small size one payout is refused by the network, and its answer must say so on a busy machine too. */
const PIX_WAIT_MS = String(size(1500, 9000))
const SETTLE_MS = 60_000
const TIMEOUT_MS = 300_000

/** Of ten payouts one is refused by the network, one stays on its way for a while, and the others end at once. */
function pixKeyOf(index: number): string {
  if (index % 10 === 3) return 'ac03@sandbox.test'
  return index % 10 === 7 ? 'slow@sandbox.test' : 'ana@example.com'
}

const ordersOf = (customer_id: string) => times(KEYS, (index) => payoutOrder(customer_id, pixKeyOf(index)))
type Order = ReturnType<typeof payoutOrder>

type Asked = { readonly replies: readonly Reply[]; readonly trouble: Trouble }

/** All copies of one request at once, the even ones at one process and the odd ones at the other. */
async function askForAll(stage: Stage, order: Order): Promise<Asked> {
  const trouble = { cut: 0, unavailable: 0 }
  const ask = (copy: number) =>
    retryUntilAnswered((tries) => stage.api(copy + tries).post('/v1/pix/payouts', order), trouble)
  return { replies: await Promise.all(times(COPIES, ask)), trouble }
}

/** One body and one status per key, and every payout another one. */
function expectOneAnswerPerKey(asked: readonly Asked[]): void {
  for (const { replies } of asked) {
    expect(replies).toHaveLength(COPIES)
    const answers = new Set(replies.map(({ status, text }) => `${status} ${text}`))
    expect([...answers]).toEqual([`201 ${replies[0]!.text}`])
  }
  expect(new Set(asked.map(({ replies }) => replies[0]!.json.id)).size).toBe(KEYS)
}

async function expectSpentOnce(stage: Stage, customer_id: string): Promise<void> {
  const { payouts, told } = await expectOnce(stage)
  expect(payouts).toHaveLength(KEYS)
  expect(new Set(told.map(({ id }) => id)).size).toBe(KEYS)
  const failed = payouts.filter(({ status }) => status === 'failed')
  expect(failed).toHaveLength(KEYS / 10)
  const completed = sum(payouts) - sum(failed)
  expect(await balanceOf(stage, customer_id)).toEqual({ balance: BALANCE - completed, in_transit: 0n })
}

describe('equal payouts at once, over two processes', () => {
  test(
    'make one payout, one debit and one instruction, and get one answer',
    async () => {
      const stage = await openStage({ nodes: 2, env: { PIX_WAIT_MS: PIX_WAIT_MS } })
      try {
        const customer_id = await stage.customer({ BRL: BALANCE })
        const asked = await inParallel(ordersOf(customer_id), KEYS_AT_ONCE, (order) =>
          askForAll(stage, order),
        )
        expectOneAnswerPerKey(asked)
        let firsts = 0
        let unavailable = 0
        for (const { replies, trouble } of asked) {
          const own = replies.filter(({ headers }) => headers.get('idempotent-replayed') === null).length
          // Whoever made the payout and was told 503, for the machine was busy, gets it as a replay when it asks again.
          expect(own).toBeLessThanOrEqual(1)
          if (trouble.unavailable === 0) expect(own).toBe(1)
          expect(trouble.cut).toBe(0)
          firsts += own
          unavailable += trouble.unavailable
        }
        const statuses = asked.map(({ replies }) => replies[0]!.json.status)
        expect(statuses.filter((status) => status === 'failed').length).toBeGreaterThan(0)
        expect(statuses.filter((status) => status === 'processing').length).toBeGreaterThanOrEqual(KEYS / 10)

        const open = asked
          .map(({ replies }) => replies[0]!.json)
          .filter(({ status }) => status === 'processing')
        await inParallel(open, KEYS_AT_ONCE, ({ id }, i) =>
          stage.api(i).post(`/v1/sandbox/pix/payouts/${id}/complete`),
        )
        await until(() => allFinal(stage), SETTLE_MS)
        await expectSpentOnce(stage, customer_id)
        expect(readJournal(stage.journal)).toHaveLength(KEYS)
        noteFact(
          `${KEYS} keys × ${COPIES} equal requests over 2 processes: ${KEYS} payouts, ${KEYS} debits, ${KEYS} instructions to the rail, 1 status and body per key, ${firsts} responses that are not a replay, ${unavailable} × 503`,
        )
      } finally {
        await stage.stop()
      }
    },
    TIMEOUT_MS,
  )

  test(
    'the same while processes are killed, and callers insist',
    async () => {
      const stage = await openStage({ nodes: 2, env: { PIX_WAIT_MS: '1000', LEASE_MS: '2000' } })
      try {
        const customer_id = await stage.customer({ BRL: BALANCE })
        const orders = ordersOf(customer_id)
        const asked: Asked[] = []
        for (let kill = 0; kill < KILLS; kill++) {
          const group = orders.slice((KEYS * kill) / KILLS, (KEYS * (kill + 1)) / KILLS)
          const asking = inParallel(group, KEYS_AT_ONCE, (order) => askForAll(stage, order))
          const [answered] = await Promise.all([asking, killMeanwhile(stage, kill)])
          asked.push(...answered)
        }
        expectOneAnswerPerKey(asked)
        const cut = asked.reduce((total, { trouble }) => total + trouble.cut, 0)
        expect(cut).toBeGreaterThan(0)

        await until(() => allFinal(stage), SETTLE_MS)
        await expectSpentOnce(stage, customer_id)
        const again = await inParallel(orders, KEYS_AT_ONCE, (order, i) =>
          stage.api(i).post('/v1/pix/payouts', order),
        )
        expect(again.map(({ text }) => text)).toEqual(asked.map(({ replies }) => replies[0]!.text))
        noteFact(
          `${KEYS} keys × ${COPIES} equal requests over 2 processes, ${KILLS} × kill -9 (${cut} connections cut or refused, each request sent again): ${KEYS} payouts, ${KEYS} debits, 1 status and body per key, no payout under two ids and no id for two payouts, all final, audit clean`,
        )
      } finally {
        await stage.stop()
      }
    },
    TIMEOUT_MS,
  )
})

async function killMeanwhile(stage: Stage, node: number): Promise<void> {
  await sleep(Math.random() * 300)
  await stage.crash(node)
}
