import type { ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import { customerRoutes } from './customers.ts'
import { depositRoutes } from './deposits.ts'
import { payoutRoutes } from './payouts.ts'
import { statementRoutes } from './statement.ts'
import { transferRoutes } from './transfers.ts'

export const moneyRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  ...customerRoutes(parts),
  ...statementRoutes(parts),
  ...depositRoutes,
  ...payoutRoutes(parts),
  ...transferRoutes(parts),
]
