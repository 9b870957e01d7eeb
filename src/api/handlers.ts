import { customersRoutes } from '../customers/routes.ts'
import type { LogPoller } from '../db/log-poller.ts'
import { depositsRoutes } from '../deposits/routes.ts'
import { eventsRoutes } from '../events/routes.ts'
import type { Handler } from '../http/endpoint.ts'
import type { Limiter } from '../limits/limiter.ts'
import { limitsRoutes } from '../limits/routes.ts'
import { transfersRoutes } from '../onchain/routes.ts'
import { partnersRoutes } from '../partners/routes.ts'
import { pixRoutes } from '../pix/routes.ts'
import type { PayoutWorker } from '../pix/worker.ts'
import { quotesRoutes } from '../quotes/routes.ts'
import { requestsRoutes } from '../requests/routes.ts'
import { sandboxRoutes } from '../sandbox/routes.ts'
import type { TreasuryWorker } from '../treasury/worker.ts'
import type { Webhooks } from '../webhooks/endpoints.ts'
import { webhooksRoutes } from '../webhooks/routes.ts'
import { endpoints } from './endpoints.ts'

/** What the handlers of one environment use, besides its world. */
export type HandlerParts = {
  readonly payouts: PayoutWorker
  readonly treasury: TreasuryWorker
  readonly webhooks: Webhooks
  readonly newEvents: LogPoller
  readonly newRequests: LogPoller
  readonly limiter: Limiter
}

/** One handler for each endpoint, for one environment. */
export const handlersOf = (parts: HandlerParts): Handler[] => [
  ...customersRoutes,
  ...pixRoutes(parts.payouts),
  ...transfersRoutes,
  ...quotesRoutes(parts.treasury),
  ...partnersRoutes,
  ...depositsRoutes,
  ...eventsRoutes(parts.newEvents),
  ...requestsRoutes(parts.newRequests),
  ...webhooksRoutes(parts.webhooks),
  ...sandboxRoutes(parts.webhooks, endpoints),
  ...limitsRoutes(parts.limiter, endpoints),
]
