import { afterAll, beforeAll, expect, test } from 'vitest'
import { signedIn } from '../../../../test/support/console.ts'
import { someCpf, startTestService, type TestService } from '../../../../test/support/service.ts'
import { eventually } from '../../../../test/support/wait.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

async function openPartner() {
  const { partner_id, api } = await service.partner()
  const developer = await signedIn(service, { partner_id, role: 'developer' })
  const customer = (await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })).json
  await api.post('/v1/sandbox/deposits', { customer_id: customer.id, asset: 'BRL', amount: '10000000' })
  const quote = async (more: object = {}) =>
    (
      await api.post('/v1/quotes', {
        customer_id: customer.id,
        from_asset: 'BRL',
        to_asset: 'USDT',
        amount: '100000',
        partner_fee_bps: 100,
        ...more,
      })
    ).json
  const execute = async (id: string) => (await api.post(`/v1/quotes/${id}/execute`)).json
  return { partner_id, api, developer, customer, quote, execute }
}

test('a quote is shown with its price, its fees and the time until it expires', async () => {
  const { developer, quote, customer } = await openPartner()
  const made = await quote()
  const page = (await developer.get(`/sandbox/quotes/${made.id}`)).json
  expect(page).toMatchObject({
    quote: { id: made.id, status: 'pending', market_price: '5.4', fees: { partner: '1000' } },
    customer: { id: customer.id, name: 'Ana Souza' },
    pricing: { pair: 'USDT/BRL', source: 'fixed', spread_bps: 0 },
    trade: null,
    movements: [],
    events: [],
    request: { route: 'POST /v1/quotes', key: { name: 'test' }, answer: { status: 201, body: made } },
  })
  expect(page.left_ms).toBeGreaterThan(0)
  expect(page.left_ms).toBeLessThanOrEqual(30_000)
})

test('an executed quote and its trade show their movements and events', async () => {
  const { api, developer, quote, execute } = await openPartner()
  await api.post('/v1/webhook_endpoints', { url: 'https://example.com/hook', events: ['trade.completed'] })
  const made = await quote()
  const trade = await execute(made.id)
  await eventually(
    async () => {
      const page = (await developer.get(`/sandbox/trades/${trade.id}`)).json
      expect(page).toMatchObject({
        trade,
        quote: { id: made.id, status: 'executed' },
        movements: [{ name: 'traded' }],
        events: [{ type: 'trade.completed', deliveries: [{ url: 'https://example.com/hook' }] }],
        request: { route: `POST /v1/quotes/${made.id}/execute`, answer: { status: 201, body: trade } },
      })
      const sums = new Map<string, bigint>()
      for (const { asset, amount } of page.movements[0].entries)
        sums.set(asset, (sums.get(asset) ?? 0n) + BigInt(amount))
      expect([...sums]).toEqual([
        ['BRL', 0n],
        ['USDT', 0n],
      ])
    },
    { timeout: 60_000 },
  )
  const page = (await developer.get(`/sandbox/quotes/${made.id}`)).json
  expect(page).toMatchObject({ trade, movements: [{ name: 'traded' }], quote: { status: 'executed' } })
  const told = await developer.post(`/sandbox/trades/${trade.id}/redeliver`)
  expect(told.json.redelivered).toBe(1)
})

test('lists are filtered by state, pair and customer, page by page', async () => {
  const { developer, quote, execute, customer } = await openPartner()
  const first = await quote()
  const second = await quote({ from_asset: 'BRL', to_asset: 'BTC' })
  const third = await quote()
  const trade = await execute(third.id)
  const ids = async (query: string) =>
    (await developer.get(`/sandbox/quotes?${query}`)).json.data.map((row: any) => row.quote.id)
  expect(await ids('')).toEqual([third.id, second.id, first.id])
  expect(await ids('status=executed')).toEqual([third.id])
  expect(await ids('status=pending')).toEqual([second.id, first.id])
  expect(await ids('from_asset=BRL&to_asset=BTC')).toEqual([second.id])
  expect(await ids(`customer_id=${customer.id}`)).toHaveLength(3)
  expect(await ids(`created_after=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([])
  const page = (await developer.get('/sandbox/quotes?limit=2')).json
  expect(page.data[0].customer).toEqual({ id: customer.id, name: 'Ana Souza' })
  expect(await ids(`limit=2&cursor=${page.next_cursor}`)).toEqual([first.id])
  const trades = (await developer.get('/sandbox/trades?from_asset=BRL&to_asset=USDT&status=completed')).json
  expect(trades.data).toEqual([{ trade, customer: { id: customer.id, name: 'Ana Souza' } }])
  expect((await developer.get('/sandbox/trades?status=failed')).json.data).toEqual([])
})

test('in the sandbox a quote can be expired, which is logged; an executed one cannot', async () => {
  const { developer, quote, execute } = await openPartner()
  const made = await quote()
  expect((await developer.post(`/sandbox/quotes/${made.id}/expire`)).json.status).toBe('expired')
  expect((await developer.get(`/sandbox/quotes/${made.id}`)).json).toMatchObject({
    left_ms: 0,
    quote: { status: 'expired' },
  })
  expect((await execute(made.id)).error.code).toBe('quote_expired')
  const { rows } = await service.worlds.sandbox.db.query(
    'SELECT action, actor_email FROM acts WHERE object_id = $1',
    [made.id],
  )
  expect(rows).toEqual([{ action: 'expire_quote', actor_email: developer.person.user.email }])
  const other = await quote()
  await execute(other.id)
  expect((await developer.post(`/sandbox/quotes/${other.id}/expire`)).json.error.code).toBe('already_final')
})

test('a price that a partner sets applies to this partner only', async () => {
  const [one, other] = [await openPartner(), await openPartner()]
  const { json } = await one.developer.post('/sandbox/prices', { pair: 'USDT/BRL', price: '6.00' })
  expect(json.data[0]).toMatchObject({ pair: 'USDT/BRL', price: '6', source: 'set', fresh: true })
  expect((await one.quote()).market_price).toBe('6')
  expect((await other.developer.get('/sandbox/prices')).json.data[0].price).toBe('5.4')
  const { rows } = await service.worlds.sandbox.db.query(
    `SELECT before, after FROM acts WHERE action = 'set_price' AND partner_id = $1`,
    [one.partner_id],
  )
  expect(JSON.parse(rows[0].before)).toEqual({ pair: 'USDT/BRL', price: '5.4' })
  expect(JSON.parse(rows[0].after)).toMatchObject({ pair: 'USDT/BRL', price: '6.00' })
  await one.developer.post('/sandbox/prices', { pair: 'USDT/BRL', price: '6.00', age_seconds: 60 })
  expect((await one.developer.get('/sandbox/prices')).json.data[0].fresh).toBe(false)
  expect((await one.developer.post('/sandbox/prices', { pair: 'USDT/BRL', price: '0' })).status).toBe(400)
})

test('an export has both sides in units and as decimals, formatted for the language', async () => {
  const { developer, quote, execute } = await openPartner()
  const trade = await execute((await quote()).id)
  const english = (await developer.get('/sandbox/trades.csv')).text.split('\r\n')
  expect(english[0]).toContain('from_amount,from_amount_decimal')
  expect(english[1]).toContain(`${trade.id},`)
  expect(english[1]).toContain(',BRL,100000,1000.00,USDT,')
  const portuguese = (await developer.get('/sandbox/quotes.csv?language=pt-BR')).text.split('\r\n')
  expect(portuguese[1]).toContain(';BRL;100000;1000,00;USDT;')
})

test('nothing of another partner is shown, and a viewer can neither export nor change', async () => {
  const [one, other] = [await openPartner(), await openPartner()]
  const made = await one.quote()
  const trade = await one.execute(made.id)
  expect((await other.developer.get(`/sandbox/quotes/${made.id}`)).json.error.code).toBe('quote_not_found')
  expect((await other.developer.get(`/sandbox/trades/${trade.id}`)).json.error.code).toBe('trade_not_found')
  expect((await other.developer.post(`/sandbox/quotes/${made.id}/expire`)).json.error.code).toBe(
    'quote_not_found',
  )
  expect((await one.developer.get(`/production/trades/${trade.id}`)).json.error.code).toBe('trade_not_found')
  expect((await other.developer.get('/sandbox/quotes')).json.data).toEqual([])
  const viewer = await signedIn(service, { partner_id: one.partner_id, role: 'viewer' })
  expect((await viewer.get(`/sandbox/quotes/${made.id}`)).status).toBe(200)
  for (const path of ['/sandbox/quotes.csv', '/sandbox/trades.csv'])
    expect((await viewer.get(path)).json.error.code).toBe('not_permitted')
  for (const path of [`/sandbox/quotes/${made.id}/expire`, '/sandbox/prices'])
    expect((await viewer.post(path, {})).json.error.code).toBe('not_permitted')
})
