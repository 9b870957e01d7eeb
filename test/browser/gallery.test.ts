import { afterAll, beforeAll, expect, test } from 'vitest'
import { browse, looks, showsAfter, type VisitOptions, type Visitor } from '../support/browser.ts'
import { openGallery } from '../support/gallery.ts'

let gallery: Awaited<ReturnType<typeof openGallery>>

beforeAll(async () => {
  gallery = await openGallery()
})
afterAll(() => gallery.stop())

const look = (options: Omit<VisitOptions, 'url'>, work: (visitor: Visitor) => Promise<void>) =>
  browse({ url: gallery.url, ...options }, async (visitor) => {
    await visitor.page.goto(`${gallery.url}/console/`)
    await visitor.page.getByRole('heading', { level: 1 }).waitFor()
    // What is drawn listens to keys a moment later.
    await visitor.page.evaluate(
      'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))',
    )
    await work(visitor)
  })

for (const { theme, place: name, width } of looks)
  test(`every component, ${theme}, ${name}: open to everybody, nothing beside the window`, () =>
    look({ theme, width }, async ({ page, axe, fits, screenshot }) => {
      await fits()
      await screenshot(`gallery-${theme}-${name}`)
      await axe()
      for (const [button, shown] of [
        ['Create key', 'form'],
        ['Revoke…', 'confirm'],
        ['Show it', 'secret'],
      ] as const) {
        await page.getByRole('button', { name: button }).click()
        await page.getByRole('dialog').waitFor()
        await axe()
        await screenshot(`gallery-${theme}-${name}-${shown}`)
        if (shown === 'secret') await page.getByRole('checkbox', { name: 'safe place' }).check()
        await page.getByRole('button', { name: shown === 'secret' ? 'Done' : 'Cancel' }).click()
      }
    }))

for (const width of [320, 720])
  test(`nothing is wider than a window of ${width}, as at 200 % of 1440`, () =>
    look({ width }, async ({ fits }) => fits()))

test('forced colours keep every mark and border', () =>
  look({ forced_colours: true }, async ({ axe, screenshot }) => {
    await screenshot('gallery-forced')
    await axe()
  }))

test('a dialog closes by Esc and gives the focus back', () =>
  look({}, async ({ page }) => {
    const opener = page.getByRole('button', { name: 'Create key' })
    await opener.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.value')).toBe('payroll')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    await expect.poll(() => opener.evaluate((node) => node.matches(':focus'))).toBe(true)
  }))

test('a secret ends only when it is said to be stored', () =>
  look({}, async ({ page }) => {
    await page.getByRole('button', { name: 'Show it' }).click()
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    const done = page.getByRole('button', { name: 'Done' })
    expect(await done.isDisabled()).toBe(true)
    const copy = page.getByRole('button', { name: 'Copy', exact: true })
    await showsAfter(page, 'Copied', () => copy.click())
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^svc_test_sk_/)
    await page.getByRole('checkbox', { name: 'safe place' }).check()
    await done.click()
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  }))

test('what cannot be undone wants the name, and an answer that never came is called unknown', () =>
  look({}, async ({ page }) => {
    await page.getByRole('button', { name: 'Revoke…' }).click()
    const verb = page.getByRole('button', { name: 'Revoke checkout' })
    expect(await verb.isDisabled()).toBe(true)
    await page.getByLabel('Type checkout to confirm').fill('checkout')
    await verb.click()
    await page.getByRole('dialog').getByText('We do not know whether it took effect').waitFor()
    expect(await page.getByRole('dialog').getByText('Nothing was changed').count()).toBe(0)
  }))

test('J and K move, Enter opens, C copies; filters are words of the query', () =>
  look({}, async ({ page }) => {
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Ivone Barros')
    await page.keyboard.press('c')
    await expect
      .poll(() => page.evaluate('navigator.clipboard.readText()'))
      .toBe('po_01m7ez0vgjg2s99rzpf5m1ejc2')
    await page.keyboard.press('Enter')
    await page.waitForURL(/open=po_01m7ez0vgjg2s99rzpf5m1ejc2/)
    await page.getByRole('button', { name: 'On the way' }).click()
    await page.waitForURL(/status=processing/)
    await page.getByRole('button', { name: 'Customer' }).click()
    await page.getByRole('textbox', { name: 'Customer' }).fill('12345')
    await page.keyboard.press('Enter')
    await page.waitForURL(/customer=12345(&|$)/)
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await expect.poll(() => page.url()).not.toMatch(/status|customer/)
  }))

test('a menu opens at its button, moves by the arrows and closes by Esc', () =>
  look({}, async ({ page }) => {
    const dots = page.getByRole('button', { name: 'More' })
    await dots.click()
    const menu = page.getByRole('menu')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Copy as curl')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Revoke')
    const [at, below] = [(await dots.boundingBox())!, (await menu.boundingBox())!]
    expect(below.y).toBeGreaterThanOrEqual(at.y + at.height)
    expect(below.x + below.width).toBeLessThanOrEqual(1440)
    await page.keyboard.press('Escape')
    await expect.poll(() => menu.isVisible()).toBe(false)
  }))

test('JSON is set out without losing a digit, and what a receiver said stays text', () =>
  look({}, async ({ page }) => {
    const shown = await page.locator('pre').first().innerText()
    expect(shown).toContain('"amount": 12345678901234567890,')
    expect(shown).toContain('"name": "Ana \\"A\\" Souza"')
    expect(shown).toContain('"none": [],')
    expect(await page.locator('pre').nth(2).innerText()).toBe('<html><script>alert(1)</script> 503')
    expect(await page.locator('pre script').count()).toBe(0)
  }))
