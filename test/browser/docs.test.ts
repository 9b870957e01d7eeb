import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  browse,
  everything,
  looks,
  openBrowser,
  showsAfter,
  themes,
  type VisitOptions,
  type Visitor,
  widths,
} from '../support/browser.ts'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

const SANDBOX_KEY = `svc_test_sk_${'a'.repeat(43)}`
const LIVE_KEY = `svc_live_sk_${'a'.repeat(43)}`

type Reader = Visitor & { open(path: string): Promise<void> }

const read = (options: Partial<VisitOptions>, work: (reader: Reader) => Promise<void>) =>
  browse({ url: service.url, ...options }, (visitor) =>
    work({
      ...visitor,
      async open(path) {
        await visitor.page.goto(`${service.url}${path}`)
        await visitor.page.evaluate('document.fonts.ready.then(() => undefined)')
      },
    }),
  )

/** One of each kind. */
const pages = {
  home: '/docs',
  quickstart: '/docs/quickstart',
  reference: '/docs/api/prices',
  error: '/docs/errors/insufficient_balance',
}

const morePages = {
  guide: '/docs/guides/webhooks',
  operate: '/docs/operate/install',
  resource: '/docs/api/pix',
  event: '/docs/api/events/pix.payout.completed',
  errors: '/docs/errors',
  search: '/docs/search?q=idempotency',
  changelog: '/docs/changelog',
  reconcile: '/docs/guides/reconcile',
  'portuguese-home': '/docs/pt',
  portuguese: '/docs/pt/quickstart',
  'portuguese-error': '/docs/pt/errors/quote_expired',
}

for (const { theme, place, width } of looks)
  test(
    `the docs, ${theme}, ${place}: open to everybody, nothing beside the window`,
    () =>
      read({ theme, width }, async ({ open, axe, fits, screenshot, page }) => {
        for (const [name, path] of Object.entries({ ...pages, ...(everything ? morePages : {}) })) {
          await open(path)
          await fits()
          await axe()
          await screenshot(`docs-${name}-${theme}-${place}`)
        }
        if (place === 'desktop') return
        await page.getByText('Menu').click()
        await page
          .getByRole('navigation', { name: 'Menu' })
          .getByRole('link', { name: 'Pix', exact: true })
          .waitFor()
        await fits()
        await axe()
      }),
    180_000,
  )

test('search opens with a key, finds while one types, and is walked with the arrows', () =>
  read({ width: widths.desktop }, async ({ open, page, axe }) => {
    await open('/docs')
    const field = page.getByRole('combobox')
    for (const [word, expected] of [
      ['idempotency', /idempotency/i],
      ['timeout@sandbox.test', /sandbox/i],
      ['quote_expired', /quote_expired/],
    ] as const) {
      await page.keyboard.press('/')
      await field.fill(word)
      await page.getByRole('option').first().filter({ hasText: expected }).waitFor()
    }
    await axe()
    await page.keyboard.press('ArrowDown')
    const selected = page.locator('[aria-selected="true"][role="option"]')
    await expect.poll(() => selected.innerText()).toContain('quote_expired')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/docs\/errors\/quote_expired$/)
    await page.keyboard.press('/')
    await field.fill('nothingatall')
    await page.getByText('Nothing found').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('.found').isVisible()).toBe(false)
  }))

test('search forgives typing errors, words that are too many, and Portuguese', () =>
  read({ width: widths.desktop }, async ({ open, page }) => {
    await open('/docs')
    const field = page.getByRole('combobox')
    for (const [question, expected] of [
      ['webhok signture', /signature/i],
      ['how do I avoid paying twice', /idempotency/i],
      ['estorno', /reversal/i],
    ] as const) {
      await page.keyboard.press('/')
      await field.fill(question)
      await page.getByRole('option').first().filter({ hasText: expected }).waitFor()
    }
  }))

test('a table that is wider than a phone has a shadow at the side where it is cut', () =>
  read({ width: widths.phone }, async ({ open, page, fits }) => {
    await open('/docs/guides/conversions')
    await fits()
    const [cut, attached] = await page.evaluate<[boolean, string]>(`(() => {
      const table = [...document.querySelectorAll('.table')].find((one) => one.scrollWidth > one.clientWidth)
      return [table !== undefined, table && getComputedStyle(table).backgroundAttachment]
    })()`)
    expect([cut, attached]).toEqual([true, 'local, local, scroll, scroll'])
  }))

test('an index that did not come is fetched again, and until then the form asks the server', () =>
  read({ width: widths.desktop }, async ({ open, page, allow }) => {
    allow(/503 .*\/docs\/search\/en\.json/)
    let broken = true
    await page.route('**/docs/search/en.json', (route) =>
      broken ? route.fulfill({ status: 503, body: '{}' }) : route.continue(),
    )
    const field = page.getByRole('combobox')
    await open('/docs')
    await page.keyboard.press('/')
    await field.fill('quote_expired')
    broken = false
    await field.fill('quote_expired ')
    await page.getByRole('option').first().filter({ hasText: 'quote_expired' }).waitFor()
    await field.fill('saldo')
    await page
      .getByRole('option')
      .first()
      .filter({ hasText: /balance/i })
      .waitFor()
    await page.getByRole('option').filter({ hasText: 'insufficient_balance' }).first().waitFor()
    broken = true
    await open('/docs')
    await page.keyboard.press('/')
    await field.fill('quote_expired')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/docs\/search\?q=quote_expired/)
  }))

test('a sandbox key fills the samples and stays in the tab; a live key is refused', () =>
  read({ width: widths.desktop }, async ({ open, page, context }) => {
    const sent: string[] = []
    page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`))
    await open('/docs/api/pix')
    const field = page.getByLabel('Your sandbox key')
    const curl = page.locator('[data-language="sh"] code').first()
    expect(await curl.innerText()).toContain('Bearer $TRILHO_KEY"')
    const asCopied = (key: string) => [
      key,
      `export TRILHO_KEY=${key}`,
      `Authorization: Bearer ${key}`,
      `"${key}"`,
    ]
    for (const pasted of [...asCopied(LIVE_KEY), `${SANDBOX_KEY} ${LIVE_KEY}`]) {
      await field.fill('svc_test_sk_short')
      await page.getByText('A sandbox key begins with').waitFor()
      await field.fill(pasted)
      await page.getByText('This is a live key').waitFor()
      expect(await field.inputValue()).toBe('')
      expect(await curl.innerText()).toContain('$TRILHO_KEY')
    }
    for (const pasted of asCopied(SANDBOX_KEY)) {
      await field.fill('')
      await field.fill(pasted)
      expect(await field.inputValue()).toBe(SANDBOX_KEY)
    }
    await field.fill(SANDBOX_KEY)
    expect(await curl.innerText()).toContain(`Bearer ${SANDBOX_KEY}"`)
    await page.getByRole('tab', { name: 'Python' }).first().click()
    const python = page.locator('[data-language="py"] code').first()
    await expect.poll(() => python.innerText()).toContain(`Trilho(key="${SANDBOX_KEY}"`)
    await open('/docs/quickstart')
    expect(await page.getByLabel('Your sandbox key').inputValue()).toBe(SANDBOX_KEY)
    expect(await page.evaluate<string>('JSON.stringify({ ...localStorage })')).not.toContain('svc_')
    expect(sent.join()).not.toContain('svc_')
    const other = await context.newPage()
    await other.goto(`${service.url}/docs/api/pix`)
    expect(await other.getByLabel('Your sandbox key').inputValue()).toBe('')
    await other.close()
  }))

test('the language of the samples is chosen once, by keyboard too, and what is shown is copied', () =>
  read({ width: widths.desktop }, async ({ open, page }) => {
    await open('/docs/api/customers')
    const tab = (name: string) => page.getByRole('tab', { name }).first()
    await tab('curl').focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => tab('TypeScript').getAttribute('aria-selected')).toBe('true')
    await open('/docs/api/quotes')
    await expect.poll(() => tab('TypeScript').getAttribute('aria-selected')).toBe('true')
    const shown = page.locator('[role="tabpanel"]:visible').first()
    await showsAfter(page, 'Copied', () => shown.getByRole('button', { name: 'Copy' }).click())
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toMatch(
      /^import \{ Trilho \}[\s\S]*trilho\.quotes\.create\(\{/,
    )
  }))

test('the theme follows the system until one is chosen, which is remembered', () =>
  read({ theme: 'dark', width: widths.desktop }, async ({ open, page }) => {
    const scheme = () => page.evaluate<string>('getComputedStyle(document.documentElement).colorScheme')
    await open('/docs')
    expect(await scheme()).toBe(`${themes[0]} ${themes[1]}`)
    await page.getByRole('button', { name: 'Light or dark' }).click()
    await expect.poll(scheme).toBe('light')
    await open('/docs/errors')
    expect(await scheme()).toBe('light')
  }))

test('without a script every sample is shown, and the search asks the server, which forgives as well', async () => {
  const context = await (await openBrowser()).newContext({ javaScriptEnabled: false })
  try {
    const page = await context.newPage()
    await page.goto(`${service.url}/docs/api/customers`)
    for (const language of ['sh', 'ts', 'py'])
      expect(await page.locator(`[data-language="${language}"]`).first().isVisible()).toBe(true)
    expect(await page.getByLabel('Your sandbox key').isVisible()).toBe(false)
    await page.getByRole('searchbox').fill('quote_expired')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/docs\/search\?q=quote_expired/)
    expect(await page.locator('.results a').first().innerText()).toBe('quote_expired')
    await page.locator('.search-page input').fill('idempotncy keys')
    await page.locator('.search-page button').click()
    await page.waitForURL(/q=idempotncy/)
    expect(await page.locator('.results a').first().innerText()).toMatch(/idempotency/i)
  } finally {
    await context.close()
  }
})
