import { afterAll, beforeAll, expect, test } from 'vitest'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { editPartner } from '../partners/partners.ts'
import { setThirdPartyPayouts } from './store.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

test('a customer is created, read, listed and changed', async () => {
  const { api } = await service.partner()
  const created = await api.post('/v1/customers', {
    name: 'Ana Souza',
    document: '529.982.247-25',
    external_id: 'u1',
    metadata: { a: 'b' },
  })
  expect(created.status).toBe(201)
  expect(created.json).toMatchObject({
    name: 'Ana Souza',
    document: '***.982.247-**',
    document_type: 'cpf',
    external_id: 'u1',
    metadata: { a: 'b' },
    status: 'active',
  })
  expect(created.json).not.toHaveProperty('email')
  const { id } = created.json
  expect((await api.get(`/v1/customers/${id}`)).json).toEqual(created.json)
  const changed = await api.patch(`/v1/customers/${id}`, { name: 'Ana Maria', email: 'ana@example.com' })
  expect(changed.json).toMatchObject({ name: 'Ana Maria', email: 'ana@example.com', metadata: { a: 'b' } })
  expect((await api.patch(`/v1/customers/${id}`, { email: null })).json).not.toHaveProperty('email')
  expect((await api.get('/v1/customers?external_id=u1')).json.data).toHaveLength(1)
  expect((await api.get('/v1/customers?document=52998224725')).json.data).toHaveLength(1)
  expect((await api.get('/v1/customers?status=blocked')).json.data).toEqual([])
})

test('a document and an external_id are unique per partner', async () => {
  const { api } = await service.partner()
  const other = await service.partner()
  const document = someCpf()
  const first = await api.post('/v1/customers', { name: 'A', document, external_id: 'x' })
  expect(first.status).toBe(201)
  const exists = { code: 'customer_exists', details: { customer_id: first.json.id } }
  expect((await api.post('/v1/customers', { name: 'B', document })).json.error).toMatchObject({
    ...exists,
    param: 'document',
  })
  expect(
    (await api.post('/v1/customers', { name: 'B', document: someCpf(), external_id: 'x' })).json.error,
  ).toMatchObject({ ...exists, param: 'external_id' })
  expect((await other.api.post('/v1/customers', { name: 'A', document, external_id: 'x' })).status).toBe(201)
})

test('a customer shows whether the operator allowed it third-party payouts: its own setting', async () => {
  const { api, partner_id } = await service.partner()
  await editPartner(service.shared, partner_id, { third_party_payouts: true })
  const created = await api.post('/v1/customers', { name: 'A', document: someCpf() })
  const { id } = created.json
  const shown = async () => (await api.get(`/v1/customers/${id}`)).json.third_party_payouts
  expect([created.json.third_party_payouts, await shown()]).toEqual([false, false])
  await setThirdPartyPayouts(service.worlds.sandbox.db, id, true)
  expect(await shown()).toBe(true)
  expect((await api.patch(`/v1/customers/${id}`, { name: 'B' })).json.third_party_payouts).toBe(true)
  await setThirdPartyPayouts(service.worlds.sandbox.db, id, false)
  expect(await shown()).toBe(false)
})

test('a customer of another partner, or of the other environment, is not found', async () => {
  const one = await service.partner()
  const other = await service.partner()
  const live = await service.partner({ environment: 'production', partner_id: one.partner_id })
  const { id } = (await one.api.post('/v1/customers', { name: 'A', document: someCpf() })).json
  const bare = (text: string) => text.replace(/req_\w+/, '')
  const none = await other.api.get('/v1/customers/cus_01kc3v4x9zq8rj5m2t7w6y0ahb')
  for (const api of [other.api, live.api]) {
    for (const path of ['', '/balances', '/statement']) {
      const reply = await api.get(`/v1/customers/${id}${path}`)
      expect(reply.status).toBe(404)
      expect(bare(reply.text)).toBe(bare(none.text))
    }
    expect((await api.patch(`/v1/customers/${id}`, { name: 'x' })).status).toBe(404)
  }
  expect(
    (await other.api.post('/v1/sandbox/deposits', { customer_id: id, asset: 'BRL', amount: '1' })).json.error
      .code,
  ).toBe('customer_not_found')
  expect(
    (await live.api.post('/v1/sandbox/deposits', { customer_id: id, asset: 'BRL', amount: '1' })).json.error
      .code,
  ).toBe('sandbox_only')
})
