import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browse, everything, looks, type VisitOptions, widths } from '../support/browser.ts'
import { type ConsoleStage, setConsoleStage, stageEnv } from '../support/console-stage.ts'
import { asAdmin } from '../support/database.ts'
import { noteFact } from '../support/proof.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** Every page, in both themes and widths: nothing wrong on it, nobody shut out, nothing wider than the window. */
let service: TestService
let stage: ConsoleStage
beforeAll(async () => {
  service = await startTestService(stageEnv)
  stage = await setConsoleStage(service)
  await setNotifications()
})
afterAll(async () => {
  await stage.stop()
  await service.stop()
})

/** One of each kind, of which the newest are unread. */
async function setNotifications(): Promise<void> {
  const rows = [
    ['sign_in', '', '', 1, { id: 'ses_1', note: '203.0.113.7' }],
    ['webhook_failing', 'sandbox', '', 12, { id: stage.ids.failing }],
    ['key_created', 'sandbox', '', 2, { id: stage.ids.key, note: '4f2a' }],
    ['limit_near', 'production', 'payout_day', 3, { id: stage.ids.customer }],
  ] as const
  await asAdmin(
    service.database.url,
    rows.map(
      ([kind, place, topic, count, sample], i) =>
        `INSERT INTO shared.notifications (id, user_id, kind, place, topic, count, samples, first_at, last_at, read_at)
         VALUES ('ntf_${i}', '${stage.people.owner.user.id}', '${kind}', '${place}', '${topic}', ${count}, '${JSON.stringify([sample])}',
           now() - interval '${i} hours', now() - interval '${i} hours', ${i > 1 ? 'now()' : 'NULL'})`,
    ),
  )
}

type Who = 'nobody' | 'owner' | 'operator'
type PageOf = { readonly name: string; readonly who: Who; readonly path: () => string }

const page = (who: Who, name: string, path: () => string): PageOf => ({ who, name, path })
const ids = (noun: keyof ConsoleStage['ids']) => stage.ids[noun]

const pages: readonly PageOf[] = [
  page('nobody', 'sign-in', () => '/sign-in'),
  page('nobody', 'invite', () => '/invite/none'),
  page('nobody', 'reset', () => '/reset/none'),
  page('owner', 'overview', () => '/sandbox'),
  page('owner', 'overview-production', () => '/production'),
  page('owner', 'customers', () => '/sandbox/customers'),
  page('owner', 'customer', () => `/sandbox/customers/${ids('customer')}`),
  page('owner', 'payouts', () => '/sandbox/payouts'),
  page('owner', 'payouts-empty', () => '/production/payouts'),
  page('owner', 'payout', () => `/sandbox/payouts/${ids('payout')}`),
  page('owner', 'payout-failed', () => `/sandbox/payouts/${ids('failed_payout')}`),
  page('owner', 'transfers', () => '/sandbox/transfers'),
  page('owner', 'transfer', () => `/sandbox/transfers/${ids('transfer')}`),
  page('owner', 'quotes', () => '/sandbox/quotes'),
  page('owner', 'quotes-empty', () => '/production/quotes'),
  page('owner', 'transfers-none', () => '/sandbox/transfers?asset=BTC'),
  page('owner', 'quote', () => `/sandbox/quotes/${ids('quote')}`),
  page('owner', 'trades', () => '/sandbox/trades'),
  page('owner', 'trade', () => `/sandbox/trades/${ids('trade')}`),
  page('owner', 'keys', () => '/sandbox/developers/keys'),
  page('owner', 'keys-production', () => '/production/developers/keys'),
  page('owner', 'key', () => `/sandbox/developers/keys/${ids('key')}`),
  page('owner', 'webhooks', () => '/sandbox/developers/webhooks'),
  page('owner', 'webhook', () => `/sandbox/developers/webhooks/${ids('endpoint')}`),
  page('owner', 'webhook-failing', () => `/sandbox/developers/webhooks/${ids('failing')}`),
  page('owner', 'events', () => '/sandbox/developers/events'),
  page('owner', 'event', () => `/sandbox/developers/events/${ids('event')}`),
  page('owner', 'requests', () => '/sandbox/developers/requests'),
  page('owner', 'request', () => `/sandbox/developers/requests/${ids('request')}`),
  page('owner', 'playground', () => '/sandbox/playground'),
  page('owner', 'team', () => '/team'),
  page('owner', 'audit', () => '/team/audit'),
  page('owner', 'account', () => '/account'),
  page('owner', 'me', () => '/me'),
  page('owner', 'notifications', () => '/notifications'),
  page('operator', 'operator', () => '/operator/sandbox'),
  page('operator', 'operator-partners', () => '/operator/sandbox/partners'),
  page('operator', 'operator-partner', () => `/operator/sandbox/partners/${stage.partner_id}`),
  page('operator', 'operator-desk', () => '/operator/sandbox/desk'),
  page('operator', 'operator-proposals', () => '/operator/production/proposals'),
  page('operator', 'operator-proof', () => '/operator/sandbox/proof'),
  page('operator', 'operator-treasury', () => '/operator/sandbox/treasury'),
  page('operator', 'operator-rails', () => '/operator/sandbox/rails'),
  page('operator', 'operator-audit', () => '/operator/sandbox/audit'),
  page('operator', 'operator-people', () => '/operator/sandbox/people'),
]

/** Two of the four looks show nearly every fault; each page has one of them in turn, unless all are wanted. */
const inTurn = [
  { theme: 'light', place: 'desktop', width: widths.desktop, language: 'en' },
  { theme: 'dark', place: 'phone', width: widths.phone, language: 'pt-BR' },
] as const
/** The same page in another state: looked at when all looks are. */
const twins = [
  'overview-production',
  'payout-failed',
  'keys-production',
  'webhook',
  'payouts-empty',
  'quotes-empty',
]
const walked = everything ? pages : pages.filter(({ name }) => !twins.includes(name))
const visits = walked.flatMap((each, i) =>
  (everything ? looks : [inTurn[i % 2]!]).map((look) => ({ ...each, ...look })),
)

const as = (who: Who): Pick<VisitOptions, 'as'> =>
  who === 'nobody' ? {} : { as: who === 'owner' ? stage.people.owner : stage.operators.admin }

let looked = 0
afterAll(() =>
  noteFact(
    `${walked.length} pages and states of pages, light and dark, ${widths.desktop} and ${widths.phone} pixels wide (${looked} views): no violation of WCAG 2.2 AA found by axe, no error or warning of the browser, no request to another host, no content wider than the window`,
  ),
)

test.each(visits)('$name, $theme, $place', async ({ name, who, path, theme, place, width, language }) => {
  if (name === 'operator-desk' || name === 'overview') await stage.leaveUnanswered()
  await browse({ url: service.url, ...as(who), theme, width, language, again: true }, async (visitor) => {
    // A link that nobody made is looked up, and found to be none.
    if (who === 'nobody') visitor.allow(/status of 404 .*\/links\/look$/)
    await visitor.visit(path())
    await visitor.page.getByRole('heading', { level: 1 }).first().waitFor()
    await visitor.fits()
    await visitor.screenshot(`${name}-${theme}-${place}`)
    await visitor.axe()
    looked += 1
  })
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
      { url: service.url, ...as('owner'), theme, width, language, again: true },
      async (visitor) => {
        for (const [name, path] of Object.entries(paths)) {
          await visitor.visit(path)
          await visitor.screenshot(`most-${name}-${theme}-${place}`)
          await visitor.fits()
        }
      },
    )
}, 60_000)

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
  const visited = pages.map(({ path }) => path())
  const isVisited = (route: string) => {
    const part = route.replaceAll(/\$\w+/g, '[^/]+')
    return visited.some((path) => new RegExp(`/${part}(/|$)`).test(path))
  }
  const routes = routesWritten()
  expect(routes.length).toBeGreaterThan(20)
  expect(routes.filter((route) => !isVisited(route))).toEqual([])
})
