import { Type as T, type TProperties } from 'typebox'
import { networkNames } from '../../../core/networks.ts'
import {
  Amount,
  AssetName,
  Fields,
  Id,
  IdempotencyKeyFilter,
  Page,
  pageQuery,
  Timestamp,
  timeQuery,
  Units,
} from '../../../http/schema.ts'
import { DepositAddressObject, DepositObject } from '../../../money/deposits/contract.ts'
import { listTransfers, TransferObject } from '../../../money/onchain/contract.ts'
import { listPayouts, PayoutObject } from '../../../money/pix/contract.ts'
import { receiptQuery } from '../../../money/receipts/contract.ts'
import * as customers from '../../../parties/customers/contract.ts'
import { csvQuery } from '../csv.ts'
import { type ConsoleEndpoint, consoleEndpoint, FormId } from '../endpoint.ts'
import { orderQuery, TotalsObject } from '../list-schema.ts'
import { ApiRequest, MovementObject, PublishedEvent } from '../object-page.ts'
import { trackKinds } from './track.ts'

const environment = T.Enum(['production', 'sandbox'])
const inWorld = T.Object({ environment })
const csv = { status: 200, type: 'text/csv' } as const
const totals = { status: 200, schema: TotalsObject } as const

const Name = T.String({ minLength: 1, maxLength: 120, description: 'A part of the name' })

/** `open`: not final yet. `no_answer`: open for too long, and the rail's outcome is unknown. */
const statusQuery = <const States extends readonly string[]>(states: States) =>
  T.Optional(T.Enum([...states, 'open', 'no_answer'] as [...States, 'open', 'no_answer']))

const orderFilters = {
  ...timeQuery,
  customer_id: T.Optional(Id('customer')),
  idempotency_key: T.Optional(IdempotencyKeyFilter),
  amount_min: T.Optional(Amount),
  amount_max: T.Optional(Amount),
  api_key_id: T.Optional(Id('key')),
  failure_code: T.Optional(T.String({ pattern: '^[a-z_]{1,64}$' })),
}

const heavyOrderFilters = ['amount_min', 'amount_max', 'api_key_id', 'failure_code', 'status'] as const

const { end_to_end_id } = listPayouts.query.properties
const payoutFilters = {
  ...orderFilters,
  end_to_end_id,
  status: statusQuery(['pending', 'processing', 'completed', 'failed']),
}

const { asset, network, tx_hash } = listTransfers.query.properties
const transferFilters = {
  ...orderFilters,
  asset,
  network,
  tx_hash,
  status: statusQuery(['pending', 'processing', 'confirmed', 'failed']),
}

const { status, document, external_id } = customers.listCustomers.query.properties
const customerFilters = { ...timeQuery, status, document, external_id, name: T.Optional(Name) }

const CustomerName = T.Object({ id: Id('customer'), name: T.String() })

/** A page of orders and the number of open ones, counted up to a thousand per state. */
const PageWithOpen = <P extends TProperties>(item: ReturnType<typeof T.Object<P>>) =>
  T.Object({
    ...Page(item).properties,
    open: T.Object({ count: T.Integer(), no_answer: T.Integer() }),
  })

const NoAnswer = T.Boolean({ description: 'processing, for longer than the desk waits' })

const PayoutRow = T.Object({ payout: PayoutObject, customer: CustomerName, no_answer: NoAnswer })
const TransferRow = T.Object({ transfer: TransferObject, customer: CustomerName, no_answer: NoAnswer })

const TrackStep = T.Object({
  kind: T.Enum([...trackKinds]),
  at: Timestamp,
  /** The rail's answer, shortened and masked. */
  said: T.Union([T.String(), T.Null()]),
  times: T.Integer({ description: 'The same several times over is one step' }),
  last_at: Timestamp,
})

/** The fields that the pages of a payout and a transfer share. */
const orderPage = {
  customer: customers.CustomerObject,
  no_answer: NoAnswer,
  track: T.Array(TrackStep),
  movements: T.Array(MovementObject),
  events: T.Array(PublishedEvent),
  request: ApiRequest,
  /** The resolution, if an operator ended the order. */
  resolution: T.Union([T.Object({ outcome: T.String(), resolved_at: Timestamp }), T.Null()]),
  held: T.Boolean({ description: 'An operator is about to decide on it: nothing is sent meanwhile' }),
}

export const listPayoutsInConsole = consoleEndpoint({
  name: 'console.payouts.list',
  route: 'GET /console/api/{environment}/payouts',
  summary: 'Payouts by time',
  permit: 'read',
  heavy: heavyOrderFilters,
  params: inWorld,
  query: Fields({ ...pageQuery, ...orderQuery, ...payoutFilters }),
  reply: { status: 200, schema: PageWithOpen(PayoutRow) },
})

export const exportPayouts = consoleEndpoint({
  name: 'console.payouts.csv',
  route: 'GET /console/api/{environment}/payouts.csv',
  summary: 'The same as a table for spreadsheets',
  permit: 'export',
  params: inWorld,
  query: Fields({ ...orderQuery, ...payoutFilters, ...csvQuery }),
  reply: csv,
})

export const totalPayouts = consoleEndpoint({
  name: 'console.payouts.totals',
  route: 'GET /console/api/{environment}/payouts/totals',
  summary: 'How many payouts a filter matches, and their sums, by status',
  permit: 'read',
  heavy: true,
  params: inWorld,
  query: Fields(payoutFilters),
  reply: totals,
})

const payoutParams = T.Object({ environment, payout_id: Id('payout') })

export const getPayoutInConsole = consoleEndpoint({
  name: 'console.payouts.get',
  route: 'GET /console/api/{environment}/payouts/{payout_id}',
  summary: 'A payout and all that is known of it',
  permit: 'read',
  params: payoutParams,
  reply: { status: 200, schema: T.Object({ payout: PayoutObject, send_id: T.String(), ...orderPage }) },
  errors: ['payout_not_found'],
})

export const getPayoutReceiptInConsole = consoleEndpoint({
  name: 'console.payouts.receipt',
  route: 'GET /console/api/{environment}/payouts/{payout_id}/receipt',
  summary: 'The receipt of a completed payout, as a PDF',
  permit: 'read',
  params: payoutParams,
  query: receiptQuery,
  reply: { status: 200, file: 'application/pdf' },
  errors: ['payout_not_found', 'receipt_not_available'],
})

const Redelivered = T.Object({ redelivered: T.Integer({ description: 'How many deliveries begin anew' }) })

export const redeliverPayout = consoleEndpoint({
  name: 'console.payouts.redeliver',
  route: 'POST /console/api/{environment}/payouts/{payout_id}/redeliver',
  summary: 'Send a payout’s events again, to every endpoint that listens',
  permit: 'webhooks.write',
  params: payoutParams,
  body: Fields({}),
  reply: { status: 200, schema: Redelivered },
  errors: ['payout_not_found', 'too_many_redeliveries'],
})

const endOfPayout = (word: 'complete' | 'fail') =>
  ({
    route: `POST /console/api/{environment}/payouts/{payout_id}/${word}`,
    permit: 'sandbox.act',
    sandbox_only: true,
    params: payoutParams,
    body: Fields({}),
    reply: { status: 200, schema: PayoutObject },
    errors: ['payout_not_found', 'already_final'],
  }) as const

export const completePayoutInConsole = consoleEndpoint({
  name: 'console.payouts.complete',
  summary: 'Let a payout of the sandbox complete',
  ...endOfPayout('complete'),
})

export const failPayoutInConsole = consoleEndpoint({
  name: 'console.payouts.fail',
  summary: 'Let a payout of the sandbox fail',
  ...endOfPayout('fail'),
})

export const listTransfersInConsole = consoleEndpoint({
  name: 'console.transfers.list',
  route: 'GET /console/api/{environment}/transfers',
  summary: 'Transfers by time',
  permit: 'read',
  heavy: heavyOrderFilters,
  params: inWorld,
  query: Fields({ ...pageQuery, ...orderQuery, ...transferFilters }),
  reply: { status: 200, schema: PageWithOpen(TransferRow) },
})

export const exportTransfers = consoleEndpoint({
  name: 'console.transfers.csv',
  route: 'GET /console/api/{environment}/transfers.csv',
  summary: 'The same as a table for spreadsheets',
  permit: 'export',
  params: inWorld,
  query: Fields({ ...orderQuery, ...transferFilters, ...csvQuery }),
  reply: csv,
})

export const totalTransfers = consoleEndpoint({
  name: 'console.transfers.totals',
  route: 'GET /console/api/{environment}/transfers/totals',
  summary: 'How many transfers a filter matches, and their sums, by status and asset',
  permit: 'read',
  heavy: true,
  params: inWorld,
  query: Fields(transferFilters),
  reply: totals,
})

const transferParams = T.Object({ environment, transfer_id: Id('transfer') })

export const getTransferInConsole = consoleEndpoint({
  name: 'console.transfers.get',
  route: 'GET /console/api/{environment}/transfers/{transfer_id}',
  summary: 'A transfer and all that is known of it',
  permit: 'read',
  params: transferParams,
  reply: { status: 200, schema: T.Object({ transfer: TransferObject, ...orderPage }) },
  errors: ['transfer_not_found'],
})

export const getTransferReceiptInConsole = consoleEndpoint({
  name: 'console.transfers.receipt',
  route: 'GET /console/api/{environment}/transfers/{transfer_id}/receipt',
  summary: 'The receipt of a confirmed transfer, as a PDF',
  permit: 'read',
  params: transferParams,
  query: receiptQuery,
  reply: { status: 200, file: 'application/pdf' },
  errors: ['transfer_not_found', 'receipt_not_available'],
})

export const redeliverTransfer = consoleEndpoint({
  name: 'console.transfers.redeliver',
  route: 'POST /console/api/{environment}/transfers/{transfer_id}/redeliver',
  summary: 'Send a transfer’s events again, to every endpoint that listens',
  permit: 'webhooks.write',
  params: transferParams,
  body: Fields({}),
  reply: { status: 200, schema: Redelivered },
  errors: ['transfer_not_found', 'too_many_redeliveries'],
})

const endOfTransfer = (word: 'confirm' | 'fail') =>
  ({
    route: `POST /console/api/{environment}/transfers/{transfer_id}/${word}`,
    permit: 'sandbox.act',
    sandbox_only: true,
    params: transferParams,
    body: Fields({}),
    reply: { status: 200, schema: TransferObject },
    errors: ['transfer_not_found', 'already_final'],
  }) as const

export const confirmTransferInConsole = consoleEndpoint({
  name: 'console.transfers.confirm',
  summary: 'Let a transfer of the sandbox be confirmed',
  ...endOfTransfer('confirm'),
})

export const failTransferInConsole = consoleEndpoint({
  name: 'console.transfers.fail',
  summary: 'Let a transfer of the sandbox fail',
  ...endOfTransfer('fail'),
})

export const listCustomersInConsole = consoleEndpoint({
  name: 'console.customers.list',
  route: 'GET /console/api/{environment}/customers',
  summary: 'Customers and what they hold, by time',
  permit: 'read',
  heavy: ['name'],
  params: inWorld,
  query: Fields({ ...pageQuery, ...orderQuery, ...customerFilters }),
  reply: {
    status: 200,
    schema: Page(
      T.Object({ customer: customers.CustomerObject, balances: T.Array(customers.BalanceObject) }),
    ),
  },
})

export const exportCustomers = consoleEndpoint({
  name: 'console.customers.csv',
  route: 'GET /console/api/{environment}/customers.csv',
  summary: 'The same as a table for spreadsheets',
  permit: 'export',
  params: inWorld,
  query: Fields({ ...orderQuery, ...customerFilters, ...csvQuery }),
  reply: csv,
})

export const totalCustomers = consoleEndpoint({
  name: 'console.customers.totals',
  route: 'GET /console/api/{environment}/customers/totals',
  summary: 'How many customers a filter matches, by status',
  permit: 'read',
  heavy: true,
  params: inWorld,
  query: Fields(customerFilters),
  reply: totals,
})

export const createCustomerInConsole = consoleEndpoint({
  name: 'console.customers.create',
  route: 'POST /console/api/{environment}/customers',
  summary: 'Create a customer',
  permit: 'customers.write',
  params: inWorld,
  body: Fields({ form_id: FormId, ...customers.createCustomer.body.properties }),
  reply: { status: 201, schema: customers.CustomerObject },
  errors: ['customer_exists', 'already_done'],
})

const customerParams = T.Object({ environment, customer_id: Id('customer') })

const MoneyLimit = T.Object({
  name: T.String({ description: 'payout_order, payout_day, payout_night, transfer_order_usdt, …' }),
  asset: AssetName,
  allowed: Units,
  /** Null if the limit is per order, or if nothing counts at the moment. */
  used: T.Union([Units, T.Null()]),
  resets_at: T.Union([Timestamp, T.Null()]),
})

const OnItsWay = T.Object({
  id: T.String(),
  kind: T.Enum(['payout', 'transfer']),
  asset: AssetName,
  network: T.Union([T.String(), T.Null()]),
  amount: Units,
  status: T.String(),
  no_answer: NoAnswer,
  created_at: Timestamp,
})

export const getCustomerInConsole = consoleEndpoint({
  name: 'console.customers.get',
  route: 'GET /console/api/{environment}/customers/{customer_id}',
  summary: 'A customer, what it holds and what is on its way',
  permit: 'read',
  params: customerParams,
  reply: {
    status: 200,
    schema: T.Object({
      customer: customers.CustomerObject,
      balances: T.Array(customers.BalanceObject),
      limits: T.Array(MoneyLimit),
      on_its_way: T.Array(OnItsWay),
      deposit_addresses: T.Array(DepositAddressObject),
      deposits: T.Array(DepositObject, { description: 'The newest ones, in any state' }),
    }),
  },
  errors: ['customer_not_found'],
})

export const updateCustomerInConsole = consoleEndpoint({
  name: 'console.customers.update',
  route: 'PATCH /console/api/{environment}/customers/{customer_id}',
  summary: 'Change a customer’s name, e-mail or metadata',
  permit: 'customers.write',
  params: customerParams,
  body: Fields(customers.updateCustomer.body.properties, { minProperties: 1 }),
  reply: { status: 200, schema: customers.CustomerObject },
  errors: ['customer_not_found'],
})

export const depositInConsole = consoleEndpoint({
  name: 'console.customers.deposit',
  route: 'POST /console/api/{environment}/customers/{customer_id}/deposits',
  summary: 'Credit test money, in the sandbox',
  permit: 'sandbox.act',
  sandbox_only: true,
  params: customerParams,
  body: Fields({ form_id: FormId, asset: AssetName, amount: Amount }),
  reply: { status: 201, schema: DepositObject },
  errors: ['invalid_amount', 'customer_blocked', 'customer_not_found', 'amount_too_large', 'already_done'],
})

export const createDepositAddressInConsole = consoleEndpoint({
  name: 'console.customers.create_deposit_address',
  route: 'POST /console/api/{environment}/customers/{customer_id}/deposit_addresses',
  summary: 'Get the deposit address of a customer on a network',
  permit: 'customers.write',
  params: customerParams,
  body: Fields({ network: T.Enum(networkNames) }),
  reply: { status: 201, schema: DepositAddressObject },
  errors: ['customer_not_found', 'customer_blocked', 'rail_unavailable'],
})

export const getDepositInConsole = consoleEndpoint({
  name: 'console.deposits.get',
  route: 'GET /console/api/{environment}/deposits/{deposit_id}',
  summary: 'A deposit, its movement and its events',
  permit: 'read',
  params: T.Object({ environment, deposit_id: Id('deposit') }),
  reply: {
    status: 200,
    schema: T.Object({
      deposit: DepositObject,
      rail: T.Enum(['sandbox', 'operator', 'pix', ...networkNames], {
        description: 'Test money, a credit of the operator, or the network it came in on',
      }),
      customer: customers.CustomerObject,
      movements: T.Array(MovementObject),
      events: T.Array(PublishedEvent),
    }),
  },
  errors: ['deposit_not_found'],
})

const statementFilters = { ...timeQuery, asset: T.Optional(AssetName) }

const StatementRow = T.Object({
  line: customers.StatementLineObject,
  /** The network of a transfer, or both assets of a conversion. */
  about: T.Union([
    T.Object({ network: T.String() }),
    T.Object({ from_asset: AssetName, to_asset: AssetName }),
    T.Null(),
  ]),
})

export const getStatementInConsole = consoleEndpoint({
  name: 'console.customers.statement',
  route: 'GET /console/api/{environment}/customers/{customer_id}/statement',
  summary: 'A customer’s statement, newest first',
  permit: 'read',
  params: customerParams,
  query: Fields({ ...pageQuery, ...statementFilters }),
  reply: { status: 200, schema: Page(StatementRow) },
  errors: ['customer_not_found'],
})

export const exportStatement = consoleEndpoint({
  name: 'console.customers.statement_csv',
  route: 'GET /console/api/{environment}/customers/{customer_id}/statement.csv',
  summary: 'The same as a table for spreadsheets',
  permit: 'export',
  params: customerParams,
  query: Fields({ ...statementFilters, ...csvQuery }),
  reply: csv,
  errors: ['customer_not_found'],
})

export const moneyEndpoints: readonly ConsoleEndpoint[] = [
  listPayoutsInConsole,
  exportPayouts,
  totalPayouts,
  getPayoutInConsole,
  getPayoutReceiptInConsole,
  redeliverPayout,
  completePayoutInConsole,
  failPayoutInConsole,
  listTransfersInConsole,
  exportTransfers,
  totalTransfers,
  getTransferInConsole,
  getTransferReceiptInConsole,
  redeliverTransfer,
  confirmTransferInConsole,
  failTransferInConsole,
  listCustomersInConsole,
  exportCustomers,
  totalCustomers,
  createCustomerInConsole,
  getCustomerInConsole,
  updateCustomerInConsole,
  createDepositAddressInConsole,
  depositInConsole,
  getDepositInConsole,
  getStatementInConsole,
  exportStatement,
]
