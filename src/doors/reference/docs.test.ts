import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import Fastify, { type FastifyInstance } from 'fastify'
import pino from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Refusal } from '../../core/errors.ts'
import { pageSecurityPolicy } from '../../http/headers.ts'
import { registerDocs } from './docs.ts'
import type { OpenApi } from './openapi.ts'

const ADDRESS = "https://pay.example.com/it's&"
const folder = fileURLToPath(new URL('../../../dist/docs/', import.meta.url))
const openapi = { openapi: '3.1.0' } as OpenApi

const clock = { time: Date.UTC(2026, 10, 15, 12), now: () => clock.time, adjust: () => {} }

let app: FastifyInstance
let asked = 0
/** Bodies of responses, as the node keeps them in memory. */
const bodies: unknown[] = []

beforeAll(() => {
  app = Fastify()
  app.addHook('onSend', async (_request, _reply, body) => void bodies.push(body))
  app.setErrorHandler((error, _, reply) => {
    if (!(error instanceof Refusal)) return reply.code(500).send({ code: `${error}` })
    const { status, code, retry_after_seconds, details } = error
    return reply.code(status).send({ code, retry_after_seconds, details })
  })
  const described = () => {
    asked++
    return openapi
  }
  const log = pino({ level: 'silent' })
  registerDocs(app, { public_url: () => ADDRESS, openapi: described, clock, log })
})
afterAll(() => app.close())
// Each test begins in a new second, with no search counted in it.
beforeEach(() => void (clock.time += 1000))

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })
const zipped = { 'accept-encoding': 'br, gzip' }

test.each([
  ['/docs', 'text/html'],
  ['/docs/quickstart', 'text/html'],
  ['/docs/pt', 'text/html'],
  ['/docs/api/pix', 'text/html'],
  ['/docs/api/events/pix.payout.completed', 'text/html'],
  ['/docs/errors/quote_expired', 'text/html'],
  ['/docs/pt/errors/quote_expired', 'text/html'],
  ['/docs/search', 'text/html'],
  ['/docs/index.md', 'text/markdown'],
  ['/docs/api/events/pix.payout.completed.md', 'text/markdown'],
  ['/docs/changelog.xml', 'application/atom+xml'],
  ['/docs/search/en.json', 'application/json'],
  ['/llms.txt', 'text/plain'],
  ['/openapi.json', 'application/json'],
  ['/openapi.yaml', 'application/yaml'],
])('%s is %s, compressed if the client accepts it', async (url, type) => {
  const plain = await get(url)
  expect([plain.statusCode, plain.headers['content-encoding']]).toEqual([200, undefined])
  expect(plain.headers['content-type']).toBe(`${type}; charset=utf-8`)
  expect(plain.headers['content-security-policy']).toBe(pageSecurityPolicy)
  if (url === '/docs/search') return
  expect(plain.headers.vary).toBe('accept-encoding')
  expect(plain.headers['cache-control']).toBe('no-cache')
  const packed = await get(url, zipped)
  expect(packed.headers['content-encoding']).toBe('gzip')
  expect(gunzipSync(packed.rawPayload).toString()).toBe(plain.body)
  expect(packed.headers.etag).not.toBe(plain.headers.etag)
})

test.each(['/docs', '/openapi.json', '/openapi.yaml', '/docs/search'])(
  'all responses with an uncompressed %s share one copy of the body',
  async (url) => {
    await get(url)
    await get(url)
    const [first, second] = bodies.slice(-2)
    expect(first).toBeInstanceOf(Buffer)
    expect(second).toBe(first)
  },
)

test.each(['gzip;q=0', 'identity', 'br', 'gzip;q=0.000', 'xgzip'])(
  '%s gets it uncompressed',
  async (accepted) => {
    expect((await get('/docs', { 'accept-encoding': accepted })).headers['content-encoding']).toBeUndefined()
  },
)

test.each(['gzip', 'GZIP', 'br;q=1, gzip;q=0.5', '*'])('%s gets it compressed', async (accepted) => {
  expect((await get('/docs', { 'accept-encoding': accepted })).headers['content-encoding']).toBe('gzip')
})

test('a matching ETag gets 304', async () => {
  for (const url of ['/docs', '/docs/errors.md', '/openapi.json']) {
    const etag = String((await get(url, zipped)).headers.etag)
    for (const seen of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await get(url, { ...zipped, 'if-none-match': seen })
      expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', etag])
    }
    expect((await get(url, { ...zipped, 'if-none-match': '"other"' })).statusCode).toBe(200)
  }
})

test('a file with a hash in its name is cached for ever', async () => {
  const page = (await get('/docs')).body
  const [, script] = /<script src="([^"]+)"/.exec(page)!
  const [, style] = /<link rel="stylesheet" href="([^"]+)"/.exec(page)!
  const [, font] = /url\("?(\/docs\/[^")]+\.woff2)/.exec((await get(style!)).body)!
  for (const [url, type] of [
    [script, 'text/javascript; charset=utf-8'],
    [style, 'text/css; charset=utf-8'],
    [font, 'font/woff2'],
  ]) {
    const { statusCode, headers } = await get(url!)
    expect([statusCode, headers['content-type']]).toEqual([200, type])
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
  }
})

test('the server’s address is filled in, escaped', async () => {
  const page = (await get('/docs/api/pix')).body
  expect(page).toContain('https://pay.example.com/it&#39;s&amp;/v1/pix/payouts')
  expect((await get('/docs/api/pix.md')).body).toContain(`${ADDRESS}/v1/pix/payouts`)
  expect((await get('/llms.txt')).body).toContain(`(${ADDRESS}/docs/quickstart.md)`)
  for (const url of ['/docs', '/docs/quickstart', '/docs/api/pix', '/docs/changelog.xml', '/llms.txt'])
    expect((await get(url)).body).not.toContain('127.0.0.1:8080')
})

describe('an address without a page', () => {
  test.each([
    '/docs/nothing',
    '/docs/errors/nothing',
    '/docs/404',
    '/docs/index.html',
    '/docs/nothing/',
    '/docs/404/',
    '/docs/pt/404',
    '/docs/%2e%2e%2fpackage.json',
    '/docs/assets',
    '/docs/assets/',
    '/docs//example.com/',
    '/docs/constructor',
  ])('%s', async (url) => {
    const person = await get(url, { accept: 'text/html,*/*;q=0.8' })
    expect(person.statusCode).toBe(404)
    expect(person.body).toContain(url.startsWith('/docs/pt/') ? 'Página não encontrada' : 'No such page')
    expect(person.headers['content-security-policy']).toBe(pageSecurityPolicy)
    expect((await get(url)).statusCode).toBe(404)
  })

  test('programs get the error object', async () => {
    expect((await get('/docs/errors/nothing')).json()).toEqual({ code: 'route_not_found' })
  })
})

test.each([
  ['/docs/', '/docs'],
  ['/docs/quickstart/', '/docs/quickstart'],
  ['/docs/errors/', '/docs/errors'],
  ['/docs/api/events/pix.payout.completed/', '/docs/api/events/pix.payout.completed'],
  ['/docs/search/?q=pix', '/docs/search?q=pix'],
  ['/docs/pt/', '/docs/pt'],
  ['/docs/guides', '/docs/guides/money'],
  ['/docs/operate/', '/docs/operate/install'],
  ['/docs/openapi.json', '/openapi.json'],
])('%s leads to %s', async (typed, page) => {
  const { statusCode, headers } = await get(typed)
  expect([statusCode, headers.location]).toEqual([308, page])
  expect((await get(page)).statusCode).toBe(200)
})

test('openapi.json is served, and generated once', async () => {
  expect((await get('/openapi.json')).json()).toEqual(openapi)
  expect(asked).toBe(1)
})

describe('search without JavaScript', () => {
  test.each(['idempotency', 'timeout@sandbox.test', 'quote_expired'])('finds %s', async (word) => {
    const { body, headers } = await get(`/docs/search?q=${encodeURIComponent(word)}`)
    expect(body).toMatch(/<ol class="results"><li><a href="\/docs\//)
    expect(body).toContain(`value="${word}"`)
    expect(headers['cache-control']).toBe('no-cache')
  })

  test('in Portuguese, too', async () => {
    expect((await get('/docs/pt/search?q=saldo')).body).toContain(
      '<a href="/docs/pt/errors/insufficient_balance">',
    )
  })

  test.each([
    ['/docs/search', 'saldo', 'In Portuguese', '/docs/pt/errors/insufficient_balance'],
    ['/docs/search', 'pagamento', 'In Portuguese', '/docs/pt/quickstart'],
    ['/docs/pt/search', 'timeout@sandbox.test', 'Em inglês', '/docs/guides/sandbox#'],
    ['/docs/pt/search', 'devolução', 'Em inglês', '/docs/guides/reconcile'],
  ])('%s shows the other language too, if only that has the word as it was typed: %s', async (...row) => {
    const [page, word, said, address] = row
    const { body } = await get(`${page}?q=${encodeURIComponent(word)}`)
    expect(body).toContain(`<h2>${said}</h2>`)
    expect(body.slice(body.indexOf(`<h2>${said}</h2>`))).toContain(`<a href="${address}`)
  })

  test.each(['saldo', 'webhok', 'how do I convert brl to usdt'])('%s finds English pages', async (word) => {
    const { body } = await get(`/docs/search?q=${encodeURIComponent(word)}`)
    expect(body).toMatch(/<ol class="results"><li><a href="\/docs\/(?!pt\/)/)
  })

  test.each(['%3Cscript%3Ealert(1)%3C/script%3E', '%22%3E%3Cb%3E', '$%26$1', '%25query%25'])(
    'shows %s as text',
    async (query) => {
      const { body, statusCode } = await get(`/docs/search?q=${query}`)
      expect(statusCode).toBe(200)
      expect(body).not.toMatch(/<script>alert|"><b>|<!--results-->/)
    },
  )

  test('is limited to 20 searches a second, over all addresses and both languages', async () => {
    const ask = (i: number) => get(`${i % 2 === 0 ? '/docs/search' : '/docs/pt/search'}?q=pix`)
    const statuses = (replies: readonly { statusCode: number }[]) =>
      replies.map(({ statusCode }) => statusCode)
    const replies = await Promise.all(Array.from({ length: 22 }, (_, i) => ask(i)))
    expect(statuses(replies)).toEqual([...Array(20).fill(200), 429, 429])
    expect(replies[21]!.json()).toEqual({
      code: 'rate_limit_exceeded',
      retry_after_seconds: 1,
      details: { limit: 20, retry_after_seconds: 1 },
    })
    // Pages and the empty form are not searches.
    expect(statuses([await get('/docs/search'), await get('/docs')])).toEqual([200, 200])
    clock.time += 1000
    expect((await ask(0)).statusCode).toBe(200)
  })

  test.each(['', '?q=', '?q=a&q=b', '?other=1', `?q=${'a'.repeat(3000)}`])('takes %s', async (query) => {
    expect((await get(`/docs/search${query}`)).statusCode).toBe(200)
  })
})

describe('budgets, compressed', () => {
  const sizes = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.gz'))
    .map((name) => ({ name, bytes: readFileSync(join(folder, name)).length }))
  test.each([
    ['a page', /\.html\.gz$/, 40_000],
    ['the index of the search', /search\/\w\w\.json\.gz$/, 100_000],
    ['the style', /\.css\.gz$/, 10_000],
    ['the script', /\.js\.gz$/, 6_000],
  ])('%s', (_, pattern, most) => {
    const of = sizes.filter(({ name }) => pattern.test(name))
    expect(of.length).toBeGreaterThan(0)
    expect(of.filter(({ bytes }) => bytes > most)).toEqual([])
  })
})
