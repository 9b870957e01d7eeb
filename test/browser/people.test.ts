import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSealer } from '../../src/core/seal.ts'
import { confirmationToken } from '../../src/notifications/confirmation.ts'
import { codeAt, stepAt } from '../../src/parties/team/factor.ts'
import { browse, forgetSession, type Visitor } from '../support/browser.ts'
import { seedOf } from '../support/code.ts'
import { makePerson, openConsole, type Person } from '../support/console.ts'
import { asAdmin, TEST_KEY } from '../support/database.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/wait.ts'

let service: TestService
let partner_id: string
let owner: Person
beforeAll(async () => {
  service = await startTestService()
  partner_id = (await service.partner()).partner_id
  owner = await makePerson(service, { partner_id, role: 'owner', name: 'Helena Prado' })
  await makePerson(service, { partner_id, role: 'developer', factor: true, name: 'Rui Costa' })
  await makePerson(service, { partner_id, role: 'finance', name: 'Lívia Antunes' })
})
afterAll(() => service.stop())

const PASSWORD = 'four words that never met'

async function fillSignIn({ page }: Visitor, email: string, password: string) {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

const heading = ({ page }: Visitor, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor()

test('signs in, sets up a second factor, signs out, and signs in with a code', async () => {
  const person = await makePerson(service, { partner_id, role: 'owner', name: 'Ana Souza' })
  const { email } = person.user
  await browse({ url: service.url }, async (visitor) => {
    const { page, visit, allow, axe, settled, screenshot } = visitor
    allow(/status of (401|404)/)
    await visit('/me')
    await heading(visitor, 'Sign in')
    await page.getByRole('button', { name: 'Forgot your password?' }).click()
    await page.getByText('Ask an owner of your team').waitFor()
    await screenshot('forgot')
    await page.getByRole('dialog').getByText('Close', { exact: true }).click()
    await fillSignIn(visitor, email, 'wrong')
    await page.getByText('E-mail and password do not match').waitFor()
    await screenshot('sign-in-wrong')
    await fillSignIn(visitor, email, person.password)
    await heading(visitor, 'Your settings')
    await settled()
    await page.getByRole('button', { name: 'Set up a second factor' }).click()
    await page.getByRole('img', { name: 'The key as a QR code' }).waitFor()
    await axe()
    await screenshot('enrol')
    const secret = (await page.locator('.enrol code').innerText()).replaceAll(' ', '')
    const seed = seedOf(secret)
    await page.getByLabel('Code from the app').fill('000000')
    await page.getByRole('button', { name: 'Confirm' }).click()
    allow(/status of 400/)
    await page.getByText('This code is wrong.').waitFor()
    const step = stepAt(Date.now() / 1000)
    await page.getByLabel('Code from the app').fill(codeAt(seed, step))
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
    await expect.poll(() => page.locator('.codes li').count()).toBe(10)
    await screenshot('recovery-codes')
    expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain(
      secret,
    )
    await page.getByLabel('I have stored the codes in a safe place').check()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText('10 left').waitFor()

    await page.getByRole('button', { name: 'Ana Souza' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await heading(visitor, 'Sign in')
    await fillSignIn(visitor, email, person.password)
    await heading(visitor, 'Enter the code')
    await page.getByLabel('Code').fill(codeAt(seed, step))
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('This code is wrong, too old or was used before').waitFor()
    await screenshot('code-wrong')
    // Each step works once. On a busy machine the next one may be over by now.
    await page.getByLabel('Code').fill(codeAt(seed, Math.max(step + 1, stepAt(Date.now() / 1000))))
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('link', { name: 'Team' }).first().waitFor()
  })
})

test('invites somebody, who chooses a password; another role ends their session', async () => {
  await browse({ url: service.url, as: owner }, async (first) => {
    first.allow(/status of 404/)
    const { page, visit } = first
    await visit('/team')
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByLabel('Name').fill('Nilo Caetano')
    await page.getByLabel('E-mail').fill('nilo@lumen.example')
    await page.getByRole('radio', { name: 'Finance' }).check()
    await first.axe()
    await first.screenshot('invite-dialog')
    await page.getByRole('button', { name: 'Create the link' }).click()
    await page.getByRole('heading', { name: 'The link for Nilo Caetano' }).waitFor()
    const link = await page.locator('.secret code').innerText()
    await first.axe()
    await first.screenshot('invite-link')
    await page.getByLabel('I have copied the link').check()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText('nilo@lumen.example').waitFor()

    await browse({ url: service.url }, async (second) => {
      second.allow(/status of (401|404)/)
      await second.visit(link.replace(`${service.url}/console`, ''))
      await second.page.getByText('nilo@lumen.example').waitFor()
      await second.axe()
      await second.screenshot('invite')
      await second.page.getByLabel('New password').fill('short')
      await second.page.getByRole('button', { name: 'Save password' }).click()
      await second.page.getByText('A password has 12 to 128 characters.').waitFor()
      await second.page.getByLabel('New password').fill(PASSWORD)
      await second.page.getByLabel('Repeat password').fill(PASSWORD)
      await second.page.getByRole('button', { name: 'Save password' }).click()
      await second.page.getByRole('link', { name: 'Team' }).first().waitFor()
      await second.visit('/team')
      await second.page.getByText('Helena Prado').waitFor()
      expect(await second.page.getByRole('button', { name: 'Invite' }).count()).toBe(0)

      await visit('/team')
      await page.getByRole('button', { name: 'Actions on Nilo Caetano' }).click()
      await page.getByRole('menuitem', { name: 'Change role' }).click()
      await page.getByRole('radio', { name: 'Viewer' }).check()
      await page.getByRole('dialog').getByRole('button', { name: 'Change role' }).click()
      await page.getByRole('row', { name: /Nilo Caetano.*Viewer/ }).waitFor()

      await second.visit('/account')
      await heading(second, 'Sign in')
      await second.visit(link.replace(`${service.url}/console`, ''))
      await heading(second, 'This link has expired')
      await second.screenshot('link-gone')
    })

    await visit('/team/audit')
    await page.getByRole('link', { name: 'Changed a person’s role' }).first().click()
    await page.getByText('"viewer"').waitFor()
    await first.screenshot('audit-line')
  })
})

test('a change that takes a proof asks in place, and goes on', async () => {
  const person = await makePerson(service, { partner_id, role: 'owner', name: 'Jonas Weber' })
  await browse({ url: service.url, as: person }, async ({ page, visit, allow, settled }) => {
    allow(/status of 403/)
    await service.shared.db.query(
      `UPDATE sessions SET proved_at = proved_at - interval '1 hour' WHERE user_id = $1`,
      [person.user.id],
    )
    await visit('/team')
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByLabel('Name').fill('Elisa')
    await page.getByLabel('E-mail').fill('elisa@lumen.example')
    await page.getByRole('button', { name: 'Create the link' }).click()
    await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
    await page.getByLabel('Your password').fill(person.password)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'The link for Elisa' }).waitFor()
    await settled()
  })
  forgetSession(service.url, person)
})

test('what is shown once is nowhere after a reload', async () => {
  const client = openConsole(service.url)
  await client.signIn(owner.user.email, owner.password)
  const email = 'once@lumen.example'
  const made = await client.post('/invitations', {
    form_id: 'f'.repeat(20),
    email,
    name: 'Once Only',
    role: 'viewer',
  })
  const token = made.json.link.split('/').at(-1)
  const again = await client.get('/team')
  expect(again.text).toContain(email)
  expect(again.text).not.toContain(token)
})

test('shows notifications behind the bell until they are read, and asks which of them come by e-mail', async () => {
  const person = await makePerson(service, { partner_id, role: 'developer', name: 'Caio Brandão' })
  const { id: user_id, email } = person.user
  await asAdmin(service.database.url, [
    `INSERT INTO shared.notifications (id, user_id, kind, place, topic, count, samples, first_at, last_at)
     VALUES ('ntf_bell', '${user_id}', 'webhook_failing', 'sandbox', '', 10000, '[{"id": "whe_1"}]', now(), now())`,
  ])
  await browse({ url: service.url, as: person }, async ({ page, visit, settled, screenshot, axe }) => {
    await visit('/sandbox')
    // The number is asked for once a minute: a first question that fails on a busy machine is asked again then. The service may tell of
    // this person's own sign-in as well, now or after the page was read.
    await page.getByRole('link', { name: /^Notifications, [12] unread$/ }).click({ timeout: 90_000 })
    await page.getByText('Webhook endpoints failed 10,000 times.').waitFor()
    const all_read = page.getByRole('link', { name: 'Notifications', exact: true })
    await all_read.waitFor({ timeout: 10_000 }).catch(async () => {
      await page.reload()
      await all_read.waitFor()
    })
    await screenshot('notifications')
    await axe()
    await page.getByRole('link', { name: 'Choose what you receive by e-mail' }).click()
    await page.getByText('E-mail is not set up on this service').waitFor()
    const failing = page.getByLabel('Webhook endpoint fails')
    await expect.poll(() => failing.isChecked()).toBe(true)
    await failing.click()
    await until(async () => !(await failing.isChecked()), 30_000)
    await settled()
    await page.reload()
    await page.getByText('E-mail is not set up on this service').waitFor()
    await expect.poll(() => failing.isChecked()).toBe(false)
    expect(await page.getByLabel('Exception opened').count()).toBe(0)

    const token = confirmationToken(createSealer([TEST_KEY]), { user_id, email }, Date.now())
    await visit(`/me?confirm=${token}`)
    await page.getByText('You opened the link from the mail to').waitFor()
    await screenshot('confirm-address')
    await page.getByRole('button', { name: 'Confirm this address' }).click()
    await page.waitForURL(/\/me$/)
    const confirmed = () =>
      asAdmin(service.database.url, [`SELECT email FROM shared.mail_addresses WHERE user_id = '${user_id}'`])
    await expect.poll(confirmed).toEqual([{ email }])
  })
})
