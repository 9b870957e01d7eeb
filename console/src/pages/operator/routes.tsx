import { createRoute } from '@tanstack/react-router'
import { operatorRoute } from '../../layouts.tsx'
import { lazyPage } from '../../reload.ts'

const getParentRoute = () => operatorRoute

/** Pages under `operatorRoute`, `/operator/$environment`. */
export const operatorRoutes = [
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
    path: 'people',
    component: lazyPage(() => import('./people.tsx'), 'PeoplePage'),
  }),
] as const
