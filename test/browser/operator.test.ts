import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordException } from '../../src/records/exceptions/store.ts'
import { browse, type VisitOptions } from '../support/browser.ts'
import { type ConsoleStage, setConsoleStage, stageEnv } from '../support/console-stage.ts'
import { asAdmin } from '../support/database.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { stuckPayout } from '../support/stuck.ts'

/** What the operator's people do in the console, with real money's rules. */
let service: TestService
let stage: ConsoleStage
beforeAll(async () => {
  service = await startTestService({ ...stageEnv, AUDIT_EVERY_MS: '0' })
  stage = await setConsoleStage(service)
})
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
      await page.getByRole('button', { name: /Propose/ }).click()
      await page.getByText('Write how you know.').waitFor()
      await page.getByRole('textbox', { name: 'End-to-end id' }).fill(E2E)
      await page.getByLabel('Evidence', { exact: true }).fill(EVIDENCE)
      await screenshot('desk-resolve')
      await page.getByRole('button', { name: 'Propose “completed”' }).click()
      await page.getByText('Your own proposal: another operator must approve it').waitFor()
      await settled()
      expect(await page.getByRole('button', { name: 'Approve…' }).isDisabled()).toBe(true)
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
    for (const text of ['Carla Mendes Ltda', EVIDENCE]) await dialog.getByText(text).first().waitFor()
    await screenshot('proposal-approve')
    await dialog.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByText('This proposal is closed.').waitFor()
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
    expect(await page.getByText(account).first().isVisible()).toBe(true)
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
    await booking.getByRole('button', { name: 'Propose credit' }).click()
    await page.getByText('nothing has happened yet').waitFor()
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
    await page
      .getByText(/Closed ·/)
      .first()
      .waitFor()
    await visit('/operator/production/audit?action=close_exception')
    await page.getByRole('button', { name: 'Show' }).first().click()
    await page.getByRole('dialog').getByText('The bank confirmed the return.').waitFor()
    await axe()
    await screenshot('audit-line')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Verify the chain' }).click()
    await page.getByText(/Production: Unbroken/).waitFor()
  })
})
