import { afterAll, beforeAll, expect, test } from 'vitest'
import { signedIn } from '../../../test/support/console.ts'
import { asAdmin } from '../../../test/support/database.ts'
import { someCpf, startTestService, type TestService } from '../../../test/support/service.ts'
import { eventually } from '../../../test/support/wait.ts'
import { methodAndPath } from '../../http/endpoint.ts'
import type { ConsoleEndpoint } from './endpoint.ts'
import { consoleEndpoints } from './endpoints.ts'

let service: TestService
let owner: Awaited<ReturnType<typeof signedIn>>
let admin: typeof owner

beforeAll(async () => {
  service = await startTestService({ AUDIT_EVERY_MS: '0' })
  const { partner_id } = await service.partner()
  owner = await signedIn(service, { partner_id, role: 'owner', factor: true })
  admin = await signedIn(service, { role: 'admin', factor: true })
})

afterAll(() => service.stop())

const namesIn = ({ route }: ConsoleEndpoint): string[] =>
  [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)

/** Calls an endpoint with some of its path parameters filled in. */
async function call(endpoint: ConsoleEndpoint, filled: Record<string, string>, query = '') {
  const { method, path } = methodAndPath(endpoint)
  const place = path
    .slice('/console/api'.length)
    .replaceAll(/\{(\w+)\}/g, (_, name) => filled[name] ?? (name === 'environment' ? 'sandbox' : 'x'))
  const client = path.includes('/operator/') ? admin : owner
  const { status, text } =
    method === 'GET'
      ? await client.get(`${place}${query}`)
      : await client[method.toLowerCase() as 'post'](`${place}${query}`, sampleOf(endpoint.body))
  return { status, code: /"code":"(\w+)"/.exec(text)?.[1], text }
}

/** A body that fits the schema, so that only the path is wrong. */
function sampleOf(body: Record<string, any> | undefined): Record<string, unknown> {
  const fields = Object.entries<any>(body?.properties ?? {})
  return Object.fromEntries(fields.map(([name, schema]) => [name, schema.examples?.[0] ?? schema.enum?.[0]]))
}

test('every path parameter is declared', () => {
  for (const endpoint of consoleEndpoints)
    expect(Object.keys(endpoint.params?.properties ?? {}).sort(), endpoint.name).toEqual(
      namesIn(endpoint).sort(),
    )
})

test('an impossible id is not found, and breaks nothing', async () => {
  const odd = ['a%00b', '__proto__', '_'.repeat(150), 'usdt']
  for (const endpoint of consoleEndpoints)
    for (const name of namesIn(endpoint))
      for (const value of odd) {
        const { status, text } = await call(endpoint, { [name]: value })
        expect([400, 404], `${endpoint.route} ${name}=${value}: ${text}`).toContain(status)
      }
})

test('a treasury limit for an unknown asset is refused', async () => {
  for (const asset of ['EVIL', 'usdt', '__proto__']) {
    const { status, json } = await admin.patch(`/operator/sandbox/treasury/${asset}`, { lowest: null })
    expect([status, json.error?.param], asset).toEqual([400, 'asset'])
  }
})

test('a query with a NUL causes no internal error', async () => {
  for (const endpoint of consoleEndpoints.filter(({ query }) => query))
    for (const name of Object.keys(endpoint.query!.properties)) {
      const { status, text } = await call(endpoint, {}, `?${name}=a%00b`)
      expect(status, `${endpoint.route}?${name}: ${text}`).toBeLessThan(500)
    }
})

test('an internal error does not mention idempotency keys', async () => {
  await asAdmin(service.database.url, ['ALTER TABLE shared.users RENAME COLUMN name TO name_gone'])
  const { status, json } = await owner.get('/team')
  await asAdmin(service.database.url, ['ALTER TABLE shared.users RENAME COLUMN name_gone TO name'])
  expect([status, json.error.code]).toEqual([500, 'internal_error'])
  expect(json.error.message).not.toMatch(/idempotency/)
})

test('an amount beyond the largest amount is refused as a limit', async () => {
  const path = `/operator/sandbox/partners/${owner.person.user.partner_id}/money-limits`
  for (const payout_order of ['9223372036854775808', '1000000000000000000'])
    expect((await admin.patch(path, { payout_order })).status).toBe(400)
  expect((await admin.patch(path, { payout_order: '999999999999999999' })).status).toBe(200)
  expect((await admin.patch(path, { payout_order: null })).status).toBe(200)
})

const exportsNoted = async () => {
  const { rows } = await service.worlds.sandbox.db.query(
    `SELECT after FROM acts WHERE action = 'export' ORDER BY seq`,
  )
  return rows.map(({ after }) => after as string)
}

test('an invalid export is refused before its first line, and not logged as an export', async () => {
  const customer = await newCustomer()
  const before = await exportsNoted()
  for (const path of [
    '/customers.csv?document=abc',
    '/customers.csv?created_after=0001-01-01T00:00:00Z',
    `/customers/${customer}/statement.csv?created_after=0001-01-01T00:00:00Z`,
  ])
    expect([path, (await owner.get(`/sandbox${path}`)).status]).toEqual([path, 400])
  expect(await exportsNoted()).toEqual(before)
})

test('the log keeps which filters an export had, but no document and no name', async () => {
  const { length } = await exportsNoted()
  const created_after = '2026-01-01T00:00:00.000Z'
  const secret = { document: '52998224725', name: 'Beatriz', external_id: 'bea-1' }
  await owner.get(
    `/sandbox/customers.csv?${new URLSearchParams({ ...secret, status: 'active', created_after })}`,
  )
  await owner.get('/sandbox/payouts.csv?customer_id=52998224725')
  const [customers, payouts] = (await exportsNoted()).slice(length)
  expect(JSON.parse(customers!).filters).toEqual({
    document: 'set',
    name: 'set',
    external_id: 'set',
    status: 'active',
    created_after,
  })
  expect(JSON.parse(payouts!).filters).toEqual({ customer_id: 'set' })
})

/** Starts an export without reading it. */
const beginExport = (client: typeof owner, path = '/sandbox/customers.csv') =>
  fetch(`${service.url}/console/api${path}`, { headers: { cookie: client.cookie! } })

/** More rows than a socket buffers while nobody reads. */
async function largeTeam() {
  const { partner_id, api } = await service.partner()
  const { id } = (await api.post('/v1/customers', { name: 'First', document: someCpf() })).json
  const names = `repeat('long name ', 12) || n`
  await asAdmin(service.database.url, [
    `INSERT INTO sandbox.customers (id, partner_id, name, document, document_type, metadata, created_at)
     SELECT left(id, 20) || lpad(n::text, 10, '0'), partner_id, ${names}, lpad(n::text, 11, '0'), document_type, metadata, created_at
     FROM sandbox.customers, generate_series(1, 30000) n WHERE id = '${id}'`,
    `INSERT INTO sandbox.balances SELECT (b).* FROM (
       SELECT jsonb_populate_record(b, jsonb_build_object('customer_id', c.id)) AS b
       FROM sandbox.balances b, sandbox.customers c WHERE b.customer_id = '${id}' AND c.partner_id = '${partner_id}' AND c.id <> '${id}') AS copied`,
  ])
  return partner_id
}

test('an export ends with its session and does not look complete; a partner runs one at a time', async () => {
  const partner_id = await largeTeam()
  const finance = await signedIn(service, { partner_id, role: 'finance' })
  const colleague = await signedIn(service, { partner_id, role: 'owner' })
  const first = await beginExport(finance)
  expect(first.status).toBe(200)
  const second = await colleague.get('/sandbox/customers.csv')
  expect([second.status, second.json.error.code]).toEqual([429, 'rate_limit_exceeded'])
  expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await owner.get('/sandbox/customers.csv')).status).toBe(200)
  await first.body!.cancel()
  const table = await eventually(async () => {
    const again = await beginExport(finance)
    expect(again.status).toBe(200)
    return again
  })
  const { db } = service.shared
  const used = () => db.query('SELECT used_at FROM sessions WHERE user_id = $1', [finance.person.user.id])
  const before = (await used()).rows
  expect(before).toHaveLength(1)
  await finance.delete('/session')
  await eventually(async () => expect((await used()).rows).toEqual([]))
  // The session is looked at every three seconds, and nothing is read until then: what waits in the socket would look complete.
  await new Promise((resolve) => setTimeout(resolve, 9000))
  await expect(table.text()).rejects.toThrow()
})

test('a stream ends soon after its session', async () => {
  const viewer = await signedIn(service, { partner_id: owner.person.user.partner_id!, role: 'viewer' })
  const stream = await beginExport(viewer, '/sandbox/stream')
  await viewer.delete('/session')
  expect(await stream.text()).toContain(': live')
})

test('calls that make webhooks go out are counted for the team', async () => {
  const { partner_id } = await service.partner()
  const team = await Promise.all(
    (['owner', 'developer'] as const).map((role) => signedIn(service, { partner_id, role })),
  )
  const form_id = 'webhookwebhook01'
  const url = 'https://hooks.example.com/in'
  const made = await team[0]!.post('/sandbox/webhooks', { form_id, url, events: ['pix.payout.completed'] })
  expect(made.status).toBe(201)
  const { id } = made.json.endpoint
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
  const answers = []
  for (let i = 0; i < 21; i++) {
    const person = team[i % 2]!
    const path = `/sandbox/webhooks/${id}`
    answers.push(await (i % 3 ? person.post(`${path}/test`) : person.post(`${path}/redeliver`, range)))
  }
  const refused = answers.filter(({ status }) => status === 429)
  // A new minute may begin meanwhile.
  expect(answers.length - refused.length).toBeLessThanOrEqual(20)
  for (const { status } of answers.slice(0, 10)) expect([200, 201]).toContain(status)
  expect(refused[0]?.json.error.code).toBe('too_many_redeliveries')
  expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
})

async function newCustomer(): Promise<string> {
  const made = await owner.post('/sandbox/customers', {
    form_id: `customer-${someCpf()}`,
    name: 'Beatriz',
    document: someCpf(),
  })
  return made.json.id
}
