import { createRoute } from '@tanstack/react-router'
import { environmentRoute } from '../../layouts.tsx'
import { lazyPage } from '../../reload.ts'

const getParentRoute = () => environmentRoute

export const conversionsRoutes = [
  createRoute({
    getParentRoute,
    path: 'quotes',
    component: lazyPage(() => import('./quotes.tsx'), 'QuotesPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'quotes/$id',
    component: lazyPage(() => import('./quote.tsx'), 'QuotePage'),
  }),
  createRoute({
    getParentRoute,
    path: 'trades',
    component: lazyPage(() => import('./trades.tsx'), 'TradesPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'trades/$id',
    component: lazyPage(() => import('./trade.tsx'), 'TradePage'),
  }),
]
