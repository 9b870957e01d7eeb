import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, openApi } from '../../../test/support/api.ts'
import { asAdmin } from '../../../test/support/database.ts'
import { startNode } from '../../../test/support/node.ts'
import { times } from '../../../test/support/parallel.ts'
import { noteFact } from '../../../test/support/proof.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { size } from '../../../test/support/size.ts'
import type { Service } from '../../node/serve.ts'
import { setMoneyLimits, spend } from './money-limits.ts'
import { type MoneyLimits, type MoneyLimitUsage, moneyLimitUsageOf, usageSql } from './store.ts'

let service: TestService
let other: Service
/** Midnight in São Paulo, in milliseconds after midnight UTC. */
const MIDNIGHT_MS = 3 * 3_600_000
beforeAll(async () => {
  // A day that ends during a test would reset the sums too early.
  const left = 86_400_000 - ((Date.now() - MIDNIGHT_MS) % 86_400_000)
  if (left < 30_000) await sleep(left + 100)
  service = await startTestService({ PIX_WAIT_MS: '50' })
  other = await startNode(service.database.url, { PIX_WAIT_MS: '50' })
})
afterAll(async () => {
  const { production, sandbox } = await service.audit()
  expect([production.findings, sandbox.findings]).toEqual([[], []])
  await other.stop()
  await service.stop()
})

const limit = (subject_id: string, change: Partial<MoneyLimits>) =>
  setMoneyLimits(service.worlds.sandbox, subject_id, change)
let keys = 0

async function newCustomer(like?: { api: Api; key: string; partner_id: string }) {
  const { api, key, partner_id } = like ?? (await service.partner())
  const customer_id = (await api.post('/v1/customers', { name: 'Ana', document: someCpf() })).json
    .id as string
  for (const asset of ['BRL', 'USDT', 'BTC'])
    await api.post('/v1/sandbox/deposits', { customer_id, asset, amount: '1000000000' })
  const payoutBody = (amount: string, pix_key: string) => ({
    customer_id,
    amount,
    counterparty: { type: 'pix_key', pix_key },
    idempotency_key: `k-${keys++}`,
  })
  const transferBody = (amount: string, asset: 'USDT' | 'BTC') => ({
    customer_id,
    asset,
    network: asset === 'USDT' ? 'polygon' : 'bitcoin',
    amount,
    destination_address:
      asset === 'USDT'
        ? '0x52908400098527886e0f7030069857d2e4169ee7'
        : 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    idempotency_key: `k-${keys++}`,
  })
  return {
    api,
    key,
    partner_id,
    customer_id,
    payoutBody,
    payout: (amount: string, { pix_key = 'ana@example.com', dry = false, via = api } = {}) =>
      via.post(`/v1/pix/payouts${dry ? '?dry_run=true' : ''}`, payoutBody(amount, pix_key)),
    transfer: (amount: string, { asset = 'USDT' as 'USDT' | 'BTC', dry = false, via = api } = {}) =>
      via.post(`/v1/onchain/transfers${dry ? '?dry_run=true' : ''}`, transferBody(amount, asset)),
    usage: () => moneyLimitUsageOf(service.worlds.sandbox.db, customer_id),
  }
}

test('concurrent payouts over two nodes: exactly as many pass as the daily limit allows', async () => {
  const [count, room] = [size(200, 50), 10]
  const customer = await newCustomer()
  await limit(customer.customer_id, { payout_day: 1000n })
  const second = openApi(other.url, customer.key)
  const replies = await Promise.all(times(count, (i) => customer.payout('100', i % 2 ? { via: second } : {})))
  const passed = replies.filter(({ status }) => status === 201)
  expect(passed).toHaveLength(room)
  for (const { status, json } of replies) {
    if (status === 201) continue
    expect([status, json.error.code]).toEqual([422, 'limit_exceeded'])
  }
  noteFact(
    `${count} payouts at once over two nodes against a daily limit that allows ${room}: ${passed.length} accepted`,
  )
})

test('concurrent transfers over two nodes: exactly as many pass as the daily limit allows, per asset', async () => {
  const customer = await newCustomer()
  await limit(customer.customer_id, { transfer_day_usdt: 7_000_000n })
  const second = openApi(other.url, customer.key)
  const replies = await Promise.all(
    times(size(200, 24), (i) => customer.transfer('1000000', i % 2 ? { via: second } : {})),
  )
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(7)
  expect((await customer.transfer('1000000', { asset: 'BTC' })).status).toBe(201)
})

test('the refusal names the limit, what is allowed and used, and the reset time; it is stored under its idempotency key', async () => {
  const customer = await newCustomer()
  await limit(customer.customer_id, { payout_order: 500n, payout_day: 800n })
  const body = customer.payoutBody('501', 'ana@example.com')
  const first = await customer.api.post('/v1/pix/payouts', body)
  expect(first.status).toBe(422)
  expect(first.json.error).toMatchObject({
    type: 'business_error',
    code: 'limit_exceeded',
    param: 'amount',
    details: { limit: 'payout_order', asset: 'BRL', allowed: '500', used: '0', resets_at: null },
  })
  await limit(customer.customer_id, { payout_order: null })
  const again = await customer.api.post('/v1/pix/payouts', body)
  expect([again.status, again.text]).toEqual([422, first.text])
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect((await customer.payout('501')).status).toBe(201)
  const { error } = (await customer.payout('300')).json
  expect(error.details).toMatchObject({ limit: 'payout_day', asset: 'BRL', allowed: '800', used: '501' })
  const resets_at = new Date(error.details.resets_at)
  expect(resets_at.getTime()).toBeGreaterThan(Date.now() - 5000)
  expect(resets_at.getTime()).toBeLessThan(Date.now() + 86_400_000)
  expect(resets_at.toLocaleTimeString('en-GB', { timeZone: 'America/Sao_Paulo' })).toBe('00:00:00')
  expect((await customer.payout('299')).status).toBe(201)
  expect((await customer.payout('1')).json.error.code).toBe('limit_exceeded')
})

test('a dry run is judged too, and uses nothing of the limit', async () => {
  const customer = await newCustomer()
  await limit(customer.customer_id, { payout_day: 100n, transfer_order_btc: 5000n, transfer_day_btc: 6000n })
  for (const _ of times(3, (i) => i)) expect((await customer.payout('100', { dry: true })).status).toBe(200)
  expect((await customer.payout('101', { dry: true })).json.error.details).toMatchObject({
    limit: 'payout_day',
  })
  expect((await customer.payout('100')).status).toBe(201)
  expect((await customer.payout('1', { dry: true })).json.error.details).toMatchObject({ used: '100' })
  const btc = { asset: 'BTC', dry: true } as const
  expect((await customer.transfer('5001', btc)).json.error.details).toMatchObject({ limit: 'transfer_order' })
  expect((await customer.transfer('5000', btc)).status).toBe(200)
  expect((await customer.transfer('5000', { asset: 'BTC' })).status).toBe(201)
  expect((await customer.transfer('1001', btc)).json.error.details).toMatchObject({
    limit: 'transfer_day',
    asset: 'BTC',
    used: '5000',
  })
})

test('a failed order no longer counts, and the fee never does', async () => {
  const customer = await newCustomer()
  await limit(customer.customer_id, { payout_day: 100n, transfer_day_usdt: 1_009_001n })
  const failed = await customer.payout('100', { pix_key: 'ac03@sandbox.test' })
  expect(failed.status).toBe(201)
  await expect.poll(async () => (await customer.usage())?.payout_day_used, { timeout: 60_000 }).toBe(0n)
  expect((await customer.payout('100')).status).toBe(201)
  // The network refuses it before anything is sent; the fee comes on top of the net amount.
  const transfer = await customer.transfer('1009001')
  expect(transfer.status).toBe(201)
  await expect
    .poll(async () => (await customer.usage())?.transfer_day_usdt_used, { timeout: 60_000 })
    .toBe(0n)
  expect((await customer.transfer('1009000')).status).toBe(201)
})

test('a partner’s limits are the default of its customers; a customer’s own limits replace them one by one', async () => {
  const one = await newCustomer()
  const two = await newCustomer(one)
  const stranger = await newCustomer()
  expect(await one.usage()).toBeUndefined()
  await limit(one.partner_id, { payout_order: 100n, payout_day: 150n })
  await limit(two.customer_id, { payout_order: 1000n })
  const code = async (reply: Promise<{ json: any }>) => (await reply).json.error?.details?.limit
  expect(await code(one.payout('101'))).toBe('payout_order')
  expect(await code(one.payout('100'))).toBeUndefined()
  // Each customer has the whole limit for itself.
  expect(await code(two.payout('151'))).toBe('payout_day')
  expect(await code(two.payout('150'))).toBeUndefined()
  expect(await code(stranger.payout('100000'))).toBeUndefined()
  await limit(two.customer_id, { payout_order: null })
  expect(await two.usage()).toMatchObject({ payout_order: 100n, payout_day: 150n, payout_day_used: 150n })
  await limit(one.partner_id, { payout_order: null, payout_day: null })
  expect(await code(one.payout('1000'))).toBeUndefined()
  // A limit of zero allows nothing.
  await limit(one.customer_id, { payout_order: 0n })
  expect(await code(one.payout('1'))).toBe('payout_order')
})

test('limits of one environment do not apply in the other', async () => {
  const customer = await newCustomer()
  await setMoneyLimits(service.worlds.production, customer.partner_id, { payout_order: 1n })
  expect((await customer.payout('100')).status).toBe(201)
})

describe('days and nights of São Paulo', () => {
  const customer_id = 'cus_of_the_night'
  const at = async (now: string): Promise<MoneyLimitUsage> => {
    const { rows } = await service.worlds.production.db.query(usageSql('$2::timestamptz'), [
      [customer_id],
      now,
    ])
    return rows[0]
  }
  /** Each payout has its own decimal digit, so that a sum shows which payouts are in it. */
  const payouts: readonly [at: string, amount: number, status: string][] = [
    ['2026-11-15T22:59:59.999Z', 1, 'completed'], // 19:59:59.999, the evening before the night
    ['2026-11-15T23:00:00.000Z', 10, 'completed'], // 20:00, the night begins
    ['2026-11-16T02:59:59.999Z', 100, 'processing'], // 23:59:59.999
    ['2026-11-16T03:00:00.000Z', 1000, 'pending'], // midnight: another day, the same night
    ['2026-11-16T03:00:00.001Z', 500_000, 'failed'],
    ['2026-11-16T08:59:59.999Z', 10_000, 'completed'], // 05:59:59.999
    ['2026-11-16T09:00:00.000Z', 100_000, 'completed'], // 06:00, the night is over
  ]
  beforeAll(async () => {
    await asAdmin(service.database.url, [
      `INSERT INTO live.customers (id, partner_id, name, document, document_type, created_at)
       VALUES ('${customer_id}', 'ptn_night', 'Ana', '52998224725', 'cpf', clock_timestamp())`,
      ...payouts.map(
        ([created_at, amount, status], i) =>
          `INSERT INTO live.payouts (id, partner_id, customer_id, api_key_id, idempotency_key, amount, fee, status, counterparty,
             send_id, attempts, next_attempt_at, sequence, created_at, end_to_end_id, failure_code, completed_at)
           VALUES ('po_night_${i}', 'ptn_night', '${customer_id}', 'k', 'k${i}', ${amount}, 7, '${status}', '{}', 'night${i}', 1,
             'infinity', 2, '${created_at}', ${status === 'completed' ? `'E${i}'` : 'NULL'},
             ${status === 'failed' ? `'x'` : 'NULL'}, ${/completed|failed/.test(status) ? `'${created_at}'` : 'NULL'})`,
      ),
    ])
    const limits = { payout_day: 10n ** 9n, payout_night: 10n ** 9n }
    await setMoneyLimits(service.worlds.production, customer_id, limits)
  })
  afterAll(() =>
    asAdmin(service.database.url, [
      `DELETE FROM live.payouts WHERE customer_id = '${customer_id}'`,
      `DELETE FROM live.open_payouts WHERE partner_id = 'ptn_night'`,
      `DELETE FROM live.end_to_end_ids WHERE payout_id LIKE 'po_night_%'`,
      `DELETE FROM live.customers WHERE id = '${customer_id}'`,
    ]),
  )

  test.each<[string, string, boolean, bigint, bigint, string, string]>([
    [
      '19:59:59.999',
      '2026-11-15T22:59:59.999Z',
      false,
      11_110n,
      111n,
      '2026-11-16T03:00',
      '2026-11-16T09:00',
    ],
    ['20:00', '2026-11-15T23:00:00.000Z', true, 11_110n, 111n, '2026-11-16T03:00', '2026-11-16T09:00'],
    ['23:59:59.999', '2026-11-16T02:59:59.999Z', true, 11_110n, 111n, '2026-11-16T03:00', '2026-11-16T09:00'],
    ['midnight', '2026-11-16T03:00:00.000Z', true, 11_110n, 111_000n, '2026-11-17T03:00', '2026-11-16T09:00'],
    [
      '05:59:59.999',
      '2026-11-16T08:59:59.999Z',
      true,
      11_110n,
      111_000n,
      '2026-11-17T03:00',
      '2026-11-16T09:00',
    ],
    ['06:00', '2026-11-16T09:00:00.000Z', false, 0n, 111_000n, '2026-11-17T03:00', '2026-11-17T09:00'],
    [
      '20:00 of the next day',
      '2026-11-16T23:00:00.000Z',
      true,
      0n,
      111_000n,
      '2026-11-17T03:00',
      '2026-11-17T09:00',
    ],
  ])('at %s', async (_, now, is_night, night, day, day_ends, night_ends) => {
    const usage = await at(now)
    expect([usage.payout_night_used, usage.payout_day_used]).toEqual([night, day])
    expect(usage.is_night).toBe(is_night)
    expect(usage.day_ends_at.toISOString()).toBe(`${day_ends}:00.000Z`)
    expect(usage.night_ends_at.toISOString()).toBe(`${night_ends}:00.000Z`)
  })

  test('daylight saving time, if it comes back, moves the hours and not the rule', async () => {
    // In January 2018 São Paulo was two hours behind UTC, and this night of February had an hour more.
    expect(await at('2018-01-10T21:59:59.999Z')).toMatchObject({ is_night: false })
    expect(await at('2018-01-10T22:00:00.000Z')).toMatchObject({
      is_night: true,
      day_ends_at: new Date('2018-01-11T02:00:00Z'),
      night_ends_at: new Date('2018-01-11T08:00:00Z'),
    })
    expect(await at('2018-02-18T08:59:59.999Z')).toMatchObject({ is_night: true })
    expect(await at('2018-02-18T09:00:00.000Z')).toMatchObject({ is_night: false })
  })

  test('the limit of the night applies at night, and not by day', async () => {
    const night: MoneyLimitUsage = {
      ...(await at('2026-11-16T03:00:00.000Z')),
      payout_day: null,
      payout_night: 12_000n,
    }
    const order = { kind: 'payout', customer_id, asset: 'BRL' } as const
    const midnight = new Date('2026-11-16T03:00:00.000Z')
    expect(spend(night, { ...order, units: 890n }, midnight)).toEqual({ payout_night_used: 12_000n })
    expect(() => spend(night, { ...order, units: 891n }, midnight)).toThrow(
      /for the payouts of a night is 120\.00 BRL\. 8\.90 BRL are left until 2026-11-16T09:00:00\.000Z/,
    )
    const day: MoneyLimitUsage = {
      ...(await at('2026-11-16T09:00:00.000Z')),
      payout_day: null,
      payout_night: 12_000n,
    }
    const six = new Date('2026-11-16T09:00:00.000Z')
    expect(spend(day, { ...order, units: 10n ** 17n }, six)).toEqual({})
  })

  test('an order belongs to the night by its own time, also when the limits were read before 20:00 or 06:00', async () => {
    const limits = { payout_day: null, payout_night: 12_000n }
    const order = { kind: 'payout', customer_id, asset: 'BRL', units: 891n } as const
    const evening: MoneyLimitUsage = { ...(await at('2026-11-15T22:59:59.999Z')), ...limits }
    expect(spend(evening, order, new Date('2026-11-15T22:59:59.999Z'))).toEqual({})
    expect(() => spend(evening, order, new Date('2026-11-15T23:00:00.000Z'))).toThrow(/payouts of a night/)
    expect(spend(evening, { ...order, units: 890n }, new Date('2026-11-15T23:00:00.000Z'))).toEqual({
      payout_night_used: 12_000n,
    })
    const morning: MoneyLimitUsage = { ...(await at('2026-11-16T08:59:59.999Z')), ...limits }
    expect(() => spend(morning, order, new Date('2026-11-16T08:59:59.999Z'))).toThrow(/payouts of a night/)
    expect(spend(morning, order, new Date('2026-11-16T09:00:00.000Z'))).toEqual({})
  })
})

test('the sums use an index, and cost nothing without limits', async () => {
  const { db } = service.worlds.sandbox
  const { rows } = await db.query(
    `EXPLAIN (COSTS off) ${usageSql('clock_timestamp()').replace('$1', `'{cus_x}'`)}`,
  )
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).not.toMatch(/Seq Scan/)
  expect(plan).toMatch(/payouts_of_customer/)
  expect(plan).toMatch(/transfers_of_customer/)
})
