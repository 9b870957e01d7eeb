import { customerEndpoints } from '../customers/contract.ts'
import { depositEndpoints } from '../deposits/contract.ts'
import { eventEndpoints } from '../events/contract.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { limitEndpoints } from '../limits/contract.ts'
import { transferEndpoints } from '../onchain/contract.ts'
import { partnerEndpoints } from '../partners/contract.ts'
import { pixEndpoints } from '../pix/contract.ts'
import { quoteEndpoints } from '../quotes/contract.ts'
import { requestEndpoints } from '../requests/contract.ts'
import { sandboxEndpoints } from '../sandbox/contract.ts'
import { webhookEndpoints } from '../webhooks/contract.ts'

/** All endpoints of the API, in the order of the documentation. */
export const endpoints: readonly Endpoint[] = [
  ...customerEndpoints,
  ...pixEndpoints,
  ...sandboxEndpoints.payouts,
  ...transferEndpoints,
  ...sandboxEndpoints.transfers,
  ...quoteEndpoints,
  ...sandboxEndpoints.quotes,
  ...partnerEndpoints,
  ...depositEndpoints,
  ...sandboxEndpoints.deposits,
  ...eventEndpoints,
  ...requestEndpoints,
  ...webhookEndpoints,
  ...sandboxEndpoints.events,
  ...limitEndpoints,
]
