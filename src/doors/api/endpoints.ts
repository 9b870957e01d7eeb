import type { Endpoint } from '../../http/endpoint.ts'
import { limitEndpoints } from '../../limits/contract.ts'
import { accountEndpoints } from '../../money/account/contract.ts'
import { chargeEndpoints } from '../../money/charges/contract.ts'
import { depositEndpoints } from '../../money/deposits/contract.ts'
import { transferEndpoints } from '../../money/onchain/contract.ts'
import { pixEndpoints } from '../../money/pix/contract.ts'
import { quoteEndpoints } from '../../money/quotes/contract.ts'
import { receiptEndpoints } from '../../money/receipts/contract.ts'
import { customerEndpoints } from '../../parties/customers/contract.ts'
import { eventEndpoints } from '../../records/events/contract.ts'
import { requestEndpoints } from '../../records/requests/contract.ts'
import { webhookEndpoints } from '../../webhooks/contract.ts'
import { sandboxEndpoints } from '../sandbox/contract.ts'

/** All endpoints of the API, in the order of the documentation. */
export const endpoints: readonly Endpoint[] = [
  ...customerEndpoints,
  ...pixEndpoints,
  ...receiptEndpoints.payouts,
  ...sandboxEndpoints.payouts,
  ...chargeEndpoints,
  ...sandboxEndpoints.charges,
  ...transferEndpoints,
  ...receiptEndpoints.transfers,
  ...sandboxEndpoints.transfers,
  ...quoteEndpoints,
  ...sandboxEndpoints.quotes,
  ...accountEndpoints,
  ...depositEndpoints,
  ...sandboxEndpoints.deposits,
  ...eventEndpoints,
  ...requestEndpoints,
  ...webhookEndpoints,
  ...sandboxEndpoints.events,
  ...limitEndpoints,
]
