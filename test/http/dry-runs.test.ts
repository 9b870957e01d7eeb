import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setMoneyLimits } from '../../src/money/money-limits/money-limits.ts'
import { blockCustomer } from '../../src/parties/customers/customers.ts'
import { editPartner } from '../../src/parties/partners/partners.ts'
import type { Api, Reply } from '../support/api.ts'
import { asAdmin } from '../support/database.ts'
import { times } from '../support/parallel.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/wait.ts'

/** A dry run and the real call beside each other: whatever the one says, the other one does. */
let service: TestService
let api: Api

beforeAll(async () => {
  service = await startTestService({ PIX_WAIT_MS: '300' })
  const partner = await service.partner()
  ;({ api } = partner)
  await editPartner(service.shared, partner.partner_id, { pix_fee: 99 })
  const fee = async () => (await api.get('/v1/account')).json.fees.pix.fee
  await until(async () => (await fee()) === '99', 10_000)
})
afterAll(async () => {
  const { production, sandbox } = await service.audit()
  expect([production.findings, sandbox.findings]).toEqual([[], []])
  await service.stop()
})

const PIX = '/v1/pix/payouts'
const CHAIN = '/v1/onchain/transfers'
const DRY = '?dry_run=true'
const BALANCE = 1_000_000_000n
let keys = 0

async function newCustomer() {
  const document = someCpf()
  const { id } = (await api.post('/v1/customers', { name: 'Ana Souza', document })).json
  for (const asset of ['BRL', 'USDT', 'BTC'])
    await api.post('/v1/sandbox/deposits', { customer_id: id, asset, amount: BALANCE.toString() })
  return { id: id as string, document }
}

const payout = (customer_id: string, more: Record<string, unknown> = {}, pix_key = 'ana@example.com') => ({
  customer_id,
  amount: '1050',
  counterparty: { type: 'pix_key', pix_key },
  idempotency_key: `dry-${++keys}`,
  ...more,
})
const transfer = (customer_id: string, more: Record<string, unknown> = {}) => ({
  customer_id,
  asset: 'USDT',
  network: 'ethereum',
  amount: '25000000',
  destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  idempotency_key: `dry-${++keys}`,
  ...more,
})

async function balance(id: string, asset: string): Promise<string> {
  const { data } = (await api.get(`/v1/customers/${id}/balances`)).json
  return data.find((one: any) => one.asset === asset).available
}

/** Everything but whose request it was. */
const told = ({ status, json }: Reply) => ({ status, error: { ...json.error, request_id: undefined } })

/** Runs it dry, runs it, and holds the one against the other. Returns what the dry run said. */
async function compare(path: string, body: { customer_id: string; asset?: string }): Promise<Reply> {
  const asset = body.asset ?? 'BRL'
  const dry = await api.post(path + DRY, body)
  const real = await api.post(path, body)
  if (dry.status >= 400) {
    expect(told(dry)).toEqual(told(real))
    return dry
  }
  expect([dry.status, real.status], real.text).toEqual([200, 201])
  expect(dry.json).toMatchObject({ dry_run: true, asset, fee: real.json.fee, would_replay: false })
  expect(dry.json.decimals).toBe(real.json.decimals)
  if (path === PIX) expect(dry.json.counterparty).toEqual(real.json.counterparty)
  expect(await balance(body.customer_id, asset)).toBe(dry.json.balance_after)
  return dry
}

describe('a dry run says what the call then does', () => {
  test('of a payout: that it goes, or any refusal that a rule, a limit or a balance has for it', async () => {
    const { id, document } = await newCustomer()
    const blocked = await newCustomer()
    await blockCustomer(service.worlds.sandbox, blocked.id, 'blocked')
    const limited = await newCustomer()
    await setMoneyLimits(service.worlds.sandbox, limited.id, { payout_order: 1000n })
    const bank = { type: 'bank_account', ispb: '18236120', branch: '0001', account_number: '1', name: 'Ana' }
    const cases: [body: ReturnType<typeof payout>, code?: string][] = [
      [payout(id)],
      [payout(id, {}, document)],
      [payout(id, { counterparty: { ...bank, account_type: 'payment', document } })],
      [payout(id, { amount: (BALANCE * 2n).toString() }), 'insufficient_balance'],
      [payout(id, { amount: '999999999999999999' }), 'amount_too_large'],
      [payout(id, {}, 'notfound@sandbox.test'), 'pix_key_not_found'],
      [payout(id, {}, 'other-owner@sandbox.test'), 'counterparty_not_allowed'],
      [payout(id, {}, 'nonsense'), 'invalid_pix_key'],
      [payout(id, { amount: 5 }), 'invalid_amount'],
      [payout(blocked.id), 'customer_blocked'],
      // What is judged first, for the dry run too: a block comes before whose key it is.
      [payout(blocked.id, {}, 'other-owner@sandbox.test'), 'customer_blocked'],
      [payout('cus_01kc3v4x9zq8rj5m2t7w6y0ahb'), 'customer_not_found'],
      [payout(limited.id), 'limit_exceeded'],
      [payout(limited.id, { amount: (BALANCE * 2n).toString() }), 'limit_exceeded'],
    ]
    for (const [body, code] of cases) {
      const { json } = await compare(PIX, body)
      expect(json.error?.code, JSON.stringify(body)).toBe(code)
    }
  })

  test('of a transfer', async () => {
    const { id } = await newCustomer()
    const limited = await newCustomer()
    await setMoneyLimits(service.worlds.sandbox, limited.id, { transfer_day_usdt: 30_000_000n })
    const cases: [body: ReturnType<typeof transfer>, code?: string][] = [
      [transfer(id)],
      [transfer(limited.id)],
      [transfer(limited.id), 'limit_exceeded'],
      [transfer(id, { amount: BALANCE.toString() }), 'insufficient_balance'],
      [transfer(id, { amount: '999999999999999999' }), 'amount_too_large'],
      [transfer(id, { network: 'bitcoin' }), 'unsupported_network'],
      [transfer(id, { destination_address: 'x' }), 'invalid_address'],
      [transfer('cus_01kc3v4x9zq8rj5m2t7w6y0ahb'), 'customer_not_found'],
    ]
    for (const [body, code] of cases) {
      const { json } = await compare(CHAIN, body)
      expect(json.error?.code, JSON.stringify(body)).toBe(code)
    }
  })

  test('of an execute: a trade, an expired or an executed quote, too little balance, a blocked customer', async () => {
    const { id: customer_id } = await newCustomer()
    const quote = async (more = {}) =>
      (
        await api.post('/v1/quotes', {
          customer_id,
          from_asset: 'BRL',
          to_asset: 'USDT',
          amount: '100000',
          ...more,
        })
      ).json.id
    const execute = (id: string, query = '') => api.post(`/v1/quotes/${id}/execute${query}`)
    const id = await quote()
    const dry = await execute(id, DRY)
    expect(dry.json).toEqual({
      dry_run: true,
      asset: 'BRL',
      decimals: 2,
      fee: '500',
      balance_after: (BALANCE - 100_000n).toString(),
      would_replay: false,
    })
    expect((await execute(id)).json.status).toBe('completed')
    const executed = { ...dry.json, would_replay: true }
    expect((await execute(id, DRY)).json).toEqual(executed)
    const expired = await quote()
    await api.post(`/v1/sandbox/quotes/${expired}/expire`)
    const dear = await quote({ amount: (BALANCE * 2n).toString() })
    const stranger = 'qt_01kc3v4x9zq8rj5m2t7w6y0ahb'
    const last = await quote()
    for (const [quote_id, code] of [
      [expired, 'quote_expired'],
      [dear, 'insufficient_balance'],
      [stranger, 'quote_not_found'],
      [last, 'customer_blocked'],
    ] as const) {
      if (quote_id === last) await blockCustomer(service.worlds.sandbox, customer_id, 'blocked')
      const tried = await execute(quote_id, DRY)
      expect(tried.json.error.code).toBe(code)
      expect(told(tried)).toEqual(told(await execute(quote_id)))
    }
    // A trade that was made is told for ever, whatever became of its customer.
    expect((await execute(id, DRY)).json).toEqual(executed)
  })
})

describe('a dry run under a key that was used', () => {
  test.each([
    ['payout', PIX, payout, 'BRL'],
    ['transfer', CHAIN, transfer, 'USDT'],
  ] as const)(
    'of a %s that was made would replay it, and debits nothing twice',
    async (_, path, order, asset) => {
      const { id } = await newCustomer()
      // So much that it could not be paid a second time.
      const body = order(id, { amount: (BALANCE - 10_000_000n).toString() })
      const real = await api.post(path, body)
      expect(real.status).toBe(201)
      const dry = await api.post(path + DRY, body)
      expect([dry.status, dry.json]).toEqual([
        200,
        {
          dry_run: true,
          asset,
          decimals: real.json.decimals,
          fee: real.json.fee,
          balance_after: await balance(id, asset),
          ...(path === PIX ? { counterparty: real.json.counterparty } : {}),
          would_replay: true,
        },
      ])
      // Also when no new one could be made: the real call is not judged again either.
      await blockCustomer(service.worlds.sandbox, id, 'blocked')
      expect((await api.post(path + DRY, body)).text).toBe(dry.text)
      expect((await api.post(path, body)).text).toBe(real.text)
    },
  )

  test('of a payout that is under way', async () => {
    const { id } = await newCustomer()
    const body = payout(id, {}, 'slow@sandbox.test')
    const sending = api.post(PIX, body)
    const made = async () =>
      (await asAdmin(service.database.url, [`SELECT FROM sandbox.payouts WHERE customer_id = '${id}'`]))
        .length
    await until(async () => (await made()) === 1, 10_000)
    expect((await api.post(PIX + DRY, body)).json).toMatchObject({ would_replay: true, fee: '99' })
    const { json } = await sending
    expect(json.status).toBe('processing')
    await api.post(`/v1/sandbox/pix/payouts/${json.id}/complete`)
  })

  test('that was refused gets that refusal, also when it would pass now', async () => {
    const { id } = await newCustomer()
    const body = payout(id, { amount: (BALANCE + 1n).toString() })
    const refused = await api.post(PIX, body)
    expect(refused.json.error.code).toBe('insufficient_balance')
    await api.post('/v1/sandbox/deposits', { customer_id: id, asset: 'BRL', amount: '1000' })
    const dry = await api.post(PIX + DRY, body)
    expect([dry.status, dry.text]).toEqual([refused.status, refused.text])
    expect(dry.headers.get('idempotent-replayed')).toBe('true')
    expect((await api.post(PIX, body)).text).toBe(refused.text)
  })

  test('with another body is a conflict', async () => {
    const { id } = await newCustomer()
    for (const [path, order] of [
      [PIX, payout],
      [CHAIN, transfer],
    ] as const) {
      const body = order(id)
      expect((await api.post(path, body)).status).toBe(201)
      const dry = await api.post(path + DRY, { ...body, amount: '1' })
      expect([dry.status, dry.json.error.code]).toEqual([409, 'idempotency_conflict'])
    }
  })
})

const TABLES = [
  'entries',
  'balances',
  'payouts',
  'transfers',
  'quotes',
  'trades',
  'unfolded',
  'claims',
  'commits',
]

/** What the tables of money hold, and what was told of it. */
async function everything(): Promise<unknown[]> {
  const digest = (table: string) =>
    `SELECT '${table}' AS name, count(*)::integer AS rows, md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) AS digest FROM sandbox.${table} t`
  return asAdmin(service.database.url, [[...TABLES, 'events', 'exceptions'].map(digest).join(' UNION ALL ')])
}

test('a dry run moves, stores, claims and reserves nothing, and counts like any request', async () => {
  const { id } = await newCustomer()
  const own = await service.partner({ limited: true })
  const { id: theirs } = (await own.api.post('/v1/customers', { name: 'Eva', document: someCpf() })).json
  await own.api.post('/v1/sandbox/deposits', { customer_id: theirs, asset: 'BRL', amount: '5000' })
  const order = { customer_id: id, from_asset: 'BRL', to_asset: 'BTC', amount: '54000' }
  const { id: quote_id } = (await api.post('/v1/quotes', order)).json
  const open = `SELECT FROM sandbox.transfers WHERE status IN ('pending', 'processing')`
  await until(async () => (await asAdmin(service.database.url, [open])).length === 0, 60_000)
  const before = await everything()
  const bodies = [
    payout(id),
    payout(id, { amount: '9999999999999' }),
    payout(id, {}, 'notfound@sandbox.test'),
  ]
  for (const body of bodies) await api.post(PIX + DRY, body)
  for (const amount of ['1000000', '9999999999999']) await api.post(CHAIN + DRY, transfer(id, { amount }))
  await api.post(`/v1/quotes/${quote_id}/execute${DRY}`)
  const first = await own.api.post(PIX + DRY, payout(theirs))
  const second = await own.api.post(PIX + DRY, payout(theirs))
  expect(await everything()).toEqual(before)
  const left = (reply: Reply) => Number(reply.headers.get('x-ratelimit-remaining'))
  // A new minute may have begun in between.
  expect([left(first) - 1, 99]).toContain(left(second))
  // A key that was tried is as free as before.
  expect((await api.post(PIX, { ...bodies[1], amount: '1' })).status).toBe(201)
})

test('dry runs at once are decided as if each were alone, and keep no real one from passing', async () => {
  const { id } = await newCustomer()
  const amount = (BALANCE - 99n).toString()
  const dries = times(20, () => api.post(PIX + DRY, payout(id, { amount })))
  for (const { json } of await Promise.all(dries)) expect(json.balance_after).toBe('0')
  const mixed = await Promise.all(
    times(30, (i) => api.post(i % 2 ? PIX + DRY : PIX, payout(id, { amount: '1000' }))),
  )
  expect(mixed.map(({ status }) => status)).toEqual(times(30, (i) => (i % 2 ? 200 : 201)))
  expect(await balance(id, 'BRL')).toBe((BALANCE - 15n * 1099n).toString())
})

test('a dry run that waits for an account keeps no others waiting', async () => {
  const { id } = await newCustomer()
  const other = await service.partner()
  const { id: theirs } = (await other.api.post('/v1/customers', { name: 'Eva', document: someCpf() })).json
  await other.api.post('/v1/sandbox/deposits', { customer_id: theirs, asset: 'BRL', amount: '5000' })
  const holder = new pg.Client(service.database.url)
  await holder.connect()
  await holder.query(`BEGIN; SELECT FROM sandbox.balances WHERE customer_id = '${id}' FOR UPDATE`)
  let waiting = true
  const held = api.post(PIX + DRY, payout(id)).finally(() => {
    waiting = false
  })
  try {
    for (let i = 0; i < 10; i++) expect((await other.api.post(PIX + DRY, payout(theirs))).status).toBe(200)
    expect(waiting).toBe(true)
  } finally {
    await holder.end()
  }
  expect((await held).status).toBe(200)
})
