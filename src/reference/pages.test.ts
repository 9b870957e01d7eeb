import { readFileSync } from 'node:fs'
import Fastify, { type FastifyInstance } from 'fastify'
import { Type as T } from 'typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endpoints } from '../api/endpoints.ts'
import { errorCodes, errors, Refusal } from '../core/errors.ts'
import { commonErrors, type Endpoint, endpoint, errorsOf, methodAndPath } from '../http/endpoint.ts'
import { pageSecurityPolicy } from '../http/headers.ts'
import { Fields } from '../http/schema.ts'
import { eventSamples } from '../sandbox/samples.ts'
import { newSecret, showSecret, signatureHeaders } from '../webhooks/signature.ts'
import { buildOpenApi } from './openapi.ts'
import { registerPages, renderErrorIndex, renderErrorPage, renderReference } from './pages.ts'

const build = (declared: readonly Endpoint[] = endpoints) =>
  buildOpenApi({
    endpoints: declared,
    events: eventSamples(endpoints),
    public_url: 'https://api.example.com',
    version: '1.2.3',
  })

const openapi = build()
const reference = renderReference(openapi)
const pages: readonly (readonly [string, string])[] = [
  ['/docs', reference],
  ['/docs/errors', renderErrorIndex()],
  ...errorCodes.map((code) => [`/docs/errors/${code}`, renderErrorPage(code, openapi)] as const),
]

const textOf = (page: string) =>
  page
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

describe.each(pages)('%s', (path, page) => {
  const idsOf = (text: string) => [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!)

  test('loads nothing from elsewhere and has nothing inline', () => {
    for (const [, target] of page.matchAll(/ (?:src|href|action|srcset)="([^"]*)"/g))
      expect(target).toMatch(/^[/#](?!\/)/)
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?! src="\/docs\/script\.js" defer><\/script>)/)
  })

  test('has links that lead somewhere', () => {
    const ids = Object.fromEntries(pages.map(([key, text]) => [key, idsOf(text)]))
    for (const [, target = ''] of page.matchAll(/ href="([^"]*)"/g)) {
      const [to, id] = target.split('#') as [string, string | undefined]
      if (/\.(css|svg|json)$/.test(to)) continue
      expect(Object.keys(ids)).toContain(to || path)
      if (id) expect(ids[to || path]).toContain(id)
    }
  })

  test('names each place once, and has one main heading', () => {
    const ids = idsOf(page)
    expect(new Set(ids).size).toBe(ids.length)
    expect(page.match(/<h1/g)).toHaveLength(1)
  })
})

test.each(endpoints.map((declared) => [declared.route, declared] as const))(
  'the reference has %s',
  (_, declared) => {
    const { method, path } = methodAndPath(declared)
    const id = declared.name.replaceAll('.', '_')
    const article = textOf(
      reference.slice(reference.indexOf(`<article class="pair" id="${id}"`)).split('</article>')[0]!,
    )
    expect(article).toContain(declared.summary)
    expect(article).toContain(path)
    expect(article).toContain(`curl ${method === 'GET' ? '' : `-X ${method} `}https://api.example.com/v1/`)
    for (const part of [declared.params, declared.query, declared.body]) {
      for (const field of Object.keys(part?.properties ?? {})) expect(article).toContain(field)
    }
    const own = errorsOf(declared).filter((code) => !commonErrors.includes(code))
    for (const code of own) expect(article).toContain(code)
  },
)

test.each(errorCodes)('the page of %s says what it means', (code) => {
  const text = textOf(renderErrorPage(code, openapi))
  expect(text).toContain(errors[code].message)
  expect(text).toContain(errors[code].page.replaceAll('`', ''))
  expect(text).toContain(`https://api.example.com/docs/errors/${code}`)
  expect(renderErrorIndex()).toContain(`href="/docs/errors/${code}"`)
})

test('the check of a signature that the guide shows takes ours, and nothing else', async () => {
  const [code] = /import \{ createHmac[\s\S]*?\n\}/.exec(textOf(reference))!
  const { isOurs } = await import(`data:text/javascript,${encodeURIComponent(`${code}\nexport { isOurs }`)}`)
  const secret = newSecret()
  const body = '{"id":"evt_1"}'
  const headers = signatureHeaders({ id: 'evt_1', body, at: new Date(), secrets: [newSecret(), secret] })
  const old = signatureHeaders({ id: 'evt_1', body, at: new Date(Date.now() - 400_000), secrets: [secret] })
  expect(isOurs(showSecret(secret), headers, body)).toBe(true)
  expect(isOurs(showSecret(newSecret()), headers, body)).toBe(false)
  expect(isOurs(showSecret(secret), headers, `${body} `)).toBe(false)
  expect(isOurs(showSecret(secret), old, body)).toBe(false)
})

test('partners read of the magic values of the sandbox where they read of the calls', () => {
  const guide = readFileSync(new URL('../../docs/guides/sandbox.md', import.meta.url), 'utf8')
  const names = [...guide.matchAll(/`([a-z0-9-]+@sandbox\.test|9\d{3}|[a-z]{2}\d{2})`/g)].map(
    ([, name]) => name!,
  )
  expect(names.length).toBeGreaterThan(15)
  const text = textOf(reference)
  expect(names.filter((name) => !text.includes(name))).toEqual([])
})

test('text is escaped, wherever it comes from', () => {
  const evil = '<img src=x onerror="alert(1)">&\'`<b>`'
  const page = renderReference(
    build([
      endpoint({
        name: 'customers.create',
        route: 'POST /v1/customers',
        summary: evil,
        description: evil,
        body: Fields({ [evil]: T.String({ description: evil, examples: [evil] }) }),
        reply: {
          status: 201,
          schema: T.Object({ name: T.String({ examples: [evil] }) }, { description: evil }),
        },
        errors: [],
        example: { [evil]: evil },
      }),
    ]),
  )
  expect(page).not.toContain('<img')
  expect(page).not.toContain('<b>')
  expect(page).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;&#39;')
})

test('a quote in a body does not end the argument of curl', () => {
  const page = renderReference(
    build([
      endpoint({
        name: 'customers.create',
        route: 'POST /v1/customers',
        summary: 'Create',
        body: Fields({ name: T.String() }),
        reply: { status: 204 },
        errors: [],
        example: { name: "Sant'Ana" },
      }),
    ]),
  )
  expect(textOf(page)).toContain(`"name": "Sant'\\''Ana"`)
})

describe('served', () => {
  let app: FastifyInstance
  let asked = 0

  beforeAll(() => {
    app = Fastify()
    app.setErrorHandler((error, _, reply) =>
      reply.code(error instanceof Refusal ? error.status : 500).send(error),
    )
    registerPages(app, {
      openapi: () => {
        asked++
        return openapi
      },
    })
  })
  afterAll(() => app.close())

  test.each([
    ['/docs', 'text/html'],
    ['/docs/errors', 'text/html'],
    ['/docs/errors/quote_expired', 'text/html'],
    ['/docs/style.css', 'text/css'],
    ['/docs/script.js', 'text/javascript'],
    ['/docs/icon.svg', 'image/svg+xml'],
    ['/openapi.json', 'application/json'],
  ])('%s as %s', async (url, type) => {
    const { statusCode, headers } = await app.inject(url)
    expect(statusCode).toBe(200)
    expect(headers['content-type']).toBe(`${type}; charset=utf-8`)
    expect(headers['cache-control']).toBe('public, max-age=300')
    if (type === 'text/html') expect(headers['content-security-policy']).toBe(pageSecurityPolicy)
  })

  test('openapi.json is the document, and is made once', async () => {
    expect((await app.inject('/openapi.json')).json()).toEqual(openapi)
    await app.inject('/docs')
    expect(asked).toBe(1)
  })

  test.each(['nothing', 'constructor', '__proto__'])('no page for the code %s', async (code) => {
    expect((await app.inject(`/docs/errors/${code}`)).statusCode).toBe(404)
  })
})
