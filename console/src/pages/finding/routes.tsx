/** Pages under `/$environment`: `createRoute({ getParentRoute: () => environmentRoute, path: '…', component: lazyPage(…) })`. */
export const findingRoutes = [] as const
