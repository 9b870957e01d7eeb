import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signedIn } from '../../../../test/support/console.ts'
import { asAdmin } from '../../../../test/support/database.ts'
import { someCpf, startTestService, type TestService } from '../../../../test/support/service.ts'
import { openLooks } from '../../../control/operator/looks.ts'
import { verifyLog } from '../../../control/operator/verify.ts'
import { viewed } from './view-contract.ts'

type Client = Awaited<ReturnType<typeof signedIn>>

let service: TestService
let reader: Client
let owner: Client
let partner_id: string
let other_id: string
let ids: Record<string, string>
const NAME = 'Rita Lima de Souza'

beforeAll(async () => {
  service = await startTestService({ AUDIT_EVERY_MS: '0' })
  const partner = await service.partner()
  partner_id = partner.partner_id
  other_id = (await service.partner()).partner_id
  reader = await signedIn(service, { role: 'reader', factor: true })
  owner = await signedIn(service, { partner_id, role: 'owner', factor: true })
  ids = await setObjects(partner.api)
})
afterAll(() => service.stop())

async function setObjects(api: Awaited<ReturnType<TestService['partner']>>['api']) {
  const document = someCpf()
  const { id: customer_id } = (await api.post('/v1/customers', { name: NAME, document })).json
  const deposit = (await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '500000' }))
    .json
  const endpoint = (await api.post('/v1/webhook_endpoints', { url: 'https://example.com/x', events: ['*'] }))
    .json
  const payout = await api.post('/v1/pix/payouts', {
    customer_id,
    amount: '1050',
    counterparty: { type: 'pix_key', pix_key: document },
    idempotency_key: 'view',
  })
  const asked = { customer_id, from_asset: 'BRL', to_asset: 'USDT', amount: '10000' }
  const quote = (await api.post('/v1/quotes', asked)).json
  const trade = (await api.post(`/v1/quotes/${quote.id}/execute`)).json
  const transfer = await api.post('/v1/onchain/transfers', {
    customer_id,
    asset: 'USDT',
    network: 'polygon',
    amount: '1000000',
    destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    idempotency_key: 'view',
  })
  const charge = await api.post('/v1/pix/charges', { customer_id, amount: '1050', idempotency_key: 'view' })
  const event = (await api.get(`/v1/events?object_id=${payout.json.id}&limit=1`)).json.data[0]
  return {
    customer_id,
    deposit_id: deposit.id,
    endpoint_id: endpoint.id,
    payout_id: payout.json.id,
    charge_id: charge.json.id,
    request_id: payout.headers.get('x-request-id')!,
    quote_id: quote.id,
    trade_id: trade.id,
    transfer_id: transfer.json.id,
    event_id: event.id,
  }
}

/** The path of a call with the ids of the partner's objects. */
const pathOf = (route: string, of: Record<string, string> = {}) =>
  route
    .split(' ')[1]!
    .replace('/console/api', '')
    .replaceAll(
      /\{(\w+)\}/g,
      (_, name: string) => ({ environment: 'sandbox', partner_id, ...ids, ...of })[name]!,
    )

/** A body without the fields that the second look of an object changes. */
const bodyOf = (json: any) => JSON.stringify(json).replaceAll(/"(left_ms|times|last_at)":[^,}]+/g, '')

const looks = async (object_id: string) =>
  (await reader.get(`/operator/sandbox/acts?place=sandbox&action=view&object=${object_id}`)).json.data

test('an operator sees of every object what the partner sees', async () => {
  for (const { of, view } of viewed) {
    const { own, seen } = await readTogether(pathOf(of.route), pathOf(view.route))
    expect([view.name, seen.status]).toEqual([view.name, 200])
    expect(bodyOf(seen.json)).toBe(bodyOf(own.json))
    expect(seen.text).not.toMatch(/whsec_|svc_test_sk_/)
  }
})

/**
 * Both views of an object that did not change between them: the partner reads before and after the
 * operator, and all three read again while a worker (a delivery, a transfer) changes the object.
 */
async function readTogether(own_path: string, operator_path: string) {
  for (;;) {
    // The log of requests is written a moment after the response.
    const own = await until200(() => owner.get(own_path))
    const seen = await reader.get(operator_path)
    const after = await owner.get(own_path)
    if (bodyOf(own.json) === bodyOf(after.json)) return { own, seen }
  }
}

async function until200(get: () => Promise<{ status: number; json: any }>) {
  for (let tries = 0; ; tries++) {
    const reply = await get()
    if (reply.status === 200 || tries > 100) return reply
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test('a look at personal data is one line per session, object and hour, with the address', async () => {
  const path = `/operator/sandbox/partners/${partner_id}/payouts/${ids.payout_id}`
  for (let times = 0; times < 5; times++) expect((await reader.get(path)).status).toBe(200)
  const mine = (await looks(ids.payout_id!)).filter(
    (line: any) => line.actor_email === reader.person.user.email,
  )
  expect(mine).toHaveLength(1)
  expect(mine[0]).toMatchObject({ actor_kind: 'operator', object_id: ids.payout_id, before: null })
  expect(JSON.parse(mine[0].after)).toEqual({
    what: 'payout',
    partner_id,
    origin: { address: expect.stringMatching(/^(127\.|::1)/) },
  })
  // Nothing personal in the line itself, which is kept for ever.
  expect(JSON.stringify(mine)).not.toContain('Rita')

  const second = await signedIn(service, { role: 'resolver', factor: true })
  await second.get(path)
  expect((await looks(ids.payout_id!)).map((line: any) => line.actor_email)).toContain(
    second.person.user.email,
  )

  // Another node, which has not seen the first look, finds its line in the log.
  const { id: user_id, email } = reader.person.user
  const { session_id } = mine[0]
  const actor = { kind: 'operator', role: 'reader', user_id, email, session_id } as const
  const before = (await looks(ids.payout_id!)).length
  const world = service.office.worlds.sandbox
  const look = { object_id: ids.payout_id!, partner_id, what: 'payout' }
  await openLooks(service.office).note(world, actor, look)
  expect(await looks(ids.payout_id!)).toHaveLength(before)
  // Another kind of page about the same object is another look.
  await openLooks(service.office).note(world, actor, { ...look, what: 'statement' })
  expect(await looks(ids.payout_id!)).toHaveLength(before + 1)
  expect((await verifyLog(service.office, 'sandbox')).broken).toEqual([])
})

test('the customer, its statement and the lists of customers are looks too; an unknown object is none', async () => {
  const place = `/operator/sandbox/partners/${partner_id}`
  const whats = async (id: string) => (await looks(id)).map((line: any) => JSON.parse(line.after).what)
  await reader.get(`/operator/sandbox/customers/${ids.customer_id}`)
  await reader.get(`${place}/customers/${ids.customer_id}/statement`)
  expect(await whats(ids.customer_id!)).toEqual(expect.arrayContaining(['customer', 'statement']))
  await reader.get(`${place}/customers`)
  expect(await whats(partner_id)).toContain('customers')
  const missing = 'po_01kc3v4x9zq8rj5m2t7w6y0ahb'
  expect((await reader.get(`${place}/payouts/${missing}`)).json.error.code).toBe('payout_not_found')
  expect(await looks(missing)).toEqual([])
})

test('an object is found under its own partner and environment only, and by no user of a partner', async () => {
  for (const { view } of viewed) {
    const elsewhere = await reader.get(pathOf(view.route, { partner_id: other_id }))
    expect([view.name, elsewhere.status]).toEqual([view.name, 404])
    const production = pathOf(view.route).replace('/sandbox/', '/production/')
    expect([view.name, (await reader.get(production)).status]).toEqual([view.name, 404])
    const theirs = await owner.get(pathOf(view.route))
    expect([view.name, theirs.json.error.code]).toEqual([view.name, 'route_not_found'])
  }
  const nobody = pathOf(viewed[0]!.view.route, { partner_id: 'ptn_01kc3v4x9zq8rj5m2t7w6y0ahb' })
  expect((await reader.get(nobody)).json.error.code).toBe('object_not_found')
})

test('a look whose line cannot be stored is refused, also the second time', async () => {
  const document = someCpf()
  const { api } = await service.partner()
  const fresh = (await api.post('/v1/customers', { name: NAME, document })).json.id
  const partner = (await asAdmin(service.database.url, [
    `SELECT partner_id FROM sandbox.customers WHERE id = '${fresh}'`,
  ])) as { partner_id: string }[]
  const path = `/operator/sandbox/partners/${partner[0]!.partner_id}/customers/${fresh}`
  const admin = (...sql: string[]) => asAdmin(service.database.url, sql)
  await admin(
    `CREATE FUNCTION sandbox.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '53100'; END $$`,
    `CREATE CONSTRAINT TRIGGER full_disk AFTER INSERT ON sandbox.acts DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW WHEN (NEW.action = 'view') EXECUTE FUNCTION sandbox.full_disk()`,
  )
  try {
    for (let turn = 0; turn < 2; turn++) expect((await reader.get(path)).status).toBeGreaterThanOrEqual(500)
  } finally {
    await admin('DROP TRIGGER full_disk ON sandbox.acts', 'DROP FUNCTION sandbox.full_disk()')
  }
  expect((await reader.get(path)).status).toBe(200)
  const lines = await admin(`SELECT FROM sandbox.acts WHERE action = 'view' AND object_id = '${fresh}'`)
  expect(lines).toHaveLength(1)
})

test('the audit log shows operators which personal fields of a customer changed, and none of their values', async () => {
  const made = await owner.post('/sandbox/customers', {
    form_id: randomUUID(),
    name: 'Bruno Lima Prado',
    document: someCpf(),
    email: 'bruno@example.com',
    metadata: { street: 'Rua Augusta' },
  })
  expect(made.status).toBe(201)
  await owner.patch(`/sandbox/customers/${made.json.id}`, { name: 'Bruno Prado' })
  const { json, text } = await reader.get(`/operator/sandbox/acts?place=sandbox&object=${made.json.id}`)
  expect(json.data.map(({ action }: any) => action)).toEqual(['edit_customer', 'create_customer'])
  expect(text).not.toMatch(/Bruno Lima|Bruno Prado|bruno@|Augusta/)
  expect(text).not.toContain(made.json.document)
  const { before, after } = json.data[0]
  expect(JSON.parse(before)).toMatchObject({ name: '***', email: '***', metadata: '***', status: 'active' })
  expect(JSON.parse(after)).toMatchObject({ name: '*** (changed)', email: '***', document: '***' })
  // The log itself is unchanged, and so is the partner's own view of it.
  expect((await owner.get('/audit')).text).toContain('Bruno Prado')
  expect((await verifyLog(service.office, 'sandbox')).broken).toEqual([])
})

test('a finding of the audit about a payout says that its personal texts differ, and shows none of them', async () => {
  const admin = (sql: string) =>
    asAdmin(service.database.url, ['SET session_replication_role = replica', sql])
  const about = `object_id = '${ids.payout_id}' AND sequence = 1`
  const [stored] = await admin(
    `SELECT data::text, data #>> '{counterparty,name}' AS name FROM sandbox.events WHERE ${about}`,
  )
  const { data, name } = stored as { data: string; name: string }
  await admin(`UPDATE sandbox.events SET data = '${data.replace(name, 'Carla Nunes')}' WHERE ${about}`)
  const { sandbox } = await service.audit()
  const found = sandbox.findings.find(({ check }) => check.startsWith('every payout was told'))
  expect(found?.examples).toMatchObject([{ object_id: ids.payout_id, personal_differ: true }])
  const text = JSON.stringify(found, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  for (const personal of [name, 'Carla', JSON.parse(data).counterparty.pix_key])
    expect(text).not.toContain(personal)
  await admin(`UPDATE sandbox.events SET data = '${data}' WHERE ${about}`)
  expect((await service.audit()).sandbox.findings).toEqual([])
})
