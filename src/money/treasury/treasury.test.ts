import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { asAdmin, seatAt } from '../../../test/support/database.ts'
import { byTwoOperators } from '../../../test/support/operators.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { promptly } from '../../../test/support/wait.ts'
import { valuation, valuedPositions } from '../../control/operator/treasury.ts'
import { openPool, transaction } from '../../db/pool.ts'
import { addCustomer } from '../../parties/customers/customers.ts'
import type { World } from '../../world.ts'
import { emptyHolding, move } from './average-cost.ts'
import { accruedFees, lockFold, saveTreasuryLimit } from './store.ts'
import { foldTrades } from './treasury.ts'
import { openTreasuryWorker } from './worker.ts'

describe('average cost', () => {
  test('buying averages, selling realises, and going through zero starts anew', () => {
    let held = move(emptyHolding, 100n, 500n)
    held = move(held, 100n, 700n)
    expect(held).toEqual({ amount: 200n, cost: 1200n, realised: 0n })
    held = move(held, -50n, 350n)
    expect(held).toEqual({ amount: 150n, cost: 900n, realised: 50n })
    held = move(held, -250n, 2500n)
    expect(held).toEqual({ amount: -100n, cost: -1000n, realised: 650n })
    held = move(held, 100n, 800n)
    expect(held).toEqual({ amount: 0n, cost: 0n, realised: 850n })
  })

  test('for any sequence of trades, cost and realised gain account for all that was paid and received, to the centavo', () => {
    const step = fc.record({
      change: fc.bigInt({ min: -1000n, max: 1000n }),
      worth: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let held = emptyHolding
        let cash = 0n
        for (const { change, worth } of steps) {
          held = move(held, change, worth)
          if (change !== 0n) cash += change > 0n ? -worth : worth
          expect(held.amount * held.cost).toBeGreaterThanOrEqual(0n)
          if (held.amount === 0n) expect(held.cost).toBe(0n)
        }
        expect(held.amount).toBe(steps.reduce((sum, { change }) => sum + change, 0n))
        expect(held.realised - held.cost).toBe(cash)
      }),
      { numRuns: 3000 },
    )
  })

  test('a position is valued at the market price', () => {
    const seen = { at: new Date(), source: 'test' }
    const fed = {
      'USDT/BRL': { price: 550_000_000n, ...seen },
      'BTC/USDT': { price: 10n ** 13n, ...seen },
    }
    const long = { amount: 100_000_000n, cost: 54_000n, realised: 7n }
    expect(valuation('USDT', long, fed)).toEqual({
      position: 100_000_000n,
      average_cost: '5.4',
      price: '5.5',
      cost: 54_000n,
      worth: 55_000n,
      unrealised: 1_000n,
      realised: 7n,
    })
    expect(valuation('BTC', { amount: -1_000_000n, cost: -500_000n, realised: 0n }, fed)).toMatchObject({
      average_cost: '500000',
      price: '550000',
      worth: -550_000n,
      unrealised: -50_000n,
    })
    expect(valuation('BTC', emptyHolding, {})).toMatchObject({
      average_cost: null,
      price: null,
      unrealised: null,
    })
  })

  test('a trade at the market price has no gain, in either direction and whatever the rounding', () => {
    const fed = { 'USDT/BRL': { price: 540_000_000n, at: new Date(), source: 'test' } }
    // 182.407407 USDT are worth 984.9999978: a customer paid 985.00 for them, or was paid 984.99.
    const short = { amount: -182_407_407n, cost: -98_500n, realised: 0n }
    expect(valuation('USDT', short, fed)).toMatchObject({ worth: -98_500n, unrealised: 0n })
    const long = { amount: 182_407_407n, cost: 98_499n, realised: 0n }
    expect(valuation('USDT', long, fed)).toMatchObject({ worth: 98_499n, unrealised: 0n })
  })
})

test('an outage of the database queues no folds, and a stop does not wait for its end', async () => {
  // No server listens there.
  const url = 'postgresql://u:p@127.0.0.1:1/db'
  const db = openPool({ ...seatAt(url, 'sandbox', 'treasury'), max: 2, wait_ms: 2000 })
  let failed = 0
  const log = pino({ level: 'warn' }, { write: () => void failed++ })
  const treasury = openTreasuryWorker({ db, treasury_limits: false } as World, log)
  await sleep(6000)
  const before = failed
  let is_stopped = false
  void treasury.stop().then(() => {
    is_stopped = true
  })
  // At most the fold under way: a queue would have held half a dozen, of two seconds each.
  await promptly(() => is_stopped, 9000)
  await sleep(3000)
  expect(failed - before).toBeLessThanOrEqual(1)
  await db.end()
})

describe('production, with prices from a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trilho-prices-'))
  const file = join(folder, 'prices.json')
  let service: TestService

  const seenAt = (age_ms: number) => new Date(Date.now() - age_ms).toISOString()
  const write = (content: unknown) => {
    writeFileSync(`${file}.new`, typeof content === 'string' ? content : JSON.stringify(content))
    renameSync(`${file}.new`, file)
  }
  const prices = (age_ms = 0, usdt = '5.40') => ({
    'USDT/BRL': { price: usdt, at: seenAt(age_ms), source: 'watcher' },
    'BTC/USDT': { price: '100000', at: seenAt(age_ms), source: 'watcher' },
  })

  beforeAll(async () => {
    service = await startTestService({ PRICES_FILE: file, SPREAD_BPS: '20', PRICE_MAX_AGE_MS: '60000' })
  })
  afterAll(async () => {
    const { production, sandbox } = await service.audit()
    expect([production.findings, sandbox.findings]).toEqual([[], []])
    await service.stop()
    rmSync(folder, { recursive: true })
  })

  async function partnerWithCustomer() {
    const { api, partner_id } = await service.partner({ environment: 'production' })
    const world = service.worlds.production
    const { id: customer_id } = await addCustomer(world, { partner_id, name: 'Ana', document: someCpf() })
    for (const asset of ['BRL', 'USDT', 'BTC'] as const)
      await byTwoOperators(world, {
        name: 'credit',
        details: {
          partner_id,
          customer_id,
          asset,
          amount: '1000000000000',
          reason: 'test',
          reference: `${customer_id} ${asset}`,
        },
      })
    const quote = (more: Record<string, unknown> = {}) =>
      api.post('/v1/quotes', {
        customer_id,
        from_asset: 'BRL',
        to_asset: 'USDT',
        amount: '100000',
        partner_fee_bps: 100,
        ...more,
      })
    const trade = async (more: Record<string, unknown> = {}) =>
      (await api.post(`/v1/quotes/${(await quote(more)).json.id}/execute`)).json
    return { api, partner_id, customer_id, quote, trade }
  }

  test('there is no quote without a price, or with an old, future or invalid one', async () => {
    const { api, quote } = await partnerWithCustomer()
    const code = async () => (await quote()).json.error?.code
    expect(await code()).toBe('price_unavailable')
    expect((await api.get('/v1/prices')).json.data).toEqual([])
    const settled = { interval: 100 }
    write(prices())
    await expect.poll(code, settled).toBeUndefined()
    const wrong = [
      prices(61_000),
      prices(-30_000),
      prices(0, '0'),
      prices(0, '-5.4'),
      { 'BTC/USDT': prices()['BTC/USDT'] },
      { ...prices(), 'USDT/BRL': { price: 5.4, at: seenAt(0), source: 'watcher' } },
      { ...prices(), 'USDT/BRL': { price: '5.40', at: 'yesterday', source: 'watcher' } },
      '{"USDT/BRL": ',
      'null',
      '[]',
    ]
    for (const content of wrong) {
      write(prices())
      await expect.poll(code, settled).toBeUndefined()
      write(content)
      await expect.poll(code, settled).toBe('price_unavailable')
    }
    write(prices())
    await expect.poll(code, settled).toBeUndefined()
  })

  test('a spread moves the price against the customer; the market price is shown beside it', async () => {
    write(prices())
    const { api, quote } = await partnerWithCustomer()
    await expect.poll(async () => (await quote()).status).toBe(201)
    expect((await api.get('/v1/prices')).json.data[0]).toMatchObject({
      pair: 'USDT/BRL',
      price: '5.4',
      buy_price: '5.4108',
      sell_price: '5.3892',
      source: 'watcher',
      fresh: true,
    })
    expect((await quote()).json).toMatchObject({ market_price: '5.4108', side: 'buy' })
    expect((await quote({ from_asset: 'USDT', to_asset: 'BRL' })).json).toMatchObject({
      market_price: '5.3892',
    })
  })

  test('beyond a limit of the treasury a trade fails, moves nothing, and stays failed', async () => {
    write(prices())
    const { api, customer_id, trade, quote } = await partnerWithCustomer()
    await expect.poll(async () => (await quote()).status).toBe(201)
    const { db } = service.worlds.production
    const position = async (asset: string) =>
      (await valuedPositions(service.worlds.production)).find((held) => held.asset === asset)!.position
    // The limit allows one more trade of this size, not two.
    await saveTreasuryLimit(db, {
      asset: 'USDT',
      lowest: (await position('USDT')) - 200_000_000n,
      highest: null,
    })
    const settled = { timeout: 60_000, interval: 300 }
    const dryRun = async (quote_id: string) =>
      (await api.post(`/v1/quotes/${quote_id}/execute?dry_run=true`)).json
    const before = (await api.get(`/v1/customers/${customer_id}/balances`)).json
    let failed: any
    let completed = 0
    await expect
      .poll(async () => {
        const made = await trade()
        if (made.status === 'failed') failed = made
        else completed++
        return failed !== undefined
      }, settled)
      .toBe(true)
    expect(failed).toMatchObject({ status: 'failed', failure: { code: 'treasury_limit' } })
    expect(failed.completed_at).toBe(failed.created_at)
    expect((await api.get(`/v1/quotes/${failed.quote_id}`)).json.status).toBe('executed')
    const again = await api.post(`/v1/quotes/${failed.quote_id}/execute`)
    expect([again.status, again.json]).toEqual([201, failed])
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    const after = (await api.get(`/v1/customers/${customer_id}/balances`)).json
    expect(BigInt(before.data[0].available) - BigInt(after.data[0].available)).toBe(
      100_000n * BigInt(completed),
    )
    // A dry run shows the refusal, of a quote that failed and of one that would fail.
    const turnedDown = {
      dry_run: true,
      asset: 'BRL',
      decimals: 2,
      fee: failed.fees.total,
      balance_after: after.data[0].available,
      would_fail: failed.failure,
    }
    expect(await dryRun(failed.quote_id)).toEqual({ ...turnedDown, would_replay: true })
    const next = (await quote()).json
    expect(await dryRun(next.id)).toEqual({ ...turnedDown, would_replay: false })
    expect((await api.get(`/v1/quotes/${next.id}`)).json.status).toBe('pending')
    const entries = await db.query('SELECT FROM entries WHERE cause_id = $1', [failed.id])
    expect(entries.rows).toEqual([])
    const events = await db.query('SELECT type, data FROM events WHERE object_id = $1', [failed.id])
    expect(events.rows).toEqual([{ type: 'trade.failed', data: failed }])
    expect((await api.get('/v1/trades?status=failed')).json.data).toEqual([failed])
    // A trade in the other direction reduces the position, and is always allowed.
    expect((await trade({ from_asset: 'USDT', to_asset: 'BRL', amount: '300000000' })).status).toBe(
      'completed',
    )
    // A trade that waited for more than a second is not judged on the old positions.
    const treasury = openTreasuryWorker(service.worlds.production, pino({ level: 'silent' }))
    const check = await treasury.limitCheck()
    const asked = {
      taken: { asset: 'BRL', amount: 1n },
      given: { asset: 'BTC', amount: 1n },
    } as const
    expect(check(asked)).not.toBe(false)
    await sleep(1100)
    expect(check(asked)).toBeUndefined()
    await treasury.stop()
    // `highest` limits the position too.
    await saveTreasuryLimit(db, { asset: 'USDT', lowest: null, highest: await position('USDT') })
    await expect
      .poll(
        async () => (await trade({ from_asset: 'USDT', to_asset: 'BRL', amount: '1000000' })).status,
        settled,
      )
      .toBe('failed')
    await asAdmin(service.database.url, ['DELETE FROM live.treasury_limits'])
    await expect
      .poll(
        async () => (await trade({ from_asset: 'USDT', to_asset: 'BRL', amount: '1000000' })).status,
        settled,
      )
      .toBe('completed')
  })

  test('reading the positions waits for a fold under way, and never uses older positions', async () => {
    write(prices())
    const { trade, quote } = await partnerWithCustomer()
    await expect.poll(async () => (await quote()).status).toBe(201)
    // Nothing but the test ends a wait for the fold.
    const db = openPool({ ...seatAt(service.database.url, 'live'), max: 4, wait_ms: 600_000 })
    onTestFinished(() => db.end())
    const world: World = { ...service.worlds.production, db }
    const sums = async () => (await valuedPositions(world)).map(({ position }) => position)
    const [brl, usdt] = (await sums()) as [bigint, bigint]
    await saveTreasuryLimit(world.db, { asset: 'USDT', lowest: usdt - 200_000_000n, highest: null })
    const treasury = openTreasuryWorker(world, pino({ level: 'silent' }), { folds: false })
    const { read, amount } = await transaction(world.db, async (tx) => {
      await tx.query('SET LOCAL idle_in_transaction_session_timeout = 0')
      await lockFold(tx)
      const amount = BigInt((await trade()).to_amount)
      const read = Promise.all([sums(), treasury.limitCheck()])
      expect(await Promise.race([read, sleep(300, 'waits')])).toBe('waits')
      return { read: () => read, amount }
    })
    const [after, check] = await read()
    expect(after.slice(0, 2)).toEqual([brl + 98_500n, usdt - amount])
    // The limit allowed one trade, which was made. On a slow machine the answer is undefined: too old to say.
    expect(check({ taken: { asset: 'BRL', amount: 1n }, given: { asset: 'USDT', amount } })).not.toBe(true)
    await treasury.stop()
    await asAdmin(service.database.url, ['DELETE FROM live.treasury_limits'])
  })

  test('the positions are the sums of the entries, and fees are never paid twice or beyond what was earned', async () => {
    write(prices())
    const { api, partner_id, customer_id, trade, quote } = await partnerWithCustomer()
    await expect.poll(async () => (await quote()).status).toBe(201)
    const world = service.worlds.production
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        trade(i % 2 ? { from_asset: 'BTC', to_asset: 'USDT', amount: '1000000' } : {}),
      ),
    )
    const accrued = async () =>
      Object.fromEntries(
        (await accruedFees(world.db, partner_id)).map(({ asset, amount }) => [asset, amount]),
      )
    expect(await accrued()).toEqual({ BRL: 10_000n, BTC: 100_000n })
    await Promise.all([foldTrades(world.db), foldTrades(world.db), foldTrades(world.db)])
    expect(await accrued()).toEqual({ BRL: 10_000n, BTC: 100_000n })
    expect((await service.audit()).production.findings).toEqual([])

    const pay = (more: Record<string, unknown> = {}) =>
      byTwoOperators(world, {
        name: 'pay_fees',
        details: {
          partner_id,
          customer_id,
          asset: 'BRL',
          amount: '6000',
          reason: 'October',
          reference: 'fees-10',
          ...more,
        } as never,
      })
    const paid = await Promise.all([pay(), pay(), pay()])
    expect(new Set(paid.map(({ id }) => id)).size).toBe(1)
    await expect(pay({ amount: '7000' })).rejects.toMatchObject({ code: 'idempotency_conflict' })
    await expect(pay({ amount: '4001', reference: 'fees-11' })).rejects.toMatchObject({
      code: 'insufficient_balance',
    })
    const racers = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) =>
        pay({ amount: '1000', customer_id: null, reference: `outside-${i}` }),
      ),
    )
    expect(racers.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
    expect(await accrued()).toEqual({ BRL: 0n, BTC: 100_000n })
    expect((await api.get('/v1/account')).json.partner_fees).toEqual([
      { asset: 'BRL', accrued: '0', decimals: 2 },
      { asset: 'USDT', accrued: '0', decimals: 6 },
      { asset: 'BTC', accrued: '100000', decimals: 8 },
    ])
    const { data } = (await api.get(`/v1/customers/${customer_id}/statement?asset=BRL&limit=1`)).json
    expect(data[0]).toMatchObject({ amount: '6000', cause: { type: 'adjustment', id: paid[0]!.id } })
    expect((await service.audit()).production.findings).toEqual([])
  })

  test('the audit finds a position, a trade or a fee that is off by one', async () => {
    write(prices())
    const { trade, quote } = await partnerWithCustomer()
    await expect.poll(async () => (await quote()).status).toBe(201)
    await trade()
    await foldTrades(service.worlds.production.db)
    const flips = [
      [`UPDATE live.positions SET amount = amount + 1 WHERE id = 'treasury  BRL'`, /sums of the treasury/],
      [
        `UPDATE live.trades SET to_amount = to_amount + 1 WHERE status = 'completed'`,
        /completed trade is booked/,
      ],
      [`UPDATE live.quotes SET trade_id = 'td_x' WHERE trade_id IS NOT NULL`, /every trade has its quote/],
      [
        `INSERT INTO live.fee_payouts VALUES ('fp_x', 'ptn_x', 'BRL', 1, NULL, 'x', 'x', now())`,
        /payment of fees/,
      ],
    ] as const
    for (const [flip, finding] of flips) {
      const backup = ['positions', 'trades', 'quotes', 'fee_payouts']
      await asAdmin(service.database.url, [
        ...backup.map((table) => `CREATE TABLE live.kept_${table} AS SELECT * FROM live.${table}`),
        ...backup.map((table) => `ALTER TABLE live.${table} DISABLE TRIGGER USER`),
        flip,
      ])
      const { findings } = (await service.audit()).production
      await asAdmin(service.database.url, [
        ...backup.flatMap((table) => [
          `DELETE FROM live.${table}`,
          `INSERT INTO live.${table} SELECT * FROM live.kept_${table}`,
          `DROP TABLE live.kept_${table}`,
          `ALTER TABLE live.${table} ENABLE TRIGGER USER`,
        ]),
      ])
      expect(findings.map(({ check }) => check).join()).toMatch(finding)
    }
    expect((await service.audit()).production.findings).toEqual([])
  })
})
