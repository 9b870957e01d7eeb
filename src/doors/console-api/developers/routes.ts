import type { ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import { keyRoutes } from './key-routes.ts'
import { logRoutes } from './log-routes.ts'
import { webhookRoutes } from './webhook-routes.ts'

export const developersRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  ...keyRoutes(parts),
  ...webhookRoutes(parts),
  ...logRoutes(parts),
]
