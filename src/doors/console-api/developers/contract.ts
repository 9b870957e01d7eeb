import type { ConsoleEndpoint } from '../endpoint.ts'
import { keyEndpoints } from './key-contract.ts'
import { logEndpoints } from './log-contract.ts'
import { webhookEndpoints } from './webhook-contract.ts'

export const developersEndpoints: readonly ConsoleEndpoint[] = [
  ...keyEndpoints,
  ...webhookEndpoints,
  ...logEndpoints,
]
