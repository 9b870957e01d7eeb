import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { asAdmin } from '../support/database.ts'
import { balanceOf } from '../support/once.ts'
import { inParallel, times } from '../support/parallel.ts'
import { noteFact } from '../support/proof.ts'
import { retryUntilAnswered } from '../support/retry.ts'
import { size } from '../support/size.ts'
import { openStage, type Stage } from '../support/stage.ts'

/** Contract §10: a quote makes at most one trade, and none that was decided at or after its end. */
const QUOTES = size(200, 6)
const COPIES = 50
const AT_ONCE = 5
const KILLS = size(10, 1)
const EDGES = size(400, 30)
const WAITERS = size(40, 10)
const TIMEOUT_MS = 300_000
const BALANCE = 10n ** 9n

const order = (customer_id: string) => ({
  customer_id,
  from_asset: 'BRL',
  to_asset: 'USDT',
  amount: '5400',
  partner_fee_bps: 100,
})

async function quotesOf(stage: Stage, customer_id: string, count: number): Promise<string[]> {
  return inParallel(times(count, String), 8, async (_, i) => {
    const { status, json } = await stage.api(i).post('/v1/quotes', order(customer_id))
    expect(status).toBe(201)
    return json.id as string
  })
}

type TradeRow = { id: string; quote_id: string; created_at: Date; quote_expires_at: Date }

async function tradesOf({ worlds }: Stage): Promise<TradeRow[]> {
  const { rows } = await worlds.sandbox.db.query(
    `SELECT id, quote_id, created_at, quote_expires_at FROM trades WHERE status = 'completed' ORDER BY created_at`,
  )
  return rows
}

/** So many trades, each debited and credited once, and the books right. */
async function expectTraded(stage: Stage, customer_id: string, trades: number): Promise<void> {
  expect(await tradesOf(stage)).toHaveLength(trades)
  // 54.00 less 27 + 54 centavos, at 5.40.
  const [brl, usdt] = [await balanceOf(stage, customer_id), await balanceOf(stage, customer_id, 'USDT')]
  expect(BALANCE - brl.balance).toBe(5400n * BigInt(trades))
  expect(usdt.balance).toBe(9_850_000n * BigInt(trades))
  const { findings, assets } = (await stage.audit()).sandbox
  expect(findings).toEqual([])
  expect(assets.BRL).toMatchObject({ partner_fees: 54n * BigInt(trades), service_fees: 27n * BigInt(trades) })
}

/** Makes quotes older, so that they end in `ms` from now, by the database's clock. */
async function endIn(stage: Stage, ids: readonly string[], ms: number): Promise<Date> {
  await asAdmin(stage.database.url, [
    'ALTER TABLE sandbox.quotes DISABLE TRIGGER USER',
    `WITH moment AS (SELECT clock_timestamp()::timestamptz(3) + interval '${ms} milliseconds' AS ends)
     UPDATE sandbox.quotes SET expires_at = ends, created_at = ends - interval '30 seconds' FROM moment
     WHERE id IN (${ids.map((id) => `'${id}'`).join(',')})`,
    'ALTER TABLE sandbox.quotes ENABLE TRIGGER USER',
  ])
  const { rows } = await stage.worlds.sandbox.db.query('SELECT expires_at FROM quotes WHERE id = $1', [
    ids[0],
  ])
  return rows[0].expires_at
}

describe('quotes over two processes', () => {
  test(
    'executed many times at once, each makes one trade, and everybody is told of it',
    async () => {
      const stage = await openStage({ nodes: 2 })
      try {
        const customer_id = await stage.customer({ BRL: BALANCE })
        const asked = await inParallel(times(QUOTES, String), AT_ONCE, async () => {
          // One at a time: it holds for 30 seconds, and a busy machine takes longer for all of them.
          const [id] = await quotesOf(stage, customer_id, 1)
          const replies = await Promise.all(
            times(COPIES, (copy) =>
              retryUntilAnswered((tries) => stage.api(copy + tries).post(`/v1/quotes/${id}/execute`), {
                cut: 0,
                unavailable: 0,
              }),
            ),
          )
          expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
          expect(replies[0]).toMatchObject({ status: 201, json: { quote_id: id, status: 'completed' } })
          return replies.filter(({ headers }) => headers.get('idempotent-replayed') === null).length
        })
        expect(Math.max(...asked)).toBeLessThanOrEqual(1)
        await expectTraded(stage, customer_id, QUOTES)
        noteFact(
          `${QUOTES} quotes × ${COPIES} executions at once over 2 processes: ${QUOTES} trades, 1 status and body per quote, both balances and both fees exact, audit clean`,
        )
      } finally {
        await stage.stop()
      }
    },
    TIMEOUT_MS,
  )

  test(
    'the same while processes are killed, and callers insist, also after the end of the quote',
    async () => {
      const stage = await openStage({ nodes: 2 })
      try {
        const customer_id = await stage.customer({ BRL: BALANCE })
        const trouble = { cut: 0, unavailable: 0 }
        let traded = 0
        const told = new Map<string, string>()
        for (let kill = 0; kill < KILLS; kill++) {
          const ids = await quotesOf(stage, customer_id, QUOTES / KILLS)
          const asking = inParallel(ids, AT_ONCE, (id) =>
            Promise.all(
              times(COPIES, (copy) =>
                retryUntilAnswered(
                  (tries) => stage.api(copy + tries).post(`/v1/quotes/${id}/execute`),
                  trouble,
                ),
              ),
            ),
          )
          const killing = sleep(Math.random() * 200).then(() => stage.crash(kill))
          const [answered] = await Promise.all([asking, killing])
          for (const [i, replies] of answered.entries()) {
            const answers = [...new Set(replies.map(({ status, text }) => `${status} ${text}`))]
            expect(answers).toHaveLength(1)
            expect(replies[0]!.status).toBe(201)
            told.set(ids[i]!, replies[0]!.text)
            traded++
          }
        }
        expect(traded).toBe(QUOTES)
        await expectTraded(stage, customer_id, QUOTES)
        await endIn(stage, [...told.keys()].slice(0, 5), -1000)
        for (const [i, [id, text]] of [...told].entries()) {
          const again = await stage.api(i).post(`/v1/quotes/${id}/execute`)
          expect([again.status, again.text]).toEqual([201, text])
        }
        noteFact(
          `${QUOTES} quotes × ${COPIES} executions over 2 processes, ${KILLS} × kill -9 (${trouble.cut} connections cut or refused, each request sent again): ${QUOTES} trades, 1 body per quote, also long after the quote’s end, audit clean`,
        )
      } finally {
        await stage.stop()
      }
    },
    TIMEOUT_MS,
  )

  test(
    'aimed at the very end of a quote: whatever was decided, was decided in time',
    async () => {
      const stage = await openStage({ nodes: 2 })
      try {
        const customer_id = await stage.customer({ BRL: BALANCE })
        let executed = 0
        let expired = 0
        let lead = 60
        // Until enough were aimed, and both sides of the edge were hit.
        for (let round = 0; round < 30; round++) {
          if (round >= EDGES / 20 && Math.min(executed, expired) > 0) break
          const ids = await quotesOf(stage, customer_id, 20)
          const ends = await endIn(stage, ids, 2000)
          const replies = await Promise.all(
            ids.map(async (id, i) => {
              // From 5 ms before to 5 ms after, by when the server decides: so much earlier is it sent.
              await sleep(ends.getTime() - Date.now() - lead + (i % 11) - 5)
              return { id, reply: await stage.api(i).post(`/v1/quotes/${id}/execute`) }
            }),
          )
          const late = replies.filter(({ reply }) => reply.status !== 201).length
          // Where all came too late, or all in time, the aim was far off, as on a busy machine.
          if (late === ids.length) lead = Math.min(1500, 2 * lead + 8)
          else if (late === 0) lead = Math.floor(lead / 2)
          else lead = Math.max(0, lead + (late > 10 ? 8 : -8))
          const trades = new Map((await tradesOf(stage)).map((trade) => [trade.quote_id, trade]))
          for (const { id, reply } of replies) {
            const trade = trades.get(id)
            if (reply.status === 201) {
              expect(trade!.created_at.getTime()).toBeLessThan(ends.getTime())
              executed++
            } else {
              expect([reply.status, reply.json.error.code]).toEqual([409, 'quote_expired'])
              expect(trade).toBeUndefined()
              expired++
            }
          }
        }
        expect(executed + expired).toBeGreaterThanOrEqual(EDGES)
        expect(Math.min(executed, expired)).toBeGreaterThan(0)
        await expectTraded(stage, customer_id, executed)
        noteFact(
          `${executed + expired} executions aimed at a quote’s end ± 5 ms: ${executed} traded, all decided before it; ${expired} refused`,
        )
      } finally {
        await stage.stop()
      }
    },
    TIMEOUT_MS,
  )

  test.each([
    [
      'its balance',
      (customer_id: string) => `SELECT FROM sandbox.balances WHERE customer_id = '${customer_id}' FOR UPDATE`,
    ],
    ['the quotes themselves', () => 'SELECT FROM sandbox.quotes WHERE trade_id IS NULL FOR UPDATE'],
  ])(
    'in time, but made to wait beyond the end by a lock on %s: nothing is traded',
    async (_, lock) => {
      const stage = await openStage({ nodes: 2 })
      const holder = new pg.Client({ connectionString: stage.database.url })
      try {
        await holder.connect()
        const customer_id = await stage.customer({ BRL: BALANCE })
        // A lock that is given back in time changes nothing.
        const early = await quotesOf(stage, customer_id, 2)
        await holder.query(`BEGIN; ${lock(customer_id)}`)
        const patient = early.map((id, i) => stage.api(i).post(`/v1/quotes/${id}/execute`))
        await sleep(100)
        await holder.query('COMMIT')
        expect((await Promise.all(patient)).map(({ status }) => status)).toEqual([201, 201])

        const ids = await quotesOf(stage, customer_id, WAITERS)
        const ends = await endIn(stage, ids, 1500)
        await sleep(ends.getTime() - 300 - Date.now())
        await holder.query(`BEGIN; ${lock(customer_id)}`)
        const asking = ids.map((id, i) => stage.api(i).post(`/v1/quotes/${id}/execute`))
        await sleep(ends.getTime() + 30 - Date.now())
        await holder.query('COMMIT')
        for (const { status, json } of await Promise.all(asking)) {
          // Whoever waited too long for the lock itself is told to come again, and comes too late.
          expect(['quote_expired', 'service_unavailable']).toContain(json.error?.code)
          expect([409, 503]).toContain(status)
        }
        for (const [i, id] of ids.entries())
          expect((await stage.api(i).post(`/v1/quotes/${id}/execute`)).json.error.code).toBe('quote_expired')
        await expectTraded(stage, customer_id, 2)
        noteFact(
          `${WAITERS} executions that arrived in time and waited for a lock until after the quote’s end: 0 traded`,
        )
      } finally {
        await holder.end().catch(() => {})
        await stage.stop()
      }
    },
    TIMEOUT_MS,
  )

  test('the database itself refuses a trade that was decided too late, and a second one', async () => {
    const stage = await openStage({ nodes: 1 })
    try {
      const customer_id = await stage.customer({ BRL: BALANCE })
      const [id] = await quotesOf(stage, customer_id, 1)
      await stage.api(0).post(`/v1/quotes/${id}/execute`)
      const copy = (change: string) =>
        asAdmin(stage.database.url, [
          `INSERT INTO sandbox.trades SELECT (jsonb_populate_record(trades, '${change}')).* FROM sandbox.trades`,
        ])
      await expect(copy('{"id": "td_2"}')).rejects.toThrow(/trades_quote_id_key/)
      const late =
        '{"id": "td_2", "quote_id": "qt_2", "created_at": "2026-01-01T00:00:30Z", "quote_expires_at": "2026-01-01T00:00:30Z"}'
      await expect(copy(late)).rejects.toThrow(/decided_in_time/)
      await expect(
        asAdmin(stage.database.url, [`UPDATE sandbox.quotes SET trade_id = 'td_2' WHERE id = '${id}'`]),
      ).rejects.toThrow(/never changes/)
    } finally {
      await stage.stop()
    }
  })
})
