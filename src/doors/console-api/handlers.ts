import { chargesRoutes } from './charges/routes.ts'
import { conversionsRoutes } from './conversions/routes.ts'
import { developersRoutes } from './developers/routes.ts'
import type { ConsoleHandler } from './endpoint.ts'
import { consoleEndpoints } from './endpoints.ts'
import { findingRoutes } from './finding/routes.ts'
import { moneyRoutes } from './money/routes.ts'
import { notificationRoutes } from './notifications/routes.ts'
import { operatorRoutes } from './operator/routes.ts'
import { overviewRoutes } from './overview/routes.ts'
import type { ConsoleParts } from './parts.ts'
import { peopleRoutes } from './people/routes.ts'
import { playgroundRoutes } from './playground/routes.ts'

/** The handlers of all endpoints. Throws if one is missing. */
export function consoleHandlersOf(parts: ConsoleParts): ConsoleHandler[] {
  const handlers = [
    ...peopleRoutes(parts),
    ...notificationRoutes(parts),
    ...overviewRoutes(parts),
    ...moneyRoutes(parts),
    ...chargesRoutes(parts),
    ...conversionsRoutes(parts),
    ...developersRoutes(parts),
    ...playgroundRoutes(parts),
    ...findingRoutes(parts),
    ...operatorRoutes(parts),
  ]
  const missing = consoleEndpoints.find((endpoint) => !handlers.some((each) => each.endpoint === endpoint))
  if (missing) throw new Error(`${missing.name} has no handler`)
  return handlers
}
