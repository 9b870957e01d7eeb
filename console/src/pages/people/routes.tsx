import { createRoute, redirect } from '@tanstack/react-router'
import { rootRoute, shellRoute } from '../../layouts.tsx'
import { lazyPage } from '../../reload.ts'
import { currentSession, needsFactor } from '../../session.tsx'

/** Pages without a session, and the enrolment that an operator's first sign-in needs. */
export const publicRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'sign-in',
    beforeLoad: async () => {
      if ((await currentSession()).signed_in) throw redirect({ to: '/' })
    },
    component: lazyPage(() => import('./sign-in.tsx'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'enrol',
    beforeLoad: async () => {
      if (!needsFactor(await currentSession())) throw redirect({ to: '/' })
    },
    component: lazyPage(() => import('./enrol.tsx'), 'EnrolPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'invite/$token',
    component: lazyPage(() => import('./link.tsx'), 'LinkPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'reset/$token',
    component: lazyPage(() => import('./link.tsx'), 'LinkPage'),
  }),
] as const

/** Pages about the person and the team. */
export const peopleRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: 'me',
    component: lazyPage(() => import('./me.tsx'), 'MePage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: 'team',
    component: lazyPage(() => import('./team.tsx'), 'TeamPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: 'team/audit',
    component: lazyPage(() => import('./audit.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: 'account',
    component: lazyPage(() => import('./account.tsx'), 'AccountPage'),
  }),
] as const
