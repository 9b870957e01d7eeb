import { openLooks } from '../../../control/operator/looks.ts'
import type { ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import { actsRoutes } from './acts-routes.ts'
import { deskRoutes } from './desk-routes.ts'
import { goliveRoutes } from './golive-routes.ts'
import { houseRoutes } from './house-routes.ts'
import { partnersRoutes } from './partners-routes.ts'
import { peopleOfOperatorRoutes } from './people-routes.ts'
import { proofRoutes } from './proof-routes.ts'
import { proposalsRoutes } from './proposals-routes.ts'
import { railsRoutes } from './rails-routes.ts'
import { viewRoutes } from './view-routes.ts'

/** Every act of an operator goes through `act`, as on the command line. */
export function operatorRoutes(parts: ConsoleParts): ConsoleHandler[] {
  const looks = openLooks(parts.office)
  return [
    ...houseRoutes(parts),
    ...railsRoutes(parts),
    ...partnersRoutes(parts, looks),
    ...deskRoutes(parts, looks),
    ...proposalsRoutes(parts),
    ...proofRoutes(parts),
    ...goliveRoutes(parts),
    ...actsRoutes(parts),
    ...peopleOfOperatorRoutes(parts),
    ...viewRoutes(parts, looks),
  ]
}
