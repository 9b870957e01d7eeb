import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Api } from '../../../test/support/api.ts'
import { asAdmin } from '../../../test/support/database.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { roomInMinute } from '../../../test/support/wait.ts'
import { blockCustomer } from '../../parties/customers/customers.ts'
import { editPartner } from '../../parties/partners/partners.ts'

let service: TestService
let api: Api
let partner_id: string

beforeAll(async () => {
  service = await startTestService()
  ;({ api, partner_id } = await service.partner())
})
afterEach(async () => {
  expect((await service.audit()).sandbox.findings).toEqual([])
})
afterAll(() => service.stop())

const RICH = { BRL: '100000000', USDT: '100000000000', BTC: '1000000000' }

async function customer(owner: Api = api, balances: Record<string, string> = RICH): Promise<string> {
  const { id } = (await owner.post('/v1/customers', { name: 'Ana', document: someCpf() })).json
  for (const [asset, amount] of Object.entries(balances))
    await owner.post('/v1/sandbox/deposits', { customer_id: id, asset, amount })
  return id
}

async function balances(id: string): Promise<Record<string, string>> {
  const { data } = (await api.get(`/v1/customers/${id}/balances`)).json
  return Object.fromEntries(data.map((b: any) => [b.asset, b.available]))
}

const order = (customer_id: string, more: Record<string, unknown> = {}) => ({
  customer_id,
  from_asset: 'BRL',
  to_asset: 'USDT',
  amount: '100000',
  partner_fee_bps: 100,
  ...more,
})

describe('interface §4.3: a quote', () => {
  test('has every field of interface §2.5, and locks the price for 30 seconds', async () => {
    const customer_id = await customer()
    const reply = await api.post('/v1/quotes', order(customer_id))
    expect(reply.status).toBe(201)
    const { id, created_at, expires_at, ...rest } = reply.json
    expect(id).toMatch(/^qt_/)
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(30_000)
    expect(rest).toEqual({
      customer_id,
      from_asset: 'BRL',
      to_asset: 'USDT',
      from_amount: '100000',
      to_amount: '182407407',
      from_decimals: 2,
      to_decimals: 6,
      price: '540',
      price_decimals: 2,
      market_price: '5.4',
      side: 'buy',
      fees: {
        total: '1500',
        total_bps: 150,
        partner: '1000',
        partner_bps: 100,
        service: '500',
        service_bps: 50,
      },
      status: 'pending',
      metadata: {},
    })
    // Nothing is reserved.
    expect(await balances(customer_id)).toEqual(RICH)
    expect((await api.get(`/v1/quotes/${id}`)).json).toEqual(reply.json)
  })

  test('100 USDT at 5.40 are exactly R$ 540.00, and all six directions have a price', async () => {
    const customer_id = await customer()
    await editPartner(service.shared, partner_id, { service_fee_bps: 0 })
    const sold = async () =>
      (
        await api.post('/v1/quotes', {
          customer_id,
          from_asset: 'USDT',
          to_asset: 'BRL',
          amount: '100000000',
        })
      ).json
    // A node caches the terms of a key for up to a second.
    await expect.poll(async () => (await sold()).to_amount).toBe('54000')
    await editPartner(service.shared, partner_id, { service_fee_bps: 50 })
    await expect.poll(async () => (await sold()).to_amount).toBe('53730')
    const assets = ['BRL', 'USDT', 'BTC']
    for (const from_asset of assets) {
      for (const to_asset of assets) {
        const { status, json } = await api.post('/v1/quotes', {
          customer_id,
          from_asset,
          to_asset,
          amount: '1000000',
        })
        if (from_asset === to_asset) expect([status, json.error.code]).toEqual([422, 'unsupported_pair'])
        else expect([status, json.status]).toEqual([201, 'pending'])
      }
    }
  })

  test('defaults are gross, of what is paid, without a partner’s fee', async () => {
    const customer_id = await customer()
    const bare = { customer_id, from_asset: 'BRL', to_asset: 'BTC', amount: '54000' }
    const said = { ...bare, amount_asset: 'BRL', amount_type: 'gross', partner_fee_bps: 0 }
    const [one, two] = [(await api.post('/v1/quotes', bare)).json, (await api.post('/v1/quotes', said)).json]
    for (const field of ['from_amount', 'to_amount', 'fees', 'price', 'market_price'])
      expect(one[field]).toEqual(two[field])
    expect(one).toMatchObject({ from_amount: '54000', fees: { total: '270', partner: '0', partner_bps: 0 } })
  })

  test.each([
    ['the same asset twice', { to_asset: 'BRL' }, 'unsupported_pair', 'to_asset'],
    ['an unknown asset', { to_asset: 'ETH' }, 'invalid_request', 'to_asset'],
    ['an amount of a third asset', { amount_asset: 'BTC' }, 'invalid_request', 'amount_asset'],
    ['a fee above the highest', { partner_fee_bps: 1001 }, 'invalid_request', 'partner_fee_bps'],
    ['a negative fee', { partner_fee_bps: -1 }, 'invalid_request', 'partner_fee_bps'],
    ['a broken fee', { partner_fee_bps: 1.5 }, 'invalid_request', 'partner_fee_bps'],
    ['a fee as text', { partner_fee_bps: '100' }, 'invalid_request', 'partner_fee_bps'],
    ['another amount type', { amount_type: 'both' }, 'invalid_request', 'amount_type'],
    ['a misspelt field', { amount_typ: 'net' }, 'invalid_request', 'amount_typ'],
    ['nothing left after fees', { amount: '1' }, 'amount_too_small', 'amount'],
    [
      'more than a balance can hold',
      { amount: '999999999999999999', amount_type: 'net' },
      'amount_too_large',
      'amount',
    ],
    ['a number', { amount: 5 }, 'invalid_amount', 'amount'],
    ['nobody’s id', { customer_id: 'cus_01kc3v4x9zq8rj5m2t7w6y0ahb' }, 'customer_not_found', 'customer_id'],
    ['no id at all', { customer_id: 'me' }, 'customer_not_found', 'customer_id'],
  ])('is refused for %s', async (_, change, code, param) => {
    const { json } = await api.post('/v1/quotes', order(await customer(), change))
    expect(json.error).toMatchObject({ code, param })
  })

  test('a partner’s own price applies to its quotes at once, and to no other partner', async () => {
    const other = await service.partner()
    const mine = await customer()
    const theirs = await customer(other.api)
    expect(
      (await api.get('/v1/prices')).json.data.map((p: any) => [p.pair, p.price, p.source, p.fresh]),
    ).toEqual([
      ['USDT/BRL', '5.4', 'fixed', true],
      ['BTC/USDT', '100000', 'fixed', true],
      ['BTC/BRL', '540000', 'fixed', true],
    ])
    const set = await api.post('/v1/sandbox/prices', { pair: 'USDT/BRL', price: '6.123' })
    expect(set.json.data.map((p: any) => p.price)).toEqual(['6.123', '100000', '612300'])
    expect((await api.post('/v1/quotes', order(mine))).json.market_price).toBe('6.123')
    expect((await other.api.post('/v1/quotes', order(theirs))).json.market_price).toBe('5.4')
    // A price that is too old is not used.
    await api.post('/v1/sandbox/prices', { pair: 'USDT/BRL', price: '6.123', age_seconds: 60 })
    const stale = await api.post('/v1/quotes', order(mine))
    expect([stale.status, stale.json.error.code]).toEqual([503, 'price_unavailable'])
    expect(Number(stale.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await api.get('/v1/prices')).json.data[2]).toMatchObject({ pair: 'BTC/BRL', fresh: false })
    await api.post('/v1/sandbox/prices', { pair: 'USDT/BRL', price: '5.40' })
    expect((await api.post('/v1/quotes', order(mine))).status).toBe(201)
    for (const price of ['0', '0.00', '-1', '5,40', '1e3', '5.123456789', '100000000'])
      expect((await api.post('/v1/sandbox/prices', { pair: 'USDT/BRL', price })).json.error.param).toBe(
        'price',
      )
  })

  test('BTC and USDT are quoted and traded while only USDT/BRL is old; BTC and BRL need both', async () => {
    const own = await service.partner()
    const customer_id = await customer(own.api)
    const ask = async (from_asset: string, to_asset: string) =>
      (await own.api.post('/v1/quotes', { customer_id, from_asset, to_asset, amount: '1000000' })).json
    const setPrice = (pair: string, price: string, age_seconds = 0) =>
      own.api.post('/v1/sandbox/prices', { pair, price, age_seconds })
    await setPrice('USDT/BRL', '6', 3600)
    for (const [from, to] of [
      ['BTC', 'USDT'],
      ['USDT', 'BTC'],
    ] as const) {
      const { id, market_price } = await ask(from, to)
      expect(market_price).toBe('100000')
      expect((await own.api.post(`/v1/quotes/${id}/execute`)).json.status).toBe('completed')
    }
    // The treasury values the trade at the last known price: 995 USDT at 6.00.
    const { rows } = await service.worlds.sandbox.db.query(
      `SELECT worth_brl FROM trades WHERE customer_id = $1 AND from_asset = 'BTC'`,
      [customer_id],
    )
    expect(rows).toEqual([{ worth_brl: 597_000n }])
    for (const [from, to] of [
      ['BTC', 'BRL'],
      ['BRL', 'BTC'],
      ['USDT', 'BRL'],
    ] as const)
      expect((await ask(from, to)).error.code).toBe('price_unavailable')
    await setPrice('USDT/BRL', '5.40')
    await setPrice('BTC/USDT', '100000', 3600)
    expect((await ask('BTC', 'USDT')).error.code).toBe('price_unavailable')
    expect((await ask('USDT', 'BRL')).status).toBe('pending')
  })

  test('errors of the body are reported before an unknown customer', async () => {
    const { json } = await api.post(
      '/v1/quotes',
      order('cus_01kc3v4x9zq8rj5m2t7w6y0ahb', { to_asset: 'BRL' }),
    )
    expect(json.error).toMatchObject({ code: 'unsupported_pair', param: 'to_asset' })
  })

  test('30 quotes a minute, as the interface says', async () => {
    const limited = await service.partner({ limited: true })
    const id = await customer(limited.api)
    await roomInMinute(10)
    const statuses: number[] = []
    for (let i = 0; i < 31; i++) statuses.push((await limited.api.post('/v1/quotes', order(id))).status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(30)
    expect(statuses.at(-1)).toBe(429)
  })
})

describe('interface §4.4: executing it', () => {
  const quote = async (customer_id: string, more = {}) =>
    (await api.post('/v1/quotes', order(customer_id, more))).json
  const execute = (id: string, query = '') => api.post(`/v1/quotes/${id}/execute${query}`)

  test('makes a trade with every field of interface §2.6, moves both balances and books the fees', async () => {
    const customer_id = await customer()
    const before = (await api.get('/v1/account')).json.partner_fees[0].accrued
    const quoted = await quote(customer_id)
    const reply = await execute(quoted.id)
    expect(reply.status).toBe(201)
    expect(reply.headers.get('idempotent-replayed')).toBeNull()
    const { id, created_at, completed_at, ...rest } = reply.json
    expect(id).toMatch(/^td_/)
    expect(completed_at).toBe(created_at)
    expect(rest).toEqual({
      quote_id: quoted.id,
      customer_id,
      status: 'completed',
      from_asset: 'BRL',
      to_asset: 'USDT',
      from_amount: quoted.from_amount,
      to_amount: quoted.to_amount,
      from_decimals: 2,
      to_decimals: 6,
      executed_price: quoted.price,
      price_decimals: 2,
      market_price: '5.4',
      side: 'buy',
      fees: quoted.fees,
      metadata: {},
      failure: null,
    })
    expect(await balances(customer_id)).toEqual({ ...RICH, BRL: '99900000', USDT: '100182407407' })
    expect((await api.get(`/v1/quotes/${quoted.id}`)).json.status).toBe('executed')
    expect((await api.get(`/v1/trades/${id}`)).json).toEqual(reply.json)
    const { data } = (await api.get(`/v1/customers/${customer_id}/statement?limit=2`)).json
    expect(data.map((line: any) => [line.asset, line.amount, line.cause])).toEqual(
      expect.arrayContaining([
        ['BRL', '-100000', { type: 'trade', id }],
        ['USDT', '182407407', { type: 'trade', id }],
      ]),
    )
    const { rows } = await service.worlds.sandbox.db.query(
      'SELECT account, owner, asset, amount FROM entries WHERE cause_id = $1 ORDER BY line',
      [id],
    )
    expect(rows).toEqual([
      { account: 'customer', owner: customer_id, asset: 'BRL', amount: -100000n },
      { account: 'treasury', owner: '', asset: 'BRL', amount: 98500n },
      { account: 'partner_fees', owner: partner_id, asset: 'BRL', amount: 1000n },
      { account: 'service_fees', owner: '', asset: 'BRL', amount: 500n },
      { account: 'treasury', owner: '', asset: 'USDT', amount: -182407407n },
      { account: 'customer', owner: customer_id, asset: 'USDT', amount: 182407407n },
    ])
    const after = (await api.get('/v1/account')).json.partner_fees[0].accrued
    expect(BigInt(after) - BigInt(before)).toBe(1000n)
    const events = await service.worlds.sandbox.db.query(
      'SELECT type, data FROM events WHERE object_id = $1',
      [id],
    )
    expect(events.rows).toEqual([{ type: 'trade.completed', data: reply.json }])
  })

  test('a repeat returns the same trade, byte for byte, also after the quote’s expiry', async () => {
    const customer_id = await customer()
    const { id } = await quote(customer_id)
    const first = await execute(id)
    const again = await execute(id)
    expect([again.status, again.text]).toEqual([201, first.text])
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    const move = (sign: '+' | '-') =>
      asAdmin(service.database.url, [
        'ALTER TABLE sandbox.quotes DISABLE TRIGGER USER',
        `UPDATE sandbox.quotes SET created_at = created_at ${sign} interval '1 hour', expires_at = expires_at ${sign} interval '1 hour' WHERE id = '${id}'`,
        'ALTER TABLE sandbox.quotes ENABLE TRIGGER USER',
      ])
    await move('-')
    const late = await execute(id)
    await move('+')
    expect([late.status, late.text]).toEqual([201, first.text])
    expect(await balances(customer_id)).toEqual({ ...RICH, BRL: '99900000', USDT: '100182407407' })
  })

  test('accepts no body, an empty body or an empty object, and nothing else', async () => {
    const customer_id = await customer()
    const execute = async (body?: string) => {
      const { id } = await quote(customer_id)
      const headers = { 'content-type': 'application/json' }
      const path = `/v1/quotes/${id}/execute`
      const { status, json } = await api.send('POST', path, body === undefined ? {} : { body, headers })
      return [status, json.error?.code ?? json.status]
    }
    for (const body of [undefined, '', '{}']) expect(await execute(body)).toEqual([201, 'completed'])
    for (const body of ['{"amount":"1"}', 'null', '[]', '[1]', '"x"', '5'])
      expect(await execute(body)).toEqual([400, 'invalid_request'])
    expect((await execute('{'))[1]).toBe('invalid_json')
  })

  test('an expired quote is quote_expired, 409, and trades nothing', async () => {
    const customer_id = await customer()
    const { id } = await quote(customer_id)
    const expired = await api.post(`/v1/sandbox/quotes/${id}/expire`)
    expect([expired.status, expired.json.status]).toEqual([200, 'expired'])
    const reply = await execute(id)
    expect([reply.status, reply.json.error.code]).toEqual([409, 'quote_expired'])
    expect((await execute(id, '?dry_run=true')).json.error.code).toBe('quote_expired')
    expect(await balances(customer_id)).toEqual(RICH)
    const done = await quote(customer_id)
    await execute(done.id)
    expect((await api.post(`/v1/sandbox/quotes/${done.id}/expire`)).json.error.code).toBe('already_final')
  })

  test('too little balance leaves the quote pending; after a top-up in time it is executed', async () => {
    const customer_id = await customer(api, { BRL: '99999' })
    const { id } = await quote(customer_id)
    expect((await execute(id, '?dry_run=true')).json.error.code).toBe('insufficient_balance')
    const refused = await execute(id)
    expect([refused.status, refused.json.error.code]).toEqual([422, 'insufficient_balance'])
    expect(refused.json.error.details).toEqual({ asset: 'BRL', needed: '100000', available: '99999' })
    expect((await api.get(`/v1/quotes/${id}`)).json.status).toBe('pending')
    await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '1' })
    const dry = await execute(id, '?dry_run=true')
    expect([dry.status, dry.json]).toEqual([
      200,
      { dry_run: true, asset: 'BRL', decimals: 2, fee: '1500', balance_after: '0', would_replay: false },
    ])
    expect((await execute(id)).json.status).toBe('completed')
    expect((await execute(id, '?dry_run=true')).json.would_replay).toBe(true)
    expect(await balances(customer_id)).toMatchObject({ BRL: '0', USDT: '182407407' })
  })

  test('a balance that could not hold the result leaves the quote pending too', async () => {
    const customer_id = await customer(api, { BRL: '100000', USDT: '999999999999999999' })
    const { id } = await quote(customer_id)
    expect((await execute(id)).json.error.code).toBe('amount_too_large')
    expect((await api.get(`/v1/quotes/${id}`)).json.status).toBe('pending')
  })

  test('a quote of a blocked customer, or of another partner, is refused', async () => {
    const other = await service.partner()
    const customer_id = await customer()
    const { id } = await quote(customer_id)
    for (const path of [`/v1/quotes/${id}`, '/v1/quotes/qt_01kc3v4x9zq8rj5m2t7w6y0ahb', '/v1/quotes/x']) {
      expect((await other.api.get(path)).json.error.code).toBe('quote_not_found')
      expect((await other.api.post(`${path}/execute`)).json.error.code).toBe('quote_not_found')
    }
    await blockCustomer(service.worlds.sandbox, customer_id, 'blocked')
    expect((await execute(id)).json.error.code).toBe('customer_blocked')
    expect((await api.post('/v1/quotes', order(customer_id))).json.error.code).toBe('customer_blocked')
  })

  test('the share of the operator moves from the partner’s fee to the service’s', async () => {
    const own = await service.partner()
    await editPartner(service.shared, own.partner_id, { service_fee_bps: 30, partner_fee_share_pct: 25 })
    const customer_id = await customer(own.api)
    const quoted = async () =>
      (await own.api.post('/v1/quotes', order(customer_id, { partner_fee_bps: 10 }))).json
    await expect.poll(async () => (await quoted()).fees.service_bps).toBe(33)
    const { id, fees } = await quoted()
    expect(fees).toEqual({
      total: '400',
      total_bps: 40,
      partner: '70',
      partner_bps: 7,
      service: '330',
      service_bps: 33,
    })
    await own.api.post(`/v1/quotes/${id}/execute`)
    const { fees: schedule, partner_fees } = (await own.api.get('/v1/account')).json
    expect(schedule.conversion).toEqual({ service_bps: 30, share_pct: 25 })
    expect(partner_fees[0]).toEqual({ asset: 'BRL', accrued: '70', decimals: 2 })
  })

  test('lists page and filter; the status filter matches the status that a quote shows', async () => {
    const own = await service.partner()
    const customer_id = await customer(own.api)
    const ids: string[] = []
    for (let i = 0; i < 6; i++) ids.push((await own.api.post('/v1/quotes', order(customer_id))).json.id)
    for (const id of ids.slice(0, 2)) await own.api.post(`/v1/quotes/${id}/execute`)
    await own.api.post(`/v1/sandbox/quotes/${ids[2]}/expire`)
    const list = async (query: string) =>
      (await own.api.get(`/v1/quotes?${query}`)).json.data.map((q: any) => [q.id, q.status])
    expect(await list('status=executed')).toEqual([
      [ids[1], 'executed'],
      [ids[0], 'executed'],
    ])
    expect(await list('status=expired')).toEqual([[ids[2], 'expired']])
    expect((await list(`status=pending&customer_id=${customer_id}`)).length).toBe(3)
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const page = (await own.api.get(`/v1/quotes?limit=2${cursor && `&cursor=${cursor}`}`)).json
      seen.push(...page.data.map((q: any) => q.id))
      if (!page.has_more) break
      cursor = page.next_cursor
    }
    expect(seen).toEqual([...ids].reverse())
    const trades = (await own.api.get('/v1/trades?status=completed')).json.data
    expect(trades.map((t: any) => t.quote_id)).toEqual([ids[1], ids[0]])
    expect((await own.api.get('/v1/trades?status=failed')).json.data).toEqual([])
  })
})
