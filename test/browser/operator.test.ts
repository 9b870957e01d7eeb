import { afterAll, beforeAll, expect, test } from 'vitest'
import { codeAt, stepAt } from '../../src/parties/team/factor.ts'
import { recordException } from '../../src/records/exceptions/store.ts'
import { browse, type VisitOptions } from '../support/browser.ts'
import { seedOf } from '../support/code.ts'
import { makePerson } from '../support/console.ts'
import { type ConsoleStage, setConsoleStage, stageEnv } from '../support/console-stage.ts'
import { asAdmin } from '../support/database.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { stuckPayout } from '../support/stuck.ts'
import { until } from '../support/wait.ts'

/** What the operator's people do in the console, with real money's rules. */
let service: TestService
let stage: ConsoleStage
beforeAll(async () => {
  service = await startTestService({ ...stageEnv, AUDIT_EVERY_MS: '0' })
  stage = await setConsoleStage(service)
}, 300_000)
afterAll(async () => {
  await stage.stop()
  await service.stop()
})

const E2E = 'E18236120202611151226p0Xk2mQv71Z'
const EVIDENCE = 'Settlement statement of 15 Nov, line 4,118, downloaded from the portal by me.'

type As = Pick<VisitOptions, 'as' | 'theme' | 'width' | 'language'>
const here = (options: As) => ({ url: service.url, ...options })

/** Asks past the page, as somebody would who is not stopped by a button that is off. */
const approveAnyway = (id: string) => `(async () => {
  const { csrf_token } = await (await fetch('/console/api/session')).json()
  const reply = await fetch('/console/api/operator/production/proposals/${id}/approve', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-csrf-token': csrf_token },
    body: '{}',
  })
  return { status: reply.status, ...(await reply.json()).error }
})()`

test('an unknown outcome is proposed by one operator and approved by another', async () => {
  const { resolver, admin } = stage.operators
  const { id } = await stuckPayout(service, { partner_id: stage.partner_id })
  await stuckPayout(service, {
    partner_id: stage.partner_id,
    name: 'Nilo Caetano',
    amount: 450_000n,
    ago: '3 hours',
  })
  let proposal_id = ''
  await browse(
    here({ as: resolver, theme: 'dark' }),
    async ({ page, visit, settled, allow, axe, screenshot }) => {
      await visit('/operator/production/desk')
      await page.getByRole('link', { name: 'Carla Mendes Ltda' }).click()
      await page.getByRole('heading', { name: 'Evidence' }).waitFor()
      await page.getByText('Still unknown').waitFor()
      // Nothing is preselected, and nothing is sent before the words are confirmed.
      expect(await page.getByRole('radio', { checked: true }).count()).toBe(0)
      await page.getByRole('button', { name: 'Propose an outcome…' }).click()
      await page.getByText('Choose what happened.').waitFor()
      await page.getByText('Write how you know.').waitFor()
      await page.getByRole('radio', { name: /It was paid/ }).check()
      await page.getByRole('textbox', { name: 'End-to-end id' }).fill(E2E)
      await page.getByLabel('Evidence', { exact: true }).fill(EVIDENCE)
      await screenshot('desk-resolve')
      await page.getByRole('button', { name: 'Propose “completed”…' }).click()
      const dialog = page.getByRole('dialog', { name: 'Is this what happened, in production?' })
      await dialog
        .getByText(
          /You say that R\$\s18,900\.40 to .*Carla Mendes Ltda.* was paid by the bank under the end-to-end id/,
        )
        .waitFor()
      await screenshot('desk-confirm')
      await dialog.getByRole('button', { name: 'Propose “completed”' }).click()
      await page.getByRole('status').getByText('nothing has happened yet').waitFor()
      await page.getByText('Your own proposal: another operator must approve it').waitFor()
      await settled()
      await expect.poll(() => page.getByRole('button', { name: 'Approve…' }).isDisabled()).toBe(true)
      await axe()
      await screenshot('desk-proposed')

      const { rows } = await service.worlds.production.db.query(
        `SELECT id FROM proposals WHERE ended IS NULL AND details ->> 'payout_id' = $1`,
        [id],
      )
      proposal_id = rows[0].id
      allow(/status of 403/)
      expect(await page.evaluate(approveAnyway(proposal_id))).toMatchObject({
        status: 403,
        code: 'second_person_needed',
      })
    },
  )
  expect(
    (await service.office.worlds.production.db.query('SELECT status FROM payouts WHERE id = $1', [id])).rows,
  ).toEqual([{ status: 'processing' }])

  await browse(here({ as: admin }), async ({ page, visit, axe, screenshot }) => {
    await visit(`/operator/production/proposals?open=${proposal_id}`)
    await page.getByText(EVIDENCE).first().waitFor()
    await axe()
    await screenshot('proposal-open')
    await page.getByRole('button', { name: 'Approve…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Approve this, in production?' })
    for (const text of ['Carla Mendes Ltda', EVIDENCE, `${resolver.user.email} proposed it`])
      await dialog.getByText(text).first().waitFor()
    await screenshot('proposal-approve')
    await dialog.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByRole('status').getByText('Approved: The payout of').waitFor()
    await screenshot('proposal-approved')
    // The result goes away with the next choice.
    await page.getByRole('link', { name: 'Resolve a payout' }).first().click()
    await page.getByText('This proposal is closed.').waitFor()
    await expect.poll(() => page.getByText('Approved: The payout of').count()).toBe(0)
    await visit('/operator/production/desk?tab=resolved')
    await page.getByText(EVIDENCE).waitFor()
    await screenshot('desk-resolved')
  })
  const { rows } = await service.worlds.production.db.query(
    'SELECT status, end_to_end_id FROM payouts WHERE id = $1',
    [id],
  )
  expect(rows).toEqual([{ status: 'completed', end_to_end_id: E2E }])
})

test('a transfer is canceled from its page, which shows operators every transaction', async () => {
  const { resolver } = stage.operators
  const { customer_id } = (await stage.api.get(`/v1/onchain/transfers/${stage.ids.transfer}`)).json
  await stage.api.post('/v1/sandbox/deposits', { customer_id, asset: 'USDT', amount: '90000000' })
  const { json } = await stage.api.post('/v1/onchain/transfers', {
    ...{ customer_id, asset: 'USDT', network: 'polygon', amount: '25009003' },
    destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    idempotency_key: 'canceled-in-the-console',
  })
  const statusNow = async () => (await stage.api.get(`/v1/onchain/transfers/${json.id}`)).json.status
  await until(async () => (await statusNow()) === 'processing', 30_000)
  await browse(here({ as: resolver }), async ({ page, visit, axe, screenshot }) => {
    await visit(`/operator/sandbox/objects/${json.id}`)
    await page.getByRole('heading', { name: 'Transactions' }).waitFor()
    await page.getByText('Payment', { exact: true }).waitFor()
    await axe()
    await screenshot('transfer-of-operator')
    await page.getByRole('button', { name: 'Cancel transfer…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Cancel this transfer?' })
    await dialog.getByText('takes the place of the payment').waitFor()
    await dialog.getByRole('button', { name: 'Cancel transfer' }).click()
    await dialog.getByText('Write why the transfer is canceled.').waitFor()
    await dialog.getByLabel('Reason').fill('Wrong address, ticket 812')
    await screenshot('transfer-cancel')
    await dialog.getByRole('button', { name: 'Cancel transfer' }).click()
    await page.getByText('Canceled by the operators at').waitFor()
    await until(async () => (await statusNow()) === 'failed', 30_000)
    await page.getByText('Cancel', { exact: true }).waitFor()
    await page.getByText(/final in block/).waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Cancel transfer…' }).count()).toBe(0)
  })
  await browse(
    here({ as: resolver, width: 390, theme: 'dark', language: 'pt-BR' }),
    async ({ page, visit, axe, fits, screenshot }) => {
      await visit(`/operator/sandbox/objects/${json.id}`)
      await page.getByRole('heading', { name: 'Transações' }).waitFor()
      await page.getByText('Cancelamento', { exact: true }).waitFor()
      await axe()
      await fits()
      await screenshot('transfer-of-operator-phone')
    },
  )
})

test('the proof is green, and a planted unit turns it red and names the account', async () => {
  const { rows } = await service.worlds.production.db.query(
    'SELECT customer_id FROM balances WHERE balance > 0 ORDER BY customer_id LIMIT 1',
  )
  const account: string = rows[0].customer_id
  const plant = (unit: number) =>
    asAdmin(service.database.url, [
      `BEGIN; SET LOCAL session_replication_role = replica;
       UPDATE live.balances SET balance = balance + ${unit} WHERE customer_id = '${account}' AND asset = 'BRL'; COMMIT`,
    ])
  await browse(here({ as: stage.operators.reader }), async ({ page, visit, settled, axe, screenshot }) => {
    await visit('/operator/production/proof')
    await page.getByRole('button', { name: 'Prove now' }).click()
    await page.getByText('Proven to the last unit').waitFor()
    await settled()
    await axe()
    await screenshot('proof-green')

    await plant(1)
    await page.getByRole('button', { name: 'Prove again' }).click()
    await page
      .getByText(/differences? found/)
      .first()
      .waitFor()
    await settled()
    await page.getByText(account).first().waitFor()
    await axe()
    await screenshot('proof-red')

    await plant(-1)
    await page.getByRole('button', { name: 'Prove again' }).click()
    await page.getByText('Proven to the last unit').waitFor()
  })
})

test('a partner is made, its terms are changed, and its customer is credited by two', async () => {
  await browse(here({ as: stage.operators.admin }), async ({ page, visit, settled, screenshot }) => {
    await visit('/operator/production/partners')
    await page.getByRole('button', { name: 'New partner' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('Banco Ártico')
    await dialog.getByLabel('Name of its first owner').fill('Olga Prado')
    await dialog.getByLabel('E-mail of its first owner').fill('olga@artico.example')
    await screenshot('partner-create')
    await dialog.getByRole('button', { name: 'New partner' }).click()
    await page.getByRole('heading', { name: 'Invitation of the first owner' }).waitFor()
    await screenshot('partner-invitation')
    await page.getByRole('checkbox').check()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('link', { name: 'Banco Ártico' }).click()
    await page.getByRole('heading', { level: 1, name: 'Banco Ártico' }).waitFor()

    await page.getByRole('button', { name: 'Change terms' }).click()
    await page.getByRole('dialog').getByLabel('Fee per Pix payout').fill('1.35')
    await page.getByRole('button', { name: 'Save terms' }).click()
    await page.getByText('R$ 1.35').first().waitFor()
    await settled()

    await visit(`/operator/production/partners/${stage.partner_id}`)
    await page.getByRole('link', { name: 'Nilo Caetano' }).first().click()
    await page.getByRole('button', { name: 'Credit…' }).click()
    const booking = page.getByRole('dialog')
    await booking.getByLabel('Amount').fill('12.50')
    await booking.getByLabel('Reason').fill('wire 8841')
    await booking.getByLabel('Reference').fill('wire-8841')
    await screenshot('credit')
    await booking.getByRole('button', { name: 'Continue' }).click()
    await booking.getByText(/You propose: .*Nilo Caetano.* gets R\$\s12\.50\./).waitFor()
    await screenshot('credit-words')
    await booking.getByRole('button', { name: 'Propose credit' }).click()
    await page.getByText('nothing has happened yet').waitFor()
  })
})

test('a credit is reversed in words that name its amount and its customer, and no deposit of another customer is', async () => {
  const { customer, deposit } = stage.ids
  const { rows } = await service.worlds.sandbox.db.query(
    'SELECT id FROM deposits WHERE customer_id <> $1 ORDER BY id LIMIT 1',
    [customer],
  )
  await browse(here({ as: stage.operators.admin }), async ({ page, visit, allow, axe, screenshot }) => {
    allow(/404/)
    await visit(`/operator/sandbox/customers/${customer}`)
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Reverse a credit…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('credited twice')
    await dialog.getByLabel('Reference').fill('reversal-1')
    await dialog.getByLabel('Id of the deposit').fill(rows[0].id)
    await dialog.getByText('has no deposit with this id').waitFor()
    await expect.poll(() => dialog.getByRole('button', { name: 'Continue' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Id of the deposit').fill(deposit)
    await dialog.getByRole('button', { name: 'Continue', disabled: false }).click()
    await dialog.getByText(/You decide: .*\d.* credited by mistake is debited from .*Ana Souza/).waitFor()
    await axe()
    await screenshot('reverse-words')
  })
})

test('an exception is closed with a reason, and the log tells of it', async () => {
  const { db, clock } = service.worlds.production
  await recordException(db, clock, {
    kind: 'contradiction',
    rail: 'pix',
    object_id: 'po_01m7ebev9sh73khn7083zh9st6',
    partner_id: stage.partner_id,
    details: { booked: 'failed', rail_says: { kind: 'settled' } },
  })
  await browse(here({ as: stage.operators.resolver }), async ({ page, visit, axe, screenshot }) => {
    await visit('/operator/production')
    await page.getByText(/contradiction/).waitFor()
    await screenshot('operator-attention')
    await visit('/operator/production/desk?tab=exceptions')
    await page.getByRole('button', { name: 'Close…' }).first().click()
    await page.getByLabel('What you found and did').fill('The bank confirmed the return.')
    await page.getByRole('button', { name: 'Close exception' }).click()
    await page.getByRole('status').getByText('The exception is closed.').waitFor()
    await page
      .getByText(/Closed ·/)
      .first()
      .waitFor()
    await visit('/operator/production/audit?action=close_exception')
    await page.getByRole('cell', { name: 'Closed an exception' }).first().waitFor()
    expect(await page.getByRole('cell', { name: 'close_exception' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Show' }).first().click()
    await page.getByRole('dialog').getByText('The bank confirmed the return.').waitFor()
    await axe()
    await screenshot('audit-line')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Verify the chain' }).click()
    await page.getByText(/Production: Unbroken/).waitFor()
  })
})

test('an operator finds a payout by its id, sees what the partner sees, and the look is in the log', async () => {
  const { payout, customer } = stage.ids
  await browse(
    here({ as: stage.operators.reader }),
    async ({ page, visit, settled, fits, axe, screenshot }) => {
      await visit('/operator/sandbox')
      await page.keyboard.press('/')
      await page.getByRole('combobox').fill(payout)
      await page.getByRole('option').filter({ hasText: 'Lumen Pagamentos' }).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/operator/sandbox/partners/${stage.partner_id}/payouts/${payout}`)
      await page.getByRole('heading', { level: 1, name: 'Ana Souza' }).waitFor()
      await settled()
      const main = page.getByRole('main')
      await main.getByText('as the partner sees it, read-only').waitFor()
      await main.getByRole('link', { name: 'Lumen Pagamentos' }).waitFor()
      // Only copying: no button of the partner's page.
      const buttons = await main
        .getByRole('button')
        .evaluateAll((all) => all.map((one) => one.textContent || one.ariaLabel))
      expect(buttons.filter((name) => !/^Cop/.test(name ?? ''))).toEqual([])
      await fits()
      await axe()
      await screenshot('view-payout')

      await main.getByRole('link', { name: 'Ana Souza' }).first().click()
      await page.waitForURL(`**/partners/${stage.partner_id}/customers/${customer}`)
      await main.getByRole('region', { name: 'Statement' }).waitFor()
      await settled()
      await screenshot('view-customer')
      await main.getByRole('link', { name: 'Limits and bookings' }).click()
      await page.getByRole('region', { name: 'Statement' }).waitFor()
      await settled()
      await screenshot('operator-customer')

      await visit(`/operator/sandbox/audit?place=sandbox&action=view&object=${payout}`)
      await page.getByRole('cell', { name: stage.operators.reader.user.email }).first().waitFor()
      expect(await page.getByRole('cell', { name: stage.operators.reader.user.email }).count()).toBe(1)
      await page.getByRole('link', { name: /po_/ }).first().click()
      await page.waitForURL(`**/partners/${stage.partner_id}/payouts/${payout}`)
    },
  )
  await browse(here({ as: stage.people.owner }), async ({ page, visit, allow }) => {
    allow(/404/)
    await visit(`/operator/sandbox/partners/${stage.partner_id}/payouts/${payout}`)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  })
})

test('a case of the desk is rehearsed in the sandbox to its end by two operators', async () => {
  const { resolver, admin } = stage.operators
  const id = await stage.leaveUnanswered('1200000')
  await browse(here({ as: resolver }), async ({ page, visit, settled, allow, screenshot }) => {
    // While a worker may still be sending, the service refuses.
    allow(/status of 409/)
    await visit(`/operator/sandbox/desk?open=${id}`)
    await page.getByRole('radio', { name: /It was paid/ }).waitFor({ timeout: 60_000 })
    await page.getByRole('radio', { name: /It was not paid/ }).check()
    await page.getByLabel('Evidence', { exact: true }).fill('The bank has no such payment, ticket 88-1204.')
    await page.getByRole('checkbox', { name: 'Rehearse with a second person' }).check()
    await settled()
    await screenshot('rehearse-form')
    // The service refuses while a worker may still be sending the payout: then the operator tries again.
    await expect
      .poll(
        async () => {
          await page.getByRole('button', { name: 'Propose “failed”…' }).click()
          const dialog = page.getByRole('dialog', { name: 'Is this what happened?' })
          await dialog.getByText(/was never paid and never can be: .* gets R\$\s12,000\.00 back/).waitFor()
          await dialog.getByRole('button', { name: 'Propose “failed”' }).click()
          await page
            .getByText(/nothing has happened yet|may be on its way/)
            .first()
            .waitFor()
          if ((await page.getByRole('dialog').count()) === 0) return true
          await page.keyboard.press('Escape')
          return false
        },
        { timeout: 60_000, interval: 2000 },
      )
      .toBe(true)
    await screenshot('rehearse-proposed')
  })
  await browse(here({ as: admin }), async ({ page, visit, screenshot }) => {
    await visit('/operator/sandbox/desk')
    await page.getByRole('button', { name: 'Approve…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Approve this?' })
    await dialog
      .getByText(new RegExp(`You approve: R\\$\\s12,000\\.00 .* ${resolver.user.email} proposed it`))
      .waitFor()
    await screenshot('rehearse-approve')
    await dialog.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByRole('status').getByText('Approved:').waitFor()
    await visit(`/operator/sandbox/objects/${id}`)
    await page.waitForURL(`**/partners/${stage.partner_id}/payouts/${id}`)
    await page.getByText('Failed').first().waitFor()
    await screenshot('rehearse-ended')
  })
  expect((await stage.api.get(`/v1/pix/payouts/${id}`)).json.status).toBe('failed')
})

test('the first sign-in of an operator is the enrolment of the second factor', async () => {
  const person = await makePerson(service, { role: 'reader', name: 'Olívia Reis' })
  await browse(
    { url: service.url, width: 390 },
    async ({ page, visit, settled, allow, axe, fits, screenshot }) => {
      allow(/status of (401|400)/)
      await visit('/operator/production/desk')
      await page.getByLabel('E-mail').fill(person.user.email)
      await page.getByLabel('Password').fill(person.password)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: 'Set up a second factor' }).waitFor()
      await page.getByText('Welcome, Olívia Reis').waitFor()
      await page.getByRole('img', { name: 'The key as a QR code' }).waitFor()
      await settled()
      await fits()
      await axe()
      await screenshot('enrol-operator')
      const secret = (await page.locator('.enrol code').innerText()).replaceAll(' ', '')
      await page.getByLabel('Code from the app').fill(codeAt(seedOf(secret), stepAt(Date.now() / 1000)))
      await page.getByRole('button', { name: 'Confirm' }).click()
      await page.getByLabel('I have stored the codes in a safe place').check()
      await page.getByRole('button', { name: 'Done' }).click()
      await page.waitForURL('**/operator/production/desk')
      await page.getByRole('heading', { level: 1, name: 'Desk' }).waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
    },
  )
})

test('the overview shows owed against held, and a statement that differs is named in words', async () => {
  await browse(
    here({ as: stage.operators.resolver }),
    async ({ page, visit, settled, fits, axe, screenshot }) => {
      await visit('/operator/sandbox/proof')
      await page.getByRole('button', { name: /Prove (now|again)/ }).click()
      await page.getByText('Proven to the last unit').waitFor()
      await page.getByRole('button', { name: 'Note a statement…' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Amount').fill('1.00')
      await dialog.getByLabel('At that time').fill('2026-01-15T09:00')
      await dialog.getByLabel('Which statement').fill('Banco Azul, statement 118')
      await dialog.getByRole('button', { name: 'Note it' }).click()
      await page.getByRole('status').getByText('The statement is noted.').waitFor()
      await page
        .getByText(/\(Banco Azul, statement 118, noted by .*\) has R\$\s.* less than our books/)
        .waitFor()
      await settled()
      await fits()
      await axe()
      await screenshot('proof-difference')
      await visit('/operator/sandbox')
      await page.getByRole('heading', { name: 'Owed against held' }).waitFor()
      await page.getByText(/Banco Azul, statement 118/).waitFor()
      await page.getByRole('heading', { name: 'Paid out per day' }).waitFor()
      await page
        .getByText(/The oldest is a Pix payment of Lumen Pagamentos|No payout and no transfer is open/)
        .waitFor()
      await settled()
      await fits()
      await axe()
      await screenshot('operator-money')
    },
  )
})

test('a rail is paused and limited by one operator, and resumed by two', async () => {
  const { resolver, admin } = stage.operators
  const RAILS = '/operator/production/rails'
  await browse(here({ as: admin, theme: 'light' }), async ({ page, visit, settled, axe, screenshot }) => {
    await visit(RAILS)
    const row = page.getByRole('table', { name: 'Pause and limits' }).getByRole('row', { name: /Polygon/ })
    await row.getByRole('button', { name: 'Limits…' }).click()
    const limits = page.getByRole('dialog', { name: 'Limits of Polygon' })
    await limits.getByLabel('One order, at most').fill('5000')
    await limits.getByLabel('Must stay for network fees').fill('250000000000000000')
    await limits.getByLabel('Reason').fill('the first week')
    await screenshot('rails-limits')
    await limits.getByRole('button', { name: 'Save the limits' }).click()
    await page.getByRole('status').getByText('The limits of Polygon are saved.').waitFor()
    await row.getByText('250000000000000000 wei').waitFor()
    await row.getByRole('button', { name: 'Pause…' }).click()
    const pause = page.getByRole('dialog', { name: 'Pause Polygon' })
    await expect.poll(() => pause.getByRole('button', { name: 'Pause', exact: true }).isDisabled()).toBe(true)
    await pause.getByLabel('Reason').fill('a payment that nobody ordered')
    await screenshot('rails-pause')
    await pause.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByRole('status').getByText('Polygon is paused.').waitFor()
    await row.getByText('a payment that nobody ordered').waitFor()
    await settled()
    await axe()
    await screenshot('rails-paused')
  })
  for (const language of ['en', 'pt-BR'] as const)
    await browse(
      here({ as: admin, theme: 'dark', width: 390, language }),
      async ({ page, visit, settled, axe, screenshot }) => {
        await visit(RAILS)
        await settled()
        await axe()
        await screenshot(`rails-paused-${language}`)
        await page.getByRole('button', { name: language === 'en' ? 'Resume…' : 'Retomar…' }).click()
        await page.getByRole('dialog').waitFor()
        await screenshot(`rails-resume-${language}`)
      },
    )
  await browse(here({ as: resolver, theme: 'dark' }), async ({ page, visit, screenshot }) => {
    await visit(RAILS)
    const row = page.getByRole('table', { name: 'Pause and limits' }).getByRole('row', { name: /Polygon/ })
    await row.getByRole('button', { name: 'Resume…' }).click()
    const resume = page.getByRole('dialog', { name: 'Resume Polygon' })
    await resume.getByLabel('Reason').fill('it was ordered after all')
    await screenshot('rails-resume')
    await resume.getByRole('button', { name: 'Continue' }).click()
    await resume.getByText(/Polygon is resumed: what waits on it is sent/).waitFor()
    await resume.getByRole('button', { name: 'Propose to resume' }).click()
    await page.getByRole('status').getByText('nothing has happened yet').waitFor()
    await row.getByText('a payment that nobody ordered').waitFor()
  })
  await browse(here({ as: admin, theme: 'light' }), async ({ page, visit }) => {
    await visit('/operator/production/proposals')
    await page.getByRole('link', { name: 'Resume a rail' }).first().click()
    await page.getByText('it was ordered after all').first().waitFor()
    await page.getByRole('button', { name: 'Approve…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Approve this, in production?' })
    await dialog.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByRole('status').getByText('Approved: Polygon is resumed').waitFor()
    await visit(RAILS)
    const row = page.getByRole('table', { name: 'Pause and limits' }).getByRole('row', { name: /Polygon/ })
    await row.getByRole('button', { name: 'Pause…' }).waitFor()
  })
})
