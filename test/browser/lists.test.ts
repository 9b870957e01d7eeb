import { afterAll, beforeAll, expect, test } from 'vitest'
import { browse, looks } from '../support/browser.ts'
import { type ConsoleStage, setConsoleStage, stageEnv } from '../support/console-stage.ts'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService
let stage: ConsoleStage
beforeAll(async () => {
  service = await startTestService(stageEnv)
  stage = await setConsoleStage(service)
}, 300_000)
afterAll(async () => {
  await stage?.stop()
  await service?.stop()
})

test('a filter says what it matches in all, and is kept as a view that can be renamed and deleted', async () => {
  await browse({ url: service.url, as: stage.people.finance }, async ({ page, visit, settled, axe }) => {
    await visit('/sandbox/payouts')
    const totals = page.locator('.totals')
    await totals.getByText(/^\d+ payouts/).waitFor()
    await page
      .getByRole('radio', { name: 'Failed' })
      .or(page.getByRole('button', { name: 'Failed' }))
      .first()
      .click()
    await page.waitForURL(/status=failed/)
    await totals.getByText('all returned to the customers').waitFor()
    await expect.poll(() => totals.innerText()).toMatch(/R\$\s?[1-9]/)
    await settled()
    const foot = page.locator('tfoot')
    await expect.poll(() => foot.innerText()).toContain('returned to the customers')
    await expect.poll(() => foot.locator('.a1').innerText()).not.toBe('0.00')

    await page.getByRole('button', { name: 'Save view' }).click()
    await page.getByLabel('Name of the view').fill('Failed ones')
    await axe()
    await page.getByRole('dialog').getByRole('button', { name: 'Save view' }).click()
    const chip = page.getByRole('button', { name: 'Failed ones', exact: true })
    await chip.waitFor()
    await expect.poll(() => chip.getAttribute('aria-pressed')).toBe('true')

    await visit('/sandbox/payouts')
    await chip.click()
    await page.waitForURL(/status=failed/)
    await page.getByRole('button', { name: 'Actions on the view Failed ones' }).click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByRole('dialog').getByLabel('Name of the view').fill('Returned')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    const renamed = page.getByRole('button', { name: 'Returned', exact: true })
    await renamed.waitFor()
    await page.getByRole('button', { name: 'Actions on the view Returned' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await renamed.waitFor({ state: 'detached' })
  })
})

test('the heading of the time turns the order around, by mouse and by keyboard', async () => {
  await browse({ url: service.url, as: stage.people.developer }, async ({ page, visit, settled }) => {
    for (const path of ['payouts', 'trades', 'developers/events', 'developers/requests']) {
      await visit(`/sandbox/${path}`)
      const head = page.locator('th[aria-sort]')
      const first = () => page.locator('tbody tr').first().innerText()
      await expect.poll(() => head.getAttribute('aria-sort'), { message: path }).toBe('descending')
      const newest = await first()
      await head.getByRole('button').click()
      await page.waitForURL(/order=oldest/)
      await settled()
      await expect.poll(() => head.getAttribute('aria-sort'), { message: path }).toBe('ascending')
      await expect.poll(first, { message: path }).not.toBe(newest)
      await head.getByRole('button').focus()
      await page.keyboard.press('Enter')
      await expect.poll(() => head.getAttribute('aria-sort')).toBe('descending')
      await expect.poll(() => page.url()).not.toContain('order=')
    }
  })
})

test('the audit log says in words what was done, of a period, and is exported', async () => {
  await browse(
    { url: service.url, as: stage.people.owner, language: 'pt-BR' },
    async ({ page, visit, settled, axe }) => {
      await visit('/sandbox/team/audit')
      await page.getByRole('link', { name: 'Entrou', exact: true }).first().waitFor()
      expect(await page.locator('tbody').innerText()).not.toMatch(/\b[a-z]+_[a-z_]+\b(?!…)/)
      await page.getByRole('button', { name: 'Período' }).click()
      await page.getByRole('button', { name: 'hoje' }).click()
      await page.waitForURL(/created=today/)
      await settled()
      await page
        .locator('.totals')
        .getByText(/^\d+ linhas?/)
        .waitFor()
      const file = page.waitForEvent('download')
      await page.getByRole('link', { name: /CSV/ }).click()
      expect((await file).suggestedFilename()).toMatch(/^audit-log-.*\.csv$/)
      await page.getByRole('link', { name: 'Entrou', exact: true }).first().click()
      await page.getByRole('dialog').getByText('sign_in').waitFor()
      await axe()
    },
  )
})

test('a webhook endpoint shows its days; all that waits is retried, and only what failed is sent again', async () => {
  const { failing } = stage.ids
  await browse({ url: service.url, as: stage.people.developer }, async ({ page, visit, axe }) => {
    await visit(`/sandbox/developers/webhooks/${failing}`)
    const chart = page.getByRole('img', { name: /^Deliveries per day over the last 14 days/ })
    await chart.first().waitFor()
    await page.getByRole('table', { name: /^Deliveries per day/ }).waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Retry all waiting' }).click()
    await axe()
    await page.getByRole('dialog').getByRole('button', { name: 'Retry now' }).click()
    await page.getByText(/deliver(y is|ies are) being retried\./).waitFor()
    await page.getByRole('button', { name: 'Redeliver…' }).click()
    await page.getByRole('checkbox', { name: 'Only failed deliveries' }).check()
    await page.getByRole('dialog').getByRole('button', { name: 'Redeliver' }).click()
    await page.getByText(/failed deliver(y is|ies are) being redelivered\./).waitFor()
  })
})

test('a key shows its requests per day', async () => {
  await browse({ url: service.url, as: stage.people.viewer }, async ({ page, visit }) => {
    await visit(`/sandbox/developers/keys/${stage.ids.key}`)
    await page.getByRole('heading', { name: 'Requests per day' }).waitFor()
  })
})

test('a surname and the last five characters of an id lead to the page', async () => {
  const { payout } = stage.ids
  await browse({ url: service.url, as: stage.people.viewer }, async ({ page, visit }) => {
    await visit('/sandbox')
    await page.keyboard.press('/')
    const box = page.getByRole('combobox')
    await box.fill('nakam')
    await page.getByRole('option', { name: /Elisa Nakamura/ }).waitFor()
    await box.fill(payout.slice(-5))
    // The former answer stands there until the next one comes.
    await page
      .getByRole('option', { name: /^Payout/ })
      .filter({ has: page.locator(`[title="${payout}"]`) })
      .first()
      .click()
    await page.waitForURL(new RegExp(payout))
  })
})

const pages = (ids: ConsoleStage['ids']) =>
  [
    ['payouts', '/sandbox/payouts?created=30d'],
    ['payouts-failed', '/sandbox/payouts?status=failed'],
    ['transfers', '/sandbox/transfers'],
    ['customers', '/sandbox/customers?order=oldest'],
    ['quotes', '/sandbox/quotes'],
    ['trades', '/sandbox/trades'],
    ['events', '/sandbox/developers/events'],
    ['requests', '/sandbox/developers/requests'],
    ['webhook', `/sandbox/developers/webhooks/${ids.failing}`],
    ['key', `/sandbox/developers/keys/${ids.key}`],
    ['audit', '/sandbox/team/audit'],
  ] as const

for (const { theme, place, width, language } of looks)
  test(`every list, ${theme}, ${place}: open to everybody, nothing beside the window`, async () => {
    const options = { url: service.url, as: stage.people.owner, theme, width, language }
    await browse(options, async ({ visit, page, settled, fits, axe, screenshot }) => {
      await visit('/sandbox/payouts')
      await page.evaluate(
        `fetch('/console/api/session').then((r) => r.json()).then(({ csrf_token }) => fetch('/console/api/me/views', { method: 'POST',
          headers: { 'content-type': 'application/json', 'x-csrf-token': csrf_token }, body: JSON.stringify({ environment: 'sandbox',
          page: 'payouts', name: 'Failed this week', filters: { status: 'failed', created: '7d' } }) }))`,
      )
      for (const [name, path] of pages(stage.ids)) {
        await visit(path)
        await settled()
        await page.locator('.totals b, .figure, h1').first().waitFor()
        await fits()
        await axe()
        await screenshot(`lists-${name}-${theme}-${place}`)
      }
    })
  }, 300_000)
