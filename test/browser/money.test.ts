import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeCpf } from '../../src/core/document.ts'
import { browse, widths } from '../support/browser.ts'
import { type ConsoleStage, setConsoleStage, stageEnv } from '../support/console-stage.ts'
import { readPdf } from '../support/pdf.ts'
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

/** Of the ledger, as it is drawn: the sum under each movement. */
const sums = (page: Page) => page.locator('.ledger .sum .amt').allInnerTexts()

test('a customer, test money, and a payout that nobody answers for a while', async () => {
  const { developer } = stage.people
  const document = makeCpf('390533447')
  await browse({ url: service.url, as: developer }, async ({ page, visit, settled, screenshot, axe }) => {
    await visit('/sandbox/customers')
    await page.getByRole('button', { name: 'Create customer' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Create customer' }).click()
    await dialog.getByText('Write the name of the person or company.').waitFor()
    const invalid = () => page.evaluate('document.activeElement.getAttribute("aria-invalid")')
    await expect.poll(invalid).toBe('true')
    await dialog.getByLabel('Name').fill('Ivone Barros')
    await dialog.getByLabel('CPF or CNPJ').fill(document)
    await dialog.getByLabel('Metadata').fill('segment=retail')
    await axe()
    await screenshot('money-create-customer')
    await dialog.getByRole('button', { name: 'Create customer' }).click()
    await page.getByRole('heading', { name: 'Ivone Barros' }).waitFor()
    await page.waitForURL(/\/customers\/cus_\w+$/)
    const customer_id = page.url().split('/').at(-1)!

    await page.getByRole('button', { name: 'Deposit test money' }).click()
    for (const [typed, said] of [
      ['-5', 'The amount must be more than zero.'],
      ['1.005', 'BRL has 2 decimals, no more.'],
      ['1.500,00', 'Write an amount such as 1,000.00.'],
    ] as const) {
      await dialog.getByLabel('Amount').fill(typed)
      await dialog.getByRole('button', { name: 'Deposit' }).click()
      await dialog.getByText(said).waitFor()
    }
    await dialog.getByLabel('Amount').fill('1,500.00')
    await screenshot('money-deposit')
    await dialog.getByRole('button', { name: 'Deposit' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.locator('.bal').first().getByText('1,500.00').first().waitFor()

    const made = await stage.api.post('/v1/pix/payouts', {
      customer_id,
      amount: '98765',
      // Without an answer for minutes, so that the answer comes when the test has seen that there is none.
      counterparty: { type: 'pix_key', pix_key: 'late@sandbox.test' },
      idempotency_key: 'journey-3',
    })
    await page.getByRole('navigation').getByRole('link', { name: 'Payouts' }).first().click()
    await page.getByRole('link', { name: 'Ivone Barros' }).click()
    await page.getByRole('heading', { name: /987\.65/ }).waitFor()
    await page.locator('.track').getByText('No answer').waitFor()
    await settled()
    await screenshot('money-payout-unknown')
    const receipt = page.getByRole('link', { name: 'Receipt' })
    expect(await receipt.count()).toBe(0)
    await stage.api.post(`/v1/sandbox/pix/payouts/${made.json.id}/complete`)
    await page.locator('.track').getByText('Completed').waitFor({ timeout: 60_000 })
    await expect.poll(() => sums(page)).toEqual(['0.00', '0.00'])
    const told = page.getByRole('row', { name: /pix\.payout\.completed/ })
    await told.getByText('Delivered').first().waitFor()
    await screenshot('money-payout-answered')
    const { json } = await stage.api.get(`/v1/pix/payouts/${made.json.id}`)
    expect(json.status).toBe('completed')
    const [download] = await Promise.all([page.waitForEvent('download'), receipt.click()])
    expect(download.suggestedFilename()).toBe(`receipt-${made.json.id}.pdf`)
    expect((await readPdf(readFileSync(await download.path()))).text).toContain('Payer Name Ivone Barros')
  })
})

/** Presses a key until the element that has the focus says this. */
async function pressUntil(page: Page, key: string, text: string, most = 60): Promise<void> {
  for (let i = 0; i < most; i++) {
    await page.keyboard.press(key)
    const focused = await page.evaluate<string>('document.activeElement?.innerText ?? ""')
    if (focused.includes(text)) return
  }
  throw new Error(`${key} never led to ${text}`)
}

test('in Portuguese, on a phone, by keyboard: the statement and its table', async () => {
  const width = widths.phone
  const as = stage.people.finance
  await browse(
    { url: service.url, as, width, language: 'pt-BR' },
    async ({ page, visit, settled, fits, screenshot }) => {
      await visit('/sandbox/customers')
      await pressUntil(page, 'j', 'Ana Souza')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Ana Souza' }).waitFor()
      await settled()
      await page.keyboard.press('f')
      await pressUntil(page, 'Tab', 'BRL')
      await page.keyboard.press('Enter')
      const ofOthers = page.locator('section.statement tbody td.a1', { hasText: /USDT|BTC/ })
      await ofOthers.first().waitFor({ state: 'detached' })
      await settled()
      await page.getByText('Início do extrato').waitFor()
      const amounts = await page.locator('section.statement tbody td.a1').allInnerTexts()
      expect(amounts.at(-1)).toMatch(/\+18\.120,55\s*BRL/)
      await fits()
      await screenshot('money-statement-phone-pt')

      await pressUntil(page, 'Shift+Tab', 'Extrato em CSV')
      const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')])
      expect(download.suggestedFilename()).toMatch(/^statement-cus_\w+-sandbox-[0-9-]+\.csv$/)
      const text = readFileSync(await download.path(), 'utf8')
      const lines = text.trim().split('\r\n')
      expect(lines).toHaveLength(amounts.length + 1)
      expect(lines.at(-1)).toContain(';BRL;1812055;18120,55;1812055;18120,55')
      await page.keyboard.press('Escape')
      await page.getByRole('table', { name: 'Clientes' }).waitFor()
    },
  )
})

test('what comes while one reads further down waits, and is counted', async () => {
  await browse({ url: service.url, as: stage.people.viewer, height: 420 }, async ({ page, visit }) => {
    await visit('/sandbox/payouts')
    expect(await page.getByRole('link', { name: 'Export CSV' }).count()).toBe(0)
    const first = await page.locator('tbody tr').first().innerText()
    await page.evaluate('window.scrollTo(0, 400)')
    await stage.leaveUnanswered('4321')
    const waits = page.getByRole('button', { name: /^1 new/ })
    await waits.waitFor()
    expect(await page.locator('tbody tr').first().innerText()).toBe(first)
    await waits.click()
    await page.locator('tbody tr').first().getByText('43.21', { exact: true }).waitFor()
  })
})

test('filters are in the address, chosen by keyboard, and cleared', async () => {
  await browse({ url: service.url, as: stage.people.owner }, async ({ page, visit, settled }) => {
    await visit('/sandbox/payouts')
    await page.getByRole('button', { name: 'Failed' }).click()
    await page.waitForURL(/status=failed/)
    await page.getByRole('button', { name: 'Amount' }).click()
    await page.getByLabel('At least').fill('100')
    await page.keyboard.press('Enter')
    await page.waitForURL(/amount_min=10000/)
    await settled()
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
    await page.getByRole('button', { name: 'from R$ 100.00' }).waitFor()
    await page.getByText('1 payout on this page').waitFor()
    await page.keyboard.press('j')
    await expect.poll(() => page.evaluate('document.activeElement.closest("tbody") !== null')).toBe(true)
    await page.keyboard.press('c')
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
    await expect.poll(copied).toBe(stage.ids.failed_payout)
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await page.waitForURL((url) => url.search === '')
    await page.getByRole('button', { name: 'Customer', exact: true }).click()
    await page.getByRole('textbox', { name: 'Customer' }).fill('moinho')
    await page.getByRole('button', { name: /Moinho Claro/ }).click()
    await page.waitForURL(/customer_id=cus_/)
    await expect.poll(() => page.locator('tbody tr').count()).toBe(2)
  })
})

test('a deposit address with its QR code, and a deposit that arrives there', async () => {
  const { developer } = stage.people
  const { json: customer } = await stage.api.post('/v1/customers', {
    name: 'Rita Prado',
    document: makeCpf('168995350'),
  })
  const visitor = { url: service.url, as: developer }
  await browse(visitor, async ({ page, visit, settled, screenshot, axe, fits }) => {
    await visit(`/sandbox/customers/${customer.id}`)
    await page.getByRole('button', { name: 'Create address' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Network').selectOption('bitcoin')
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    await dialog.getByRole('img', { name: 'QR code of the address on bitcoin' }).waitFor()
    await dialog.getByText('Send only BTC, and only on bitcoin. Anything else is lost.').waitFor()
    await axe()
    await screenshot('money-deposit-address')
    const { json } = await stage.api.get(`/v1/customers/${customer.id}/deposit_addresses`)
    const { address } = json.data[0]
    await dialog.locator(`[data-copy="${address}"]`).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(address)
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await dialog.waitFor({ state: 'detached' })
    for (const amount of ['250000', '259003'])
      await stage.api.post('/v1/sandbox/onchain/deposits', { address, amount })
    const deposits = page.getByRole('table', { name: 'Newest deposits' })
    await deposits
      .getByRole('row', { name: /Pending/ })
      .first()
      .waitFor({ timeout: 60_000 })
    await deposits
      .getByRole('row', { name: /Completed/ })
      .first()
      .waitFor({ timeout: 60_000 })
    await settled()
    await fits()
    await axe()
    await screenshot('money-customer-deposits')
    await deposits
      .getByRole('row', { name: /Completed/ })
      .getByRole('link', { name: 'bitcoin' })
      .click()
    await page.getByRole('heading', { name: /0\.0025/ }).waitFor()
    await page.getByText('2 of 2').waitFor()
    await screenshot('money-deposit-on-chain')
  })
  const phone = { ...visitor, theme: 'dark', width: widths.phone, language: 'pt-BR' } as const
  await browse(phone, async ({ page, visit, screenshot, axe, fits }) => {
    await visit(`/sandbox/customers/${customer.id}`)
    await fits()
    await axe()
    await screenshot('money-customer-deposits-phone')
    await page.getByRole('button', { name: 'Código QR' }).click()
    await page.getByRole('img', { name: 'Código QR do endereço na rede bitcoin' }).waitFor()
    await fits()
    await screenshot('money-deposit-address-phone')
  })
})
