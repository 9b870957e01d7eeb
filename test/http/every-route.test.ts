import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endpoints } from '../../src/doors/api/endpoints.ts'
import { type Endpoint, methodAndPath } from '../../src/http/endpoint.ts'
import { type Api, openApi, type Reply } from '../support/api.ts'
import { expectIntact } from '../support/intact.ts'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService
let api: Api
let partner_id: string
let live: Api
let scopeless: Api
beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: '127.0.0.1' })
  ;({ partner_id, api } = await service.partner())
  live = (await service.partner({ partner_id, environment: 'production' })).api
  scopeless = (await service.partner({ partner_id, scopes: [] })).api
})
afterAll(() => service.stop())

/** The declared path, with ids of nobody, or this text, in the places of its parameters. */
function pathOf(endpoint: Endpoint, text?: string): string {
  const properties: Record<string, any> = endpoint.params?.properties ?? {}
  return methodAndPath(endpoint).path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(text ?? properties[name]?.examples?.[0] ?? 'x'),
  )
}

const json = { 'content-type': 'application/json' }

/** A key may ask for few redeliveries a minute: these get a new one each time. */
const clientFor = async (client: Api, endpoint: Endpoint): Promise<Api> =>
  client === api && endpoint.redelivers ? (await service.partner({ partner_id })).api : client

async function call(
  client: Api,
  endpoint: Endpoint,
  options: { query?: string; body?: string; address?: string } = {},
): Promise<Reply> {
  const { query = '', body, address = '198.51.100.1' } = options
  const headers = { 'x-forwarded-for': address, ...(body === undefined ? {} : json) }
  const { method } = methodAndPath(endpoint)
  const sender = await clientFor(client, endpoint)
  return sender.send(method, pathOf(endpoint) + query, { headers, ...(body === undefined ? {} : { body }) })
}

const example = (endpoint: Endpoint, more: Record<string, unknown> = {}) =>
  endpoint.body ? { body: JSON.stringify({ ...endpoint.example, ...more }) } : {}

const declared = endpoints.map((endpoint, i) => ({
  route: endpoint.route,
  endpoint,
  address: `198.51.100.${i + 2}`,
}))
const only = (fits: (endpoint: Endpoint) => unknown) => declared.filter(({ endpoint }) => fits(endpoint))

test('there are routes to try', () => expect(endpoints.length).toBeGreaterThan(5))

describe('without a key: missing_authorization', () => {
  test.each(declared)('$route', async ({ endpoint, address }) => {
    const nobody = openApi(service.url, undefined)
    for (const options of [{}, example(endpoint), { query: '?no_such_field=1' }]) {
      const reply = await call(nobody, endpoint, { ...options, address })
      expect(reply.status).toBe(401)
      expect(reply.json.error.code).toBe('missing_authorization')
    }
  })
})

describe('with a key that has no scope: insufficient_scope, before anything else of the request is looked at', () => {
  test.each(only(({ scopes }) => scopes))('$route', async ({ endpoint }) => {
    for (const options of [{}, example(endpoint), { body: '{' }, { query: '?no_such_field=1' }]) {
      if (methodAndPath(endpoint).method === 'GET' && 'body' in options) continue
      const { status, json } = await call(scopeless, endpoint, options)
      expect([status, json.error.code]).toEqual([403, 'insufficient_scope'])
    }
  })
})

describe('a live key', () => {
  test.each(only(({ sandbox_only }) => sandbox_only))('is refused: $route', async ({ endpoint }) => {
    for (const options of [{}, example(endpoint)]) {
      const { status, json } = await call(live, endpoint, options)
      expect([status, json.error.code]).toEqual([403, 'sandbox_only'])
    }
  })

  test.each(only(({ sandbox_only }) => !sandbox_only))(
    'is not refused for being live: $route',
    async ({ endpoint }) => {
      // A field too many, so that no call gets as far as a rail that production does not have here.
      const reply = await call(live, endpoint, { query: '?no_such_field=1', ...example(endpoint) })
      expect(reply.json.error.code).toBe('invalid_request')
    },
  )
})

describe('with a method that the path does not take: method_not_allowed, and Allow names those it takes', () => {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']
  const takes = (path: string) =>
    endpoints
      .map(methodAndPath)
      .filter((route) => route.path === path)
      .map((route) => route.method)
  test.each(declared)('$route', async ({ endpoint }) => {
    const { path } = methodAndPath(endpoint)
    const allowed: string[] = takes(path)
    if (allowed.includes('GET')) allowed.push('HEAD')
    for (const method of methods.filter((each) => !allowed.includes(each))) {
      const reply = await api.send(method, pathOf(endpoint))
      expect(reply.status).toBe(405)
      expect(reply.headers.get('allow')?.split(', ').sort()).toEqual(allowed.toSorted())
      if (method !== 'HEAD') expect(reply.json.error.code).toBe('method_not_allowed')
    }
  })
})

describe('HEAD answers as GET does', () => {
  test.each(only(({ route }) => route.startsWith('GET ')))('$route', async ({ endpoint }) => {
    const reply = await call(api, endpoint)
    const head = await fetch(service.url + pathOf(endpoint), {
      method: 'HEAD',
      headers: { authorization: `Bearer ${(await service.partner()).key}` },
    })
    expect([head.status, await head.text()]).toEqual([reply.status, ''])
    expect(head.headers.get('x-ratelimit-remaining')).toBe('9999999')
  })
})

describe('a field that does not exist is refused by name', () => {
  test.each(declared)('in the query of $route', async ({ endpoint }) => {
    const { status, json } = await call(api, endpoint, { query: '?no_such_field=1', ...example(endpoint) })
    expect(status).toBe(400)
    expect(json.error).toMatchObject({ code: 'invalid_request', param: 'no_such_field' })
  })

  test.each(only(({ body }) => body))('in the body of $route', async ({ endpoint }) => {
    for (const value of [1, null, 'x', {}, []]) {
      const { status, json } = await call(api, endpoint, example(endpoint, { no_such_field: value }))
      expect(status).toBe(400)
      expect(json.error).toMatchObject({ code: 'invalid_request', param: 'no_such_field' })
    }
  })
})

describe('a path parameter that no id can be gets a 4xx', () => {
  test.each(only(({ params }) => params))('$route', async ({ endpoint }) => {
    for (const text of ['x\0', '\0', '\u{1F4A9}', '__proto__', 'x'.repeat(2000)]) {
      const { method } = methodAndPath(endpoint)
      const { body } = example(endpoint) as { body?: string }
      const reply = await api.send(
        method,
        pathOf(endpoint, text),
        body === undefined ? {} : { headers: json, body },
      )
      expect(reply.status).toBeGreaterThanOrEqual(400)
      expect(reply.status).toBeLessThan(500)
    }
  })
})

describe('a body that says little, or nothing, is answered', () => {
  const bodies = [undefined, '', ' ', '{}', 'null', 'true', '0', '""', '[]', '[{}]', '{', '\0', '{"a":1}']
  test.each(only(({ route }) => !route.startsWith('GET ')))('$route', async ({ endpoint }) => {
    for (const body of bodies) {
      const { status } = await call(api, endpoint, body === undefined ? {} : { body })
      const says_nothing = body === '{}' || (endpoint.body_optional && !body)
      if (endpoint.body && !says_nothing) expect(status).toBe(400)
      else expect(status).toBeLessThan(500)
    }
  })
})

describe('a field of the wrong type is refused', () => {
  const wrong = [null, true, 0, -1, 1.5, 1e300, '', ' ', '\u202e', 'x'.repeat(10_000), [], [[]], {}, { a: 1 }]
  test.each(only(({ body }) => body))('$route', async ({ endpoint }) => {
    for (const field of Object.keys(endpoint.body!.properties)) {
      for (const value of wrong) {
        const { status } = await call(api, endpoint, example(endpoint, { [field]: value }))
        expect(status, `${field}: ${JSON.stringify(value).slice(0, 40)}`).toBeLessThan(500)
      }
    }
  })
})

test('afterwards the books are right', () => expectIntact(service))
