import type { LogPoller } from '../../db/log-poller.ts'
import type { Handler } from '../../http/endpoint.ts'
import type { Limiter } from '../../limits/limiter.ts'
import { limitsRoutes } from '../../limits/routes.ts'
import { accountRoutes } from '../../money/account/routes.ts'
import { chargesRoutes } from '../../money/charges/routes.ts'
import type { ChargeWorker } from '../../money/charges/worker.ts'
import { depositsRoutes } from '../../money/deposits/routes.ts'
import { transfersRoutes } from '../../money/onchain/routes.ts'
import { pixRoutes } from '../../money/pix/routes.ts'
import type { PayoutWorker } from '../../money/pix/worker.ts'
import { quotesRoutes } from '../../money/quotes/routes.ts'
import type { ReceiptPrinter } from '../../money/receipts/printer.ts'
import { receiptsRoutes } from '../../money/receipts/routes.ts'
import type { TreasuryWorker } from '../../money/treasury/worker.ts'
import { customersRoutes } from '../../parties/customers/routes.ts'
import { eventsRoutes } from '../../records/events/routes.ts'
import { requestsRoutes } from '../../records/requests/routes.ts'
import type { Webhooks } from '../../webhooks/endpoints.ts'
import { webhooksRoutes } from '../../webhooks/routes.ts'
import { sandboxRoutes } from '../sandbox/routes.ts'
import { endpoints } from './endpoints.ts'

/** What the handlers of one environment use, besides its world. */
export type HandlerParts = {
  readonly payouts: PayoutWorker
  readonly charges: ChargeWorker
  readonly treasury: TreasuryWorker
  readonly webhooks: Webhooks
  readonly newEvents: LogPoller
  readonly newRequests: LogPoller
  readonly limiter: Limiter
  readonly receipts: ReceiptPrinter
  /** In the sandbox: how long each step of a deposit on a chain takes. */
  readonly deposit_step_ms: number
}

/** One handler for each endpoint, for one environment. */
export const handlersOf = (parts: HandlerParts): Handler[] => [
  ...customersRoutes,
  ...pixRoutes(parts.payouts),
  ...chargesRoutes(parts.charges),
  ...transfersRoutes,
  ...receiptsRoutes(parts.receipts),
  ...quotesRoutes(parts.treasury),
  ...accountRoutes,
  ...depositsRoutes,
  ...eventsRoutes(parts.newEvents),
  ...requestsRoutes(parts.newRequests),
  ...webhooksRoutes(parts.webhooks),
  ...sandboxRoutes(parts, endpoints),
  ...limitsRoutes(parts.limiter, endpoints),
]
