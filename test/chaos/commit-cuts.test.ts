import { expect, test } from 'vitest'
import type { Reply } from '../support/api.ts'
import { crowd, times } from '../support/crowd.ts'
import { insist, type Trouble } from '../support/insist.ts'
import { allFinal, balanceOf, expectOnce, payoutOrder, sum, transferOrder } from '../support/once.ts'
import { noteFact } from '../support/proof.ts'
import { openProxy } from '../support/proxy.ts'
import { size } from '../support/size.ts'
import { openStage } from '../support/stage.ts'
import { until } from '../support/wait.ts'

/** The wire to the database breaks exactly when COMMIT is on it: nobody knows, and nobody may guess. */
const CUTS = size(200, 20)
const AT_ONCE = 8
const BALANCE = 100_000_000_000n
const TIMEOUT_MS = 300_000

/** Several in a row hit one batch again and again, until the service gives up and says so. */
const plan = [
  ['before', 1],
  ['after', 1],
  ['before', 4],
  ['after', 1],
  ['before', 1],
  ['after', 4],
] as const

test(
  'connections cut at COMMIT, before and after it took effect: whatever was answered is there once, and every retry comes to the same',
  async () => {
    let proxy!: Awaited<ReturnType<typeof openProxy>>
    const stage = await openStage({
      nodes: 1,
      env: { PIX_WAIT_MS: '1000', LEASE_MS: '1000', SANDBOX_BROADCAST_MS: '100', SANDBOX_CONFIRM_MS: '300' },
      database_url: async (url) => (proxy = await openProxy(url)).url,
    })
    try {
      const customer_id = await stage.customer({ BRL: BALANCE, USDT: BALANCE })
      const trouble: Trouble = { cut: 0, unavailable: 0 }
      const ask = (path: string, body: unknown) => insist(() => stage.api(0).post(path, body), trouble)
      const asked: { path: string; body: unknown; reply: Reply }[] = []
      const deposits: Reply[] = []
      let busy = true

      async function work(worker: number): Promise<void> {
        while (busy) {
          // A deposit has no key: it is not asked for again, so it must never come twice by itself.
          if (worker === 0) {
            const body = { customer_id, asset: 'BTC', amount: '1' }
            deposits.push(await stage.api(0).post('/v1/sandbox/deposits', body))
            continue
          }
          const [path, body] =
            worker % 4 === 3
              ? ['/v1/onchain/transfers', transferOrder(customer_id)]
              : [
                  '/v1/pix/payouts',
                  payoutOrder(customer_id, worker % 4 === 1 ? 'ac03@sandbox.test' : 'ana@example.com'),
                ]
          asked.push({ path: path as string, body, reply: await ask(path as string, body) })
        }
      }
      const working = crowd(
        times(AT_ONCE, (i) => i),
        AT_ONCE,
        work,
      )
      const cuts = { before: 0, after: 0 }
      for (let i = 0; proxy.cuts() < CUTS; i++) {
        const [when, times_in_a_row] = plan[i % plan.length]!
        const wanted = Math.min(CUTS, proxy.cuts() + times_in_a_row)
        cuts[when] += wanted - proxy.cuts()
        proxy.cut(when, wanted - proxy.cuts())
        await until(() => proxy.cuts() >= wanted, 30_000)
      }
      busy = false
      await working
      expect(proxy.cuts()).toBe(CUTS)
      expect(asked.map(({ reply }) => reply.status)).toEqual(asked.map(() => 201))

      await until(() => allFinal(stage), 30_000)
      const { payouts, transfers } = await expectOnce(stage)
      const made = new Set([...payouts, ...transfers].map(({ id }) => id))
      expect(made).toEqual(new Set(asked.map(({ reply }) => reply.json.id)))
      const again = await crowd(asked, AT_ONCE, ({ path, body }) => ask(path, body))
      expect(again.map(({ text }) => text)).toEqual(asked.map(({ reply }) => reply.text))

      const completed = payouts.filter(({ status }) => status === 'completed')
      expect(await balanceOf(stage, customer_id)).toEqual({
        balance: BALANCE - sum(completed),
        in_transit: 0n,
      })
      const spent = { balance: BALANCE - sum(transfers), in_transit: 0n }
      expect(await balanceOf(stage, customer_id, 'USDT')).toEqual(spent)

      const accepted = deposits.filter(({ status }) => status === 201)
      const unknown = deposits.filter(({ status }) => status === 503)
      expect(accepted.length + unknown.length).toBe(deposits.length)
      expect(trouble.cut).toBe(0)
      expect(trouble.unavailable + unknown.length).toBeGreaterThan(0)
      const { rows } = await stage.worlds.sandbox.db.query(`SELECT id FROM deposits WHERE asset = 'BTC'`)
      const booked = new Set(rows.map(({ id }) => id))
      expect(accepted.filter(({ json }) => !booked.has(json.id))).toEqual([])
      expect(booked.size).toBeLessThanOrEqual(accepted.length + unknown.length)
      const { balance } = await balanceOf(stage, customer_id, 'BTC')
      expect(balance).toBe(BigInt(booked.size))

      noteFact(
        `${CUTS} connections cut at COMMIT, ${cuts.before} before it arrived and ${cuts.after} after it took effect, under ${payouts.length} payouts, ${transfers.length} transfers and ${deposits.length} deposits: ${trouble.unavailable + unknown.length} × 503 and no other 5xx, every answered one there once, every retry the same body, audit clean`,
      )
    } finally {
      await stage.stop()
      await proxy.down()
    }
  },
  TIMEOUT_MS,
)
