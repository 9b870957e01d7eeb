import { Type as T } from 'typebox'
import { Amount, Fields, Id, Page, pageQuery, Timestamp, timeQuery, Units } from '../../../http/schema.ts'
import { ChargeObject, listCharges } from '../../../money/charges/contract.ts'
import { DepositObject } from '../../../money/deposits/contract.ts'
import { CustomerObject } from '../../../parties/customers/contract.ts'
import { csvQuery } from '../csv.ts'
import { type ConsoleEndpoint, consoleEndpoint, FormId } from '../endpoint.ts'
import { orderQuery, TotalsObject } from '../list-schema.ts'
import { ApiRequest, PublishedEvent } from '../object-page.ts'

const environment = T.Enum(['production', 'sandbox'])
const inWorld = T.Object({ environment })

const { customer_id, status, idempotency_key } = listCharges.query.properties
const filters = {
  ...timeQuery,
  customer_id,
  status,
  idempotency_key,
  amount_min: T.Optional(Amount),
  amount_max: T.Optional(Amount),
}

const ChargeRow = T.Object({
  charge: ChargeObject,
  customer: T.Object({ id: Id('customer'), name: T.String() }),
})

export const listChargesInConsole = consoleEndpoint({
  name: 'console.charges.list',
  route: 'GET /console/api/{environment}/charges',
  summary: 'Charges by time',
  permit: 'read',
  heavy: ['amount_min', 'amount_max'],
  params: inWorld,
  query: Fields({ ...pageQuery, ...orderQuery, ...filters }),
  reply: { status: 200, schema: Page(ChargeRow) },
})

export const exportCharges = consoleEndpoint({
  name: 'console.charges.csv',
  route: 'GET /console/api/{environment}/charges.csv',
  summary: 'The same as a table for spreadsheets',
  permit: 'export',
  params: inWorld,
  query: Fields({ ...orderQuery, ...filters, ...csvQuery }),
  reply: { status: 200, type: 'text/csv' },
})

export const totalCharges = consoleEndpoint({
  name: 'console.charges.totals',
  route: 'GET /console/api/{environment}/charges/totals',
  summary: 'How many charges a filter matches, and their sums, by status',
  permit: 'read',
  heavy: true,
  params: inWorld,
  query: Fields(filters),
  reply: { status: 200, schema: TotalsObject },
})

const chargeParams = T.Object({ environment, charge_id: Id('charge') })

const Payment = T.Object({
  end_to_end_id: T.String(),
  amount: Units,
  paid_at: Timestamp,
  payer_name: T.Union([T.String(), T.Null()], { description: 'Masked; null if the provider does not tell' }),
  /** Null: the payment waits for room in the balance. */
  deposit: T.Union([DepositObject, T.Null()]),
})

export const getChargeInConsole = consoleEndpoint({
  name: 'console.charges.get',
  route: 'GET /console/api/{environment}/charges/{charge_id}',
  summary: 'A charge, its payments and its events',
  permit: 'read',
  params: chargeParams,
  reply: {
    status: 200,
    schema: T.Object({
      charge: ChargeObject,
      customer: CustomerObject,
      payments: T.Array(Payment, { description: 'In the order in which they were paid' }),
      events: T.Array(PublishedEvent),
      request: ApiRequest,
    }),
  },
  errors: ['charge_not_found'],
})

export const redeliverCharge = consoleEndpoint({
  name: 'console.charges.redeliver',
  route: 'POST /console/api/{environment}/charges/{charge_id}/redeliver',
  summary: 'Send a charge’s events again, to every endpoint that listens',
  permit: 'webhooks.write',
  params: chargeParams,
  body: Fields({}),
  reply: {
    status: 200,
    schema: T.Object({ redelivered: T.Integer({ description: 'How many deliveries begin anew' }) }),
  },
  errors: ['charge_not_found', 'too_many_redeliveries'],
})

export const payChargeInConsole = consoleEndpoint({
  name: 'console.charges.pay',
  route: 'POST /console/api/{environment}/charges/{charge_id}/pay',
  summary: 'Pay a charge of the sandbox, as a payer would',
  permit: 'sandbox.act',
  sandbox_only: true,
  params: chargeParams,
  body: Fields({ form_id: FormId, amount: Amount }),
  reply: { status: 200, schema: ChargeObject },
  errors: ['invalid_amount', 'charge_not_found', 'already_done'],
})

export const expireChargeInConsole = consoleEndpoint({
  name: 'console.charges.expire',
  route: 'POST /console/api/{environment}/charges/{charge_id}/expire',
  summary: 'Let a charge of the sandbox expire now',
  permit: 'sandbox.act',
  sandbox_only: true,
  params: chargeParams,
  body: Fields({}),
  reply: { status: 200, schema: ChargeObject },
  errors: ['charge_not_found', 'already_final'],
})

export const chargesEndpoints: readonly ConsoleEndpoint[] = [
  listChargesInConsole,
  exportCharges,
  totalCharges,
  getChargeInConsole,
  redeliverCharge,
  payChargeInConsole,
  expireChargeInConsole,
]
