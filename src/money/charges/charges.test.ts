import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Api, openApi } from '../../../test/support/api.ts'
import { startNode } from '../../../test/support/node.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { eventually } from '../../../test/support/wait.ts'
import { parseBrCode } from '../../core/br-code.ts'
import { blockCustomer } from '../../parties/customers/customers.ts'
import { openExceptions } from '../../records/exceptions/store.ts'

let service: TestService
let api: Api
let key: string
let partner_id: string
beforeAll(async () => {
  // A charge is to be open in the answer, on a busy machine too.
  service = await startTestService({ PIX_WAIT_MS: '9000' })
  ;({ api, key, partner_id } = await service.partner())
})
afterEach(async () => {
  expect((await service.audit()).sandbox.findings).toEqual([])
})
afterAll(() => service.stop())

let keys = 0
async function customer(of: Api = api): Promise<string> {
  return (await of.post('/v1/customers', { name: 'Ana', document: someCpf() })).json.id
}

async function charge(more: Record<string, unknown> = {}, of: Api = api) {
  const customer_id = (more.customer_id as string | undefined) ?? (await customer())
  const body = { customer_id, amount: '1050', idempotency_key: `c${++keys}`, ...more }
  return of.post('/v1/pix/charges', body)
}

const pay = (charge_id: string, amount?: string) =>
  api.post('/v1/sandbox/pix/payments', { charge_id, ...(amount === undefined ? {} : { amount }) })
const expire = (id: string) => api.post(`/v1/sandbox/pix/charges/${id}/expire`)
const now = async (id: string) => (await api.get(`/v1/pix/charges/${id}`)).json

async function available(customer_id: string): Promise<string> {
  const { json } = await api.get(`/v1/customers/${customer_id}/balances`)
  return json.data.find((balance: any) => balance.asset === 'BRL').available
}

async function eventsOf(id: string): Promise<[string, number][]> {
  const { json } = await api.get(`/v1/events?after=start&object_id=${id}`)
  return json.data.map((event: any) => [event.type, event.sequence])
}

describe('a charge', () => {
  test('of the largest amount that a code can have is open; of one centavo more it is refused', async () => {
    const largest = await charge({ amount: '999999999999' })
    expect(largest.json.pix_copia_e_cola).toContain('54139999999999.99')
    const refused = await charge({ amount: '1000000000000' })
    expect([refused.status, refused.json.error.code, refused.json.error.param]).toEqual([
      422,
      'amount_too_large',
      'amount',
    ])
    expect(refused.json.error.message).toContain('999999999999 centavos')
  })

  test('is open at once, with a code for its amount', async () => {
    const metadata = { order: '1042' }
    const { status, json } = await charge({ description: 'Order 1042', expires_in_seconds: 60, metadata })
    expect(status).toBe(201)
    expect(json).toMatchObject({
      amount: '1050',
      decimals: 2,
      status: 'open',
      amount_received: '0',
      description: 'Order 1042',
      txid: `TRILHO${json.id.slice(4)}`,
      metadata,
    })
    expect(parseBrCode(json.pix_copia_e_cola)).toMatchObject({ amount: 1050n })
    expect(Date.parse(json.expires_at) - Date.parse(json.created_at)).toBe(60_000)
    expect(await now(json.id)).toEqual(json)
    expect(await eventsOf(json.id)).toEqual([['pix.charge.open', 1]])
  })

  test('is made once under its idempotency key, and every repeat gets the same bytes', async () => {
    const body = { customer_id: await customer(), amount: '1050', idempotency_key: `c${++keys}` }
    const all = await Promise.all(Array.from({ length: 8 }, () => api.post('/v1/pix/charges', body)))
    expect(new Set(all.map(({ text }) => text)).size).toBe(1)
    await pay(all[0]!.json.id)
    const again = await api.post('/v1/pix/charges', body)
    expect([again.status, again.text]).toEqual([201, all[0]!.text])
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    const other = await api.post('/v1/pix/charges', { ...body, amount: '1051' })
    expect([other.status, other.json.error.code]).toEqual([409, 'idempotency_conflict'])
  })

  test('is refused for a blocked customer, and money that comes all the same is credited', async () => {
    const customer_id = await customer()
    const { json } = await charge({ customer_id })
    await blockCustomer(service.worlds.sandbox, customer_id, 'blocked')
    const refused = await charge({ customer_id })
    expect([refused.status, refused.json.error.code]).toEqual([403, 'customer_blocked'])
    expect((await pay(json.id)).status).toBe(201)
    expect(await available(customer_id)).toBe('1050')
  })

  test.each([
    [{ amount: '0' }, 'invalid_amount'],
    [{ expires_in_seconds: 59 }, 'invalid_request'],
    [{ expires_in_seconds: 2_592_001 }, 'invalid_request'],
    [{ description: 'x'.repeat(141) }, 'invalid_request'],
    [{ customer_id: 'cus_00000000000000000000000000' }, 'customer_not_found'],
  ])('with %o is refused', async (more, code) => {
    const { json } = await charge(more)
    expect(json.error.code).toBe(code)
  })

  test('of another partner does not exist', async () => {
    const { json } = await charge()
    const { api: other } = await service.partner()
    for (const asked of [
      other.get(`/v1/pix/charges/${json.id}`),
      other.post('/v1/sandbox/pix/payments', { charge_id: json.id }),
      other.post(`/v1/sandbox/pix/charges/${json.id}/expire`),
    ])
      expect((await asked).json.error.code).toBe('charge_not_found')
    expect((await other.get('/v1/pix/charges')).json.data).toEqual([])
  })

  test('is found by customer, status and idempotency key', async () => {
    const customer_id = await customer()
    const made = [(await charge({ customer_id })).json, (await charge({ customer_id })).json]
    await pay(made[0].id)
    const list = async (query: string) =>
      (await api.get(`/v1/pix/charges?${query}`)).json.data.map((each: any) => each.id)
    expect(await list(`customer_id=${customer_id}`)).toEqual([made[1].id, made[0].id])
    expect(await list(`customer_id=${customer_id}&status=paid`)).toEqual([made[0].id])
    expect(await list(`idempotency_key=${made[1].idempotency_key}`)).toEqual([made[1].id])
    expect(await list('status=open')).toContain(made[1].id)
  })

  test('that the provider refuses fails', async () => {
    const { status, json } = await charge({ amount: '19001' })
    expect([status, json.status, json.pix_copia_e_cola]).toEqual([201, 'failed', null])
    expect(json.failure).toMatchObject({ code: 'provider_error', rail_code: 'valor_invalido' })
    expect(json.failed_at).toBeDefined()
    expect(await eventsOf(json.id)).toEqual([['pix.charge.failed', 1]])
    const paid = await pay(json.id)
    expect([paid.status, paid.json.error.param]).toEqual([400, 'charge_id'])
    expect((await expire(json.id)).json.error.code).toBe('already_final')
  })

  test('that is registered late is pending, and open later', async () => {
    const node = await startNode(service.database.url, { PIX_WAIT_MS: '500' })
    onTestFinished(node.stop)
    const there = openApi(node.url, key)
    // It is registered after ten seconds, which may be over when it is looked at.
    const json = await eventually(async () => {
      const { json } = await charge({ amount: '19002' }, there)
      expect([json.status, json.pix_copia_e_cola]).toEqual(['pending', null])
      expect((await expire(json.id)).status).toBe(400)
      return json
    })
    await eventually(async () => expect((await now(json.id)).status).toBe('open'), { timeout: 60_000 })
    expect(await eventsOf(json.id)).toEqual([['pix.charge.open', 1]])
  })
})

describe('a payment', () => {
  test('of the whole amount makes the charge paid, and is a deposit', async () => {
    const { json } = await charge()
    const paid = await pay(json.id)
    expect(paid.status).toBe(201)
    expect(paid.json).toMatchObject({ charge_id: json.id, amount: '1050' })
    const { json: deposit } = await api.get(`/v1/deposits/${paid.json.deposit_id}`)
    expect(deposit).toMatchObject({
      customer_id: json.customer_id,
      asset: 'BRL',
      amount: '1050',
      status: 'completed',
      end_to_end_id: paid.json.end_to_end_id,
      charge_id: json.id,
    })
    const after = await now(json.id)
    expect(after).toMatchObject({ status: 'paid', amount_received: '1050' })
    expect(after.paid_at).toBeDefined()
    expect(await available(json.customer_id)).toBe('1050')
    expect(await eventsOf(json.id)).toEqual([
      ['pix.charge.open', 1],
      ['pix.charge.paid', 2],
    ])
    expect(await eventsOf(deposit.id)).toEqual([['deposit.completed', 1]])
    const { json: lines } = await api.get(`/v1/customers/${json.customer_id}/statement?asset=BRL`)
    expect(lines.data[0]).toMatchObject({ amount: '1050', cause: { type: 'deposit', id: deposit.id } })
  })

  test('of a part is credited, and the charge expires with it', async () => {
    const { json } = await charge()
    await pay(json.id, '1049')
    expect(await now(json.id)).toMatchObject({ status: 'open', amount_received: '1049' })
    const expired = await expire(json.id)
    expect(expired.json).toMatchObject({ status: 'expired', amount_received: '1049' })
    expect((await expire(json.id)).json).toEqual(expired.json)
    expect(await available(json.customer_id)).toBe('1049')
  })

  test('in parts makes the charge paid with the last one', async () => {
    const { json } = await charge()
    for (const amount of ['400', '600', '49']) await pay(json.id, amount)
    expect((await now(json.id)).status).toBe('open')
    await pay(json.id, '1')
    expect(await now(json.id)).toMatchObject({ status: 'paid', amount_received: '1050' })
  })

  test('above the amount and a second one are credited in full', async () => {
    const { json } = await charge()
    await pay(json.id, '2000')
    const { paid_at } = await now(json.id)
    await pay(json.id)
    expect(await now(json.id)).toMatchObject({ status: 'paid', amount_received: '3050', paid_at })
    expect(await available(json.customer_id)).toBe('3050')
    expect(await eventsOf(json.id)).toHaveLength(2)
    expect((await expire(json.id)).json.error.code).toBe('already_final')
  })

  test('that comes late makes an expired charge paid', async () => {
    const { json } = await charge()
    await expire(json.id)
    await pay(json.id, '1000')
    expect(await now(json.id)).toMatchObject({ status: 'expired', amount_received: '1000' })
    await pay(json.id, '50')
    expect(await now(json.id)).toMatchObject({ status: 'paid', amount_received: '1050' })
    expect(await eventsOf(json.id)).toEqual([
      ['pix.charge.open', 1],
      ['pix.charge.expired', 2],
      ['pix.charge.paid', 3],
    ])
  })

  test('without a charge is credited to nobody, and an operator hears of it', async () => {
    const missing = await api.post('/v1/sandbox/pix/payments', {})
    expect(missing.json.error.code).toBe('invalid_amount')
    const { status, json } = await api.post('/v1/sandbox/pix/payments', { amount: '777' })
    expect(status).toBe(201)
    expect(json).toMatchObject({ charge_id: null, deposit_id: null, amount: '777' })
    const told = (await openExceptions(service.worlds.sandbox.db, 100)).filter(
      ({ object_id }) => object_id === json.end_to_end_id,
    )
    expect(told).toMatchObject([
      { kind: 'unknown_payment', rail: 'pix', details: { amount: '777', payer_document: '***.444.777-**' } },
    ])
  })

  test('needs a key that may write customers', async () => {
    const { api: reader } = await service.partner({ partner_id, scopes: ['read'] })
    expect((await reader.get('/v1/pix/charges')).status).toBe(200)
    expect((await reader.post('/v1/pix/charges', {})).status).toBe(403)
  })
})
