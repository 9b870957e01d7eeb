import { expect, test } from 'vitest'
import type { Reply } from '../support/api.ts'
import { allFinal, balanceOf, expectOnce, payoutOrder, sum, transferOrder } from '../support/once.ts'
import { inParallel, times } from '../support/parallel.ts'
import { noteFact } from '../support/proof.ts'
import { type Cut, openProxy, type Place, type When } from '../support/proxy.ts'
import { retryUntilAnswered, type Trouble } from '../support/retry.ts'
import { size } from '../support/size.ts'
import { openStage, type Stage } from '../support/stage.ts'
import { until } from '../support/wait.ts'

/** The wire to the database breaks exactly when COMMIT is on it: nobody knows, and nobody may guess. */
const CUTS = size(200, 20)
const CALLERS = 8
const BALANCE = 100_000_000_000n
const TIMEOUT_MS = 300_000

const at = (place: Place, when: When): Cut => ({ at: place, when })

/** Several in a row hit one batch again and again: its COMMIT, the question after it, and the look at the answer. */
const plan: readonly (readonly Cut[])[] = [
  [at('commit', 'before')],
  [at('commit', 'after')],
  [at('commit', 'before'), at('question', 'after')],
  [at('commit', 'after'), at('question', 'before'), at('look', 'after')],
  [at('commit', 'before'), at('commit', 'before'), at('commit', 'before'), at('commit', 'after')],
  [at('commit', 'before'), at('question', 'after'), at('question', 'after'), at('look', 'before')],
  [at('commit', 'after'), at('question', 'after'), at('look', 'before'), at('question', 'before')],
]

type Asked = { readonly path: string; readonly body: unknown; readonly reply: Reply }

test(
  'connections cut at COMMIT and at the question after it, before and after they took effect: whatever was answered is there once, and every retry comes to the same',
  async () => {
    let proxy!: Awaited<ReturnType<typeof openProxy>>
    const stage = await openStage({
      nodes: 1,
      env: { PIX_WAIT_MS: '1000', LEASE_MS: '1000', SANDBOX_BROADCAST_MS: '100', SANDBOX_CONFIRM_MS: '300' },
      database_url: async (url) => (proxy = await openProxy(url)).url,
    })
    try {
      const customer_id = await stage.customer({ BRL: BALANCE, USDT: BALANCE })
      const callers = startCallers(stage, customer_id)
      const cuts = { commit: 0, question: 0, look: 0 }
      for (let i = 0; proxy.cuts() < CUTS; i++) {
        const row = plan[i % plan.length]!.slice(0, CUTS - proxy.cuts())
        const wanted = proxy.cuts() + row.length
        for (const cut of row) cuts[cut.at]++
        proxy.cutInRow(row)
        await until(() => proxy.cuts() >= wanted, 30_000)
        // What was cut comes to its end before the next cut: otherwise everything would always be cut to the last try.
        const answered = callers.answered() + CALLERS
        await until(() => callers.answered() >= answered, 30_000)
      }
      const { asked, deposits, trouble } = await callers.stop()
      expect(proxy.cuts()).toBe(CUTS)
      expect(asked.map(({ reply }) => reply.status)).toEqual(asked.map(() => 201))
      expect(trouble.cut).toBe(0)

      await until(() => allFinal(stage), 30_000)
      const { payouts, transfers } = await expectOnce(stage)
      const made = new Set([...payouts, ...transfers].map(({ id }) => id))
      expect(made).toEqual(new Set(asked.map(({ reply }) => reply.json.id)))
      const again = await inParallel(asked, CALLERS, ({ path, body }) => stage.api(0).post(path, body))
      expect(again.map(({ text }) => text)).toEqual(asked.map(({ reply }) => reply.text))

      const paid = sum(payouts.filter(({ status }) => status === 'completed'))
      expect(await balanceOf(stage, customer_id)).toEqual({ balance: BALANCE - paid, in_transit: 0n })
      const spent = { balance: BALANCE - sum(transfers), in_transit: 0n }
      expect(await balanceOf(stage, customer_id, 'USDT')).toEqual(spent)
      const unknown = await expectBooked(stage, customer_id, deposits)
      noteFact(
        `${CUTS} connections cut, ${cuts.commit} at COMMIT, ${cuts.question} at the query that checks the COMMIT and ${cuts.look} at its reply, before they arrived and after they took effect, up to four in a row, during ${payouts.length} payouts, ${transfers.length} transfers and ${deposits.length} deposits: ${trouble.unavailable + unknown} × 503 and no other 5xx, every acknowledged one stored once, the same body for every retry, audit clean`,
      )
    } finally {
      await stage.stop()
      await proxy.down()
    }
  },
  TIMEOUT_MS,
)

/** Callers that want something all the time, each always the same kind of thing. */
function startCallers(stage: Stage, customer_id: string) {
  const trouble: Trouble = { cut: 0, unavailable: 0 }
  const asked: Asked[] = []
  const deposits: Reply[] = []
  let busy = true

  const order = async (path: string, body: unknown) => {
    asked.push({ path, body, reply: await retryUntilAnswered(() => stage.api(0).post(path, body), trouble) })
  }
  const wishes = [
    // A deposit has no key, so nobody asks for it again: it must not come twice by itself.
    async () => {
      const body = { customer_id, asset: 'BTC', amount: '1' }
      deposits.push(await stage.api(0).post('/v1/sandbox/deposits', body))
    },
    () => order('/v1/pix/payouts', payoutOrder(customer_id, 'ana@example.com')),
    () => order('/v1/pix/payouts', payoutOrder(customer_id, 'ac03@sandbox.test')),
    () => order('/v1/onchain/transfers', transferOrder(customer_id)),
  ]
  const working = Promise.all(
    times(CALLERS, async (i) => {
      while (busy) await wishes[i % wishes.length]!()
    }),
  )
  return {
    answered: () => asked.length + deposits.length,
    async stop() {
      busy = false
      await working
      return { asked, deposits, trouble }
    },
  }
}

/** Every deposit that was answered is there once, and of the others none twice. Returns how many got no answer. */
async function expectBooked(stage: Stage, customer_id: string, deposits: readonly Reply[]): Promise<number> {
  const accepted = deposits.filter(({ status }) => status === 201)
  const unknown = deposits.filter(({ status }) => status === 503)
  expect(deposits.filter((reply) => !accepted.includes(reply) && !unknown.includes(reply))).toEqual([])
  const { rows } = await stage.worlds.sandbox.db.query(`SELECT id FROM deposits WHERE asset = 'BTC'`)
  const booked = new Set(rows.map(({ id }) => id))
  expect(accepted.filter(({ json }) => !booked.has(json.id))).toEqual([])
  expect(booked.size).toBeLessThanOrEqual(deposits.length)
  expect((await balanceOf(stage, customer_id, 'BTC')).balance).toBe(BigInt(booked.size))
  return unknown.length
}
