import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { consoleErrorCodes, errorCodes, errors } from '../src/core/errors.ts'
import { endpoints } from '../src/doors/api/endpoints.ts'
import type { OpenApi } from '../src/doors/reference/openapi.ts'
import { openSearch } from '../src/doors/reference/search.ts'
import { commonErrors, errorsOf, methodAndPath } from '../src/http/endpoint.ts'
import { causes, withoutCause } from './errors/causes.ts'
import { texts as pt } from './errors/pt.ts'
import { buildSite, type Files } from './site.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const openapi = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8')) as OpenApi
const assets = { script: '/docs/assets/main.js', style: '/docs/assets/style.css' }
const files = buildSite({ root, openapi, assets })
const pages = [...files].filter(([, text]) => text.startsWith('<!doctype html>'))

const textOf = (page: string) =>
  page
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

test('every page has one h1, unique ids, no external resources and no inline scripts or styles', () => {
  expect(pages.length).toBeGreaterThan(150)
  for (const [address, page] of pages) {
    expect(page.match(/<h1/g), address).toHaveLength(1)
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    expect(new Set(ids).size, address).toBe(ids.length)
    for (const [, target] of page.matchAll(/ (?:src|action|srcset)="([^"]*)"/g))
      expect(target).toMatch(/^\/(?!\/)/)
    expect(page, address).not.toMatch(
      /<style|\sstyle=|\son\w+=|<script(?! src="\/docs\/assets\/main\.js"><\/script>)/,
    )
  }
})

test('openapi.yaml holds the same document as openapi.json', () => {
  expect(parse(files.get('/openapi.yaml')!)).toEqual(openapi)
})

test('every page has a Markdown version and a line in llms.txt', () => {
  const llms = files.get('/llms.txt')!
  for (const [address] of pages.filter(([one]) => !/(search|404)$/.test(one))) {
    const markdown = address === '/docs' ? '/docs/index.md' : `${address}.md`
    expect(files.get(markdown), markdown).toMatch(/^# /)
    expect(llms).toContain(`(http://127.0.0.1:8080${markdown}): `)
  }
})

test.each(endpoints.map((declared) => [declared.route, declared] as const))(
  'the reference has %s, in three languages',
  (_, declared) => {
    const { method, path } = methodAndPath(declared)
    const id = declared.name.replaceAll('.', '_')
    const page = files.get(`/docs/api/${declared.name.split('.')[0]}`)!
    const section = textOf(page.slice(page.indexOf(`aria-labelledby="${id}"`)).split('</section>')[0]!)
    expect(section).toContain(declared.summary)
    expect(section).toContain(path)
    expect(section).toMatch(
      new RegExp(`curl ${method === 'GET' ? '' : `-X ${method} `}"?http://127\\.0\\.0\\.1:8080/v1/`),
    )
    expect(section).toContain('trilho.')
    expect(section).toContain(`client.${declared.name}(`)
    for (const part of [declared.params, declared.query, declared.body])
      for (const field of Object.keys(part?.properties ?? {})) expect(section).toContain(field)
    const own = errorsOf(declared).filter((code) => !commonErrors.includes(code))
    for (const code of own) expect(section).toContain(code)
  },
)

test.each([...errorCodes, ...consoleErrorCodes])('%s has a page in both languages', (code) => {
  const english = files.get(`/docs/errors/${code}`)!
  const portuguese = files.get(`/docs/pt/errors/${code}`)!
  expect(textOf(english)).toContain(errors[code].message)
  expect(textOf(portuguese)).toContain(pt[code].money.replaceAll('`', ''))
  expect(english).toContain(`href="/docs/pt/errors/${code}"`)
  expect(portuguese).toContain('<html lang="pt-BR">')
})

test.each(['/docs/errors', '/docs/pt/errors'])('%s lists console-only codes separately', (address) => {
  const [api, own] = files.get(address)!.split('<h2 id="console-only">')
  const listed = (html: string) =>
    [...html.matchAll(/<li><a href="[^"]*\/errors\/(\w+)"><span class="status">/g)].map(([, code]) => code!)
  expect(listed(api!).toSorted()).toEqual(errorCodes.toSorted())
  expect(listed(own!).toSorted()).toEqual(consoleErrorCodes.toSorted())
})

test('only console error codes are marked as such', () => {
  for (const code of [...errorCodes, ...consoleErrorCodes])
    expect(files.get(`/docs/errors/${code}`)!.includes('Only the console’s own calls return it'), code).toBe(
      (consoleErrorCodes as readonly string[]).includes(code),
    )
})

test('the preconditions of an error sample are in the language of the page', () => {
  for (const code of [...errorCodes, ...consoleErrorCodes]) {
    const said = causes[code] ? causes[code].first : withoutCause[code as keyof typeof withoutCause]
    const [en, pt] = [said?.en, said?.pt].map((text) => text?.replaceAll('`', '') ?? '')
    expect(textOf(files.get(`/docs/errors/${code}`)!)).toContain(en)
    expect(textOf(files.get(`/docs/pt/errors/${code}`)!)).toContain(pt)
    if (said) expect(textOf(files.get(`/docs/pt/errors/${code}`)!), code).not.toContain(en)
  }
})

const searchIn = (language: 'en' | 'pt') =>
  openSearch(JSON.parse(files.get(`/docs/search/${language}.json`)!))
const search = { en: searchIn('en'), pt: searchIn('pt') }

test.each(['idempotency', 'timeout@sandbox.test', 'quote_expired'])('search finds %s', (word) => {
  const [first] = search.en(word).sections
  expect(files.get(`${first!.address.split('#')[0]}.md`)!.toLowerCase()).toContain(word)
})

test.each([
  ['en', 'webhook', '/docs/guides/webhooks'],
  ['en', 'webhooks', '/docs/guides/webhooks'],
  ['en', 'rate limits', '/docs/guides/limits'],
  ['en', 'pagination', '/docs/guides/lists'],
  ['en', 'currency', '/docs/guides/money'],
  ['en', 'refund', '/docs/guides/reconcile'],
  ['en', 'devolução', '/docs/guides/reconcile#a-failed-payout-is-a-reversal-in-the-statement'],
  ['en', 'error 429', '/docs/errors/rate_limit_exceeded'],
  ['pt', 'erro 429', '/docs/pt/errors/rate_limit_exceeded'],
  ['pt', 'taxa', '/docs/pt/errors/insufficient_balance'],
  ['pt', 'saldo', '/docs/pt/errors/insufficient_balance'],
  ['pt', 'pagamentos', '/docs/pt/quickstart'],
] as const)('search in %s for %s shows %s first', (language, words, address) => {
  expect(search[language](words).sections[0]?.address).toBe(address)
})

/** A copy of the repository with one more page. */
function siteWith(path: string, text: string): () => Files {
  const copy = mkdtempSync(join(tmpdir(), 'trilho-site-'))
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }))
  for (const [name, content] of Object.entries({
    'CHANGELOG.md': '# Changelog\n',
    'docs/quickstart.md': '# Quickstart\n',
    [path]: text,
  })) {
    mkdirSync(dirname(join(copy, name)), { recursive: true })
    writeFileSync(join(copy, name), content)
  }
  symlinkSync(join(root, 'console'), join(copy, 'console'))
  return () => buildSite({ root: copy, openapi, assets })
}

test('the build stops at a dead link, a missing heading or raw HTML, and names the place', () => {
  expect(siteWith('docs/sdk.md', '# SDK\n\n[a](b.md)')).toThrow('docs/sdk.md: the link b.md leads nowhere')
  expect(siteWith('docs/sdk.md', '# SDK\n\n[a](#nowhere)')).toThrow('/docs/sdk → #nowhere')
  expect(siteWith('docs/sdk.md', '# SDK\n\n[a](/docs/errors/none)')).toThrow('/docs/sdk → /docs/errors/none')
  expect(siteWith('docs/sdk.md', '# SDK\n\n<b>a</b>')).toThrow('docs/sdk.md: a page cannot have this: <b>')
  expect(siteWith('docs/sdk.md', '# SDK\n\n```ts file=none.ts\n```')).toThrow(
    'there is no file none.ts to show',
  )
})

test('the changelog feed has every release', () => {
  const log = '# Changelog\n\n## Unreleased\n\n- a\n\n## 1.2.0 - 2026-12-01\n\n- b & c\n'
  const built = siteWith('CHANGELOG.md', log)()
  const feed = built.get('/docs/changelog.xml')!
  expect(feed).toContain('<entry><title>1.2.0</title>')
  expect(feed).toContain('<updated>2026-12-01T00:00:00Z</updated>')
  expect(feed).toContain('- b &amp; c')
  expect(feed).not.toContain('Unreleased')
})

test('the changelog feed has the version that this server runs', () => {
  const feed = files.get('/docs/changelog.xml')!
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(feed).toMatch(new RegExp(`<entry><title>${version}( \\(unreleased\\))?</title>`))
  expect(feed).not.toContain('1970-01-01')
})

test('every alert leads to the part of a page that says what to do', () => {
  const { groups } = parse(readFileSync(join(root, 'deploy/prometheus/alerts.yaml'), 'utf8'))
  const rules = groups.flatMap((group: any) => group.rules)
  expect(rules.map(({ alert }: any) => alert)).toContain('TrilhoLogFell')
  for (const { alert, annotations } of rules) {
    const [page, anchor] = annotations.runbook_url.replace('{{ $externalLabels.docs }}', '').split('#')
    expect(files.get(page), alert).toContain(` id="${anchor}"`)
  }
})

test('what README says is at /docs is there', () => {
  const table = readFileSync(join(root, 'README.md'), 'utf8').split('## Documents')[1]!.split('## Test')[0]!
  const served = table
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap((line) => line.split('|').slice(1, 3))
    .flatMap((cell) => [...cell.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target!))
  expect(served.length).toBeGreaterThan(20)
  for (const target of [...served, 'docs/changelog.md'])
    expect(files.has(`/${target.replace(/\.md$/, '')}`), target).toBe(true)
})

test('Português leads to the same page, or else to the Portuguese start page, which lists every page', () => {
  const other = (address: string) => / href="([^"]+)" hreflang="/.exec(files.get(address)!)![1]
  expect(other('/docs/quickstart')).toBe('/docs/pt/quickstart')
  expect(other('/docs/errors/quote_expired')).toBe('/docs/pt/errors/quote_expired')
  expect(other('/docs/guides/errors')).toBe('/docs/pt/errors')
  expect(other('/docs/guides/money')).toBe('/docs/pt')
  expect(other('/docs')).toBe('/docs/pt')
  expect(other('/docs/pt')).toBe('/docs')
  const home = files.get('/docs/pt')!
  const below = (prefix: string) =>
    [...files.keys()].filter((one) => new RegExp(`^${prefix}[a-z-]+$`).test(one))
  const listed = [
    ...below('/docs/guides/'),
    ...below('/docs/operate/'),
    '/docs/pt/quickstart',
    '/docs/pt/errors',
  ]
  expect(listed.filter((address) => !home.includes(`<li><a href="${address}"`))).toEqual([])
  expect(files.get('/docs/pt/quickstart')).toContain('<a class="brand" href="/docs/pt">')
})
