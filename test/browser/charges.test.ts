import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browse, looks } from '../support/browser.ts'
import { type ConsoleStage, setConsoleStage, stageEnv } from '../support/console-stage.ts'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService
let stage: ConsoleStage
beforeAll(async () => {
  service = await startTestService(stageEnv)
  stage = await setConsoleStage(service)
  await stage.setCharges()
}, 300_000)
afterAll(async () => {
  await stage?.stop()
  await service?.stop()
})

async function pay(page: Page, amount: string): Promise<void> {
  await page.getByRole('button', { name: 'Pay', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Amount').fill(amount)
  await dialog.getByRole('button', { name: 'Pay', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

test('a charge is created for a customer, paid in part, expired, completed late and paid again', async () => {
  const { developer } = stage.people
  await browse({ url: service.url, as: developer }, async ({ page, visit, settled, screenshot, axe }) => {
    await visit(`/sandbox/customers/${stage.ids.customer}`)
    await page.getByRole('button', { name: 'Create charge' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    await dialog.getByText('Write an amount such as 10.50.').waitFor()
    await dialog.getByLabel('Amount').fill('10.50')
    await dialog.getByLabel('Description').fill('Order 1042')
    await axe()
    await screenshot('charge-create')
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    await page.waitForURL(/\/charges\/chg_\w+$/)
    const id = page.url().split('/').at(-1)!
    await page.getByRole('heading', { name: /10\.50/ }).waitFor()
    const { json: charge } = await stage.api.get(`/v1/pix/charges/${id}`)
    expect(charge).toMatchObject({ status: 'open', description: 'Order 1042', amount: '1050' })
    await page.getByRole('img', { name: 'QR code of this charge' }).waitFor()
    await page.getByText(charge.pix_copia_e_cola, { exact: true }).waitFor()
    await settled()
    await axe()
    await screenshot('charge-open')

    await pay(page, '4.00')
    await page.getByText('Paid in part: R$ 4.00 is in the customer’s balance, R$ 6.50 is missing.').waitFor()
    await page.getByRole('button', { name: 'Expire now' }).click()
    await page.getByText('The charge expired with a part paid').waitFor()
    expect(await page.getByRole('img', { name: 'QR code of this charge' }).count()).toBe(0)
    // What is missing is offered.
    await page.getByRole('button', { name: 'Pay', exact: true }).click()
    expect(await dialog.getByLabel('Amount').inputValue()).toBe('6.50')
    await dialog.getByRole('button', { name: 'Pay', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('The amount was completed after the charge had expired.').waitFor()
    await page.getByRole('link', { name: 'The rest, late' }).waitFor()
    await pay(page, '10.50')
    await page.getByText('Paid more than once: R$ 10.50 came on top').waitFor()
    for (const type of ['open', 'expired', 'paid'])
      await page
        .getByRole('link', { name: `pix.charge.${type}` })
        .first()
        .waitFor()
    await settled()
    await axe()
    await screenshot('charge-paid-again')

    await page.getByRole('link', { name: 'Paid again, late' }).click()
    await page.waitForURL(/\/deposits\/dep_\w+$/)
    await page.getByRole('complementary').getByText('Pix', { exact: true }).waitFor()
    await settled()
    await screenshot('charge-deposit')
    const { json } = await stage.api.get(`/v1/deposits/${page.url().split('/').at(-1)}`)
    expect(json).toMatchObject({ charge_id: id, amount: '1050' })
    await page.getByRole('complementary').locator(`a[href$="/charges/${id}"]`).click()
    await page.waitForURL(new RegExp(`/charges/${id}$`))

    for (const [typed, leads] of [
      [charge.txid, `/charges/${id}`],
      [json.end_to_end_id, `/deposits/${json.id}`],
    ] as const) {
      await page.keyboard.press('/')
      await page.getByRole('combobox').fill(typed)
      await page.getByRole('option').first().waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(new RegExp(`${leads}$`))
    }
  })
})

test('the list is filtered by status, and a row leads to its charge by keyboard', async () => {
  await browse(
    { url: service.url, as: stage.people.viewer },
    async ({ page, visit, settled, screenshot, fits }) => {
      await visit('/sandbox')
      await page.getByRole('navigation').getByRole('link', { name: 'Charges' }).first().click()
      await page.getByRole('heading', { name: 'Charges' }).waitFor()
      await page.getByText('Pedido 1043').first().waitFor()
      await settled()
      await fits()
      await screenshot('charges-list')
      await page
        .getByRole('radio', { name: 'Expired' })
        .or(page.getByRole('button', { name: 'Expired' }))
        .first()
        .click()
      await page.getByText('Pedido 1043').waitFor({ state: 'detached' })
      await page.getByText('Pedido 1040').waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page.getByText('Nobody paid in time.').waitFor()
      // Who may only read has nothing to press.
      for (const name of ['Pay', 'Expire now', 'Redeliver events'])
        expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0)
    },
  )
})

test('the pages of charges in each look', async () => {
  for (const { theme, width, language, place } of looks)
    await browse(
      { url: service.url, as: stage.people.owner, theme, width, language },
      async ({ page, visit, fits, axe, screenshot }) => {
        const { open, paid } = stage.charges
        for (const [name, path] of [
          ['list', 'charges'],
          ['open', `charges/${open}`],
          ['paid', `charges/${paid}`],
        ] as const) {
          await visit(`/sandbox/${path}`)
          await page.getByRole('heading', { level: 1 }).first().waitFor()
          await fits()
          await axe()
          await screenshot(`charges-${name}-${theme}-${place}`)
        }
        await page.getByRole('button', { name: language === 'en' ? 'Pay' : 'Pagar', exact: true }).click()
        // The button that closes the dialog stands in its corner, also in a dialog that was opened from the head of the page.
        const dialog = (await page.getByRole('dialog').boundingBox())!
        const close = (await page.locator('dialog > header > .push').boundingBox())!
        expect(dialog.x + dialog.width - (close.x + close.width)).toBeLessThan(40)
        expect(close.width).toBeLessThan(60)
        await axe()
        await screenshot(`charges-pay-${theme}-${place}`)
      },
    )
})
