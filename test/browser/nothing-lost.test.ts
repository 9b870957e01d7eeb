import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeCpf } from '../../src/core/document.ts'
import { browse, forgetSession, showsAfter, type Visitor } from '../support/browser.ts'
import { makePerson, type Person } from '../support/console.ts'
import { type ConsoleStage, setConsoleStage, stageEnv } from '../support/console-stage.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** What is typed, shown once or chosen stays until the person is done with it, and nothing is done behind their back. */
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

const here = (as: ConsoleStage['people']['owner'] | undefined) => ({ url: service.url, as })

test('an order given offline fails at once and is never carried out later', async () => {
  await browse(here(stage.people.developer), async ({ page, visit, context, allow, settled }) => {
    allow(/ERR_INTERNET_DISCONNECTED/)
    const orders: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') orders.push(request.url())
    })
    await visit('/sandbox/playground')
    await context.setOffline(true)
    await page.getByLabel('Amount, BRL').fill('10.50')
    await page.getByRole('button', { name: 'Send the payout' }).click()
    await page.getByText('Nothing was changed.').waitFor()
    expect(await page.getByLabel('Amount, BRL').inputValue()).toBe('10.50')
    await context.setOffline(false)
    await page.getByRole('link', { name: 'Payouts' }).first().click()
    await page.getByRole('heading', { name: 'Payouts' }).waitFor()
    await settled()
    await page.getByRole('status').getByText('Live').waitFor()
    expect(orders).toEqual([])
  })
})

test('what is read offline says so instead of loading for ever', async () => {
  await browse(here(stage.people.viewer), async ({ page, visit, context, allow }) => {
    allow(/ERR_INTERNET_DISCONNECTED/)
    await visit('/sandbox/payouts')
    await context.setOffline(true)
    await page.getByRole('button', { name: 'Failed' }).click()
    await page.getByText('The service cannot be reached from here.').waitFor()
    await context.setOffline(false)
    await page.getByText('The service cannot be reached from here.').waitFor({ state: 'detached' })
  })
})

test('who approves a new operator is shown their half of the password until it is stored', async () => {
  const second = await makePerson(service, { role: 'admin', factor: true, name: 'Beatriz Nunes' })
  await browse(here(stage.operators.admin), async ({ page, visit }) => {
    await visit('/operator/production/people')
    await page.getByRole('button', { name: 'New operator' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('Davi Rocha')
    await dialog.getByLabel('E-mail').fill('davi@trilho.example')
    await dialog.locator('button[type=submit]').click()
    await page.getByText('nothing has happened yet').waitFor()
    const code = page.getByRole('checkbox')
    if (await code.isVisible()) {
      await code.check()
      await page.getByRole('button', { name: 'Done' }).click()
    }
  })
  await browse(here(second), async ({ page, visit, settled }) => {
    await visit('/operator/production/people')
    await page.getByRole('link', { name: 'Proposals' }).click()
    await page.getByRole('row').filter({ hasText: 'davi@trilho.example' }).getByRole('link').first().click()
    await page.getByRole('button', { name: 'Approve…' }).click()
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.locator('dialog .secret code').waitFor()
    await settled()
    await page.goBack()
    await settled()
    expect(await page.locator('dialog .secret code').innerText()).not.toBe('')
    await page.getByRole('checkbox').check()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.locator('dialog .secret code').waitFor({ state: 'detached' })
  })
})

test('Esc and the path lead back to the list as it was, at the row that was opened', async () => {
  await browse(here(stage.people.viewer), async ({ page, visit }) => {
    const focused = () => page.evaluate<string | null>('document.activeElement.getAttribute("href")')
    await visit('/sandbox/payouts?status=failed')
    await page.keyboard.press('j')
    await expect.poll(focused).toMatch(/\/payouts\/po_/)
    const row = (await focused())!
    for (const back of ['key', 'path'] as const) {
      await page.keyboard.press('Enter')
      await page.waitForURL(new RegExp(`${row}$`))
      await page.locator('.crumb a').first().waitFor()
      if (back === 'key') await page.keyboard.press('Escape')
      else await page.locator('.crumb a').first().click()
      await page.waitForURL(/\/sandbox\/payouts\?status=failed$/)
      await expect.poll(focused).toBe(row)
    }
    // Who came from elsewhere goes to the whole list.
    await visit(row.replace('/console', ''))
    await page.locator('.crumb a').first().waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL(/\/sandbox\/payouts$/)
  })
})

test('C copies the id of the row, whatever else the row could copy', async () => {
  await browse(here(stage.people.developer), async ({ page, visit }) => {
    for (const [list, id] of [
      ['/sandbox/developers/events', /^evt_/],
      ['/sandbox/developers/requests', /^req_/],
      ['/sandbox/developers/keys', /^key_/],
      ['/sandbox/developers/webhooks', /^whe_/],
    ] as const) {
      await visit(list)
      await page.keyboard.press('j')
      await expect.poll(() => page.evaluate('document.activeElement.closest("tbody") !== null')).toBe(true)
      await showsAfter(page, 'Copied', () => page.keyboard.press('c'))
      await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toMatch(id)
    }
  })
})

/** Whose session a test may end. */
const somebody = (role: 'developer' | 'owner', factor = false) =>
  makePerson(service, { role, factor, partner_id: stage.partner_id, name: 'Ada Reis' })

/** As after half an hour: the session is gone when the form is sent. */
async function typeCustomer({ page, visit, context, allow }: Visitor, name: string) {
  allow(/status of 401/)
  await visit('/sandbox/customers')
  await page.getByRole('button', { name: 'Create customer' }).click()
  const form = page.getByRole('dialog', { name: 'Create a customer' })
  await form.getByLabel('Name', { exact: true }).fill(name)
  await form.getByLabel('CPF or CNPJ').fill(makeCpf('390533447'))
  await context.clearCookies()
  await form.locator('button[type=submit]').click()
  const entry = page.getByRole('dialog', { name: 'Sign in again' })
  await entry.waitFor()
  return { form, entry }
}

test('a session that ends under a form: one signs in above it, and what was typed goes on', async () => {
  const person = await somebody('developer', true)
  await browse(here(person), async (visitor) => {
    const { page } = visitor
    const { form, entry } = await typeCustomer(visitor, 'Rui Alves')
    await visitor.axe()
    await visitor.screenshot('sign-in-again')
    expect(await entry.getByLabel('E-mail').inputValue()).toBe(person.user.email)
    await entry.getByRole('button', { name: 'Cancel' }).click()
    await form.getByText('Nothing was changed.').waitFor()
    expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('Rui Alves')
    await visitor.screenshot('sign-in-again-refused')
    await form.locator('button[type=submit]').click()
    await entry.getByLabel('Your password').fill(person.password)
    await entry.getByRole('button', { name: 'Sign in' }).click()
    await entry.getByLabel('Code from your authenticator app').fill(person.code())
    await entry.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(/\/sandbox\/customers\/cus_/)
    await page.getByRole('heading', { name: 'Rui Alves' }).waitFor()
  })
  forgetSession(service.url, person)
})

test('what one person typed is not done in the name of another who signs in', async () => {
  const person = await somebody('developer')
  const other = await somebody('owner')
  await browse(here(person), async (visitor) => {
    const { page, allow } = visitor
    allow(/status of 403/)
    const { form, entry } = await typeCustomer(visitor, 'Nobody Made')
    await entry.getByRole('button', { name: 'Cancel' }).click()
    // In another tab of the same browser.
    const body = JSON.stringify({ email: other.user.email, password: other.password })
    await page.evaluate(
      `fetch('/console/api/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(body)} })`,
    )
    for (let i = 0; i < 2; i++) {
      await form.locator('button[type=submit]').click()
      await form.getByText('Another person has signed in').waitFor()
    }
    const { json } = await stage.api.get('/v1/customers')
    expect(json.data.map(({ name }: { name: string }) => name)).not.toContain('Nobody Made')
  })
  forgetSession(service.url, person)
})

test('a session that ended is said before one signs in again; what was opened is opened then', async () => {
  await browse(here(stage.people.viewer), async ({ page, visit, context, allow }) => {
    allow(/status of 401/)
    await visit('/sandbox/payouts')
    await context.clearCookies()
    await page.getByRole('button', { name: 'Failed' }).click()
    await page.waitForURL(/\/sign-in\?next=%2Fsandbox%2Fpayouts/)
    await page.getByText('Your session has ended').waitFor()
  })
})

test('a filter in the address that nobody can read is named, and costs no page', async () => {
  const filters =
    'status asset network created amount_min customer_id api_key_id failure_code name document since pair'
  const more =
    'external_id type object_id route error_code key_id after period state place actor line tab next'
  const query = `${filters} ${more}`
    .split(' ')
    .map((name) => `${name}=constructor`)
    .join('&')
  const walk = async (as: Person, lists: readonly string[]) =>
    browse(here(as), async ({ page, visit, allow }) => {
      allow(/status of 40[04]/)
      for (const list of lists) {
        await visit(`${list}?${query}`)
        await page.locator('main h1').first().waitFor()
        expect(await page.getByText('This page could not be shown').count(), list).toBe(0)
      }
    })
  const customer = stage.ids.customer
  await walk(stage.people.owner, [
    ...['', '/payouts', '/transfers', '/customers', `/customers/${customer}`, '/quotes', '/trades'].map(
      (list) => `/sandbox${list}`,
    ),
    ...['keys', 'webhooks', 'events', 'requests'].map((list) => `/sandbox/developers/${list}`),
    ...['/team', '/team/audit', '/notifications', '/sandbox/playground'],
  ])
  await walk(
    stage.operators.admin,
    ['', '/partners', '/desk', '/proposals', '/proof', '/treasury', '/rails', '/audit', '/people'].map(
      (list) => `/operator/sandbox${list}`,
    ),
  )
  await browse(here(stage.people.viewer), async ({ page, visit, allow, screenshot }) => {
    allow(/status of 400/)
    await visit('/sandbox/payouts?created=abc')
    await page.getByText('a part that cannot be read: created.').waitFor()
    await visit('/sandbox/payouts?status=failed&after=abc')
    await page.getByRole('button', { name: 'To the newest' }).click()
    await page.waitForURL(/\/sandbox\/payouts\?status=failed$/)
    await visit('/sandbox/payouts?amount_min=abc')
    await page.getByRole('button', { name: 'Amount from abc' }).waitFor()
    await page.getByText('a part that cannot be read: amount_min').waitFor()
    await screenshot('filter-unreadable')
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await page.waitForURL(/\/sandbox\/payouts$/)
    await page.locator('tbody tr a').first().waitFor()
  })
})

test('while an act is under way its dialog stays, and a second click sends nothing', async () => {
  await browse(here(stage.people.owner), async ({ page, visit }) => {
    let sent = 0
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/console/api/invitations', async (route) => {
      sent++
      await held
      await route.continue()
    })
    await visit('/team')
    await page.getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('Rui Alves')
    await dialog.getByLabel('E-mail').fill('rui@lumen.example')
    await dialog.locator('button[type=submit]').dblclick({ noWaitAfter: true })
    await expect.poll(() => dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    expect(await dialog.getByLabel('E-mail').inputValue()).toBe('rui@lumen.example')
    answer()
    await page.locator('dialog .secret code').waitFor()
    expect(sent).toBe(1)
  })
})
