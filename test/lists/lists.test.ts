import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { perform } from '../../src/control/operator/actions.ts'
import { selectNewest } from '../../src/db/newest.ts'
import { PAGE_BYTES, pageOf } from '../../src/http/page.ts'
import { foldTrades } from '../../src/money/treasury/treasury.ts'
import { customerList } from '../../src/parties/customers/store.ts'
import type { Api, Reply } from '../support/api.ts'
import { type ConsoleClient, signedIn } from '../support/console.ts'
import { asAdmin } from '../support/database.ts'
import { expectIntact } from '../support/intact.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/wait.ts'

/** Finding things: what each filter of each list shows, and whom a cursor belongs to. */
let service: TestService
let api: Api
let partner_id: string
let ana: string
let bia: string
let payouts: any[]
let transfers: any[]
let trades: any[]

const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const BITCOIN = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
const PAIRS = [
  ['BRL', 'USDT', '10000'],
  ['USDT', 'BRL', '1000000'],
  ['BRL', 'BTC', '10000'],
] as const
const documents = [someCpf(), someCpf()] as const

beforeAll(async () => {
  service = await startTestService({ SANDBOX_BROADCAST_MS: '0', SANDBOX_CONFIRM_MS: '0' })
  const partner = await service.partner()
  ;({ api, partner_id } = partner)
  ana = await customer('Ana', documents[0], 'u-ana')
  bia = await customer('Bia', documents[1], 'u-bia')
  for (const [i, customer_id] of [ana, ana, bia].entries()) {
    await payout(customer_id, 'ana@example.com', `pay-${i}`)
    await payout(customer_id, 'ac03@sandbox.test', `fail-${i}`)
    await transfer(customer_id, 'polygon', '1000000', `send-${i}`)
    await transfer(customer_id, 'bitcoin', '1000', `coin-${i}`)
    await transfer(customer_id, 'tron', '1009001', `lost-${i}`)
    await trade(customer_id, PAIRS[i]!)
  }
  const ended = ['completed', 'confirmed', 'failed']
  await until(async () => {
    const all = [...(await all_of('/v1/pix/payouts')), ...(await all_of('/v1/onchain/transfers'))]
    return all.length === 15 && all.every(({ status }) => ended.includes(status))
  }, 20_000)
  payouts = await all_of('/v1/pix/payouts')
  transfers = await all_of('/v1/onchain/transfers')
  trades = await all_of('/v1/trades')
})
afterAll(() => service.stop())

async function customer(name: string, document: string, external_id: string): Promise<string> {
  const { id } = (await api.post('/v1/customers', { name, document, external_id })).json
  for (const asset of ['BRL', 'USDT', 'BTC'])
    await api.post('/v1/sandbox/deposits', { customer_id: id, asset, amount: '100000000' })
  return id
}
const payout = (customer_id: string, pix_key: string, idempotency_key: string) =>
  api.post('/v1/pix/payouts', {
    customer_id,
    amount: '100',
    counterparty: { type: 'pix_key', pix_key },
    idempotency_key,
  })
const transfer = (customer_id: string, network: string, amount: string, idempotency_key: string) =>
  api.post('/v1/onchain/transfers', {
    customer_id,
    asset: network === 'bitcoin' ? 'BTC' : 'USDT',
    network,
    amount,
    destination_address:
      { polygon: ADDRESS, bitcoin: BITCOIN }[network] ?? 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
    idempotency_key,
  })
async function trade(customer_id: string, [from_asset, to_asset, amount]: (typeof PAIRS)[number]) {
  const { id } = (
    await api.post('/v1/quotes', { customer_id, from_asset, to_asset, amount, partner_fee_bps: 100 })
  ).json
  return (await api.post(`/v1/quotes/${id}/execute`)).json
}

const withQuery = (path: string, query: Record<string, string>) => `${path}?${new URLSearchParams(query)}`
const find = (path: string, query: Record<string, string> = {}, by = api): Promise<Reply> =>
  by.get(withQuery(path, query))
const all_of = async (path: string, query: Record<string, string> = {}): Promise<any[]> =>
  (await find(path, { limit: '100', ...query })).json.data
const ids = (rows: readonly any[]) => rows.map(({ id }) => id)
/** A list by filters is the whole list without what does not fit. */
async function expectFound(
  path: string,
  query: Record<string, string>,
  fits: (row: any) => boolean,
  some = true,
) {
  const found = await all_of(path, query)
  expect(ids(found), JSON.stringify(query)).toEqual(ids((await all_of(path)).filter(fits)))
  if (some) expect(found.length, JSON.stringify(query)).toBeGreaterThan(0)
}

describe('a filter shows what fits it, and nothing else', () => {
  test('payouts', async () => {
    const path = '/v1/pix/payouts'
    const one = payouts.find(({ status }) => status === 'completed')
    await expectFound(path, { idempotency_key: 'fail-1' }, (p) => p.idempotency_key === 'fail-1')
    await expectFound(path, { end_to_end_id: one.end_to_end_id }, ({ id }) => id === one.id)
    await expectFound(path, { customer_id: bia }, (p) => p.customer_id === bia)
    for (const status of ['completed', 'failed', 'processing', 'pending']) {
      const some = status === 'completed' || status === 'failed'
      await expectFound(path, { status }, (p) => p.status === status, some)
      await expectFound(
        path,
        { status, customer_id: ana },
        (p) => p.status === status && p.customer_id === ana,
        some,
      )
    }
    await expectFound(path, { idempotency_key: 'pay-1', customer_id: bia }, () => false, false)
    await expectFound(path, { end_to_end_id: one.end_to_end_id, status: 'failed' }, () => false, false)
    expect((await find(path, { end_to_end_id: 'E 1' })).json.error).toMatchObject({
      code: 'invalid_request',
      param: 'end_to_end_id',
    })
    expect((await find(path, { idempotency_key: 'ü' })).json.error).toMatchObject({
      code: 'invalid_request',
      param: 'idempotency_key',
    })
  })

  test('transfers', async () => {
    const path = '/v1/onchain/transfers'
    const one = transfers.find(({ network, status }) => network === 'polygon' && status === 'confirmed')
    await expectFound(path, { idempotency_key: 'coin-2' }, (t) => t.idempotency_key === 'coin-2')
    await expectFound(path, { tx_hash: one.tx_hash }, ({ id }) => id === one.id)
    await expectFound(
      path,
      { tx_hash: one.tx_hash.toUpperCase().replace('0X', '0x') },
      ({ id }) => id === one.id,
    )
    await expectFound(path, { tx_hash: one.tx_hash, network: 'tron' }, () => false, false)
    for (const asset of ['USDT', 'BTC']) await expectFound(path, { asset }, (t) => t.asset === asset)
    for (const network of ['polygon', 'bitcoin', 'tron'])
      await expectFound(
        path,
        { network, customer_id: ana },
        (t) => t.network === network && t.customer_id === ana,
      )
    await expectFound(path, { asset: 'BTC', network: 'polygon' }, () => false, false)
    await expectFound(path, { asset: 'USDT', status: 'failed' }, (t) => t.status === 'failed')
    await expectFound(
      path,
      { asset: 'USDT', status: 'confirmed' },
      (t) => t.asset === 'USDT' && t.status === 'confirmed',
    )
    expect((await find(path, { network: 'dogecoin' })).json.error).toMatchObject({ param: 'network' })
  })

  test('a transfer that is signed and not out yet is not found by its hash, for it does not show it', async () => {
    const { id } = (await transfer(ana, 'polygon', '1009003', 'waits')).json
    const shown = async () => (await api.get(`/v1/onchain/transfers/${id}`)).json
    await until(async () => (await shown()).status === 'processing', 10_000)
    const { tx_hash } = await shown()
    expect(ids(await all_of('/v1/onchain/transfers', { tx_hash }))).toEqual([id])
    const { database } = service
    const become = (status: string) =>
      asAdmin(database.url, [
        `SET session_replication_role = replica; UPDATE sandbox.transfers SET status = '${status}', sequence = ${status === 'pending' ? 1 : 2} WHERE id = '${id}'`,
      ])
    await become('pending')
    expect(await all_of('/v1/onchain/transfers', { tx_hash })).toEqual([])
    await become('processing')
    expect((await api.post(`/v1/sandbox/onchain/transfers/${id}/confirm`)).json.status).toBe('confirmed')
  })

  test('quotes and trades', async () => {
    const [first] = trades
    await expectFound('/v1/trades', { quote_id: first.quote_id }, ({ id }) => id === first.id)
    for (const path of ['/v1/quotes', '/v1/trades']) {
      await expectFound(path, { from_asset: 'BRL' }, (t) => t.from_asset === 'BRL')
      await expectFound(path, { to_asset: 'BRL' }, (t) => t.to_asset === 'BRL')
      await expectFound(path, { from_asset: 'BRL', to_asset: 'BTC' }, (t) => t.to_asset === 'BTC')
      await expectFound(path, { from_asset: 'BTC' }, () => false, false)
      await expectFound(
        path,
        { from_asset: 'BRL', customer_id: bia },
        (t) => t.from_asset === 'BRL' && t.customer_id === bia,
      )
      expect((await find(path, { to_asset: 'EUR' })).json.error).toMatchObject({ param: 'to_asset' })
    }
    await expectFound('/v1/quotes', { status: 'executed' }, (q) => q.status === 'executed')
    await expectFound('/v1/quotes', { status: 'pending', customer_id: ana }, () => false, false)
  })

  test('customers', async () => {
    const punctuated = documents[0].replace(/^(...)(...)(...)(..)$/, '$1.$2.$3-$4')
    for (const document of [documents[0], punctuated])
      await expectFound('/v1/customers', { document }, ({ id }) => id === ana)
    await expectFound('/v1/customers', { external_id: 'u-bia' }, ({ id }) => id === bia)
    await expectFound('/v1/customers', { external_id: 'u-bia', document: punctuated }, () => false, false)
    await expectFound('/v1/customers', { status: 'active' }, () => true)
    await expectFound('/v1/customers', { status: 'blocked' }, () => false, false)
  })

  test('deposits, with those of the operator', async () => {
    const { id } = await perform(service.worlds.sandbox, {
      name: 'credit',
      details: {
        partner_id,
        customer_id: bia,
        asset: 'BTC',
        amount: '77',
        reason: 'a gift',
        reference: 'gift-1',
      },
    })
    const shown = await api.get(`/v1/deposits/${id}`)
    expect(shown.json).toMatchObject({
      id,
      customer_id: bia,
      asset: 'BTC',
      amount: '77',
      status: 'completed',
    })
    expect(shown.json).not.toHaveProperty('reason')
    for (const asset of ['BRL', 'USDT', 'BTC'])
      await expectFound('/v1/deposits', { asset }, (d) => d.asset === asset)
    await expectFound('/v1/deposits', { customer_id: bia }, (d) => d.customer_id === bia)
    await expectFound(
      '/v1/deposits',
      { customer_id: bia, asset: 'BTC' },
      (d) => d.customer_id === bia && d.asset === 'BTC',
    )
    await expectFound('/v1/deposits', { status: 'completed' }, () => true)
    expect((await all_of('/v1/deposits'))[0].id).toBe(id)
    const [line] = await all_of(`/v1/customers/${bia}/statement`, { asset: 'BTC' })
    expect(line.cause).toEqual({ type: 'deposit', id })
    const stranger = await service.partner()
    expect((await stranger.api.get(`/v1/deposits/${id}`)).json.error.code).toBe('deposit_not_found')
    expect((await api.get('/v1/deposits/x')).json.error.code).toBe('deposit_not_found')
  })

  test('fees that were paid out', async () => {
    const world = service.worlds.sandbox
    await foldTrades(world.db)
    const pay = (reference: string, customer_id: string | null) =>
      perform(world, {
        name: 'pay_fees',
        details: { partner_id, customer_id, asset: 'BRL', amount: '10', reason: 'October', reference },
      })
    const [inside, outside] = [await pay('fees-1', ana), await pay('fees-2', null)]
    const paid = await all_of('/v1/account/fee_payouts')
    expect(paid).toEqual([
      expect.objectContaining({
        id: outside.id,
        asset: 'BRL',
        amount: '10',
        decimals: 2,
        reference: 'fees-2',
      }),
      expect.objectContaining({ id: inside.id, customer_id: ana }),
    ])
    const { created_at } = paid[0]
    expect(ids(await all_of('/v1/account/fee_payouts', { created_before: created_at }))).toEqual([inside.id])
    expect(await all_of('/v1/account/fee_payouts', { created_before: paid[1].created_at })).toEqual([])
  })

  test('a customer of somebody else, or of nobody, has nothing', async () => {
    const stranger = await service.partner()
    const foreign = (await stranger.api.post('/v1/customers', { name: 'X', document: someCpf() })).json.id
    await stranger.api.post('/v1/sandbox/deposits', { customer_id: foreign, asset: 'BRL', amount: '5' })
    for (const path of [
      '/v1/pix/payouts',
      '/v1/onchain/transfers',
      '/v1/quotes',
      '/v1/trades',
      '/v1/deposits',
    ]) {
      for (const customer_id of [foreign, 'cus_01kc3v4x9zq8rj5m2t7w6y0ahb', 'nobody'])
        expect((await find(path, { customer_id })).json, path).toEqual({
          data: [],
          has_more: false,
          next_cursor: null,
        })
      expect((await find(path, { customer_id: ana }, stranger.api)).json.data, path).toEqual([])
    }
  })
})

test('a value with a NUL in it finds nothing, and is no fault of the server', async () => {
  const filters = {
    '/v1/pix/payouts': ['customer_id', 'status', 'idempotency_key', 'end_to_end_id'],
    '/v1/onchain/transfers': ['customer_id', 'asset', 'network', 'idempotency_key', 'tx_hash'],
    '/v1/quotes': ['customer_id', 'from_asset', 'status'],
    '/v1/trades': ['customer_id', 'to_asset', 'quote_id'],
    '/v1/customers': ['document', 'external_id'],
    '/v1/deposits': ['customer_id', 'asset'],
    '/v1/events': ['type', 'object_id', 'after'],
  }
  for (const [path, names] of Object.entries(filters)) {
    for (const name of names) {
      const reply = await find(path, { [name]: '\0' })
      expect([200, 400], `${path} ${name}`).toContain(reply.status)
      if (reply.status === 200) expect(reply.json.data).toEqual([])
      else expect(reply.json.error.param).toBe(name)
    }
  }
})

const lists = () => ({
  '/v1/customers': {},
  '/v1/pix/payouts': {},
  '/v1/onchain/transfers': {},
  '/v1/quotes': {},
  '/v1/trades': {},
  '/v1/deposits': {},
  '/v1/events': {},
  [`/v1/customers/${ana}/statement`]: {},
  '/v1/webhook_endpoints': {},
})

describe('a range of time', () => {
  test('begins with created_after and ends before created_before, in every list', async () => {
    await api.post('/v1/webhook_endpoints', { url: 'https://example.com/a', events: ['*'] })
    await api.post('/v1/webhook_endpoints', { url: 'https://example.com/b', events: ['*'] })
    for (const path of Object.keys(lists())) {
      const all = await all_of(path)
      expect(all.length, path).toBeGreaterThan(1)
      const from = all[Math.floor(all.length / 2)].created_at
      const to = all[0].created_at
      const inside = (rows: any[]) => rows.filter(({ created_at }) => created_at >= from && created_at < to)
      const range = { created_after: from, created_before: to }
      const names = (rows: any[]) => rows.map(({ id }) => id).sort()
      expect(names(await all_of(path, range)), path).toEqual(names(inside(all)))
      expect(await all_of(path, { created_after: from, created_before: from }), path).toEqual([])
      expect(await all_of(path, { created_after: to, created_before: from }), path).toEqual([])
      for (const param of ['created_after', 'created_before'])
        expect((await find(path, { [param]: 'yesterday' })).json.error, path).toMatchObject({ param })
    }
  })

  test('is exact, also between two milliseconds', async () => {
    const [{ id, created_at }] = payouts
    const later = created_at.replace('Z', '001Z')
    expect(ids(await all_of('/v1/pix/payouts', { created_after: created_at }))).toContain(id)
    expect(ids(await all_of('/v1/pix/payouts', { created_after: later }))).not.toContain(id)
    expect(ids(await all_of('/v1/pix/payouts', { created_before: later }))).toContain(id)
    expect(ids(await all_of('/v1/pix/payouts', { created_before: created_at }))).not.toContain(id)
  })

  test('and reading events on from a point exclude each other', async () => {
    const reply = await find('/v1/events', { after: 'start', created_after: '2026-01-01T00:00:00Z' })
    expect(reply.json.error).toMatchObject({ code: 'invalid_request', param: 'created_after' })
  })

  test('a range of a statement is read to its end, page by page', async () => {
    const path = `/v1/customers/${ana}/statement`
    const all = await all_of(path)
    const range = { created_after: all.at(-2).created_at, created_before: all[1].created_at }
    const whole = await all_of(path, range)
    const seen: any[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: any = (await find(path, { ...range, limit: '2', ...(cursor && { cursor }) })).json
      seen.push(...page.data)
      cursor = page.next_cursor
    }
    expect(seen).toEqual(whole)
  })
})

describe('a cursor belongs to its list', () => {
  const cursorOf = async (path: string, query: Record<string, string> = {}, by = api): Promise<string> =>
    (await find(path, { limit: '1', ...query }, by)).json.next_cursor
  const expectRefused = (reply: Reply) => {
    expect(reply.json.error).toMatchObject({ code: 'invalid_request', param: 'cursor' })
    expect(reply.json.error.message).toMatch(/leave it out|earlier page of this list/)
  }

  test('no other list takes it', async () => {
    const paths = [...Object.keys(lists()), `/v1/customers/${bia}/statement`]
    for (const one of paths) {
      const cursor = await cursorOf(one)
      expect((await find(one, { cursor })).status).toBe(200)
      for (const other of paths) if (other !== one) expectRefused(await find(other, { cursor }))
    }
  })

  test('other filters do not take it, another limit does', async () => {
    const cursor = await cursorOf('/v1/pix/payouts', { customer_id: ana })
    expect((await find('/v1/pix/payouts', { customer_id: ana, cursor, limit: '7' })).status).toBe(200)
    expectRefused(await find('/v1/pix/payouts', { cursor }))
    expectRefused(await find('/v1/pix/payouts', { customer_id: bia, cursor }))
    expectRefused(await find('/v1/pix/payouts', { customer_id: ana, status: 'completed', cursor }))
    expectRefused(
      await find('/v1/pix/payouts', { customer_id: ana, created_after: '2026-01-01T00:00:00Z', cursor }),
    )
    const statement = `/v1/customers/${ana}/statement`
    expectRefused(await find(statement, { asset: 'BRL', cursor: await cursorOf(statement) }))
  })

  test('neither another partner nor the other environment takes it', async () => {
    const other = await service.partner()
    const live = await service.partner({ environment: 'production', partner_id })
    for (const path of ['/v1/customers', '/v1/pix/payouts', '/v1/events']) {
      const cursor = await cursorOf(path)
      for (const stranger of [other.api, live.api]) expectRefused(await find(path, { cursor }, stranger))
    }
  })

  test('one without the tag of its list is refused', async () => {
    const [position] = (await cursorOf('/v1/pix/payouts')).split('=')
    expectRefused(await find('/v1/pix/payouts', { cursor: position! }))
  })
})

test('a page that looked at enough rows says so, and whoever goes on sees every row once', async () => {
  const { api: own, partner_id: owner } = await service.partner()
  const { id } = (await own.post('/v1/customers', { name: 'C', document: someCpf() })).json
  // Every hundredth is completed, all others failed.
  await asAdmin(service.database.url, [
    `SET search_path = sandbox; SET session_replication_role = replica;
     INSERT INTO payouts (id, partner_id, customer_id, api_key_id, idempotency_key, amount, fee, status, counterparty, send_id,
       end_to_end_id, failure_code, attempts, next_attempt_at, sequence, created_at, completed_at)
     SELECT 'po_' || lpad(n::text, 26, '0'), '${owner}', '${id}', 'key', 'k' || n, 1, 0, CASE WHEN n % 100 = 0 THEN 'completed' ELSE 'failed' END,
       '{"type":"pix_key","name":"Ana","document":"52998224725","pix_key":"52998224725"}', 'walk-' || n, CASE WHEN n % 100 = 0 THEN 'E00000000202611151200' || lpad(n::text, 11, '0') END,
       CASE WHEN n % 100 <> 0 THEN 'rejected' END, 1, now(), 3, now() + n * interval '1 ms', now() FROM generate_series(1, 1500) AS n`,
  ])
  const seen: string[] = []
  let pages = 0
  for (let cursor: string | null = ''; cursor !== null; pages++) {
    const query = { status: 'completed', limit: '10', ...(cursor && { cursor }) }
    const { data, has_more, next_cursor }: any = (await find('/v1/pix/payouts', query, own)).json
    expect(data.length).toBeLessThan(10)
    expect(has_more).toBe(next_cursor !== null)
    seen.push(...ids(data))
    cursor = next_cursor
  }
  expect(seen).toEqual(Array.from({ length: 15 }, (_, i) => `po_${String(1500 - i * 100).padStart(26, '0')}`))
  expect(pages).toBeGreaterThan(2)
  await asAdmin(service.database.url, [
    `SET session_replication_role = replica; DELETE FROM sandbox.payouts WHERE partner_id = '${owner}'`,
  ])
})

describe('a page of large objects ends early, and whoever goes on sees every object once', () => {
  const OBJECTS = 200
  // 40 KB: as much as a request may hold.
  const metadata = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`field-${i}`, '\u{1f4b8}'.repeat(500)]),
  )
  let own: Api
  let person: ConsoleClient
  let endpoint_id: string
  let made: string[]
  beforeAll(async () => {
    const partner = await service.partner()
    own = partner.api
    person = await signedIn(service, { partner_id: partner.partner_id, role: 'viewer' })
    const endpoint = { url: 'https://example.com/large', events: ['customer.created'] }
    endpoint_id = (await own.post('/v1/webhook_endpoints', endpoint)).json.id
    made = []
    for (let n = 0; n < OBJECTS; n++)
      made.push((await own.post('/v1/customers', { name: `C ${n}`, document: someCpf(), metadata })).json.id)
    const deliveries = () =>
      asAdmin(service.database.url, [
        `SELECT count(*)::int AS n FROM sandbox.webhook_deliveries WHERE endpoint_id = '${endpoint_id}'`,
      ])
    await until(async () => ((await deliveries())[0] as { n: number }).n === OBJECTS, 20_000)
  })

  type Get = (query: Record<string, string>) => Promise<{ readonly json: any; readonly text: string }>

  /** All objects of a list, read to its end with the cursor in the parameter `on`. */
  async function walk(get: Get, first: Record<string, string> = {}, on = 'cursor'): Promise<any[]> {
    const seen: any[] = []
    for (let more: Record<string, string> = first; ; ) {
      const { json, text } = await get({ limit: '100', ...more })
      expect(json.data.length).toBeGreaterThan(0)
      expect(Buffer.byteLength(text)).toBeLessThan(PAGE_BYTES + 1024)
      seen.push(...json.data)
      if (!json.has_more) return seen
      more = { ...first, [on]: json.next_cursor }
    }
  }
  const inConsole =
    (path: string): Get =>
    (query) =>
      person.get(withQuery(path, query))

  test('customers', async () => {
    const seen = await walk((query) => find('/v1/customers', query, own))
    expect(ids(seen)).toEqual(made.toReversed())
    expect(seen[0].metadata).toEqual(metadata)
  })

  test('customers in the console, in both orders', async () => {
    for (const order of ['newest', 'oldest']) {
      const seen = await walk(inConsole('/sandbox/customers'), { order })
      expect(seen.map(({ customer }) => customer.id)).toEqual(order === 'newest' ? made.toReversed() : made)
    }
  })

  test('events, newest first and after a position', async () => {
    const type = 'customer.created'
    const about = (events: any[]) => events.map(({ data }) => data.object.id)
    expect(about(await walk((query) => find('/v1/events', { type, ...query }, own)))).toEqual(
      made.toReversed(),
    )
    const after = await walk(
      (query) => find('/v1/events', { type, ...query }, own),
      { after: 'start' },
      'after',
    )
    expect(about(after)).toEqual(made)
  })

  test('events in the console, in both orders', async () => {
    for (const order of ['newest', 'oldest']) {
      const seen = await walk(inConsole('/sandbox/events'), { order, type: 'customer.created' })
      expect(seen.map(({ object_id }) => object_id)).toEqual(order === 'newest' ? made.toReversed() : made)
    }
  })

  test('an object that exceeds the size of a page is a page by itself', () => {
    const rows = ['cus_2', 'cus_1'].map((id) => ({ id, created_at: new Date(0) }))
    const list = { limit: 20, tag: 'tag', after: undefined, before: undefined, order: 'newest' } as const
    const page = pageOf({ ...list, cursor: undefined }, { rows }, ({ id }) => id + 'x'.repeat(PAGE_BYTES))
    expect(page.data.map((text) => text.slice(0, 5))).toEqual(['cus_2'])
    expect(page).toMatchObject({ has_more: true, next_cursor: expect.any(String) })
  })

  test('deliveries', async () => {
    const path = `/v1/webhook_endpoints/${endpoint_id}/deliveries`
    const seen = await walk((query) => find(path, query, own))
    const about = seen.map(({ body }) => JSON.parse(body).data.object.id)
    expect(about.toSorted()).toEqual(made.toSorted())
  })
})

describe('times and rates', () => {
  test('an end has its time: completed_at or failed_at, in the object and in its event', async () => {
    const objects = [...payouts, ...transfers]
    expect(new Set(objects.map(({ status }) => status))).toEqual(
      new Set(['completed', 'confirmed', 'failed']),
    )
    for (const object of objects) {
      const [has, lacks] =
        object.status === 'failed' ? ['failed_at', 'completed_at'] : ['completed_at', 'failed_at']
      expect(object[has!] >= object.created_at).toBe(true)
      expect(object).not.toHaveProperty(lacks!)
    }
    for (const one of [payouts[0], transfers[0], transfers.at(-1)]) {
      const [event] = await all_of('/v1/events', { object_id: one.id })
      expect(event.data.object).toEqual(one)
    }
  })

  test('a trade shows the rate it was made at, and its quote shows the trade', async () => {
    for (const one of trades) {
      const quote = (await api.get(`/v1/quotes/${one.quote_id}`)).json
      const { market_price, side, price_decimals, price } = quote
      expect(one).toMatchObject({ market_price, side, price_decimals, executed_price: price })
      expect(one.completed_at).toBe(one.created_at)
      expect(quote.trade_id).toBe(one.id)
    }
    const open = (
      await api.post('/v1/quotes', { customer_id: ana, from_asset: 'BRL', to_asset: 'USDT', amount: '10000' })
    ).json
    expect(open).not.toHaveProperty('trade_id')
    await expectFound('/v1/quotes', { status: 'pending' }, (q) => q.status === 'pending')
  })

  test('statement lines are numbered without a gap, each with an id of its own', async () => {
    const lines = await all_of(`/v1/customers/${ana}/statement`)
    expect(new Set(ids(lines)).size).toBe(lines.length)
    for (const asset of ['BRL', 'USDT', 'BTC']) {
      const numbers = lines.filter((line) => line.asset === asset).map(({ seq }) => seq)
      expect(numbers).toEqual(Array.from(numbers, (_, i) => numbers.length - i))
    }
  })
})

test('afterwards the books are right', () => expectIntact(service))

test('a list knows its filters by name: no other name reaches the database', async () => {
  const { reads } = service.worlds.sandbox
  const none = { after: undefined, before: undefined, position: undefined, limit: 5 }
  for (const name of ["false OR 'x'", 'constructor', '__proto__', 'no_such_column', '1=1) --']) {
    const filters = Object.fromEntries([[name, 'x']])
    await expect(selectNewest(reads, customerList, { partner_id, filters, ...none })).rejects.toThrow(
      `customers has no filter "${name}"`,
    )
  }
})
