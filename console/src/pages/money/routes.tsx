import { createRoute } from '@tanstack/react-router'
import { environmentRoute } from '../../layouts.tsx'
import { lazyPage } from '../../reload.ts'

const getParentRoute = () => environmentRoute

export const moneyRoutes = [
  createRoute({
    getParentRoute,
    path: 'customers',
    component: lazyPage(() => import('./customers.tsx'), 'CustomersPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'customers/$id',
    component: lazyPage(() => import('./customer.tsx'), 'CustomerPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'deposits/$id',
    component: lazyPage(() => import('./deposit-page.tsx'), 'DepositPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'payouts',
    component: lazyPage(() => import('./payouts.tsx'), 'PayoutsPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'payouts/$id',
    component: lazyPage(() => import('./payout.tsx'), 'PayoutPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'transfers',
    component: lazyPage(() => import('./transfers.tsx'), 'TransfersPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'transfers/$id',
    component: lazyPage(() => import('./transfer.tsx'), 'TransferPage'),
  }),
] as const
