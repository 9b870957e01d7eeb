import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeCpf } from '../../src/core/document.ts'
import type { Api } from '../support/api.ts'
import { browse, looks, type VisitOptions, type Visitor, widths } from '../support/browser.ts'
import { makePerson, type Person } from '../support/console.ts'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService
let owner: Person
let operator: Person
let partner_id: string
let api: Api

beforeAll(async () => {
  service = await startTestService()
  ;({ partner_id, api } = await service.partner())
  owner = await makePerson(service, { role: 'owner', partner_id, name: 'Helena Prado' })
  operator = await makePerson(service, { role: 'resolver', factor: true, name: 'Rafael Teles' })
})
afterAll(() => service.stop())

/** Whoever changes something of their own is nobody else's person. */
const somebody = () => makePerson(service, { role: 'viewer', partner_id, name: 'Tomás Leal' })

const as = (
  person: Person | undefined,
  options: Partial<VisitOptions>,
  work: (visitor: Visitor) => Promise<void>,
) => browse({ url: service.url, as: person, ...options }, work)

for (const { theme, place: name, width } of looks)
  test(`the frame, ${theme}, ${name}: open to everybody, nothing beside the window`, () =>
    as(owner, { theme, width }, async ({ visit, axe, fits, screenshot, page }) => {
      await visit('/sandbox/nowhere')
      await page.getByRole('heading', { name: 'Page not found' }).waitFor()
      await fits()
      await axe()
      await screenshot(`shell-${theme}-${name}`)
      if (name === 'phone') {
        await page.getByRole('button', { name: 'More' }).click()
        await page.getByRole('dialog').getByRole('link', { name: 'Request log' }).waitFor()
        await axe()
        await screenshot(`shell-${theme}-more`)
      }
    }))

test('the environment is in the address; a list is the same list in the other one, a thing of it is not', () =>
  as(owner, {}, async ({ visit, page, allow }) => {
    allow(/status of 404/)
    await visit('/sandbox/payouts/po_1?status=failed')
    const real = page
      .getByRole('navigation', { name: 'Environment' })
      .getByRole('link', { name: 'Production' })
    await expect.poll(() => page.locator('.sleepers').count()).toBe(1)
    await real.click()
    await page.waitForURL(/\/console\/production\/payouts$/)
    await page.locator('.sleepers').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Playground' }).waitFor({ state: 'detached' })
    const current = page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current]')
    await expect.poll(() => current.innerText()).toBe('Payouts')
    await visit('/elsewhere')
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  }))

test('a tab keeps its environment, whatever another tab does', () =>
  as(owner, {}, async ({ visit, page, context }) => {
    const isAt = async (tab: Page, path: string) => {
      await tab.waitForURL(`${service.url}/console${path}`)
      const strip = tab.locator('.sleepers')
      await (path.startsWith('/sandbox') ? strip.waitFor() : strip.waitFor({ state: 'detached' }))
      await tab.locator('.live').getByText('Live').waitFor()
    }
    await visit('/sandbox/payouts')
    const other = await context.newPage()
    await other.goto(`${service.url}/console/production/customers`)
    await isAt(other, '/production/customers')

    // The pages about people and terms have an environment too, and an address without one has that of the tab.
    await page.getByRole('link', { name: 'Team' }).click()
    await isAt(page, '/sandbox/team')
    for (const path of ['/team', '/account', '/me', '/team/audit']) {
      await visit(path)
      await isAt(page, `/sandbox${path}`)
    }
    await page.reload()
    await isAt(page, '/sandbox/team/audit')
    await other.goto(`${service.url}/console/`)
    await isAt(other, '/production')

    // A link that somebody shares opens in its own environment.
    const shared = await context.newPage()
    await shared.goto(`${service.url}/console/sandbox/account`)
    await isAt(shared, '/sandbox/account')
    await shared
      .getByRole('navigation', { name: 'Environment' })
      .getByRole('link', { name: 'Production' })
      .click()
    await isAt(shared, '/production/account')
    await visit('/')
    await isAt(page, '/sandbox')
  }))

test('without a session one signs in and comes back', () =>
  as(undefined, {}, async ({ visit, page }) => {
    await visit('/sandbox/payouts?status=failed')
    await page.waitForURL(/\/console\/sign-in/)
    expect(new URL(page.url()).searchParams.get('next')).toBe('/sandbox/payouts?status=failed')
  }))

test('a session that ends leads to the sign-in', () =>
  as(owner, {}, async ({ visit, page, context, allow }) => {
    await visit('/sandbox')
    await context.clearCookies()
    allow(/status of 401/)
    await page.getByRole('link', { name: 'Payouts' }).first().click()
    await page.waitForURL(/\/console\/sign-in\?next=%2Fsandbox%2Fpayouts/)
  }))

test('keys: / and Ctrl-K search, ? lists, Esc closes, Tab reaches the page first', () =>
  as(owner, {}, async ({ visit, page }) => {
    await visit('/sandbox')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the page')
    await page.keyboard.press('/')
    const box = page.getByRole('combobox')
    await box.waitFor()
    expect(await box.inputValue()).toBe('')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    await page.keyboard.press('Control+k')
    await box.waitFor()
    await expect.poll(() => box.evaluate((node) => node.matches(':focus'))).toBe(true)
    await page.keyboard.type('?')
    await expect.poll(() => box.inputValue()).toBe('?')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor()
  }))

test('the search finds what was made and opens it; the dot says that the page is told of changes', () =>
  as(owner, {}, async ({ visit, page, axe, screenshot }) => {
    const { json: customer } = await api.post('/v1/customers', {
      name: 'Ana Souza',
      document: makeCpf('529982247'),
    })
    await visit('/sandbox')
    await page.getByRole('status').getByText('Live').waitFor()
    await page.keyboard.press('/')
    await page.getByRole('combobox').fill(customer.id)
    await page.getByRole('option', { name: 'Ana Souza' }).waitFor()
    await axe()
    await screenshot('search')
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`/console/sandbox/customers/${customer.id}$`))
  }))

test('in Portuguese by choice or by the browser, and it stays', async () =>
  as(await somebody(), {}, async ({ visit, page }) => {
    await visit('/sandbox')
    await page.getByRole('button', { name: 'Language' }).click()
    await page.getByRole('menuitemradio', { name: 'Português' }).click()
    await page.getByRole('link', { name: 'Pagamentos Pix' }).first().waitFor()
    await expect.poll(() => page.locator('html').getAttribute('lang')).toBe('pt-BR')
    await visit('/sandbox')
    await page.getByRole('link', { name: 'Pagamentos Pix' }).first().waitFor()
  }))

test('the browser’s language is the first one', () =>
  as(owner, { language: 'pt-BR', width: widths.phone }, async ({ visit, page, fits, axe, screenshot }) => {
    await visit('/production')
    await page.getByRole('link', { name: 'Visão geral' }).last().waitFor()
    await fits()
    await axe()
    await screenshot('shell-pt-phone')
  }))

test('the theme is the system’s until one is chosen, and it stays', () =>
  as(owner, { theme: 'light' }, async ({ visit, page }) => {
    await visit('/sandbox')
    const scheme = () => page.evaluate('getComputedStyle(document.documentElement).colorScheme')
    expect(await scheme()).toBe('light dark')
    await page.getByRole('button', { name: 'Theme' }).click()
    await page.getByRole('menuitemradio', { name: 'Dark' }).click()
    await expect.poll(scheme).toBe('dark')
    await visit('/sandbox')
    await expect.poll(scheme).toBe('dark')
  }))

test('the operator has a frame of their own; to partners’ people it does not exist', async () => {
  await as(operator, { theme: 'dark' }, async ({ visit, page, axe, screenshot }) => {
    await visit('/sandbox')
    await page.waitForURL(/\/console\/operator\/production$/)
    await page.getByRole('link', { name: 'Ledger proof' }).waitFor()
    await axe()
    await screenshot('shell-operator')
  })
  await as(owner, {}, async ({ visit, page }) => {
    await visit('/operator/production')
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    expect(await page.getByRole('link', { name: 'Ledger proof' }).count()).toBe(0)
  })
})

test('a tab that misses a file of before loads anew, once', async () =>
  as(await somebody(), {}, async ({ visit, page, allow }) => {
    allow(/./)
    await visit('/sandbox')
    await page.route('**/assets/pt-BR-*.js', (route) => route.fulfill({ status: 404 }))
    let loads = 0
    page.on('load', () => void loads++)
    await page.getByRole('button', { name: 'Language' }).click()
    await page.getByRole('menuitemradio', { name: 'Português' }).click()
    // Never in a circle: what stays lost costs the language, not the page.
    await expect.poll(() => loads).toBe(1)
    await page.getByRole('link', { name: 'Request log' }).waitFor()
    expect(loads).toBe(1)
  }))

test('a page that is opened while nobody answers keeps the frame, and comes by itself later', async () =>
  as(await somebody(), {}, async ({ visit, page, allow, settled, axe, screenshot }) => {
    allow(/ERR_CONNECTION_REFUSED|MissedFile|preload assets/)
    await visit('/sandbox')
    await page.route('**/*', (route) => route.abort('connectionrefused'))
    await page.getByRole('link', { name: 'Transfers' }).first().click()
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'Request log' }).waitFor()
    expect(page.url()).toMatch(/\/console\/sandbox\/transfers$/)
    await axe()
    await screenshot('page-missed')
    await page.unroute('**/*')
    await page.getByRole('heading', { name: 'Transfers', exact: true }).waitFor()
    await settled()
  }))

for (const width of [320, 720])
  test(`the frame fits a window of ${width}`, () =>
    as(owner, { width }, async ({ visit, fits, page }) => {
      await visit('/sandbox/nowhere')
      await page.getByRole('heading', { name: 'Page not found' }).waitFor()
      await fits()
    }))
