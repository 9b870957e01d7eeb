import type { ConsoleEndpoint } from '../endpoint.ts'
import { keyEndpoints } from './key-contract.ts'
import { logEndpoints } from './log-contract.ts'
import { consoleWebhookEndpoints } from './webhook-contract.ts'

export const developersEndpoints: readonly ConsoleEndpoint[] = [
  ...keyEndpoints,
  ...consoleWebhookEndpoints,
  ...logEndpoints,
]
