import { createRouter } from '@tanstack/react-router'
import { bareAddresses, environmentRoute, operatorRoute, rootRoute, shellRoute } from './layouts.tsx'
import { chargesRoutes } from './pages/charges/routes.tsx'
import { conversionsRoutes } from './pages/conversions/routes.tsx'
import { developersRoutes } from './pages/developers/routes.tsx'
import { moneyRoutes } from './pages/money/routes.tsx'
import { operatorRoutes } from './pages/operator/routes.tsx'
import { overviewRoutes } from './pages/overview/routes.tsx'
import { ownRoutes, peopleRoutes, publicRoutes } from './pages/people/routes.tsx'
import { playgroundRoutes } from './pages/playground/routes.tsx'
import { Crashed } from './shell/crashed.tsx'
import { keepTrail } from './ui/trail.ts'

const routeTree = rootRoute.addChildren([
  ...bareAddresses,
  ...publicRoutes,
  shellRoute.addChildren([
    environmentRoute.addChildren([
      ...peopleRoutes,
      ...overviewRoutes,
      ...moneyRoutes,
      ...chargesRoutes,
      ...conversionsRoutes,
      ...developersRoutes,
      ...playgroundRoutes,
    ]),
    operatorRoute.addChildren([...operatorRoutes, ...ownRoutes]),
  ]),
])

export const router = createRouter({
  routeTree,
  basepath: '/console',
  defaultPreload: 'intent',
  // An error replaces only the failing part of the page.
  defaultErrorComponent: Crashed,
  scrollRestoration: true,
  // Query values stay strings: an id of digits must not become a number.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (query) => {
    const words = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
    const text = new URLSearchParams(words.map(([key, value]) => [key, String(value)])).toString()
    return text === '' ? '' : `?${text}`
  },
})

keepTrail(router.history)
