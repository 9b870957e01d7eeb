import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Api } from '../../../test/support/api.ts'
import { asAdmin } from '../../../test/support/database.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { until } from '../../../test/support/wait.ts'
import type { Pool } from '../../db/pool.ts'
import { heldOf } from './series.ts'
import { balancesSince, forgetSums, sumsSince } from './store.ts'
import { dayOf, hourOf, medianOf, scale } from './tally.ts'
import { foldBalances, foldEnds } from './worker.ts'

let service: TestService
const partners: { partner_id: string; api: Api; customers: string[] }[] = []
beforeAll(async () => {
  service = await startTestService({ PIX_WAIT_MS: '3000' })
  for (const _ of [1, 2]) {
    const { partner_id, api } = await service.partner()
    const customers: string[] = []
    for (const name of ['Ana Souza', 'Rui Lima', 'Lia Prado']) {
      const { json } = await api.post('/v1/customers', { name, document: someCpf() })
      for (const [asset, amount] of Object.entries({ BRL: '1000000', USDT: '1000000000' }))
        await api.post('/v1/sandbox/deposits', { customer_id: json.id, asset, amount })
      customers.push(json.id)
    }
    partners.push({ partner_id, api, customers })
  }
})
afterAll(() => service.stop())

const db = () => service.worlds.sandbox.db
const admin = (...statements: string[]) => asAdmin(service.database.url, statements)
const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!
const amount = () => String(1 + Math.floor(Math.random() * 3000))
let keys = 0
/** The day may end while these tests run. */
const first_day = dayOf(new Date())

/** Payouts that complete and fail, transfers, conversions, and sample events without an object. */
async function someTraffic(times: number): Promise<void> {
  const acts = Array.from({ length: times }, (_, n) => async () => {
    const { api, customers } = pick(partners)
    const customer_id = pick(customers)
    // The first two acts are transfers, one on each network: chance might pick none.
    switch (n < 2 ? 'transfer' : pick(['payout', 'payout', 'failure', 'transfer', 'trade', 'sample'])) {
      case 'payout':
        return api.post('/v1/pix/payouts', payoutOf(customer_id, 'ana@example.com'))
      case 'failure':
        return api.post(
          '/v1/pix/payouts',
          payoutOf(customer_id, pick(['ac03', 'am02']).concat('@sandbox.test')),
        )
      case 'transfer': {
        const { json } = await api.post('/v1/onchain/transfers', {
          customer_id,
          asset: 'USDT',
          network: n % 2 === 0 ? 'polygon' : 'arbitrum',
          amount: amount(),
          destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
          idempotency_key: `k${++keys}`,
        })
        return json.id && api.post(`/v1/sandbox/onchain/transfers/${json.id}/${pick(['confirm', 'fail'])}`)
      }
      case 'trade': {
        const order = { customer_id, ...pick(pairs), amount: '5000' }
        const { json } = await api.post('/v1/quotes', order)
        return api.post(`/v1/quotes/${json.id}/execute`)
      }
      case 'sample':
        return api.post('/v1/sandbox/events/pix.payout.completed', {})
    }
  })
  for (const act of acts) await act()
}

const pairs = [
  { from_asset: 'BRL', to_asset: 'USDT' },
  { from_asset: 'USDT', to_asset: 'BRL' },
]
const payoutOf = (customer_id: string, pix_key: string) => ({
  customer_id,
  amount: amount(),
  counterparty: { type: 'pix_key', pix_key },
  idempotency_key: `k${++keys}`,
})

/** The expected sums, from the tables of the slices. */
const fromTheBooks = `SELECT partner_id, day::text AS day, kind, asset, to_asset, count(*) FILTER (WHERE done)::text AS completed,
    count(*) FILTER (WHERE NOT done)::text AS failed, coalesce(sum(amount) FILTER (WHERE done), 0)::text AS completed_sum,
    coalesce(sum(amount) FILTER (WHERE NOT done), 0)::text AS failed_sum, coalesce(sum(fee) FILTER (WHERE done), 0)::text AS fee_sum
  FROM (
    SELECT partner_id, (completed_at AT TIME ZONE 'America/Sao_Paulo')::date AS day, 'pix' AS kind, 'BRL' AS asset, '' AS to_asset,
      status = 'completed' AS done, amount, fee FROM sandbox.payouts WHERE status IN ('completed', 'failed')
    UNION ALL SELECT partner_id, (completed_at AT TIME ZONE 'America/Sao_Paulo')::date, network, asset, '', status = 'confirmed', amount_net, fee
      FROM sandbox.transfers WHERE status IN ('confirmed', 'failed')
    UNION ALL SELECT partner_id, (created_at AT TIME ZONE 'America/Sao_Paulo')::date, 'conversions', from_asset, to_asset, status = 'completed',
      from_amount, partner_fee + service_fee FROM sandbox.trades) AS ended
  GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`

const summed = (table: string, day: string) => `SELECT partner_id, ${day}::text AS day, kind, asset, to_asset,
    sum(completed)::text AS completed, sum(failed)::text AS failed, sum(completed_sum)::text AS completed_sum,
    sum(failed_sum)::text AS failed_sum, sum(fee_sum)::text AS fee_sum
  FROM sandbox.${table} GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`

async function expectAgreement(): Promise<void> {
  const books = await admin(fromTheBooks)
  expect(await admin(summed('daily', 'day'))).toEqual(books)
  expect(await admin(summed('hourly', `(hour AT TIME ZONE 'America/Sao_Paulo')::date`))).toEqual(books)
}

/** The same pool, but its connection breaks once, before this statement. */
function breaking(pool: Pool, before: RegExp): Pool {
  let broken = false
  return new Proxy(pool, {
    get(target, name) {
      const own = Reflect.get(target, name)
      if (name !== 'connect') return typeof own === 'function' ? own.bind(target) : own
      return async () => {
        const client = await target.connect()
        const query = client.query.bind(client) as (...args: unknown[]) => unknown
        client.query = ((...args: unknown[]) => {
          const text = typeof args[0] === 'string' ? args[0] : (args[0] as { text: string }).text
          if (!broken && before.test(text)) {
            broken = true
            throw new Error('the node died here')
          }
          return query(...args)
        }) as never
        return client
      }
    },
  })
}

describe('the sums of the days', () => {
  test('equal the books after any traffic, also if folded twice, by two nodes, and after a crash in between', async () => {
    await someTraffic(60)
    await foldEnds(db())
    await someTraffic(40)
    for (const before of [/INSERT INTO hourly/, /^COMMIT$/])
      await foldEnds(breaking(db(), before)).catch(() => {})
    await Promise.all([foldEnds(db()), foldEnds(db())])
    await foldEnds(db())
    await untilEnded()
    await expectAgreement()
    const books = await admin(fromTheBooks)
    expect(new Set(books.map(({ kind }) => kind))).toEqual(
      new Set(['pix', 'polygon', 'arbitrum', 'conversions']),
    )
    // Folding everything again from the start gives the same sums.
    await admin('UPDATE sandbox.daily_progress SET position = 0; TRUNCATE sandbox.daily, sandbox.hourly')
    await untilEnded()
    await expectAgreement()
  })

  /** The service's own worker may have folded some; this folds the rest. */
  async function untilEnded(): Promise<void> {
    await until(async () => {
      await foldEnds(db())
      const [row] = await admin(
        `SELECT (SELECT max(position) FROM sandbox.events) = (SELECT position FROM sandbox.daily_progress) AS done`,
      )
      return row!.done === true
    }, 10_000)
  }

  test('are read for one partner, from a day on', async () => {
    const { partner_id } = partners[0]!
    const all = await admin(`SELECT count(*)::int AS n FROM sandbox.daily WHERE partner_id = '${partner_id}'`)
    const rows = await sumsSince(db(), 'daily', { partner_id, start: first_day })
    expect(rows.length).toBe(all[0]!.n)
    expect(rows.every(({ start }) => start >= first_day)).toBe(true)
    expect(await sumsSince(db(), 'daily', { partner_id, start: '2999-01-01' })).toEqual([])
    expect(
      (await sumsSince(db(), 'hourly', { partner_id, start: hourOf(new Date(0)) })).length,
    ).toBeGreaterThan(0)
  })

  test('of what is held equal the balances', async () => {
    await foldBalances(db())
    const { partner_id } = partners[0]!
    const books = await admin(
      `SELECT asset, sum(balance)::text AS available, sum(in_transit)::text AS in_transit,
         count(*) FILTER (WHERE balance + in_transit > 0)::text AS customers
       FROM sandbox.balances WHERE partner_id = '${partner_id}' GROUP BY asset ORDER BY asset`,
    )
    const told = await balancesSince(db(), { partner_id, day: dayOf(new Date()) })
    const asText = told.map(({ asset, available, in_transit, customers }) => ({
      asset,
      available: String(available),
      in_transit: String(in_transit),
      customers: String(customers),
    }))
    expect(asText.sort((a, b) => (a.asset < b.asset ? -1 : 1))).toEqual(books)
  })

  describe('what is held now', () => {
    const now = () => new Date()
    const aheadOf = (partner_id: string) =>
      admin(`INSERT INTO sandbox.daily_balances SELECT '${partner_id}', day + 1, asset, available + 7, in_transit, customers
        FROM sandbox.daily_balances WHERE partner_id = '${partner_id}' AND day = '${dayOf(now())}'`)
    const forgetAhead = () => admin(`DELETE FROM sandbox.daily_balances WHERE day > '${dayOf(now())}'`)
    const brl = async (partner_id: string, most?: number) => {
      const { is_of_now, assets } = await heldOf(db(), { partner_id, now: now(), ...(most ? { most } : {}) })
      const { available, in_transit, customers, days } = assets.get('BRL')!
      return { is_of_now, held: available + in_transit, customers, today: days.at(-1) }
    }
    const inTheBooks = async (partner_id: string) => {
      const [row] = await admin(
        `SELECT sum(balance + in_transit)::text AS held FROM sandbox.balances WHERE partner_id = '${partner_id}' AND asset = 'BRL'`,
      )
      return BigInt(String(row!.held))
    }

    test('is current, whenever it was last added up', async () => {
      const { partner_id, api, customers } = partners[0]!
      const deposit = { customer_id: customers[0], asset: 'BRL', amount: '12345' }
      await api.post('/v1/sandbox/deposits', deposit)
      const held = await inTheBooks(partner_id)
      expect(await brl(partner_id)).toEqual({
        is_of_now: true,
        held,
        customers: 3n,
        today: { day: dayOf(now()), held },
      })
    })

    test('is the last stored sum if there are too many customers, and says so', async () => {
      const { partner_id } = partners[0]!
      await foldBalances(db())
      const held = await inTheBooks(partner_id)
      expect(await brl(partner_id, 3)).toMatchObject({ is_of_now: true, held })
      expect(await brl(partner_id, 2)).toMatchObject({ is_of_now: false, held, customers: 3n })
    })

    test('ignores a future day that a clock which ran ahead has stored', async () => {
      const { partner_id } = partners[0]!
      await foldBalances(db())
      await aheadOf(partner_id)
      const held = await inTheBooks(partner_id)
      for (const most of [2, 3]) expect(await brl(partner_id, most)).toMatchObject({ held, today: { held } })
      const told = await balancesSince(db(), { partner_id, day: dayOf(now()) })
      expect(new Set(told.map(({ day }) => day))).toEqual(new Set([dayOf(now())]))
      await forgetAhead()
    })

    test('is zero and current for an unknown partner', async () => {
      expect(await heldOf(db(), { partner_id: 'ptn_nobody', now: now() })).toEqual({
        is_of_now: true,
        assets: new Map(),
      })
    })
  })

  test('are deleted after 400 days, and the hours after three', async () => {
    await admin(
      `INSERT INTO sandbox.daily SELECT 'ptn_old', now()::date - n, 'pix', 'BRL', '', 1, 0, 1, 0, 0, '{}' FROM unnest(ARRAY[398, 402]) n`,
      `INSERT INTO sandbox.hourly SELECT 'ptn_old', date_trunc('hour', now()) - n * interval '1 hour', 'pix', 'BRL', '', 1, 0, 1, 0, 0, '{}'
       FROM unnest(ARRAY[70, 74]) n`,
    )
    await forgetSums(db(), Date.now())
    const count = async (table: string) =>
      (await admin(`SELECT count(*)::int AS n FROM sandbox.${table} WHERE partner_id = 'ptn_old'`))[0]!.n
    expect([await count('daily'), await count('hourly')]).toEqual([1, 1])
    await admin(
      `DELETE FROM sandbox.daily WHERE partner_id = 'ptn_old'`,
      `DELETE FROM sandbox.hourly WHERE partner_id = 'ptn_old'`,
    )
  })
})

describe('the scale of times', () => {
  test('gives a median to about a tenth', () => {
    for (const ms of [1, 96, 1200, 58_000, 151_000, 1_260_000]) {
      const step = scale.filter((from) => from <= ms).length
      const told = medianOf([...Array.from({ length: step }, () => 0n), 5n])!
      expect(Math.abs(told - ms) / ms).toBeLessThan(0.13)
    }
  })

  test('has half of all times at or below the median, and no median without times', () => {
    expect(medianOf([])).toBeNull()
    expect(medianOf([0n, 0n])).toBeNull()
    expect(medianOf([1n, 0n, 0n, 0n, 0n, 0n, 0n, 0n, 5n])).toBe(Math.round(2 ** (8.5 / 4)))
  })
})

test('a day is a calendar day of São Paulo', () => {
  expect(dayOf(new Date('2026-11-15T02:59:59Z'))).toBe('2026-11-14')
  expect(dayOf(new Date('2026-11-15T03:00:00Z'))).toBe('2026-11-15')
  expect(hourOf(new Date('2026-11-15T02:59:59Z'))).toBe('2026-11-15T02:00:00.000Z')
})
