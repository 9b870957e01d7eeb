import { createRoute, redirect } from '@tanstack/react-router'
import { environmentRoute, operatorRoute, rootRoute } from '../../layouts.tsx'
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

const MePage = lazyPage(() => import('./me.tsx'), 'MePage')

const NotificationsPage = lazyPage(() => import('./notifications.tsx'), 'NotificationsPage')

/** Pages about the person and the team. Their content is the same in both environments; what they link to is not. */
export const peopleRoutes = [
  createRoute({
    getParentRoute: () => environmentRoute,
    path: 'me',
    component: MePage,
  }),
  createRoute({
    getParentRoute: () => environmentRoute,
    path: 'notifications',
    component: NotificationsPage,
  }),
  createRoute({
    getParentRoute: () => environmentRoute,
    path: 'team',
    component: lazyPage(() => import('./team.tsx'), 'TeamPage'),
  }),
  createRoute({
    getParentRoute: () => environmentRoute,
    path: 'team/audit',
    component: lazyPage(() => import('./audit.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute: () => environmentRoute,
    path: 'account',
    component: lazyPage(() => import('./account.tsx'), 'AccountPage'),
  }),
] as const

/** The pages about the person, for an operator. */
export const ownRoutes = [
  createRoute({ getParentRoute: () => operatorRoute, path: 'me', component: MePage }),
  createRoute({ getParentRoute: () => operatorRoute, path: 'notifications', component: NotificationsPage }),
] as const
