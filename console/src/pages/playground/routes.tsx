import { createRoute, notFound } from '@tanstack/react-router'
import { environmentRoute } from '../../layouts.tsx'
import { lazyPage } from '../../reload.ts'

export const playgroundRoutes = [
  createRoute({
    getParentRoute: () => environmentRoute,
    path: 'playground',
    beforeLoad: ({ params }) => {
      if (params.environment !== 'sandbox') throw notFound()
    },
    component: lazyPage(() => import('./playground.tsx'), 'PlaygroundPage'),
  }),
]
