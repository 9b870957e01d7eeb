import { createRoute, redirect } from '@tanstack/react-router'
import { environmentRoute } from '../../layouts.tsx'
import { lazyPage } from '../../reload.ts'

const page = <P extends string>(path: P, component: ReturnType<typeof lazyPage>) =>
  createRoute({ getParentRoute: () => environmentRoute, path, component })

export const developersRoutes = [
  createRoute({
    getParentRoute: () => environmentRoute,
    path: 'developers',
    beforeLoad: ({ params }) => {
      throw redirect({ to: '/$environment/developers/keys', params })
    },
  }),
  page(
    'developers/keys',
    lazyPage(() => import('./keys.tsx'), 'KeysPage'),
  ),
  page(
    'developers/keys/$id',
    lazyPage(() => import('./key.tsx'), 'KeyPage'),
  ),
  page(
    'developers/webhooks',
    lazyPage(() => import('./webhooks.tsx'), 'WebhooksPage'),
  ),
  page(
    'developers/webhooks/$id',
    lazyPage(() => import('./webhook.tsx'), 'WebhookPage'),
  ),
  page(
    'developers/events',
    lazyPage(() => import('./events.tsx'), 'EventsPage'),
  ),
  page(
    'developers/events/$id',
    lazyPage(() => import('./event.tsx'), 'EventPage'),
  ),
  page(
    'developers/requests',
    lazyPage(() => import('./requests.tsx'), 'RequestsPage'),
  ),
  page(
    'developers/requests/$id',
    lazyPage(() => import('./request.tsx'), 'RequestPage'),
  ),
] as const
