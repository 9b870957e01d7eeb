import { createRootRoute, createRoute, notFound, Outlet, redirect } from '@tanstack/react-router'
import { callAddress } from './api/client.ts'
import { useLive } from './api/live.ts'
import { isEnvironment, keepEnvironment, lastEnvironment, useEnvironment } from './environment.ts'
import { MissedFile } from './reload.ts'
import { currentSession, needsFactor, SessionDialogs, type SignedIn, useSession } from './session.tsx'
import { Missing } from './shell/missing.tsx'
import { Shell } from './shell/shell.tsx'
import { loadOperatorTexts } from './text/text.tsx'
import type { Query } from './ui/filters.tsx'

/** Query parameters are strings; each page reads its own. */
const anyQuery = (search: Record<string, unknown>): Query => search as Query

export const rootRoute = createRootRoute({
  validateSearch: anyQuery,
  component: () => (
    <SessionDialogs>
      <Outlet />
    </SessionDialogs>
  ),
  notFoundComponent: Missing,
})

async function signedIn(href: string): Promise<SignedIn> {
  const session = await currentSession()
  if (needsFactor(session)) throw redirect({ to: '/enrol', search: { next: href } })
  if (session.signed_in) return session
  throw redirect({ to: '/sign-in', search: { next: href } })
}

const isOfPerson = (path: string) => path === '/me' || path === '/notifications'
const isOperators = (path: string) => path.startsWith('/operator')

/** The layout of all pages that need a session. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  beforeLoad: async ({ location }) => {
    const { partner } = await signedIn(location.href)
    const operators = isOperators(location.pathname)
    if (partner !== null && operators) throw notFound()
    if (partner === null && !operators)
      throw redirect({ to: '/operator/$environment', params: { environment: 'production' } })
  },
  component: Shell,
  notFoundComponent: Missing,
})

const parseEnvironment = ({ environment }: { environment: string }) => {
  if (!isEnvironment(environment)) throw notFound()
  keepEnvironment(environment)
  return { environment }
}

/** Pages of a partner: `/$environment/…`. */
export const environmentRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/$environment',
  beforeLoad: ({ params }) => void parseEnvironment(params),
  component: () => {
    const environment = useEnvironment()
    useLive(callAddress('console.stream', { params: { environment } }))
    return <Outlet />
  },
  notFoundComponent: Missing,
})

/** Pages of the operator: `/operator/$environment/…`. */
export const operatorRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/operator/$environment',
  beforeLoad: async ({ params }) => {
    parseEnvironment(params)
    await loadOperatorTexts().catch((cause: unknown) => {
      throw new MissedFile(cause)
    })
  },
  component: () => {
    const environment = useEnvironment()
    const { factor } = useSession()
    // Without a second factor an operator may read nothing but their own settings.
    useLive(factor ? callAddress('console.operator.stream', { params: { environment } }) : undefined)
    return <Outlet />
  },
  notFoundComponent: Missing,
})

/** An address without an environment, such as `/` or `/team`, leads to the page in the environment of this tab. */
const bareAddress = <Path extends string>(path: Path) =>
  createRoute({
    getParentRoute: () => rootRoute,
    path,
    beforeLoad: async ({ location, search }) => {
      const { partner } = await signedIn(location.href)
      const page = location.pathname.replace(/\/$/, '')
      throw partner === null
        ? redirect({ to: `/operator/production${isOfPerson(page) ? page : ''}`, search })
        : redirect({ to: `/${lastEnvironment()}${page}`, search })
    },
  })

export const bareAddresses = [
  bareAddress('/'),
  bareAddress('/me'),
  bareAddress('/notifications'),
  bareAddress('/team'),
  bareAddress('/team/audit'),
  bareAddress('/account'),
] as const
