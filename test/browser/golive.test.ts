import { afterAll, beforeAll, expect, test } from 'vitest'
import { browse, type VisitOptions } from '../support/browser.ts'
import { makePerson, openConsole, type Person, signedIn } from '../support/console.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { eventually } from '../support/wait.ts'

/** The checklist of going live, as operators see it. */
let service: TestService
let operator: Person
beforeAll(async () => {
  service = await startTestService({ AUDIT_EVERY_MS: '0' })
  operator = await makePerson(service, { role: 'reader', factor: true })
})
afterAll(() => service.stop())

type Seen = Pick<VisitOptions, 'theme' | 'width' | 'language'>
const visits: readonly (readonly [name: string, options: Seen, title: string, red: RegExp, line: RegExp])[] =
  [
    [
      'golive-light',
      { theme: 'light' },
      'Going live',
      /lines are red/,
      /Set PUBLIC_URL to the https address/,
    ],
    ['golive-dark', { theme: 'dark' }, 'Going live', /lines are red/, /No rail is configured/],
    [
      'golive-phone',
      { theme: 'light', width: 375 },
      'Going live',
      /lines are red/,
      /Alertmanager can send alerts/,
    ],
    [
      'golive-pt',
      { theme: 'dark', width: 375, language: 'pt-BR' },
      'Entrada em produção',
      /linhas vermelhas/,
      /Defina PUBLIC_URL com o endereço https/,
    ],
  ]

test.each(visits)('%s shows each line, and what to do', async (name, options, title, red, line) => {
  await browse(
    { url: service.url, as: operator, ...options },
    async ({ page, visit, settled, axe, screenshot }) => {
      await visit('/operator/production/golive')
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      await page.getByText(red).waitFor()
      await page.getByText(line).first().waitFor()
      await settled()
      const is_wide = await page.evaluate(
        'document.documentElement.scrollWidth > document.documentElement.clientWidth',
      )
      expect(is_wide).toBe(false)
      await axe()
      await screenshot(name)
    },
  )
})

test('a reader sees the list; a person of a partner and a visitor do not', async () => {
  const path = '/operator/production/golive'
  const { partner_id } = await service.partner()
  const [reader, owner] = [
    await signedIn(service, { role: 'reader', factor: true }),
    await signedIn(service, { role: 'owner', partner_id }),
  ]
  await eventually(async () => {
    const first = await reader.get(path)
    expect(first.json.report?.lines.length).toBeGreaterThan(20)
    // A report is kept for a minute, and that of the first report may end between the two looks.
    const second = await reader.get(path)
    expect(second.json.report.at).toBe(first.json.report.at)
  })
  // To a partner's people the pages of operators do not exist.
  expect((await owner.get(path)).status).toBe(404)
  expect((await openConsole(service.url).get(path)).status).toBe(401)
})
