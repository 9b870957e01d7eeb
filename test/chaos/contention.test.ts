import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Reply } from '../support/api.ts'
import { allFinal, balanceOf, expectOnce, payoutOrder, sum, transferOrder } from '../support/once.ts'
import { times } from '../support/parallel.ts'
import { noteFact } from '../support/proof.ts'
import { retryUntilAnswered, type Trouble } from '../support/retry.ts'
import { size } from '../support/size.ts'
import { openStage, type Stage } from '../support/stage.ts'
import { until } from '../support/wait.ts'

/** Interface §4.1 and §4.2, rule 1: a balance pays for what it holds and for nothing more, whoever asks at the same time. */
const ROUNDS = size(20, 3)
const LOOK_MS = 300
const TIMEOUT_MS = 300_000

const BRL = 1000n
const PAYOUTS = 50
/** With its fee each transfer takes two: five fit. */
const USDT = 10_000_000n
const TRANSFERS = 20
const DEPOSITS = 5
const DEPOSIT = 100n

const REFUSED_KEY = 'ac03@sandbox.test'
const isRefused = (pix_key: string) => pix_key === REFUSED_KEY

/** Most end at once; some give their money back, which others may then spend; some are on their way until told otherwise. */
function pixKeyOf(index: number): string {
  if (index % 10 === 3) return REFUSED_KEY
  return index % 10 === 7 ? 'slow@sandbox.test' : 'ana@example.com'
}

test(
  'fifty payouts at once from a balance for ten, over two processes, beside transfers, deposits and refunds',
  async () => {
    const stage = await openStage({
      nodes: 2,
      env: { PIX_WAIT_MS: '500', SANDBOX_BROADCAST_MS: '100', SANDBOX_CONFIRM_MS: '300' },
    })
    const checker = watchBooks(stage)
    try {
      const trouble: Trouble = { cut: 0, unavailable: 0 }
      let passed = 0
      for (let round = 0; round < ROUNDS; round++) passed += await runRound(stage, round, trouble)
      await until(() => allFinal(stage), 30_000)
      const looks = await checker.stop()
      expect(looks).toBeGreaterThan(ROUNDS / 4)
      expect(trouble.cut).toBe(0)

      const { payouts, transfers } = await expectOnce(stage)
      for (const id of new Set(payouts.map(({ customer_id }) => customer_id))) {
        const paid = payouts.filter(({ customer_id, status }) => customer_id === id && status === 'completed')
        const sent = transfers.filter(({ customer_id }) => customer_id === id)
        const balance = (await depositedTo(stage, id)) - sum(paid)
        expect(await balanceOf(stage, id)).toEqual({ balance, in_transit: 0n })
        expect(await balanceOf(stage, id, 'USDT')).toEqual({ balance: USDT - sum(sent), in_transit: 0n })
        expect(sent).toHaveLength(5)
      }
      noteFact(
        `${ROUNDS} rounds of ${PAYOUTS} payouts of 100 at once from a balance of 1,000 over 2 processes, beside ${TRANSFERS} transfers and ${DEPOSITS} deposits each: ${passed} of ${ROUNDS * PAYOUTS} payouts and ${transfers.length} of ${ROUNDS * TRANSFERS} transfers fitted, no balance ever negative and the audit clean in each of ${looks} snapshots meanwhile`,
      )
    } finally {
      await checker.stop().catch(() => {})
      await stage.stop()
    }
  },
  TIMEOUT_MS,
)

/** One customer, whom everybody wants something of at once. Returns how many payouts were accepted. */
async function runRound(stage: Stage, round: number, trouble: Trouble): Promise<number> {
  const customer_id = await stage.customer({ BRL, USDT })
  // Every other round has no deposits until all is spent: then it is known how many must fit.
  const early = round % 2 === 0
  const ask = (path: string, body: unknown, i: number) =>
    retryUntilAnswered((tries) => stage.api(i + tries).post(path, body), trouble)
  const deposits = () =>
    Promise.all(
      times(DEPOSITS, (i) =>
        stage.api(i).post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: String(DEPOSIT) }),
      ),
    )
  const [payouts, transfers, booked] = await Promise.all([
    Promise.all(
      times(PAYOUTS, (i) =>
        ask('/v1/pix/payouts', payoutOrder(customer_id, early ? pixKeyOf(i) : 'ana@example.com'), i),
      ),
    ),
    Promise.all(times(TRANSFERS, (i) => ask('/v1/onchain/transfers', transferOrder(customer_id), i))),
    early ? deposits() : [],
  ])
  expectRefusedOrMade(payouts)
  expectRefusedOrMade(transfers)
  expect(transfers.filter(({ status }) => status === 201)).toHaveLength(5)
  const made = payouts.filter(({ status }) => status === 201)
  // Their money comes back and may be spent again, before or after the answer that says that they failed.
  const refused = early ? payouts.filter(({ status }, i) => status === 201 && isRefused(pixKeyOf(i))) : []
  expect(made.length).toBeGreaterThanOrEqual(10)
  expect(made.length - refused.length).toBeLessThanOrEqual(early ? 10 + DEPOSITS : 10)

  const later = early ? booked : await deposits()
  expect(later.filter(({ status }) => status !== 201 && status !== 503)).toEqual([])
  await endOpen(stage, made)
  return made.length
}

function expectRefusedOrMade(replies: readonly Reply[]): void {
  const others = replies.filter(
    ({ status, json }) => status !== 201 && json.error?.code !== 'insufficient_balance',
  )
  expect(others.map(({ text }) => text)).toEqual([])
}

/** Whoever is still on its way is told to complete and to fail at the same moment, by both processes: one of them decides. */
async function endOpen(stage: Stage, made: readonly Reply[]): Promise<void> {
  const open = made.filter(({ json }) => json.status === 'processing')
  await Promise.all(
    open.map(async ({ json }) => {
      const told = await Promise.all(
        times(4, (i) =>
          stage.api(i).post(`/v1/sandbox/pix/payouts/${json.id}/${i < 2 ? 'complete' : 'fail'}`),
        ),
      )
      const won = told.filter(({ status }) => status === 200)
      const lost = told.filter((reply) => reply.json.error?.code === 'already_final')
      const unknown = told.filter(({ status }) => status === 503)
      expect(won.length + lost.length + unknown.length).toBe(told.length)
      // Who tells the same end as the winner is told that end: two of each were told.
      expect(won.length).toBeLessThanOrEqual(2)
      expect(new Set(won.map((reply) => reply.json.status)).size).toBeLessThanOrEqual(1)
      if (unknown.length === 0) expect([won.length, lost.length]).toEqual([2, 2])
      const { json: now } = await stage.api(0).get(`/v1/pix/payouts/${json.id}`)
      if (won[0]) expect(now).toEqual(won[0].json)
    }),
  )
}

async function depositedTo({ worlds }: Stage, customer_id: string): Promise<bigint> {
  const { rows } = await worlds.sandbox.db.query(
    `SELECT sum(amount) AS total FROM deposits WHERE customer_id = $1 AND asset = 'BRL'`,
    [customer_id],
  )
  return rows[0].total
}

/** Looks at all balances and runs the audit again and again while others are at work. */
function watchBooks(stage: Stage) {
  let stopped = false
  let looks = 0
  const looking = (async () => {
    while (!stopped) {
      const { rows } = await stage.worlds.sandbox.db.query(
        `SELECT customer_id, asset, balance, in_transit FROM balances WHERE balance < 0 OR in_transit < 0
          OR (asset = 'BRL' AND balance + in_transit > $1) OR (asset = 'USDT' AND balance + in_transit > $2)`,
        [BRL + DEPOSIT * BigInt(DEPOSITS), USDT],
      )
      expect(rows).toEqual([])
      expect((await stage.audit()).sandbox.findings).toEqual([])
      looks++
      await sleep(LOOK_MS)
    }
  })()
  // Whoever stops it is told; until then nobody listens.
  looking.catch(() => {})
  return {
    async stop(): Promise<number> {
      stopped = true
      await looking
      return looks
    },
  }
}
