import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Api } from '../../../test/support/api.ts'
import { asAdmin } from '../../../test/support/database.ts'
import { openReceiver } from '../../../test/support/receiver.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { until } from '../../../test/support/wait.ts'
import { money } from '../../core/money.ts'
import { payFees } from '../../money/treasury/fee-payouts.ts'
import { allowThirdParties, blockCustomer } from '../../parties/customers/customers.ts'
import { createKey, revokeKey, rotateKey } from '../../parties/keys/keys.ts'
import { eventTypes, TEST_TYPE } from './types.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ WEBHOOK_ALLOW_PRIVATE: 'true' })
})
afterAll(() => service.stop())

/** Waits until an object has `count` events, and returns them oldest first. */
async function told(api: Api, object_id: string, count: number): Promise<any[]> {
  const path = `/v1/events?after=start&object_id=${object_id}`
  await until(async () => (await api.get(path)).json.data.length >= count, 10_000)
  const { data } = (await api.get(path)).json
  expect(data).toHaveLength(count)
  expect(data.map(({ sequence }: any) => sequence)).toEqual(
    data.map(({ sequence }: any) => sequence).toSorted((a: number, b: number) => a - b),
  )
  return data
}
const customerOf = async (api: Api) =>
  (await api.post('/v1/customers', { name: 'Ana', document: someCpf() })).json.id as string

describe('events of an object', () => {
  test('a customer: created, updated, blocked, unblocked, each as GET shows it then, and none if nothing changed', async () => {
    const { api } = await service.partner()
    const world = service.worlds.sandbox
    const id = await customerOf(api)
    const shown = [(await api.get(`/v1/customers/${id}`)).json]
    const see = async () => shown.push((await api.get(`/v1/customers/${id}`)).json)
    await api.patch(`/v1/customers/${id}`, { name: 'Ana Maria', metadata: { a: '1' } })
    await see()
    await api.patch(`/v1/customers/${id}`, { name: 'Ana Maria' })
    await blockCustomer(world, id, 'blocked')
    await see()
    await blockCustomer(world, id, 'blocked')
    await blockCustomer(world, id, 'active')
    await see()
    await allowThirdParties(world, id, false)
    const events = await told(api, id, 4)
    expect(events.map(({ type }) => type)).toEqual([
      'customer.created',
      'customer.updated',
      'customer.blocked',
      'customer.unblocked',
    ])
    expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4])
    expect(events.map(({ data }) => data.object)).toEqual(shown)
  })

  test('a key: created, rotated, revoked, without its value', async () => {
    const { api, partner_id } = await service.partner()
    const world = service.worlds.sandbox
    const { key, value } = await createKey(world, { partner_id, name: 'rotating' })
    const rotated = [await rotateKey(world, key.id, 0), await rotateKey(world, key.id, 0)]
    await revokeKey(world, key.id)
    const events = await told(api, key.id, 4)
    expect(events.map(({ type }) => type)).toEqual([
      'api_key.created',
      'api_key.rotated',
      'api_key.rotated',
      'api_key.revoked',
    ])
    expect(events[1].data.object.last_four).toBe(rotated[0]!.value.slice(-4))
    for (const secret of [value, ...rotated.map((one) => one.value)])
      expect(JSON.stringify(events)).not.toContain(secret)
  })

  test('a webhook endpoint: tests, and disabled by request or by a 410, also sent to the other endpoints', async () => {
    const { api } = await service.partner()
    const other = await openReceiver()
    const gone = await openReceiver((_, response) => void response.writeHead(410).end())
    try {
      const hook = async (url: string, type: string) =>
        (await api.post('/v1/webhook_endpoints', { url, events: [type] })).json.id as string
      // The endpoint that answers 410 gets tests only, and nothing when it is enabled again.
      const [listening, ending] = [await hook(other.url, '*'), await hook(gone.url, 'pix.payout.failed')]
      await api.post(`/v1/webhook_endpoints/${ending}/test`)
      const disabledAs = async (reason: string) => {
        const shown = (await api.get(`/v1/webhook_endpoints/${ending}`)).json
        return shown.status === 'disabled' && shown.disabled_reason === reason
      }
      await until(() => disabledAs('gone'), 10_000)
      await api.patch(`/v1/webhook_endpoints/${ending}`, { status: 'enabled' })
      await api.patch(`/v1/webhook_endpoints/${ending}`, { status: 'disabled' })
      await api.patch(`/v1/webhook_endpoints/${ending}`, { status: 'disabled' })
      const events = await told(api, ending, 3)
      expect(events.map(({ type }) => type)).toEqual([
        TEST_TYPE,
        'webhook_endpoint.disabled',
        'webhook_endpoint.disabled',
      ])
      expect(events.map(({ data }) => data.object.disabled_reason)).toEqual([undefined, 'gone', 'by_request'])
      expect(JSON.stringify(events)).not.toContain('whsec_')
      await until(
        () => other.received.filter(({ json }) => json.type === 'webhook_endpoint.disabled').length === 2,
        10_000,
      )
      expect(other.received.map(({ json }) => json.type)).not.toContain(TEST_TYPE)
      expect((await api.get(`/v1/webhook_endpoints/${listening}`)).json.status).toBe('enabled')
    } finally {
      await Promise.all([other.stop(), gone.stop()])
    }
  })

  test('a payment of fees: completed, without the operator’s reason, and checked by the audit', async () => {
    const { api, partner_id } = await service.partner()
    const world = service.worlds.sandbox
    const customer_id = await customerOf(api)
    await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '1000000' })
    const order = { customer_id, from_asset: 'BRL', to_asset: 'USDT', amount: '100000', partner_fee_bps: 100 }
    const quote = (await api.post('/v1/quotes', order)).json.id
    await api.post(`/v1/quotes/${quote}/execute`)
    const reference = `fees-${partner_id}`
    const paid = { partner_id, customer_id: null, money: money('BRL', 100n), reason: 'between us', reference }
    // The fees can be paid once the trade is folded into the positions.
    const pay = () =>
      world.commit(payFees(world, paid)).then(
        () => true,
        () => false,
      )
    await until(pay, 10_000)
    const [row] = await asAdmin(service.database.url, [
      `SELECT id FROM sandbox.fee_payouts WHERE partner_id = '${partner_id}'`,
    ])
    const id = row!.id as string
    const [event] = await told(api, id, 1)
    expect(event).toMatchObject({
      type: 'fee_payout.completed',
      sequence: 1,
      data: {
        object: { id, asset: 'BRL', amount: '100', decimals: 2, reference },
      },
    })
    expect(JSON.stringify(event)).not.toContain('between us')
    expect((await service.audit()).sandbox.findings).toEqual([])

    await asAdmin(service.database.url, [
      `UPDATE sandbox.events SET data = replace(data::text, '"100"', '"101"')::json WHERE object_id = '${id}'`,
    ])
    const named = (await service.audit()).sandbox.findings.map(({ check }: any) => check)
    expect(named).toContain('every payment of fees was told once, as it is')
    await asAdmin(service.database.url, [
      `UPDATE sandbox.events SET data = replace(data::text, '"101"', '"100"')::json WHERE object_id = '${id}'`,
    ])
  })
})

test('a change and its event are written together or not at all', async () => {
  const { api, partner_id } = await service.partner()
  const world = service.worlds.sandbox
  const id = await customerOf(api)
  const { key, value } = await createKey(world, { partner_id, name: 'x' })
  const target = await openReceiver()
  const hook = (await api.post('/v1/webhook_endpoints', { url: target.url, events: ['*'] })).json
  const admin = (...sql: string[]) => asAdmin(service.database.url, sql)
  await admin(
    `CREATE FUNCTION sandbox.refuse_event() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no' USING ERRCODE = '22000'; END $$`,
    `CREATE TRIGGER refuse_event BEFORE INSERT ON sandbox.events FOR EACH ROW WHEN (NEW.partner_id = '${partner_id}')
     EXECUTE FUNCTION sandbox.refuse_event()`,
  )
  try {
    expect((await api.patch(`/v1/customers/${id}`, { name: 'Other' })).status).toBe(500)
    await expect(blockCustomer(world, id, 'blocked')).rejects.toThrow()
    await expect(rotateKey(world, key.id, 0)).rejects.toThrow()
    await expect(revokeKey(world, key.id)).rejects.toThrow()
    expect((await api.patch(`/v1/webhook_endpoints/${hook.id}`, { status: 'disabled' })).status).toBe(500)
  } finally {
    await admin('DROP TRIGGER refuse_event ON sandbox.events', 'DROP FUNCTION sandbox.refuse_event()')
    await target.stop()
  }
  expect((await api.get(`/v1/customers/${id}`)).json).toMatchObject({ name: 'Ana', status: 'active' })
  expect((await api.get(`/v1/webhook_endpoints/${hook.id}`)).json.status).toBe('enabled')
  const usage = await fetch(`${service.url}/v1/usage`, { headers: { authorization: `Bearer ${value}` } })
  expect(usage.status).toBe(200)
})

test('every type can be subscribed to, filtered by and made as a sample without secrets', async () => {
  const { api } = await service.partner()
  const target = await openReceiver()
  const reply = await api.post('/v1/webhook_endpoints', { url: target.url, events: [...eventTypes] })
  expect(reply.status).toBe(201)
  for (const kind of eventTypes) {
    const { json, status } = await api.post(`/v1/sandbox/events/${kind}`)
    expect([status, json.type]).toEqual([201, kind])
    expect(JSON.stringify(json)).not.toMatch(/whsec_|svc_(live|test)_sk_/)
  }
  await until(() => new Set(target.received.map(({ json }) => json.type)).size === eventTypes.length, 10_000)
  expect((await api.get('/v1/events?type=webhook_endpoint.disabled')).json.data[0].data.object).toMatchObject(
    {
      status: 'disabled',
      disabled_reason: 'failing',
    },
  )
  expect((await api.get('/v1/events?type=customer.blocked')).json.data[0].data.object.status).toBe('blocked')
  await target.stop()
})

describe('fields of a sample', () => {
  const sample = (api: Api, kind: string, override: unknown) =>
    api.post(`/v1/sandbox/events/${kind}`, { override })

  test('are those of the request, the rest is made up', async () => {
    const { api } = await service.partner()
    const { json, status } = await sample(api, 'pix.payout.completed', { amount: '777', description: 'Mine' })
    expect([status, json.data.object]).toMatchObject([
      201,
      { amount: '777', description: 'Mine', status: 'completed', id: expect.stringMatching(/^po_/) },
    ])
    await until(
      async () => (await api.get('/v1/events?type=pix.payout.completed')).json.data.length === 1,
      5000,
    )
    expect((await api.get(`/v1/events/${json.id}`)).json).toEqual(json)
    // Also without overrides, and without a body.
    for (const body of [undefined, {}, { override: {} }])
      expect((await api.post('/v1/sandbox/events/trade.completed', body)).status).toBe(201)
  })

  test('must be valid fields of the object, and never its id', async () => {
    const { api } = await service.partner()
    const wrong: [string, Record<string, unknown>, string][] = [
      ['pix.payout.completed', { amuont: '1' }, 'override.amuont'],
      ['pix.payout.completed', { amount: 1 }, 'override.amount'],
      ['pix.payout.completed', { amount: '-1' }, 'override.amount'],
      ['pix.payout.completed', { status: 'lost' }, 'override.status'],
      ['pix.payout.completed', { counterparty: { nmae: 'x' } }, 'override.counterparty.nmae'],
      ['pix.payout.completed', { id: 'po_01kc3v4x9zq8rj5m2t7w6y0ahb' }, 'override.id'],
      ['pix.payout.completed', { constructor: 1 }, 'override.constructor'],
      ['api_key.rotated', { value: 'svc_test_sk_x' }, 'override.value'],
      ['fee_payout.completed', { amount: 5 }, 'override.amount'],
    ]
    for (const [kind, override, param] of wrong) {
      const { status, json } = await sample(api, kind, override)
      expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', param])
    }
    for (const override of [null, 1, 'x', []])
      expect((await sample(api, 'trade.completed', override)).json.error.param).toBe('override')
  })

  test('can be set for every type', async () => {
    const { api } = await service.partner()
    for (const kind of eventTypes) {
      const created_at = '2020-01-01T00:00:00.000Z'
      const { status, json } = await sample(api, kind, { created_at })
      expect([kind, status, json.data?.object.created_at]).toEqual([kind, 201, created_at])
    }
  })
})

test('afterwards the books are right', async () => {
  const { sandbox } = await service.audit()
  expect(sandbox.findings).toEqual([])
})
