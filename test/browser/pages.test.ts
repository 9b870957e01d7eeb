import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { invite } from '../../src/parties/team/links.ts'
import { browse, everything, looks, type VisitOptions, widths } from '../support/browser.ts'
import { makePerson, type Person } from '../support/console.ts'
import { type ConsoleStage, setConsoleStage, stageEnv } from '../support/console-stage.ts'
import { openDesk } from '../support/operators.ts'
import { noteFact } from '../support/proof.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { stuckPayout } from '../support/stuck.ts'

/** Every page, in both themes and widths: nothing wrong on it, nobody shut out, nothing wider than the window. */
let service: TestService
let stage: ConsoleStage
beforeAll(async () => {
  service = await startTestService(stageEnv)
  stage = await setConsoleStage(service)
  await fillOffice()
})

/** A token of an open invitation, and what waits for the operators of production. */
let invitation: string
let open_payout: string
let open_proposal: string
/** An operator who has not signed in yet. */
let newcomer: Person

async function fillOffice() {
  const { partner_id } = stage
  const invited = { name: 'Bruna Sá', email: 'bruna@lumen.example', role: 'finance' } as const
  invitation = (await invite(service.shared, { partner_id, email: 'helena@lumen.example' }, invited)).token
  newcomer = await makePerson(service, {
    role: 'reader',
    name: 'Olívia Reis',
    email: 'olivia@operator.example',
  })
  open_payout = (await stuckPayout(service, { partner_id })).id
  const waiting = { partner_id, name: 'Nilo Caetano', amount: 450_000n, ago: '3 hours' }
  const { id: payout_id } = await stuckPayout(service, waiting)
  const evidence = 'The bank has no such payment: e-mail of 15 Nov, ticket 88-1204.'
  const desk = openDesk(() => service.office)
  const resolution = { name: 'resolve_payout', details: { payout_id, outcome: 'failed', evidence } } as const
  const { production } = service.worlds
  open_proposal = (await desk.propose(production, resolution, 'rafael@operator.example')).id
}

afterAll(async () => {
  await stage.stop()
  await service.stop()
})

type Who = 'nobody' | 'owner' | 'operator' | 'newcomer'
type PageOf = { readonly name: string; readonly who: Who; readonly path: () => string }

const page = (who: Who, name: string, path: () => string): PageOf => ({ who, name, path })
const ids = (noun: keyof ConsoleStage['ids']) => stage.ids[noun]
/** The same page for an operator. */
const view = (path: string) => `/operator/sandbox/partners/${stage.partner_id}/${path}`

const pages: readonly PageOf[] = [
  page('nobody', 'sign-in', () => '/sign-in'),
  page('nobody', 'invite', () => `/invite/${invitation}`),
  page('nobody', 'invite-unknown', () => '/invite/none'),
  page('nobody', 'reset', () => '/reset/none'),
  page('owner', 'overview', () => '/sandbox'),
  page('owner', 'overview-production', () => '/production'),
  page('owner', 'customers', () => '/sandbox/customers'),
  page('owner', 'deposit', () => `/sandbox/deposits/${ids('deposit')}`),
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
  page('newcomer', 'enrol', () => '/enrol'),
  page('operator', 'operator', () => '/operator/sandbox'),
  page('operator', 'operator-partners', () => '/operator/sandbox/partners'),
  page('operator', 'operator-partner', () => `/operator/sandbox/partners/${stage.partner_id}`),
  page('operator', 'operator-desk', () => `/operator/production/desk?open=${open_payout}`),
  page('operator', 'operator-desk-choose', () => '/operator/sandbox/desk'),
  page('operator', 'operator-proposals', () => `/operator/production/proposals?open=${open_proposal}`),
  page('operator', 'operator-proof', () => '/operator/sandbox/proof'),
  page('operator', 'operator-treasury', () => '/operator/sandbox/treasury'),
  page('operator', 'operator-rails', () => '/operator/sandbox/rails'),
  page('operator', 'operator-audit', () => '/operator/sandbox/audit'),
  page('operator', 'operator-people', () => '/operator/sandbox/people'),
  page('operator', 'operator-customer', () => `/operator/sandbox/customers/${ids('customer')}`),
  page('operator', 'operator-object', () => `/operator/sandbox/objects/${ids('payout')}`),
  page('operator', 'view-payout', () => view(`payouts/${ids('payout')}`)),
  page('operator', 'view-transfer', () => view(`transfers/${ids('transfer')}`)),
  page('operator', 'view-deposit', () => view(`deposits/${ids('deposit')}`)),
  page('operator', 'view-customer', () => view(`customers/${ids('customer')}`)),
  page('operator', 'view-quote', () => view(`quotes/${ids('quote')}`)),
  page('operator', 'view-trade', () => view(`trades/${ids('trade')}`)),
  page('operator', 'view-event', () => view(`developers/events/${ids('event')}`)),
  page('operator', 'view-webhook', () => view(`developers/webhooks/${ids('endpoint')}`)),
  page('operator', 'view-request', () => view(`developers/requests/${ids('request')}`)),
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
  'invite-unknown',
  'operator-desk-choose',
]
const walked = everything ? pages : pages.filter(({ name }) => !twins.includes(name))
const visits = walked.flatMap((each, i) =>
  (everything ? looks : [inTurn[i % 2]!]).map((look) => ({ ...each, ...look })),
)

const as = (who: Who): Pick<VisitOptions, 'as'> =>
  who === 'nobody'
    ? {}
    : { as: { owner: stage.people.owner, operator: stage.operators.admin, newcomer }[who] }

let looked = 0
afterAll(() =>
  noteFact(
    `${walked.length} pages and states of pages, light and dark, ${widths.desktop} and ${widths.phone} pixels wide (${looked} views): no violation of WCAG 2.2 AA found by axe, no error or warning of the browser, no request to another host, no content wider than the window`,
  ),
)

test.each(visits)('$name, $theme, $place', async ({ name, who, path, theme, place, width, language }) => {
  if (name === 'operator-desk-choose' || name === 'overview') await stage.leaveUnanswered()
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
