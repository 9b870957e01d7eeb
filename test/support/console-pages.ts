import type { VisitOptions } from './browser.ts'
import type { ConsoleStage } from './console-stage.ts'

export type Who = 'nobody' | 'owner' | 'operator' | 'newcomer'
export type PageOf = {
  readonly name: string
  readonly who: Who
  readonly path: (stage: ConsoleStage) => string
}

const page = (who: Who, name: string, path: PageOf['path']): PageOf => ({ who, name, path })

/** The same page for an operator. */
const viewed = (name: string, path: (ids: ConsoleStage['ids']) => string): PageOf =>
  page('operator', name, ({ partner_id, ids }) => `/operator/sandbox/partners/${partner_id}/${path(ids)}`)

/** Every page of the console, as the tests that walk all of them visit it. */
export const consolePages: readonly PageOf[] = [
  page('nobody', 'sign-in', () => '/sign-in'),
  page('nobody', 'invite', ({ invitation }) => `/invite/${invitation}`),
  page('nobody', 'reset', () => '/reset/none'),
  page('owner', 'overview', () => '/sandbox'),
  page('owner', 'overview-production', () => '/production'),
  page('owner', 'customers', () => '/sandbox/customers'),
  page('owner', 'deposit', ({ ids }) => `/sandbox/deposits/${ids.deposit}`),
  page('owner', 'customer', ({ ids }) => `/sandbox/customers/${ids.customer}`),
  page('owner', 'charges', () => '/sandbox/charges'),
  page('owner', 'charges-empty', () => '/production/charges'),
  page('owner', 'charge', ({ charges }) => `/sandbox/charges/${charges.open}`),
  page('owner', 'charge-paid', ({ charges }) => `/sandbox/charges/${charges.paid}`),
  page('owner', 'payouts', () => '/sandbox/payouts'),
  page('owner', 'payout', ({ ids }) => `/sandbox/payouts/${ids.payout}`),
  page('owner', 'payout-failed', ({ ids }) => `/sandbox/payouts/${ids.failed_payout}`),
  page('owner', 'transfers', () => '/sandbox/transfers'),
  page('owner', 'transfers-empty', () => '/production/transfers'),
  page('owner', 'transfer', ({ ids }) => `/sandbox/transfers/${ids.transfer}`),
  page('owner', 'quotes', () => '/sandbox/quotes'),
  page('owner', 'quotes-empty', () => '/production/quotes'),
  page('owner', 'transfers-none', () => '/sandbox/transfers?asset=BTC'),
  page('owner', 'quote', ({ ids }) => `/sandbox/quotes/${ids.quote}`),
  page('owner', 'trades', () => '/sandbox/trades'),
  page('owner', 'trade', ({ ids }) => `/sandbox/trades/${ids.trade}`),
  page('owner', 'keys', () => '/sandbox/developers/keys'),
  page('owner', 'keys-production', () => '/production/developers/keys'),
  page('owner', 'key', ({ ids }) => `/sandbox/developers/keys/${ids.key}`),
  page('owner', 'webhooks', () => '/sandbox/developers/webhooks'),
  page('owner', 'webhook', ({ ids }) => `/sandbox/developers/webhooks/${ids.endpoint}`),
  page('owner', 'webhook-failing', ({ ids }) => `/sandbox/developers/webhooks/${ids.failing}`),
  page('owner', 'events', () => '/sandbox/developers/events'),
  page('owner', 'event', ({ ids }) => `/sandbox/developers/events/${ids.event}`),
  page('owner', 'requests', () => '/sandbox/developers/requests'),
  page('owner', 'request', ({ ids }) => `/sandbox/developers/requests/${ids.request}`),
  page('owner', 'playground', () => '/sandbox/playground'),
  page('owner', 'team', () => '/team'),
  page('owner', 'audit', () => '/team/audit'),
  page('owner', 'account', () => '/account'),
  page('owner', 'me', () => '/me'),
  page('owner', 'notifications', () => '/notifications'),
  page('newcomer', 'enrol', () => '/enrol'),
  page('operator', 'operator', () => '/operator/sandbox'),
  page('operator', 'operator-partners', () => '/operator/sandbox/partners'),
  page('operator', 'operator-partner', ({ partner_id }) => `/operator/sandbox/partners/${partner_id}`),
  page('operator', 'operator-desk', ({ office }) => `/operator/production/desk?open=${office.payout}`),
  page('operator', 'operator-desk-choose', () => '/operator/sandbox/desk'),
  page('operator', 'operator-exceptions', () => '/operator/sandbox/desk?tab=exceptions'),
  page(
    'operator',
    'operator-proposals',
    ({ office }) => `/operator/production/proposals?open=${office.proposal}`,
  ),
  page('operator', 'operator-proof', () => '/operator/sandbox/proof'),
  page('operator', 'operator-treasury', () => '/operator/sandbox/treasury'),
  page('operator', 'operator-rails', () => '/operator/sandbox/rails'),
  page('operator', 'operator-audit', () => '/operator/sandbox/audit'),
  page('operator', 'operator-golive', () => '/operator/production/golive'),
  page('operator', 'operator-people', () => '/operator/sandbox/people'),
  page('operator', 'operator-customer', ({ ids }) => `/operator/sandbox/customers/${ids.customer}`),
  page('operator', 'operator-object', ({ ids }) => `/operator/sandbox/objects/${ids.payout}`),
  viewed('view-payout', ({ payout }) => `payouts/${payout}`),
  viewed('view-transfer', ({ transfer }) => `transfers/${transfer}`),
  viewed('view-deposit', ({ deposit }) => `deposits/${deposit}`),
  page(
    'operator',
    'view-charge',
    ({ partner_id, charges }) => `/operator/sandbox/partners/${partner_id}/charges/${charges.paid}`,
  ),
  viewed('view-customer', ({ customer }) => `customers/${customer}`),
  viewed('view-quote', ({ quote }) => `quotes/${quote}`),
  viewed('view-trade', ({ trade }) => `trades/${trade}`),
  viewed('view-event', ({ event }) => `developers/events/${event}`),
  viewed('view-webhook', ({ endpoint }) => `developers/webhooks/${endpoint}`),
  viewed('view-request', ({ request }) => `developers/requests/${request}`),
]

/** Whose session visits a page. */
export const visitorOf = (stage: ConsoleStage, who: Who): Pick<VisitOptions, 'as'> =>
  who === 'nobody'
    ? {}
    : { as: { owner: stage.people.owner, operator: stage.operators.admin, newcomer: stage.newcomer }[who] }
