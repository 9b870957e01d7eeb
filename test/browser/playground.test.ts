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
  await stage.stop()
  await service.stop()
})

test('a payout is sent, its events arrive, and it is found by all that one has of it', async () => {
  await browse({ url: service.url, as: stage.people.developer }, async ({ page, visit, screenshot }) => {
    await visit('/sandbox/playground')
    await page.getByLabel('Pix key').selectOption('timeout@sandbox.test')
    await page.getByLabel('Amount, BRL').fill('12.34')
    await page.getByRole('button', { name: 'Send the payout' }).click()
    await page.getByRole('status').filter({ hasText: '201' }).waitFor()
    await page.getByText('"status": "processing"').first().waitFor()
    const curl = await page.locator('.code', { hasText: 'curl' }).locator('pre').textContent()
    expect(curl).toContain('Authorization: Bearer $TRILHO_KEY')
    expect(curl).toContain('"amount": "1234"')
    await page.getByRole('link', { name: 'pix.payout.created' }).first().waitFor()
    // It completes by itself, ten seconds later, and the page is told.
    await page.getByRole('link', { name: 'pix.payout.completed' }).first().waitFor({ timeout: 60_000 })
    await screenshot('playground-told')
    const href = await page.getByRole('link', { name: 'Open the payout' }).getAttribute('href')
    const id = href!.split('/').at(-1)!
    const payout = (await stage.api.get(`/v1/pix/payouts/${id}`)).json
    const found = page.locator('dialog [role=option]')
    const box = page.locator('dialog').getByRole('combobox')
    await page.locator('h1').click()
    await page.keyboard.press('/')
    for (const typed of [id, payout.end_to_end_id, payout.idempotency_key]) {
      await box.fill(typed)
      await expect.poll(() => found.locator('.id').getAttribute('title')).toBe(id)
      await expect.poll(() => found.count()).toBe(1)
      await box.fill('')
      await found.first().waitFor({ state: 'detached' })
    }
    await box.fill('moinho cla')
    await found.filter({ hasText: 'Moinho Claro' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/sandbox\/customers\/cus_/)
  })
})

test('sent again nothing happens twice; an edit takes a new key, and the old key with another body is a conflict', async () => {
  await browse({ url: service.url, as: stage.people.developer }, async ({ page, visit }) => {
    await visit('/sandbox/playground')
    const send = page.getByRole('button', { name: 'Send the payout' })
    await send.click()
    await page.getByRole('status').filter({ hasText: '201' }).waitFor()
    await send.click()
    await page.getByText('idempotent-replayed: true').waitFor()
    const key = page.getByLabel('Idempotency key')
    const first = await key.inputValue()
    await page.getByLabel('Amount, BRL').fill('99.00')
    await expect.poll(() => key.inputValue()).not.toBe(first)
    await send.click()
    await page.getByText('"amount": "9900"').first().waitFor()
    await page.getByRole('status').filter({ hasText: '201' }).waitFor()

    await key.fill(first)
    await send.click()
    await page.getByRole('status').filter({ hasText: '409' }).waitFor()
    await page.getByText('idempotency_conflict').first().waitFor()
    await page.getByRole('button', { name: 'New key' }).click()
    await send.click()
    await page.getByRole('status').filter({ hasText: '201' }).waitFor()
  })
})

test('a quote is asked for and executed; a transfer that is refused says so', async () => {
  await browse({ url: service.url, as: stage.people.owner }, async ({ page, visit, screenshot }) => {
    await visit('/sandbox/playground')
    await page.getByRole('button', { name: 'Quote', exact: true }).click()
    await page.getByRole('button', { name: 'Ask for a quote' }).click()
    await page.getByRole('button', { name: 'Execute the quote' }).click()
    await page.getByRole('link', { name: 'trade.completed' }).first().waitFor()
    await page.getByRole('button', { name: 'Transfer', exact: true }).click()
    await page.getByLabel('What happens').selectOption('9001')
    await page.getByRole('button', { name: 'Send the transfer' }).click()
    await page.getByText('"amount": "5009001"').first().waitFor()
    await page.getByRole('link', { name: 'onchain.transfer.failed' }).first().waitFor({ timeout: 60_000 })
    await screenshot('playground-transfer')
  })
})

test('who may not act in the sandbox is told who can', async () => {
  await browse({ url: service.url, as: stage.people.viewer }, async ({ page, visit, allow }) => {
    allow(/status of 403/)
    await visit('/sandbox/playground')
    await page.getByText('Your role does not permit this').waitFor()
  })
})

test('in both themes and widths it is for everybody and fits', async () => {
  for (const { theme, place: size, width } of looks)
    await browse(
      {
        url: service.url,
        as: stage.people.owner,
        theme,
        width,
        language: theme === 'dark' ? 'pt-BR' : 'en',
      },
      async ({ page, visit, axe, fits, screenshot }) => {
        await visit('/sandbox/playground')
        await screenshot(`playground-${theme}-${size}`)
        await axe()
        await fits()
        await page.locator('form button[type=submit]').click()
        await page.getByRole('status').filter({ hasText: '201' }).waitFor()
        await page.getByRole('link', { name: 'pix.payout.completed' }).first().waitFor()
        await screenshot(`playground-sent-${theme}-${size}`)
        await axe()
        await fits()
      },
    )
})
