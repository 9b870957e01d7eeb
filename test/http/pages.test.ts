import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { errorCodes } from '../../src/core/errors.ts'
import { endpoints } from '../../src/doors/api/endpoints.ts'
import { methodAndPath } from '../../src/http/endpoint.ts'
import { revokeKey } from '../../src/parties/keys/keys.ts'
import { openApi, type Reply } from '../support/api.ts'
import { freePort } from '../support/free-port.ts'
import { expectIntact } from '../support/intact.ts'
import { scrape } from '../support/metrics.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { ask } from '../support/sockets.ts'
import { roomInMinute, until } from '../support/wait.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

async function startOwn(env: Record<string, string>): Promise<TestService> {
  const own = await startTestService(env)
  onTestFinished(() => own.stop())
  return own
}

const pages = {
  '/healthz': 'application/json',
  '/readyz': 'application/json',
  '/openapi.json': 'application/json',
  '/docs': 'text/html',
  '/docs/errors': 'text/html',
  ...Object.fromEntries(errorCodes.map((code) => [`/docs/errors/${code}`, 'text/html'])),
}

describe('a page opens without a key, and shows the rate-limit headers', () => {
  test.each(Object.entries(pages))('%s', async (path, type) => {
    const nobody = openApi(service.url, undefined)
    for (const headers of [{}, { authorization: 'nonsense' }, { accept: 'text/html' }]) {
      const reply = await nobody.send('GET', path, { headers })
      expect(reply.status).toBe(200)
      expect(reply.headers.get('content-type')).toContain(type)
      expect(reply.headers.get('x-ratelimit-limit')).toBe('100')
      expect(reply.text.length).toBeGreaterThan(10)
    }
    expect((await nobody.send('HEAD', path)).status).toBe(200)
  })
})

test('the bare address leads to the reference', async () => {
  for (const method of ['GET', 'HEAD']) {
    const reply = await fetch(`${service.url}/`, { method, redirect: 'manual' })
    expect([reply.status, reply.headers.get('location')]).toEqual([302, '/docs'])
    expect(reply.headers.get('x-request-id')).toBeTruthy()
    expect(reply.headers.get('x-ratelimit-limit')).toBe('100')
  }
  const followed = await fetch(service.url)
  expect(followed.headers.get('content-type')).toContain('text/html')
})

test('pages consume nothing, neither of the address nor of a key', async () => {
  const { key, api } = await service.partner({ limited: true })
  const nobody = openApi(service.url, undefined)
  await roomInMinute(10)
  const remaining = async (reply: Promise<Reply>) =>
    Number((await reply).headers.get('x-ratelimit-remaining'))
  const before = await remaining(nobody.get('/v1/customers'))
  const used = (await api.get('/v1/usage')).json
  for (const path of Object.keys(pages)) {
    for (const headers of [{}, { authorization: `Bearer ${key}` }])
      expect(await remaining(nobody.send('GET', path, { headers }))).toBe(before)
  }
  expect(await remaining(nobody.get('/v1/customers'))).toBe(before - 1)
  const after = (await api.get('/v1/usage')).json
  expect([after.minute.used, after.day.used]).toEqual([used.minute.used + 1, used.day.used + 1])
})

describe('metrics', () => {
  const status = async (url: string, headers: Record<string, string> = {}) =>
    (await openApi(url, undefined).send('GET', '/metrics', { headers })).status

  test('without a token and a port of their own are for nobody: a proxy on this machine would hand them on', async () => {
    const own = await startOwn({ METRICS_TOKEN: '' })
    const reply = await openApi(own.url, undefined).get('/metrics')
    expect(reply.status).toBe(401)
    expect(reply.json.error.message).toContain('METRICS_PORT')
    expect(await status(own.url, { authorization: 'Bearer' })).toBe(401)
    expect(await status(own.url, { authorization: 'Bearer undefined' })).toBe(401)
  })

  test('with METRICS_TOKEN are for whoever has it', async () => {
    const own = await startOwn({ METRICS_TOKEN: 'a-token-of-metrics' })
    const { key } = await own.partner()
    for (const authorization of [
      '',
      'Bearer',
      'Bearer wrong',
      'a-token-of-metrics',
      'Bearer a-token-of-metrics2',
      `Bearer ${key}`,
    ])
      expect(await status(own.url, { authorization })).toBe(401)
    expect(await status(own.url)).toBe(401)
    expect(await status(own.url, { authorization: 'Bearer a-token-of-metrics' })).toBe(200)
    expect(
      await status(own.url, { authorization: 'Bearer a-token-of-metrics', 'x-forwarded-for': '203.0.113.7' }),
    ).toBe(200)
  })

  test('with METRICS_PORT are on that port and no other', async () => {
    const port = await freePort()
    const own = await startOwn({ METRICS_PORT: String(port), METRICS_TOKEN: '' })
    expect(await status(own.url)).toBe(404)
    const response = await fetch(`http://127.0.0.1:${port}/metrics`)
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('trilho_http_request_seconds')
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(404)
    expect((await fetch(`http://127.0.0.1:${port}/v1/customers`)).status).toBe(404)
  })

  test('count by route, and never by what a caller chose to ask for', async () => {
    const { api } = await service.partner()
    for (const path of [
      '/v1/customers/cus_chosen',
      '/v1/chosen',
      '/chosen',
      '/v1/customers/%zz',
      '/docs/errors/chosen',
    ])
      await api.get(path)
    const text = await scrape(service.url)
    expect(text).toContain('route="/v1/customers/:customer_id"')
    expect(text).not.toContain('chosen')
  })
})

test('openapi.json names this server and every route', async () => {
  const { json } = await openApi(service.url, undefined).get('/openapi.json')
  expect(json.openapi).toMatch(/^3\./)
  expect(json.servers[0].url).toBe(service.url)
  for (const endpoint of endpoints) {
    const { method, path } = methodAndPath(endpoint)
    expect(json.paths[path]?.[method.toLowerCase()]).toBeDefined()
  }
})

describe('every doc_url opens the page of its code', () => {
  test('whatever the error', async () => {
    const { partner_id, api } = await service.partner()
    const reader = await service.partner({ partner_id, scopes: ['read'] })
    const live = await service.partner({ partner_id, environment: 'production' })
    const elsewhere = await service.partner({ ip_allowlist: ['203.0.113.7'] })
    const revoked = await service.partner()
    await revokeKey(service.worlds.sandbox, revoked.key_id)
    // Of the same partner: a new one may take longer to make than the key is good for.
    const expired = await service.partner({ partner_id, expires_at: new Date(Date.now() + 3000) })
    await until(async () => (await expired.api.get('/v1/usage')).status === 401, 20_000)
    await until(async () => (await revoked.api.get('/v1/usage')).status === 401, 20_000)
    const nobody = openApi(service.url, undefined)
    const customer = { name: 'Ana Souza', document: someCpf() }
    const { id: customer_id } = (await api.post('/v1/customers', customer)).json
    const amount = '999999999999999999'
    await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount })
    const replies = {
      missing_authorization: nobody.get('/v1/customers'),
      invalid_api_key: openApi(service.url, 'wrong').get('/v1/customers'),
      revoked_api_key: revoked.api.get('/v1/customers'),
      expired_api_key: expired.api.get('/v1/customers'),
      ip_not_allowed: elsewhere.api.get('/v1/customers'),
      insufficient_scope: reader.api.post('/v1/customers', customer),
      sandbox_only: live.api.post('/v1/sandbox/deposits', {}),
      invalid_json: api.send('POST', '/v1/customers', {
        body: '{',
        headers: { 'content-type': 'application/json' },
      }),
      invalid_request: api.get('/v1/customers?limit=0'),
      invalid_amount: api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: 1 }),
      amount_too_large: api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount }),
      customer_not_found: api.get('/v1/customers/cus_none'),
      customer_exists: api.post('/v1/customers', customer),
      route_not_found: nobody.get('/nothing'),
      method_not_allowed: api.delete('/v1/customers'),
      body_too_large: api.post('/v1/customers', { name: 'a'.repeat(70_000) }),
      unsupported_media_type: api.send('POST', '/v1/customers', {
        body: '{}',
        headers: { 'content-type': 'text/plain' },
      }),
      headers_too_large: ask(service.url, `GET / HTTP/1.1\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`),
    }
    for (const [code, reply] of Object.entries(replies)) {
      const { error } = (await reply).json
      expect(error.code).toBe(code)
      expect(error.doc_url).toBe(`${service.url}/docs/errors/${code}`)
      const page = await fetch(error.doc_url)
      expect(page.status).toBe(200)
      expect(await page.text()).toContain(code)
    }
  })

  test('under PUBLIC_URL, where partners reach the service', async () => {
    const own = await startOwn({ PUBLIC_URL: 'https://api.example.com/' })
    const { doc_url } = (await openApi(own.url, undefined).get('/v1/customers')).json.error
    expect(doc_url).toBe('https://api.example.com/docs/errors/missing_authorization')
    expect((await fetch(own.url + new URL(doc_url).pathname)).status).toBe(200)
  })

  test('and a code that does not exist has no page', async () => {
    for (const code of [
      'nothing',
      'constructor',
      '__proto__',
      'invalid_json%00',
      'INVALID_JSON',
      'a'.repeat(300),
    ]) {
      const response = await fetch(`${service.url}/docs/errors/${code}`)
      expect(response.status).toBe(404)
      expect(((await response.json()) as any).error.code).toBe('route_not_found')
    }
  })
})

test('afterwards the books are right', () => expectIntact(service))
