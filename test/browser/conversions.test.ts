import { afterAll, beforeAll, expect, test } from 'vitest'
import { browse } from '../support/browser.ts'
import { type ConsoleStage, setConsoleStage, stageEnv } from '../support/console-stage.ts'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService
let stage: ConsoleStage
beforeAll(async () => {
  service = await startTestService(stageEnv)
  stage = await setConsoleStage(service)
}, 300_000)
afterAll(async () => {
  await stage.stop()
  await service.stop()
})

/** Good for 30 seconds, so that a test asks for it when its page is open. */
const quoteOf = async (more: object = {}) =>
  (
    await stage.api.post('/v1/quotes', {
      customer_id: stage.ids.customer,
      from_asset: 'BRL',
      to_asset: 'USDT',
      amount: '10000',
      ...more,
    })
  ).json

test('a quote runs out before one’s eyes', async () => {
  await browse({ url: service.url, as: stage.people.viewer }, async ({ page, visit, screenshot }) => {
    const quote = await quoteOf()
    await visit(`/sandbox/quotes/${quote.id}`)
    const seconds = page.getByRole('timer')
    await expect.poll(() => seconds.textContent()).toMatch(/^[12]?\d seconds left$/)
    await screenshot('quote-pending')
    expect(await page.getByRole('button', { name: 'Expire now' }).count()).toBe(0)
    await page.getByText(', nothing moved').waitFor({ timeout: 60_000 })
    await expect.poll(() => page.locator('.head .st').textContent()).toBe('Expired')
    await expect.poll(() => seconds.count()).toBe(0)
  })
})

test('another is executed while one looks on, and both sides sum to zero', async () => {
  await browse({ url: service.url, as: stage.people.viewer }, async ({ page, visit }) => {
    const quote = await quoteOf()
    await visit(`/sandbox/quotes/${quote.id}`)
    await page.getByText('Live', { exact: true }).waitFor()
    const trade = (await stage.api.post(`/v1/quotes/${quote.id}/execute`)).json
    await page.getByText('Both sides moved in one movement').waitFor()
    await expect.poll(() => page.locator('.head .st').textContent()).toBe('Executed')
    const sums = page.locator('.ledger .sum .amt')
    await expect.poll(() => sums.allTextContents()).toEqual(['0.00BRL', '0.000000USDT'])
    await page.getByTitle(trade.id).first().click()
    await page.waitForURL(`**/sandbox/trades/${trade.id}`)
    await page.getByRole('link', { name: 'trade.completed' }).first().waitFor()
  })
})

test('a developer lets a quote expire, and sets a price that the next quote has', async () => {
  await browse({ url: service.url, as: stage.people.developer }, async ({ page, visit, axe, screenshot }) => {
    const quote = await quoteOf()
    await visit(`/sandbox/quotes/${quote.id}`)
    await page.getByRole('button', { name: 'Expire now' }).click()
    await page.getByText(', nothing moved').waitFor()
    await visit('/sandbox/quotes')
    await page.getByRole('button', { name: 'Set a price' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Price', { exact: true }).fill('0')
    await dialog.getByRole('button', { name: 'Set the price' }).click()
    await dialog.getByText('Write a number above zero').waitFor()
    await axe()
    await screenshot('set-price')
    await dialog.getByLabel('Price', { exact: true }).fill('6.25')
    await dialog.getByRole('button', { name: 'Set the price' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.locator('.prices .figure', { hasText: '6.25' }).waitFor()
    await expect.poll(async () => (await quoteOf()).market_price).toBe('6.25')
  })
  await stage.api.post('/v1/sandbox/prices', { pair: 'USDT/BRL', price: '5.40' })
})

test('lists are narrowed by their chips, and the address keeps it', async () => {
  await browse({ url: service.url, as: stage.people.finance }, async ({ page, visit, settled }) => {
    await visit('/sandbox/quotes')
    await page.getByRole('button', { name: 'Pair' }).click()
    await page.getByRole('button', { name: 'BRL to BTC' }).click()
    await page.waitForURL(/pair=BRL-BTC/)
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
    await page.reload()
    await settled()
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await expect.poll(() => page.locator('tbody tr').count()).toBeGreaterThan(1)
    await page.getByRole('link', { name: 'Trades', exact: true }).click()
    await page.getByRole('table', { name: 'Trades' }).waitFor()
    await settled()
    const csv = page.getByRole('link', { name: 'Export CSV' })
    const [download] = await Promise.all([page.waitForEvent('download'), csv.click()])
    expect(download.suggestedFilename()).toMatch(/^trades-sandbox-.*\.csv$/)
  })
})
