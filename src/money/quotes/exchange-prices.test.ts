import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCli } from '../../../test/support/cli.ts'
import { signedIn } from '../../../test/support/console.ts'
import { type ExchangeStub, startExchangeStub } from '../../../test/support/exchange-stub.ts'
import { scrape } from '../../../test/support/metrics.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { addCustomer } from '../../parties/customers/customers.ts'

let stub: ExchangeStub
let service: TestService

beforeAll(async () => {
  stub = await startExchangeStub()
  // The longest age: on a busy machine an answer may be late, and these tests are about lost sources.
  const given = { PRICES_FROM: 'exchanges', EXCHANGE_URLS: stub.setting, PRICE_MAX_AGE_MS: '60000' }
  service = await startTestService({ ...given, SPREAD_BPS: '0' })
})
afterAll(async () => {
  const { production, sandbox } = await service.audit()
  expect([production.findings, sandbox.findings]).toEqual([[], []])
  await service.stop()
  await stub.stop()
})

const settled = { interval: 250, timeout: 60_000 }

test('production quotes at the median of exchanges, and nothing once two of three are lost', async () => {
  const { api, partner_id } = await service.partner({ environment: 'production' })
  const world = service.worlds.production
  const { id: customer_id } = await addCustomer(world, { partner_id, name: 'Ana', document: someCpf() })
  const quote = (from_asset = 'BRL', to_asset = 'USDT') =>
    api.post('/v1/quotes', { customer_id, from_asset, to_asset, amount: '100000' })
  const priceOf = async (pair: string) =>
    (await api.get('/v1/prices')).json.data.find((one: { pair: string }) => one.pair === pair)

  const isFresh = (pair: string, fresh: boolean) =>
    expect.poll(async () => (await priceOf(pair))?.fresh, settled).toBe(fresh)

  stub.become('mercado_bitcoin', { factor_bps: 10_500 })
  await expect.poll(async () => (await priceOf('USDT/BRL'))?.source, settled).toBe('binance+bitso')
  expect((await quote()).json).toMatchObject({ market_price: '5.4', side: 'buy' })
  expect(await priceOf('USDT/BRL')).toMatchObject({ price: '5.4', fresh: true })
  expect(await priceOf('BTC/BRL')).toMatchObject({ price: '540000', fresh: true })

  stub.become('mercado_bitcoin', undefined)
  stub.become('binance', 'html')
  stub.become('bitso', { status: 429, retry_after: '2' })
  await isFresh('USDT/BRL', false)
  expect(await quote()).toMatchObject({ status: 503, json: { error: { code: 'price_unavailable' } } })
  // Of BTC/USDT one exchange of three is lost, so it is quoted; the product of both pairs is not.
  await isFresh('BTC/USDT', true)
  expect(await quote('USDT', 'BTC')).toMatchObject({ status: 201 })
  expect((await quote('BRL', 'BTC')).json.error.code).toBe('price_unavailable')

  for (const name of ['binance', 'bitso'] as const) stub.become(name, undefined)
  await isFresh('USDT/BRL', true)
  expect(await quote()).toMatchObject({ status: 201, json: { market_price: '5.4' } })
})

test('metrics, console and command line show each source and why it is left out', async () => {
  stub.become('kraken', { factor_bps: 9500 })
  const labels = 'environment="production",pair="BTC/USDT"'
  await expect
    .poll(() => scrape(service.url), settled)
    .toContain(`trilho_price_source_state{${labels},source="kraken",state="far"} 1`)
  const text = await scrape(service.url)
  expect(text).toContain(`trilho_price_source_state{${labels},source="coinbase",state="good"} 1`)
  expect(text).toContain(`trilho_price_source_price{${labels},source="kraken"} 95000`)
  expect(text).toMatch(/trilho_price_source_age_seconds\{[^}]*pair="ETH\/USDT",source="binance"\} [0-9.]+/)
  expect(text).toContain(`trilho_price_refused{${labels},guard="too_few"} 0`)

  const operator = await signedIn(service, { role: 'reader', factor: true })
  const { markets } = (await operator.get('/operator/production/rails')).json
  expect(markets).toContainEqual({
    pair: 'BTC/USDT',
    state: 'good',
    sources: expect.arrayContaining([
      { source: 'kraken', state: 'far', price: '95000', age_seconds: expect.any(Number), problem: null },
    ]),
  })
  expect((await operator.get('/operator/sandbox/rails')).json.markets).toEqual([])

  stub.become('coinbase', 'html')
  const done = await runCli(['rails', 'check'], { PRICES_FROM: 'exchanges', EXCHANGE_URLS: stub.setting })
  expect(done.code).toBe(1)
  expect(done.out).toMatch(
    /BTC\/USDT +coinbase +invalid: the answer is not valid: it is not JSON +no: too_few/,
  )
  expect(done.out).toMatch(/USDT\/BRL +bitso +5\.4 +good +yes/)
})
