import { createRoute } from '@tanstack/react-router'
import { environmentRoute } from '../../layouts.tsx'
import { lazyPage } from '../../reload.ts'

export const overviewRoutes = [
  createRoute({
    getParentRoute: () => environmentRoute,
    path: '/',
    component: lazyPage(() => import('./overview.tsx'), 'OverviewPage'),
  }),
] as const
