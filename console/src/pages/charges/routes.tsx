import { createRoute } from '@tanstack/react-router'
import { environmentRoute } from '../../layouts.tsx'
import { lazyPage } from '../../reload.ts'

const getParentRoute = () => environmentRoute

export const chargesRoutes = [
  createRoute({
    getParentRoute,
    path: 'charges',
    component: lazyPage(() => import('./charges.tsx'), 'ChargesPage'),
  }),
  createRoute({
    getParentRoute,
    path: 'charges/$id',
    component: lazyPage(() => import('./charge.tsx'), 'ChargePage'),
  }),
] as const
