import { expect, test } from 'vitest'
import type { CrashPoint } from '../../src/core/crash-point.ts'
import { startNode } from '../support/node.ts'
import { allFinal, balanceOf, readJournal, transferOrder } from '../support/once.ts'
import { byTwoOperators } from '../support/operators.ts'
import { isCut } from '../support/retry.ts'
import { size } from '../support/size.ts'
import { openStage } from '../support/stage.ts'
import { until } from '../support/wait.ts'

/**
 * A node dies on the way of a transfer, two operators cancel the transfer, and the node that cancels it dies too. A third node must
 * bring the cancel to its end: nothing is paid, and the money goes back once.
 */
const BALANCE = 100_000_000n
const WAIT_MS = 30_000
const TIMEOUT_MS = 300_000

/** Where the payment was when its node died. */
const before = {
  after_reserve: { payments: 0, broadcast: 0 },
  before_broadcast: { payments: 1, broadcast: 0 },
  after_broadcast: { payments: 1, broadcast: 1 },
} as const satisfies Partial<Record<CrashPoint, unknown>>
type Before = keyof typeof before

const while_canceling = ['after_sign', 'before_cancel', 'after_broadcast'] as const

const cases = (Object.keys(before) as Before[]).flatMap((first, row) =>
  while_canceling.flatMap((second, column) => (row === column || size(1, 0) ? [{ first, second }] : [])),
)

test.concurrent.each(cases)(
  'a transfer whose node died at $first is canceled by a node that dies at $second',
  async ({ first, second }) => {
    const stage = await openStage({
      nodes: 0,
      env: { LEASE_MS: '1000', SANDBOX_BROADCAST_MS: '300', SANDBOX_CONFIRM_MS: '900' },
    })
    try {
      const customer_id = await stage.customer({ USDT: BALANCE })
      const paying = await stage.start({ CRASH_AT: first })
      // Stays unmined: only the cancel can end it.
      const order = transferOrder(customer_id, '25009003')
      // It may die before it answers.
      await stage
        .client(paying.url)
        .post('/v1/onchain/transfers', order)
        .catch((error: unknown) => {
          if (!isCut(error)) throw error
        })
      await until(() => paying.process.signalCode === 'SIGKILL', WAIT_MS)
      const { rows: made } = await stage.worlds.sandbox.db.query('SELECT id FROM transfers')
      const transfer_id: string = made[0].id
      await byTwoOperators(stage.worlds.sandbox, {
        name: 'cancel_transfer',
        details: { transfer_id, reason: 'wrong address' },
      })

      const canceling = await stage.startDoomed({ CRASH_AT: second })
      if (canceling) await until(() => canceling.process.signalCode === 'SIGKILL', WAIT_MS)
      const clean = await startNode(stage.database.url, stage.env)
      try {
        await until(() => allFinal(stage), WAIT_MS)
        const { json: ended } = await stage.client(clean.url).get(`/v1/onchain/transfers/${transfer_id}`)
        expect(ended).toMatchObject({ status: 'failed', failure: { code: 'canceled' } })
        const { rows } = await stage.worlds.sandbox.db.query(
          'SELECT purpose, tx_hash, block_hash IS NOT NULL AS mined FROM transactions WHERE transfer_id = $1 ORDER BY attempt',
          [transfer_id],
        )
        const { payments, broadcast } = before[first]
        const paid = rows.filter(({ purpose }) => purpose === 'pay')
        expect(paid).toHaveLength(payments)
        expect(rows.slice(payments).every(({ purpose }) => purpose === 'cancel')).toBe(true)
        expect(rows.filter(({ mined }) => mined)).toMatchObject([{ purpose: 'cancel' }])
        expect(ended.tx_hash).toBe(paid[0]?.tx_hash ?? null)
        const sent = readJournal(stage.journal).filter(({ id }) => id === paid[0]?.tx_hash)
        expect(sent).toHaveLength(broadcast)
        expect(await balanceOf(stage, customer_id, 'USDT')).toEqual({ balance: BALANCE, in_transit: 0n })
        expect((await stage.audit()).sandbox.findings).toEqual([])
      } finally {
        await clean.stop()
      }
    } finally {
      await stage.stop()
    }
  },
  TIMEOUT_MS,
)
