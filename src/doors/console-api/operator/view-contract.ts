import { Type as T } from 'typebox'
import { Id } from '../../../http/schema.ts'
import { getChargeInConsole } from '../charges/contract.ts'
import { getQuoteInConsole, getTradeInConsole } from '../conversions/contract.ts'
import { getEventInConsole, getRequestInConsole } from '../developers/log-contract.ts'
import { getDeliveryInConsole, getWebhook, listDeliveriesInConsole } from '../developers/webhook-contract.ts'
import { type ConsoleEndpoint, consoleEndpoint } from '../endpoint.ts'
import {
  getCustomerInConsole,
  getDepositInConsole,
  getPayoutInConsole,
  getStatementInConsole,
  getTransferInConsole,
} from '../money/contract.ts'
import { inWorld } from './shared-schemas.ts'

/**
 * What operators see of a partner: the calls of the partner's own pages, under the partner's address. The schemas and the
 * handlers are the partner's, so both see the same. Only reads are listed here: an operator changes nothing on the partner's
 * behalf.
 */
type Viewed = {
  readonly of: ConsoleEndpoint
  readonly view: ConsoleEndpoint
  /** For a page with personal data: the parameter that names the object, and the kind of page for the act log. */
  readonly personal?: { readonly param: string; readonly what: string }
}

const ofPartner = { ...inWorld, partner_id: Id('partner') }
const FROM = 'GET /console/api/{environment}/'
const TO = 'GET /console/api/operator/{environment}/partners/{partner_id}/'

function viewOf(of: ConsoleEndpoint, personal?: Viewed['personal']): Viewed {
  const isPlainRead = of.route.startsWith(FROM) && of.permit === 'read' && of.reply.type === undefined
  if (!isPlainRead) throw new Error(`${of.name} is no read of a partner's page`)
  const view = consoleEndpoint({
    ...of,
    name: of.name.replace('console.', 'console.operator.view.') as ConsoleEndpoint['name'],
    route: of.route.replace(FROM, TO) as ConsoleEndpoint['route'],
    permit: 'operator.read',
    params: T.Object({ ...of.params?.properties, ...ofPartner }),
    errors: [...(of.errors ?? []), 'object_not_found'],
  })
  return { of, view, ...(personal ? { personal } : {}) }
}

export const viewed: readonly Viewed[] = [
  viewOf(getPayoutInConsole, { param: 'payout_id', what: 'payout' }),
  viewOf(getTransferInConsole, { param: 'transfer_id', what: 'transfer' }),
  viewOf(getDepositInConsole, { param: 'deposit_id', what: 'deposit' }),
  viewOf(getChargeInConsole, { param: 'charge_id', what: 'charge' }),
  viewOf(getQuoteInConsole, { param: 'quote_id', what: 'quote' }),
  viewOf(getTradeInConsole, { param: 'trade_id', what: 'trade' }),
  viewOf(getCustomerInConsole, { param: 'customer_id', what: 'customer' }),
  viewOf(getStatementInConsole, { param: 'customer_id', what: 'statement' }),
  viewOf(getEventInConsole, { param: 'event_id', what: 'event' }),
  viewOf(getRequestInConsole, { param: 'request_id', what: 'request' }),
  viewOf(getDeliveryInConsole, { param: 'event_id', what: 'delivery' }),
  // An endpoint and the list of its deliveries name URLs and types of events, no person. Its secret is not in the reply.
  viewOf(getWebhook),
  viewOf(listDeliveriesInConsole),
]

/** The name of the partner in the address, for the head of these pages. */
export const getPartnerName = consoleEndpoint({
  name: 'console.operator.partners.name',
  route: 'GET /console/api/operator/{environment}/partners/{partner_id}/name',
  summary: 'The name of a partner',
  permit: 'operator.read',
  params: T.Object(ofPartner),
  reply: { status: 200, schema: T.Object({ id: Id('partner'), name: T.String() }) },
  errors: ['object_not_found'],
})

export const viewEndpoints: readonly ConsoleEndpoint[] = [getPartnerName, ...viewed.map(({ view }) => view)]
