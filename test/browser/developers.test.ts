import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createPartner } from '../../src/parties/partners/partners.ts'
import { browse, forgetSession, looks, widths } from '../support/browser.ts'
import { makePerson, type Person } from '../support/console.ts'
import { openReceiver } from '../support/receiver.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/wait.ts'

/** Keys, webhooks, events and the request log in a real browser: journeys 1, 2 and 4 of the console. */
let service: TestService
beforeAll(async () => {
  service = await startTestService({ WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_RETRY_MS: '600000,600000' })
})
afterAll(() => service.stop())

async function person(factor: boolean, role: 'owner' | 'developer' = 'owner'): Promise<Person> {
  const { id: partner_id } = await createPartner(service.shared, 'Lumen Pagamentos')
  return makePerson(service, { partner_id, role, factor })
}
const ask = (key: string, path = '/v1/account') =>
  fetch(service.url + path, { headers: { authorization: `Bearer ${key}` } })
const dialog = (page: Page): Locator => page.getByRole('dialog')
const button = (at: Page | Locator, name: string | RegExp) => at.getByRole('button', { name })
const allOfPage = (page: Page): Promise<string> => page.evaluate('document.documentElement.outerHTML')

describe('journey 1', () => {
  test('a key is created, used, found by the call that it made, and revoked', async () => {
    const owner = await person(false)
    await browse({ url: service.url, as: owner }, async ({ page, visit, settled, axe }) => {
      await visit('/sandbox/developers/keys')
      await page.getByText('No API keys yet').waitFor()
      await axe()
      await button(page, 'Create key').first().click()
      await dialog(page).getByLabel('Name').fill('checkout')
      await dialog(page)
        .getByRole('checkbox', { name: /customers/ })
        .check()
      await axe()
      await button(dialog(page), 'Create key').click()
      await dialog(page).getByText('Copy the key now').waitFor()
      await axe()
      const value = (await dialog(page).locator('.secret code').textContent())!
      expect(value).toMatch(/^svc_test_sk_/)
      expect(await button(dialog(page), 'Done').isDisabled()).toBe(true)
      await dialog(page).getByRole('checkbox').check()
      await button(dialog(page), 'Done').click()
      await dialog(page).waitFor({ state: 'detached' })
      expect(await allOfPage(page)).not.toContain(value)

      const answer = await ask(value)
      expect(answer.status).toBe(200)
      const request_id = answer.headers.get('x-request-id')!
      await visit('/sandbox/developers/requests')
      await page.getByRole('textbox', { name: 'X-Request-Id' }).fill(request_id)
      await button(page, 'Find').click()
      // The log has a call about a second after its response.
      await until(async () => {
        if (await page.getByRole('heading', { name: 'GET /v1/account' }).isVisible()) return true
        const again = button(page, 'Try again')
        // The button goes away when the page finds the call by itself.
        if (await again.isVisible()) await again.click({ timeout: 1000 }).catch(() => {})
        return false
      }, 15_000)
      await page.getByRole('link', { name: 'checkout' }).click()
      await settled()
      await page.getByRole('heading', { name: 'checkout' }).waitFor()
      await button(page, 'Revoke').click()
      await button(dialog(page), 'Revoke checkout').click()
      await page.locator('.head').getByText('Revoked').waitFor()
      await expect.poll(async () => (await ask(value)).text()).toContain('revoked_api_key')
      expect((await ask(value)).status).toBe(401)
    })
  })

  test('a bad line of the allowlist is explained in place and mended by a click', async () => {
    const owner = await person(false)
    await browse({ url: service.url, as: owner, width: widths.phone }, async ({ page, visit, axe, fits }) => {
      await visit('/sandbox/developers/keys')
      await button(page, 'Create key').first().click()
      // As long as a name may be, and one word.
      await dialog(page).getByLabel('Name').fill('k'.repeat(79))
      const addresses = dialog(page).getByLabel('Allowed IP addresses')
      // Whoever tries the key from here is told that the list shuts this computer out.
      await addresses.fill('203.0.113.0/24')
      await dialog(page).getByText('is not in this list', { exact: false }).waitFor()
      await button(dialog(page), 'Add it').click()
      await dialog(page).getByText('is not in this list', { exact: false }).waitFor({ state: 'detached' })
      await expect.poll(() => addresses.inputValue()).toMatch(/^203[.]0[.]113[.]0\/24\n[\da-f.:]+$/)
      await addresses.fill('203.0.113.0/24\n2001:db8:42::/48\n198.51.100.7/24')
      await dialog(page).getByText('Line 3: 198.51.100.7/24 has host bits set.', { exact: false }).waitFor()
      await axe()
      await fits()
      await button(dialog(page), 'Create key').click()
      expect(await dialog(page).getByText('Copy the key now').isVisible()).toBe(false)
      await button(dialog(page), '198.51.100.0/24').click()
      await expect
        .poll(() => addresses.inputValue())
        .toBe('203.0.113.0/24\n2001:db8:42::/48\n198.51.100.0/24')
      await dialog(page).getByText('has host bits set').waitFor({ state: 'detached' })
      await button(dialog(page), 'Create key').click()
      await dialog(page).getByText('Copy the key now').waitFor()
      await dialog(page).getByText('203.0.113.0/24, 2001:db8:42::/48, 198.51.100.0/24').waitFor()
      const box = (await dialog(page).boundingBox())!
      const copy = (await button(dialog(page), 'Copy').last().boundingBox())!
      expect(copy.x + copy.width).toBeLessThanOrEqual(box.x + box.width)
    })
  })
})

describe('journey 2', () => {
  test('a key of production takes a factor', async () => {
    const developer = await person(false, 'developer')
    await browse({ url: service.url, as: developer }, async ({ page, visit }) => {
      await visit('/production/developers/keys')
      await button(page, 'Create key').first().click()
      await dialog(page).getByText('so it needs a second factor').waitFor()
      await expect.poll(() => button(dialog(page), 'Continue').isDisabled()).toBe(true)
    })
  })

  test('it is shown once, after a fresh proof, and is nowhere after a reload', async () => {
    const owner = await person(true)
    await browse({ url: service.url, as: owner }, async ({ page, context, visit, allow, axe }) => {
      allow(/status of 403/)
      const answers: Promise<string>[] = []
      await visit('/production/developers/keys')
      await service.shared.db.query(
        `UPDATE sessions SET proved_at = now() - interval '6 minutes' WHERE user_id = $1`,
        [owner.user.id],
      )
      await button(page, 'Create key').first().click()
      await dialog(page).getByLabel('Name').fill('payroll')
      await button(dialog(page), 'Continue').click()
      const proof = page.getByRole('dialog', { name: 'Confirm that it is you' })
      await proof.waitFor()
      await axe()
      await proof.getByRole('textbox').fill(owner.code())
      await button(proof, 'Continue').click()
      await dialog(page).getByText('Copy the key now').waitFor()
      const value = (await dialog(page).locator('.secret code').textContent())!
      expect(value).toMatch(/^svc_live_sk_/)
      expect((await ask(value)).status).toBe(200)

      page.on('response', (response) => {
        // A stream of hints has no end to wait for.
        if (!response.url().endsWith('/stream')) answers.push(response.text().catch(() => ''))
      })
      await page.reload()
      await page.getByRole('link', { name: 'payroll' }).waitFor()
      await page.goBack().catch(() => undefined)
      await visit('/production/developers/keys')
      await page.getByRole('link', { name: 'payroll' }).click()
      await page.getByRole('heading', { name: 'payroll' }).waitFor()
      const kept = await page.evaluate<string>(
        `JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state, location.href, document.documentElement.outerHTML])`,
      )
      const cached = await page.evaluate<string[]>(`(async () => {
        const found = []
        for (const name of await caches.keys())
          for (const request of await (await caches.open(name)).keys()) found.push(request.url)
        return found
      })()`)
      const told = (await Promise.all(answers)).join('\n')
      expect(told).toContain('payroll')
      for (const place of [kept, told, JSON.stringify(await context.storageState())])
        expect(place).not.toContain(value.slice(12))
      expect(cached).toEqual([])
      forgetSession(service.url, owner)
    })
  })
})

describe('journey 4', () => {
  test('an endpoint fails, shows it, is mended, tried now and delivered', async () => {
    let status = 503
    const receiver = await openReceiver((_, response) => {
      response.statusCode = status
      response.end('<html><body>503 Service Temporarily Unavailable</body></html>')
    })
    onTestFinished(receiver.stop)
    const owner = await person(false)
    const { api } = await service.partner({ partner_id: owner.user.partner_id! })
    await browse({ url: service.url, as: owner }, async ({ page, visit, settled, axe, allow }) => {
      allow(/status of 400/)
      await visit('/sandbox/developers/webhooks')
      await button(page, 'Add endpoint').first().click()
      for (const [url, said] of [
        ['ftp://example.com/x', 'The URL must begin with https://'],
        ['https://ana:secret@example.com', 'The URL contains a user name or password'],
        ['http://169.254.169.254/', 'For a program on your own machine, run trilho listen'],
      ] as const) {
        await dialog(page).getByLabel('URL').fill(url)
        await button(dialog(page), 'Add endpoint').click()
        await dialog(page).getByText(said).waitFor()
      }
      await dialog(page).getByLabel('URL').fill(`${receiver.url}/trilho`)
      await button(dialog(page), 'Only these').click()
      await dialog(page).getByRole('checkbox', { name: 'customer.created' }).check()
      await axe()
      await button(dialog(page), 'Add endpoint').click()
      const secret = (await dialog(page).locator('.secret code').textContent())!
      expect(secret).toMatch(/^whsec_/)
      await dialog(page).getByRole('checkbox').check()
      await button(dialog(page), 'Done').click()

      await api.post('/v1/customers', { name: 'Ana Souza', document: someCpf() })
      await until(() => receiver.received.length > 0, 10_000)
      await page.getByRole('link', { name: /\/trilho$/ }).click()
      await page.getByText(/Failing since/).waitFor()
      await page.getByText('Waiting, tried 1×').waitFor()
      await page.getByText('Attempt 1').waitFor()
      // What the receiver said is text.
      await page.getByText('<html><body>503 Service Temporarily Unavailable</body></html>').waitFor()
      await settled()
      await axe()

      status = 200
      await button(page, 'Retry now').click()
      await page.getByRole('table', { name: 'Deliveries', exact: true }).getByText('Delivered').waitFor()
      await page.getByText('Attempt 2').waitFor()
      await page.locator('.head').getByText('Working').waitFor()
      expect(receiver.received).toHaveLength(2)
      await button(page, 'Send test event').click()
      await page.getByText('The test event was delivered.').waitFor()
      expect(receiver.received[1]!.headers['webhook-id']).toBe(receiver.received[0]!.headers['webhook-id'])

      await page.getByRole('link', { name: 'customer.created' }).last().click()
      await page.getByRole('heading', { name: 'customer.created' }).waitFor()
      await settled()
      await page.getByRole('button', { name: 'Redeliver', exact: true }).click()
      await until(() => receiver.received.length === 4, 10_000)
    })
  })
})

describe('the dialogs', () => {
  test.each(looks)('fit and are for everybody: $theme, $place', async ({ theme, place, width }) => {
    const owner = await person(true)
    const language = theme === 'dark' && place === 'phone' ? 'pt-BR' : 'en'
    const words =
      language === 'en'
        ? {
            create: 'Create key',
            name: 'Name',
            list: 'Allowed IP addresses',
            go: 'Continue',
            rotate: 'Rotate',
            cancel: 'Cancel',
            done: 'Done',
          }
        : {
            create: 'Criar chave',
            name: 'Nome',
            list: 'Lista de IPs permitidos',
            go: 'Continuar',
            rotate: 'Rotacionar',
            cancel: 'Cancelar',
            done: 'Pronto',
          }
    await browse({ url: service.url, as: owner, theme, width, language }, async (visitor) => {
      const { page, visit, axe, fits, screenshot, settled } = visitor
      const look = async (name: string) => {
        await axe()
        await fits()
        await screenshot(`${name}-${theme}-${place}`)
      }
      await visit('/production/developers/keys')
      await look('keys-empty')
      await button(page, words.create).first().click()
      await dialog(page).getByLabel(words.name).fill('payroll')
      await dialog(page).getByLabel(words.list).fill('203.0.113.0/24\n2001:db8:42::/48\n198.51.100.7/24')
      await dialog(page).locator('.mend').first().waitFor()
      await look('key-create')
      await button(dialog(page), '198.51.100.0/24').click()
      await dialog(page).locator('.mend').first().waitFor({ state: 'detached' })
      await button(dialog(page), words.go).click()
      await dialog(page).locator('.secret').waitFor()
      await look('key-shown')
      await dialog(page).getByRole('checkbox').check()
      await dialog(page).locator('footer button').click()
      await page.getByRole('link', { name: 'payroll' }).click()
      await page.getByRole('heading', { name: 'payroll' }).waitFor()
      await settled()
      await button(page, words.rotate).click()
      await look('key-rotate')
      await button(dialog(page), words.cancel).click()
      await button(page, /^(Revoke|Revogar)$/).click()
      await look('key-revoke')
      // In production the name is to be typed.
      const revoke = button(dialog(page), /payroll$/)
      await expect.poll(() => revoke.isDisabled()).toBe(true)
      await dialog(page).getByRole('textbox').fill('payroll')
      await expect.poll(() => revoke.isDisabled()).toBe(false)
    })
  })

  test.each([
    { theme: 'light', place: 'desktop', language: 'en' },
    { theme: 'dark', place: 'phone', language: 'pt-BR' },
  ] as const)('of a webhook as well: $theme, $place', async ({ theme, place, language }) => {
    const owner = await person(false)
    const { api } = await service.partner({ partner_id: owner.user.partner_id! })
    const made = await api.post('/v1/webhook_endpoints', { url: 'https://example.com/trilho', events: ['*'] })
    const options = { url: service.url, as: owner, theme, width: widths[place], language }
    await browse(options, async ({ page, visit, axe, fits, screenshot, settled }) => {
      const look = async (name: string) => {
        await dialog(page).waitFor()
        await axe()
        await fits()
        await screenshot(`${name}-${theme}-${place}`)
        await page.keyboard.press('Escape')
        await dialog(page).waitFor({ state: 'detached' })
      }
      await visit('/sandbox/developers/webhooks')
      await button(page, /^(Add endpoint|Adicionar endpoint)$/).click()
      await button(dialog(page), /^(Only these|Só estes)$/).click()
      await look('webhook-create')
      await page.getByRole('link', { name: 'example.com/trilho' }).click()
      await settled()
      await button(page, /^(Redeliver…|Reenviar…)$/).click()
      await look('webhook-redeliver')
      await button(page, /^(Rotate secret|Rotacionar segredo)$/).click()
      await look('webhook-rotate')
      await button(page.locator('.head'), /^(More|Mais)$/).click()
      await page.getByRole('menuitem', { name: /^(Delete|Excluir)$/ }).click()
      await look('webhook-delete')
      expect((await api.get(`/v1/webhook_endpoints/${made.json.id}`)).status).toBe(200)
    })
  })
})
