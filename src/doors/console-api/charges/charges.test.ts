import { afterAll, beforeAll, expect, test } from 'vitest'
import { signedIn } from '../../../../test/support/console.ts'
import { someCpf, startTestService, type TestService } from '../../../../test/support/service.ts'
import { eventually } from '../../../../test/support/wait.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

let forms = 0
const form_id = () => `form-of-charges-${++forms}`

async function openPartner() {
  const { partner_id, api } = await service.partner()
  const developer = await signedIn(service, { partner_id, role: 'developer' })
  const customer = (await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })).json
  let made = 0
  const charge = async (more: object = {}) =>
    (
      await api.post('/v1/pix/charges', {
        customer_id: customer.id,
        amount: '1050',
        idempotency_key: `order-${++made}`,
        ...more,
      })
    ).json
  const pay = async (id: string, amount: string, form = form_id()) =>
    (await developer.post(`/sandbox/charges/${id}/pay`, { form_id: form, amount })).json
  return { partner_id, api, developer, customer, charge, pay }
}

test('a charge is shown with its payments, its events and the request that made it', async () => {
  const { api, developer, customer, charge, pay } = await openPartner()
  const made = await charge({ description: 'Order 1042' })
  expect((await pay(made.id, '400')).amount_received).toBe('400')
  expect(await pay(made.id, '700')).toMatchObject({ status: 'paid', amount_received: '1100' })
  await eventually(async () => {
    const page = (await developer.get(`/sandbox/charges/${made.id}`)).json
    expect(page).toMatchObject({
      charge: { id: made.id, status: 'paid', amount: '1050', amount_received: '1100' },
      customer: { id: customer.id, name: 'Ana Souza' },
      payments: [
        { amount: '400', payer_name: 'Paula ***', deposit: { amount: '400', charge_id: made.id } },
        { amount: '700', deposit: { amount: '700', charge_id: made.id } },
      ],
      events: [{ type: 'pix.charge.open' }, { type: 'pix.charge.paid' }],
      request: {
        route: 'POST /v1/pix/charges',
        body: { amount: '1050', description: 'Order 1042' },
        answer: { status: 201, body: made },
      },
    })
  })
  const { data } = (await api.get(`/v1/customers/${customer.id}/balances`)).json
  expect(data.find(({ asset }: { asset: string }) => asset === 'BRL').available).toBe('1100')
})

test('a form pays once, however often it arrives, and the act is logged', async () => {
  const { developer, charge, pay } = await openPartner()
  const { id } = await charge()
  const form = form_id()
  await pay(id, '100', form)
  expect((await pay(id, '100', form)).error).toMatchObject({ code: 'already_done' })
  expect((await developer.get(`/sandbox/charges/${id}`)).json.payments).toHaveLength(1)
  expect((await developer.post(`/sandbox/charges/${id}/expire`)).json.status).toBe('expired')
  expect((await pay(id, '950')).status).toBe('paid')
  expect((await developer.post(`/sandbox/charges/${id}/expire`)).json.error.code).toBe('already_final')
  const { rows } = await service.worlds.sandbox.db.query(
    'SELECT action FROM acts WHERE object_id = $1 ORDER BY seq',
    [id],
  )
  expect(rows.map(({ action }) => action)).toEqual(['pay_charge', 'expire_charge', 'pay_charge'])
})

test('the list is filtered by state, amount and customer, summed, and exported', async () => {
  const { developer, customer, charge, pay } = await openPartner()
  const [first, second, third] = [await charge(), await charge({ amount: '5000' }), await charge()]
  await pay(third.id, '1050')
  const ids = async (query: string) =>
    (await developer.get(`/sandbox/charges?${query}`)).json.data.map((row: any) => row.charge.id)
  expect(await ids('')).toEqual([third.id, second.id, first.id])
  expect(await ids('status=paid')).toEqual([third.id])
  expect(await ids('status=open')).toEqual([second.id, first.id])
  expect(await ids('amount_min=2000')).toEqual([second.id])
  expect(await ids('amount_max=2000&order=oldest')).toEqual([first.id, third.id])
  expect(await ids(`customer_id=${customer.id}&limit=1`)).toEqual([third.id])
  expect(await ids('idempotency_key=order-2')).toEqual([second.id])
  const { groups } = (await developer.get('/sandbox/charges/totals')).json
  expect(groups).toContainEqual(expect.objectContaining({ status: 'open', count: 2, amount: '6050' }))
  const { text } = await developer.get('/sandbox/charges.csv')
  expect(text.trim().split('\n')).toHaveLength(4)
  expect(text).toContain(third.txid)
})

test('a charge is found by its id, its txid and its key, and its payment by the end-to-end id', async () => {
  const { developer, charge, pay, partner_id } = await openPartner()
  const made = await charge({ description: 'Order 1042' })
  await pay(made.id, '1050')
  const { payments } = (await developer.get(`/sandbox/charges/${made.id}`)).json
  const find = async (q: string, client = developer) =>
    (await client.get(`/sandbox/search?q=${encodeURIComponent(q)}`)).json.data
  for (const q of [made.id, made.txid, made.idempotency_key, made.id.slice(-5)])
    expect(await find(q), q).toMatchObject([
      { kind: 'charge', title: 'Order 1042', detail: 'paid', path: `/sandbox/charges/${made.id}` },
    ])
  const { end_to_end_id, deposit } = payments[0]
  const path = `/deposits/${deposit.id}`
  expect(await find(end_to_end_id)).toMatchObject([{ kind: 'deposit', path: `/sandbox${path}` }])
  const other = await openPartner()
  for (const q of [made.id, made.txid, end_to_end_id]) expect(await find(q, other.developer), q).toEqual([])
  const reader = await signedIn(service, { role: 'reader', factor: true })
  const seen = async (q: string) => (await reader.get(`/operator/sandbox/search?q=${q}`)).json.data
  const place = `/operator/sandbox/partners/${partner_id}`
  expect(await seen(made.txid)).toMatchObject([{ kind: 'charge', path: `${place}/charges/${made.id}` }])
  expect(await seen(end_to_end_id)).toMatchObject([{ kind: 'deposit', path: `${place}${path}` }])
  const view = await reader.get(`/operator/sandbox/partners/${partner_id}/charges/${made.id}`)
  expect(view.json.charge.id).toBe(made.id)
})

test('the playground creates a charge under its own key', async () => {
  const { developer, customer } = await openPartner()
  const order = { customer_id: customer.id, amount: '1050', idempotency_key: 'played-charge' }
  const told = (await developer.post('/sandbox/playground/charges', order)).json
  expect(told).toMatchObject({ status: 201, body: { status: 'open', customer_id: customer.id } })
  const { request } = (await developer.get(`/sandbox/charges/${told.object_id}`)).json
  expect(request.key.name).toBe('Playground')
})

test('those who may only read pay no charge', async () => {
  const { partner_id, charge } = await openPartner()
  const viewer = await signedIn(service, { partner_id, role: 'viewer' })
  const { id } = await charge()
  expect((await viewer.get(`/sandbox/charges/${id}`)).status).toBe(200)
  const body = { form_id: form_id(), amount: '1' }
  expect((await viewer.post(`/sandbox/charges/${id}/pay`, body)).json.error.code).toBe('not_permitted')
})
