import type { ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import { actsRoutes } from './acts-routes.ts'
import { deskRoutes } from './desk-routes.ts'
import { houseRoutes } from './house-routes.ts'
import { partnersRoutes } from './partners-routes.ts'
import { peopleOfOperatorRoutes } from './people-routes.ts'
import { proofRoutes } from './proof-routes.ts'
import { proposalsRoutes } from './proposals-routes.ts'

/** Every act of an operator goes through `act`, as on the command line. */
export const operatorRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  ...houseRoutes(parts),
  ...partnersRoutes(parts),
  ...deskRoutes(parts),
  ...proposalsRoutes(parts),
  ...proofRoutes(parts),
  ...actsRoutes(parts),
  ...peopleOfOperatorRoutes(parts),
]
