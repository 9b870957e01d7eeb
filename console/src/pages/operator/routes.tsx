import { createRoute } from '@tanstack/react-router'
import { operatorRoute } from '../../layouts.tsx'
import { lazyPage } from '../../reload.ts'

const getParentRoute = () => operatorRoute

/** The layout of the pages that operators see as the partner in the address sees them. */
const viewRoute = createRoute({
  getParentRoute,
  id: 'view',
  component: lazyPage(() => import('./view.tsx'), 'PartnerView'),
})

const getViewRoute = () => viewRoute

const viewPages = viewRoute.addChildren([
  createRoute({
    getParentRoute: getViewRoute,
    path: 'partners/$partner_id/payouts/$id',
    component: lazyPage(() => import('../money/payout.tsx'), 'PayoutPage'),
  }),
  createRoute({
    getParentRoute: getViewRoute,
    path: 'partners/$partner_id/transfers/$id',
    component: lazyPage(() => import('../money/transfer.tsx'), 'TransferPage'),
  }),
  createRoute({
    getParentRoute: getViewRoute,
    path: 'partners/$partner_id/deposits/$id',
    component: lazyPage(() => import('../money/deposit-page.tsx'), 'DepositPage'),
  }),
  createRoute({
    getParentRoute: getViewRoute,
    path: 'partners/$partner_id/charges/$id',
    component: lazyPage(() => import('../charges/charge.tsx'), 'ChargePage'),
  }),
  createRoute({
    getParentRoute: getViewRoute,
    path: 'partners/$partner_id/customers/$id',
    component: lazyPage(() => import('../money/customer.tsx'), 'CustomerPage'),
  }),
  createRoute({
    getParentRoute: getViewRoute,
    path: 'partners/$partner_id/quotes/$id',
    component: lazyPage(() => import('../conversions/quote.tsx'), 'QuotePage'),
  }),
  createRoute({
    getParentRoute: getViewRoute,
    path: 'partners/$partner_id/trades/$id',
    component: lazyPage(() => import('../conversions/trade.tsx'), 'TradePage'),
  }),
  createRoute({
    getParentRoute: getViewRoute,
    path: 'partners/$partner_id/developers/events/$id',
    component: lazyPage(() => import('../developers/event.tsx'), 'EventPage'),
  }),
  createRoute({
    getParentRoute: getViewRoute,
    path: 'partners/$partner_id/developers/webhooks/$id',
    component: lazyPage(() => import('../developers/webhook.tsx'), 'WebhookPage'),
  }),
  createRoute({
    getParentRoute: getViewRoute,
    path: 'partners/$partner_id/developers/requests/$id',
    component: lazyPage(() => import('../developers/request.tsx'), 'RequestPage'),
  }),
])

/** Pages under `operatorRoute`, `/operator/$environment`. */
export const operatorRoutes = [
  viewPages,
  createRoute({
    getParentRoute,
    path: 'objects/$id',
    component: lazyPage(() => import('./object.tsx'), 'OperatorObjectPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/',
    component: lazyPage(() => import('./overview.tsx'), 'OperatorOverviewPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'partners',
    component: lazyPage(() => import('./partners.tsx'), 'PartnersPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'partners/$partner_id',
    component: lazyPage(() => import('./partner.tsx'), 'PartnerPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'customers/$customer_id',
    component: lazyPage(() => import('./customer.tsx'), 'OperatorCustomerPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'desk',
    component: lazyPage(() => import('./desk.tsx'), 'DeskPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'proposals',
    component: lazyPage(() => import('./proposals.tsx'), 'ProposalsPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'proof',
    component: lazyPage(() => import('./proof.tsx'), 'ProofPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'treasury',
    component: lazyPage(() => import('./treasury.tsx'), 'TreasuryPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'rails',
    component: lazyPage(() => import('./rails.tsx'), 'RailsPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'audit',
    component: lazyPage(() => import('./audit.tsx'), 'OperatorAuditPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'golive',
    component: lazyPage(() => import('./golive.tsx'), 'GolivePage'),
  }),
  createRoute({
    getParentRoute,
    path: 'people',
    component: lazyPage(() => import('./people.tsx'), 'PeoplePage'),
  }),
] as const
