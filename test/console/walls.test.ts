import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OperatorRole, operatorRoles, type PartnerRole, partnerRoles } from '../../src/core/actor.ts'
import { newId } from '../../src/core/ids.ts'
import type { ConsoleEndpoint } from '../../src/doors/console-api/endpoint.ts'
import { consoleEndpoints } from '../../src/doors/console-api/endpoints.ts'
import {
  isOfOperator,
  leaveOf,
  operatorPermits,
  partnerPermits,
} from '../../src/doors/console-api/permits.ts'
import { methodAndPath } from '../../src/http/endpoint.ts'
import { openConsole, signedIn } from '../support/console.ts'
import { asAdmin } from '../support/database.ts'
import { noteFact } from '../support/proof.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'

/**
 * Every call of the console × everybody who might make it, from the declarations alone: a new endpoint is covered as soon as
 * it is declared. A change is sent with a field that no call knows: whoever is let in is told that, and nothing happens.
 */
type Role = PartnerRole | OperatorRole
type Client = Awaited<ReturnType<typeof signedIn>>
type Environment = 'production' | 'sandbox'

let service: TestService
/** Of one partner and of the operator; each with a second factor, and a proof that lasts. */
const clients = {} as Record<Role, Client>
let stranger: Client
let key: string
/** What the partner of `clients` has in the sandbox, by what an id names. */
const objects: Record<string, string> = {}

const sql = (...statements: string[]) => asAdmin(service.database.url, statements)
const prove = ({ person }: Client, how: string) =>
  sql(`UPDATE shared.sessions SET proved_at = ${how} WHERE user_id = '${person.user.id}'`)
const PROVED = `clock_timestamp() + interval '1 hour'`
const UNPROVED = `clock_timestamp() - interval '1 hour'`

beforeAll(async () => {
  service = await startTestService()
  const { partner_id, api, key: value, key_id } = await service.partner()
  key = value
  for (const role of partnerRoles) clients[role] = await signedIn(service, { partner_id, role, factor: true })
  for (const role of operatorRoles) clients[role] = await signedIn(service, { role, factor: true })
  const other = await service.partner()
  stranger = await signedIn(service, { partner_id: other.partner_id, role: 'owner', factor: true })
  for (const client of [...Object.values(clients), stranger]) await prove(client, PROVED)
  const customer = (await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })).json
  const of_customer = { customer_id: customer.id }
  const deposit = { ...of_customer, asset: 'BRL', amount: '100000' }
  objects.deposit = (await api.post('/v1/sandbox/deposits', deposit)).json.id
  const quoted = { ...of_customer, from_asset: 'BRL', to_asset: 'USDT', amount: '10000' }
  const quote = (await api.post('/v1/quotes', quoted)).json
  const payout = await api.post('/v1/pix/payouts', {
    ...of_customer,
    amount: '100',
    counterparty: { type: 'pix_key', pix_key: customer.document },
    idempotency_key: 'walls',
  })
  const charge = await api.post('/v1/pix/charges', {
    ...of_customer,
    amount: '1050',
    idempotency_key: 'walls',
  })
  const webhook = await api.post('/v1/webhook_endpoints', { url: 'https://example.com/x', events: ['*'] })
  const events = (await api.get('/v1/events')).json.data
  Object.assign(objects, {
    customer: customer.id,
    quote: quote.id,
    trade: (await api.post(`/v1/quotes/${quote.id}/execute`)).json.id,
    payout: payout.json.id,
    charge: charge.json.id,
    webhook_endpoint: webhook.json.id,
    event: events[0]?.id,
    key: key_id,
    user: clients.viewer.person.user.id,
    session: (await clients.viewer.get('/me/sessions')).json.data[0].id,
  })
})
afterAll(() => service.stop())

const owns = (endpoint: ConsoleEndpoint) => endpoint.route.includes('{environment}')
const environmentsOf = (endpoint: ConsoleEndpoint): Environment[] =>
  !owns(endpoint) || endpoint.sandbox_only ? ['sandbox'] : ['production', 'sandbox']

/** The path, with ids of the partner's objects or with such that nobody has. */
function pathOf(endpoint: ConsoleEndpoint, environment: Environment, real = false): string {
  const properties = (endpoint.params?.properties ?? {}) as Record<string, any>
  return methodAndPath(endpoint)
    .path.replace('/console/api', '')
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      if (name === 'environment') return environment
      const { 'x-id': kind, enum: values, examples } = properties[name] ?? {}
      const known = real ? objects[kind ?? name.replace(/_id$/, '')] : undefined
      return encodeURIComponent(
        known ?? values?.[0] ?? (kind ? newId(kind, Date.now()) : (examples?.[0] ?? 'x')),
      )
    })
}

/** A value that a schema takes, as far as it tells. */
function exampleOf(schema: any, real: boolean): unknown {
  const known = real && schema['x-id'] ? objects[schema['x-id']] : undefined
  if (known) return known
  if (schema.examples) return schema.examples[0]
  if ('const' in schema) return schema.const
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf ?? schema.oneOf) return exampleOf((schema.anyOf ?? schema.oneOf)[0], real)
  if (schema.type === 'array') return schema.minItems ? [exampleOf(schema.items, real)] : []
  if (schema.type === 'object')
    return Object.fromEntries(
      (schema.required ?? []).map((name: string) => [name, exampleOf(schema.properties[name], real)]),
    )
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1
  if (schema.type === 'boolean') return true
  return schema.type === 'null' ? null : 'text'
}

type Asked = { status: number; code: string | undefined; text: string }

/** A stream goes on for ever: its first bytes are an answer. */
let asked_in_all = 0
afterAll(() =>
  noteFact(
    `${asked_in_all} calls to ${consoleEndpoints.length} endpoints without a session, with an API key, in each of ${Object.keys(clients).length} roles, as a user of another partner, from another origin and without a recent re-authentication: each response matches the table of permits`,
  ),
)

async function ask(
  endpoint: ConsoleEndpoint,
  path: string,
  { headers = {}, body = { no_such_field: 1 } }: { headers?: Record<string, string>; body?: unknown } = {},
): Promise<Asked> {
  asked_in_all += 1
  const { method } = methodAndPath(endpoint)
  const stop = new AbortController()
  const response = await fetch(`${service.url}/console/api${path}`, {
    method,
    headers: {
      ...(method === 'GET' ? {} : { origin: service.url, 'content-type': 'application/json' }),
      ...headers,
    },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
    signal: stop.signal,
  })
  const { status } = response
  const streams = status === 200 && endpoint.reply.type === 'text/event-stream'
  const text = streams ? '' : await response.text()
  if (streams) stop.abort()
  const code = /"code":"([a-z_]+)"/.exec(status >= 400 ? text : '')?.[1]
  return { status, code, text }
}

/** The playground tells what the API answered: that is the answer. */
function relayed(asked: Asked): Asked {
  const status =
    asked.status === 200 ? /^\{"request_id":"\w+","status":(\d+)/.exec(asked.text)?.[1] : undefined
  return status === undefined ? asked : { ...asked, status: Number(status) }
}

const as = ({ cookie, csrf_token }: Client) => ({ cookie: cookie!, 'x-csrf-token': csrf_token! })

/** Let in: told of the field that no call knows; or a reading, of something or of nothing. */
function isLetIn(endpoint: ConsoleEndpoint, { status, code, text }: Asked): void {
  const what = `${endpoint.name}: ${status} ${text.slice(0, 300)}`
  if (methodAndPath(endpoint).method === 'GET') {
    expect([200, 400, 404], what).toContain(status)
    expect(code, what).not.toBe('route_not_found')
  } else expect([status, code], what).toEqual([400, 'invalid_request'])
}

/** In the order of the gate. */
function expectedOf(
  endpoint: ConsoleEndpoint,
  role: Role,
  { proved, environment }: { proved: boolean; environment: Environment },
): 'in' | [number, string] {
  const { permit, proof } = endpoint
  if (permit === 'anybody') return 'in'
  if (isOfOperator(permit) && !(operatorRoles as readonly string[]).includes(role))
    return [404, 'route_not_found']
  const leave = leaveOf(permit, role)
  if (leave === undefined) return [403, 'not_permitted']
  const asks =
    proof === 'always' || (leave === 'proof' && !(proof === 'production' && environment === 'sandbox'))
  return asks && !proved ? [403, 'proof_needed'] : 'in'
}

test('every call has a row in the table, and few are for everybody', () => {
  const rows = [...Object.keys(partnerPermits), ...Object.keys(operatorPermits), 'self', 'anybody']
  for (const { name, permit } of consoleEndpoints) expect(rows, name).toContain(permit)
  const of = (permit: string) =>
    consoleEndpoints.filter((one) => one.permit === permit).map(({ name }) => name)
  expect(of('anybody')).toEqual([
    'console.session.get',
    'console.session.sign_in',
    'console.links.look',
    'console.links.use',
  ])
  for (const name of of('self')) expect(name).toMatch(/^console\.(session|me)\./)
  for (const { name, permit, route } of consoleEndpoints)
    expect(isOfOperator(permit), name).toBe(route.includes('/console/api/operator/'))
})

describe.each(consoleEndpoints.map((endpoint) => [endpoint.name, endpoint] as const))('%s', (_, endpoint) => {
  const first = () => pathOf(endpoint, environmentsOf(endpoint)[0]!)

  test('nobody, and an API key, opens it only where everybody may', async () => {
    for (const headers of [
      {},
      { authorization: `Bearer ${key}` },
      { cookie: `__Host-sid=${'x'.repeat(43)}` },
    ]) {
      const asked = await ask(endpoint, first(), { headers: headers as Record<string, string> })
      if (endpoint.permit === 'anybody') isLetIn(endpoint, asked)
      else expect([asked.status, asked.code]).toEqual([401, 'not_signed_in'])
    }
  })

  test('each role may what the table says', async () => {
    for (const [role, client] of Object.entries(clients) as [Role, Client][])
      for (const environment of environmentsOf(endpoint)) {
        const asked = await ask(endpoint, pathOf(endpoint, environment), { headers: as(client) })
        const expected = expectedOf(endpoint, role, { proved: true, environment })
        if (expected === 'in') isLetIn(endpoint, asked)
        else expect([asked.status, asked.code], `${role} ${environment}`).toEqual(expected)
      }
  })

  test('another page changes nothing', async () => {
    if (methodAndPath(endpoint).method === 'GET') return
    const role = isOfOperator(endpoint.permit) ? 'admin' : 'owner'
    const own = as(clients[role])
    const { 'x-csrf-token': _token, ...without } = own
    const foreign = [
      { ...own, origin: 'https://elsewhere.example' },
      { ...own, origin: 'null' },
      { ...own, 'content-type': 'text/plain' },
      { ...own, 'content-type': 'application/x-www-form-urlencoded' },
      { ...own, 'x-csrf-token': 'guess' },
      without,
    ]
    for (const headers of foreign) {
      const asked = await ask(endpoint, first(), { headers })
      expect([asked.status, asked.code]).toEqual([403, 'cross_site_request'])
    }
  })

  test('a name in the query that it does not know is refused, whatever it says', async () => {
    if (methodAndPath(endpoint).method !== 'GET') return
    const client = clients[isOfOperator(endpoint.permit) ? 'admin' : 'owner']
    const query = new URLSearchParams({ "false OR 'x'": 'x' })
    const asked = await ask(endpoint, `${first()}?${query}`, { headers: as(client) })
    expect([asked.status, asked.code], asked.text).toEqual([400, 'invalid_request'])
  })

  test('what is of another partner, or of the other environment, is not there', async () => {
    if (!endpoint.params || isOfOperator(endpoint.permit)) return
    const ids = Object.keys(endpoint.params.properties).filter((name) => name !== 'environment')
    if (ids.length === 0) return
    const body = endpoint.body ? exampleOf(endpoint.body, true) : {}
    const theirs = relayed(
      await ask(endpoint, pathOf(endpoint, 'sandbox', true), { headers: as(stranger), body }),
    )
    expect(theirs.status, theirs.text).toBe(theirs.status === 400 ? 400 : 404)
    if (methodAndPath(endpoint).method !== 'GET') return
    expect(theirs.status).toBe(404)
    if (!owns(endpoint) || endpoint.sandbox_only) return
    const elsewhere = await ask(endpoint, pathOf(endpoint, 'production', true), {
      headers: as(clients.owner),
    })
    expect(elsewhere.status, elsewhere.text).toBe(404)
  })

  test('no other environment than the two exists, and what is of the sandbox is nowhere else', async () => {
    if (!owns(endpoint)) return
    const client = clients[isOfOperator(endpoint.permit) ? 'admin' : 'owner']
    const nowhere = endpoint.sandbox_only ? ['live', 'production'] : ['live', 'shared', 'Sandbox']
    for (const environment of nowhere) {
      const asked = await ask(endpoint, pathOf(endpoint, environment as Environment), { headers: as(client) })
      expect([asked.status, asked.code]).toEqual([404, 'route_not_found'])
    }
  })
})

test('without a fresh proof, what takes one is refused', async () => {
  const all = Object.entries(clients) as [Role, Client][]
  for (const [, client] of all) await prove(client, UNPROVED)
  for (const endpoint of consoleEndpoints)
    for (const [role, client] of all)
      for (const environment of environmentsOf(endpoint)) {
        const asked = await ask(endpoint, pathOf(endpoint, environment), { headers: as(client) })
        const expected = expectedOf(endpoint, role, { proved: false, environment })
        if (expected === 'in') isLetIn(endpoint, asked)
        else expect([asked.status, asked.code], `${endpoint.name} ${role} ${environment}`).toEqual(expected)
      }
  for (const [, client] of all) await prove(client, PROVED)
})

test('who has no second factor does nothing as an operator, and nothing that says so', async () => {
  const { partner_id } = await service.partner()
  const plain = {
    owner: await signedIn(service, { partner_id, role: 'owner' }),
    admin: await signedIn(service, { role: 'admin' }),
  }
  for (const endpoint of consoleEndpoints.filter((one) => one.factor || isOfOperator(one.permit)))
    for (const environment of environmentsOf(endpoint)) {
      const client = plain[isOfOperator(endpoint.permit) ? 'admin' : 'owner']
      const asked = await ask(endpoint, pathOf(endpoint, environment), { headers: as(client) })
      if (isOfOperator(endpoint.permit) || endpoint.factor === 'always' || environment === 'production')
        expect([asked.status, asked.code], endpoint.name).toEqual([403, 'factor_needed'])
      else isLetIn(endpoint, asked)
    }
})

test('whose second factor was reset makes no key of production for a day', async () => {
  const { id } = clients.developer.person.user
  const shut = (until: string) => sql(`UPDATE shared.users SET keys_shut_until = ${until} WHERE id = '${id}'`)
  await shut(`clock_timestamp() + interval '1 hour'`)
  for (const endpoint of consoleEndpoints.filter((one) => one.factor === 'production'))
    for (const environment of environmentsOf(endpoint)) {
      const asked = await ask(endpoint, pathOf(endpoint, environment), { headers: as(clients.developer) })
      if (environment === 'production') expect([asked.status, asked.code]).toEqual([403, 'not_permitted'])
      else isLetIn(endpoint, asked)
    }
  await shut('NULL')
})

test('a session opens nothing of the API', async () => {
  const { cookie, 'x-csrf-token': token } = as(clients.owner)
  for (const path of ['/v1/customers', '/v1/balances', '/v1/events']) {
    const reply = await fetch(`${service.url}${path}`, { headers: { cookie, 'x-csrf-token': token } })
    expect(reply.status).toBe(401)
    const bearer = { authorization: `Bearer ${cookie.split('=')[1]}` }
    expect((await fetch(`${service.url}${path}`, { headers: bearer })).status).toBe(401)
  }
})

test('a request of our own page needs no more than a browser says by itself', async () => {
  const { owner } = clients
  const send = (headers: Record<string, string>) =>
    fetch(`${service.url}/console/api/me`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', ...as(owner), ...headers },
      body: '{}',
    })
  expect((await send({ origin: service.url })).status).toBe(200)
  expect((await send({ 'sec-fetch-site': 'same-origin' })).status).toBe(200)
  expect((await send({ 'sec-fetch-site': 'same-site' })).status).toBe(403)
  expect((await send({})).status).toBe(403)
})

test('nobody is signed in by another page', async () => {
  const { user, password } = clients.owner.person
  const client = openConsole(service.url)
  const forced = await client.post(
    '/session',
    { email: user.email, password },
    { origin: 'https://elsewhere.example' },
  )
  expect(forced.json.error.code).toBe('cross_site_request')
  expect(client.cookie).toBe(undefined)
})
