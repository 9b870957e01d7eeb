import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browse, everything, looks, widths } from '../support/browser.ts'
import { consolePages, visitorOf } from '../support/console-pages.ts'
import { type ConsoleStage, setConsoleStage, stageEnv } from '../support/console-stage.ts'
import { noteFact } from '../support/proof.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/wait.ts'

/** Every page, in both themes and widths: nothing wrong on it, nobody shut out, nothing wider than the window. */
let service: TestService
let stage: ConsoleStage
beforeAll(async () => {
  service = await startTestService(stageEnv)
  stage = await setConsoleStage(service)
  await stage.fillOffice()
  await stage.setCharges()
}, 300_000)

afterAll(async () => {
  await stage.stop()
  await service.stop()
})

/** Two of the four looks show nearly every fault; each page has one of them in turn, unless all are wanted. */
const inTurn = [
  { theme: 'light', place: 'desktop', width: widths.desktop, language: 'en' },
  { theme: 'dark', place: 'phone', width: widths.phone, language: 'pt-BR' },
] as const
/** The same page in another state: looked at when all looks are. */
const twins = [
  'overview-production',
  'charges-empty',
  'charge-paid',
  'payout-failed',
  'keys-production',
  'webhook',
  'transfers-empty',
  'quotes-empty',
  'operator-desk-choose',
  'operator-exceptions',
]
const walked = everything ? consolePages : consolePages.filter(({ name }) => !twins.includes(name))
const visits = walked.flatMap((each, i) =>
  (everything ? looks : [inTurn[i % 2]!]).map((look) => ({ ...each, ...look })),
)

let looked = 0
afterAll(() =>
  noteFact(
    `${walked.length} pages and states of pages, light and dark, ${widths.desktop} and ${widths.phone} pixels wide (${looked} views): no violation of WCAG 2.2 AA found by axe, no error or warning of the browser, no request to another host, no content wider than the window`,
  ),
)

/** What a phone cuts off or leaves without a margin: the title in the top bar, and words at the left edge of the page. */
const atTheEdge = (page: Page): Promise<string[]> =>
  page.evaluate(`[
    ...[...document.querySelectorAll('.phonebar > .clip')].filter((one) => one.scrollHeight > one.clientHeight + 1),
    ...[...document.querySelectorAll('main :is(a, button, h2, p)')].filter((one) => {
      const { left, width } = one.getBoundingClientRect()
      return width > 1 && left < 4
    }),
  ].map((one) => one.innerText)`)

test.each(visits)('$name, $theme, $place', async ({ name, who, path, theme, place, width, language }) => {
  if (name === 'operator-desk-choose' || name === 'overview') await stage.leaveUnanswered()
  await browse(
    { url: service.url, ...visitorOf(stage, who), theme, width, language, again: true },
    async (visitor) => {
      // A link that nobody made is looked up, and found to be none.
      if (who === 'nobody') visitor.allow(/status of 404 .*\/links\/look$/)
      await visitor.visit(path(stage))
      await visitor.page.getByRole('heading', { level: 1 }).first().waitFor()
      await visitor.fits()
      if (place === 'phone') expect(await atTheEdge(visitor.page), 'cut, or without a margin').toEqual([])
      await visitor.screenshot(`${name}-${theme}-${place}`)
      await visitor.axe()
      looked += 1
    },
  )
})

test('the buttons of a row are there on a phone', async () => {
  await stage.leaveUnanswered()
  const { partner_id, people } = stage
  await browse(
    { url: service.url, ...visitorOf(stage, 'operator'), width: widths.phone, again: true },
    async ({ visit, page }) => {
      // The exception is opened a while after the payout.
      await until(async () => {
        await visit('/operator/sandbox/desk?tab=exceptions')
        return page.getByRole('button', { name: 'Close…' }).first().isVisible()
      }, 60_000)
      await visit('/operator/sandbox/people')
      await page.getByRole('button', { name: stage.operators.resolver.user.name }).waitFor()
      await visit(`/operator/sandbox/partners/${partner_id}`)
      await page.getByRole('button', { name: people.owner.user.name }).waitFor()
    },
  )
})

test('the longest name and the largest amount run over nothing', async () => {
  const payout = await stage.payTheMost()
  const { customer_id } = (await stage.api.get(`/v1/pix/payouts/${payout}`)).json
  const paths = {
    payout: `/sandbox/payouts/${payout}`,
    overview: '/sandbox',
    payouts: '/sandbox/payouts',
    customer: `/sandbox/customers/${customer_id}`,
    customers: '/sandbox/customers',
    playground: '/sandbox/playground',
  }
  const narrowest = { theme: 'light', place: 'narrowest', width: 320, language: 'pt-BR' } as const
  for (const { theme, place, width, language } of [...(everything ? looks : inTurn), narrowest])
    await browse(
      { url: service.url, ...visitorOf(stage, 'owner'), theme, width, language, again: true },
      async (visitor) => {
        for (const [name, path] of Object.entries(paths)) {
          await visitor.visit(path)
          await visitor.screenshot(`most-${name}-${theme}-${place}`)
          await visitor.fits()
        }
      },
    )
}, 300_000)

/** The addresses of the pages as their routes write them. */
function routesWritten(): string[] {
  const folder = fileURLToPath(new URL('../../console/src/pages/', import.meta.url))
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return files
    .filter((name) => name.endsWith('routes.tsx'))
    .flatMap((file) => [...readFileSync(folder + file, 'utf8').matchAll(/^ *(?:path: )?'([a-z][^'.]*)',/gm)])
    .map(([, path]) => path!)
}

test('no page is left out', () => {
  const visited = consolePages.map(({ path }) => path(stage))
  const isVisited = (route: string) => {
    const part = route.replaceAll(/\$\w+/g, '[^/]+')
    return visited.some((path) => new RegExp(`/${part}([/?]|$)`).test(path))
  }
  const routes = routesWritten()
  expect(routes.length).toBeGreaterThan(20)
  expect(routes.filter((route) => !isVisited(route))).toEqual([])
})
