import { chargesEndpoints } from './charges/contract.ts'
import { conversionsEndpoints } from './conversions/contract.ts'
import { developersEndpoints } from './developers/contract.ts'
import type { ConsoleEndpoint } from './endpoint.ts'
import { findingEndpoints } from './finding/contract.ts'
import { moneyEndpoints } from './money/contract.ts'
import { notificationEndpoints } from './notifications/contract.ts'
import { operatorEndpoints } from './operator/contract.ts'
import { overviewEndpoints } from './overview/contract.ts'
import { peopleEndpoints } from './people/contract.ts'
import { playgroundEndpoints } from './playground/contract.ts'

/** Every call of the console. */
export const consoleEndpoints: readonly ConsoleEndpoint[] = [
  ...peopleEndpoints,
  ...notificationEndpoints,
  ...overviewEndpoints,
  ...moneyEndpoints,
  ...chargesEndpoints,
  ...conversionsEndpoints,
  ...developersEndpoints,
  ...playgroundEndpoints,
  ...findingEndpoints,
  ...operatorEndpoints,
]
