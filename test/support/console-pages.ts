import type { VisitOptions } from './browser.ts'
import type { ConsoleStage } from './console-stage.ts'

export type Who = 'nobody' | 'owner' | 'operator'
export type PageOf = {
  readonly name: string
  readonly who: Who
  readonly path: (stage: ConsoleStage) => string
}

const page = (who: Who, name: string, path: PageOf['path']): PageOf => ({ who, name, path })

/** Every page of the console, as the tests that walk all of them visit it. */
export const consolePages: readonly PageOf[] = [
  page('nobody', 'sign-in', () => '/sign-in'),
  page('nobody', 'invite', ({ invitation }) => `/invite/${invitation}`),
  page('nobody', 'reset', () => '/reset/none'),
  page('owner', 'overview', () => '/sandbox'),
  page('owner', 'overview-production', () => '/production'),
  page('owner', 'customers', () => '/sandbox/customers'),
  page('owner', 'customer', ({ ids }) => `/sandbox/customers/${ids.customer}`),
  page('owner', 'payouts', () => '/sandbox/payouts'),
  page('owner', 'payouts-empty', () => '/production/payouts'),
  page('owner', 'payout', ({ ids }) => `/sandbox/payouts/${ids.payout}`),
  page('owner', 'payout-failed', ({ ids }) => `/sandbox/payouts/${ids.failed_payout}`),
  page('owner', 'transfers', () => '/sandbox/transfers'),
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
  page('operator', 'operator', () => '/operator/sandbox'),
  page('operator', 'operator-partners', () => '/operator/sandbox/partners'),
  page('operator', 'operator-partner', ({ partner_id }) => `/operator/sandbox/partners/${partner_id}`),
  page('operator', 'operator-desk', () => '/operator/sandbox/desk'),
  page('operator', 'operator-proposals', () => '/operator/production/proposals'),
  page('operator', 'operator-proof', () => '/operator/sandbox/proof'),
  page('operator', 'operator-treasury', () => '/operator/sandbox/treasury'),
  page('operator', 'operator-rails', () => '/operator/sandbox/rails'),
  page('operator', 'operator-audit', () => '/operator/sandbox/audit'),
  page('operator', 'operator-people', () => '/operator/sandbox/people'),
]

/** Whose session visits a page. */
export const visitorOf = (stage: ConsoleStage, who: Who): Pick<VisitOptions, 'as'> =>
  who === 'nobody' ? {} : { as: who === 'owner' ? stage.people.owner : stage.operators.admin }
