import { Type as T } from 'typebox'
import { DOCUMENT_PATTERN, MASKED_PATTERN, maskDocument } from '../../core/document.ts'
import { assets } from '../../core/money.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import {
  AssetName,
  Fields,
  Id,
  Metadata,
  Page,
  pageQuery,
  SignedUnits,
  Text,
  Timestamp,
  timeQuery,
  Units,
} from '../../http/schema.ts'
import type { Balance, StatementLine } from '../../ledger/balances.ts'
import { causeOf } from './cause.ts'
import type { Customer } from './store.ts'

const Email = T.String({
  format: 'email',
  maxLength: 254,
  description: 'E-mail address',
  examples: ['ana@example.com'],
})
const ExternalId = Text(120, 'Your own id of this customer; unique', { examples: ['user-4711'] })
const Status = T.Enum(['active', 'blocked'], {
  description: 'A blocked customer can be read and starts nothing; what is paid to it is credited',
})

export const CustomerObject = T.Object(
  {
    id: Id('customer'),
    name: T.String(),
    document: T.String({
      pattern: MASKED_PATTERN,
      description: 'CPF or CNPJ, masked',
      examples: ['***.982.247-**'],
    }),
    document_type: T.Enum(['cpf', 'cnpj']),
    email: T.Optional(T.String()),
    external_id: T.Optional(T.String()),
    metadata: T.Record(T.String(), T.String()),
    status: Status,
    // Older events do not have this field.
    third_party_payouts: T.Optional(
      T.Boolean({
        description:
          'Whether the operator arranged that this customer may pay other documents; its own setting, beside that of the partner',
        examples: [false],
      }),
    ),
    created_at: Timestamp,
  },
  { $id: 'Customer' },
)

export const renderCustomer = (customer: Customer) => ({
  id: customer.id,
  name: customer.name,
  document: maskDocument(customer.document),
  document_type: customer.document_type,
  ...(customer.email === null ? {} : { email: customer.email }),
  ...(customer.external_id === null ? {} : { external_id: customer.external_id }),
  metadata: customer.metadata,
  status: customer.status,
  third_party_payouts: customer.third_party_payouts,
  created_at: customer.created_at.toISOString(),
})

export const createCustomer = endpoint({
  name: 'customers.create',
  route: 'POST /v1/customers',
  summary: 'Create a customer',
  description:
    'A customer holds one balance per asset. `document` is a CPF or CNPJ (numeric or alphanumeric), bare or fully punctuated; its check digits are verified. A document, and an `external_id`, can be used once.',
  scopes: { all: ['customers'] },
  body: Fields({
    name: Text(120, 'Full name', { examples: ['Ana Souza'] }),
    document: T.String({
      maxLength: 18,
      'x-held': { pattern: DOCUMENT_PATTERN },
      description: 'CPF or CNPJ',
      examples: ['529.982.247-25'],
    }),
    email: T.Optional(Email),
    external_id: T.Optional(ExternalId),
    metadata: T.Optional(Metadata),
  }),
  reply: { status: 201, schema: CustomerObject },
  repeat: 'once',
  errors: ['customer_exists'],
  // Not the document of the demo's customer: after the demo the sample would get a 409.
  example: {
    name: 'Bruno Lima',
    document: '246.813.579-28',
    email: 'bruno@example.com',
    external_id: 'user-4711',
    metadata: { segment: 'retail' },
  },
})

export const listCustomers = endpoint({
  name: 'customers.list',
  route: 'GET /v1/customers',
  summary: 'List customers, newest first',
  scopes: { any: ['read', 'customers'] },
  query: Fields({
    ...pageQuery,
    ...timeQuery,
    status: T.Optional(Status),
    document: T.Optional(
      T.String({
        maxLength: 18,
        description: 'CPF or CNPJ, bare or fully punctuated',
        examples: ['529.982.247-25'],
      }),
    ),
    external_id: T.Optional(ExternalId),
  }),
  reply: { status: 200, schema: Page(CustomerObject) },
})

const params = T.Object({ customer_id: Id('customer') })

export const getCustomer = endpoint({
  name: 'customers.get',
  route: 'GET /v1/customers/{customer_id}',
  summary: 'Read a customer',
  scopes: { any: ['read', 'customers'] },
  params,
  reply: { status: 200, schema: CustomerObject },
  errors: ['customer_not_found'],
})

export const updateCustomer = endpoint({
  name: 'customers.update',
  route: 'PATCH /v1/customers/{customer_id}',
  summary: 'Change a customer’s name, e-mail or metadata',
  description:
    'Only the fields that are sent change. `metadata` is replaced as a whole; `email: null` removes the address.',
  scopes: { all: ['customers'] },
  params,
  body: Fields(
    {
      name: T.Optional(Text(120, 'Full name')),
      email: T.Optional(T.Union([Email, T.Null()])),
      metadata: T.Optional(Metadata),
    },
    { minProperties: 1 },
  ),
  reply: { status: 200, schema: CustomerObject },
  errors: ['customer_not_found'],
  example: { name: 'Ana Maria Souza' },
})

export const BalanceObject = T.Object(
  {
    asset: AssetName,
    available: Units,
    in_transit: Units,
    total: Units,
    decimals: T.Integer(),
  },
  {
    $id: 'Balance',
    examples: [{ asset: 'BRL', available: '98950', in_transit: '1050', total: '100000', decimals: 2 }],
  },
)

export const renderBalance = ({ asset, balance, in_transit }: Balance) => ({
  asset,
  available: balance.toString(),
  in_transit: in_transit.toString(),
  total: (balance + in_transit).toString(),
  decimals: assets[asset].decimals,
})

export const getBalances = endpoint({
  name: 'customers.balances',
  route: 'GET /v1/customers/{customer_id}/balances',
  summary: 'A customer’s balances',
  description:
    '`available` can be spent; `in_transit` was debited by payouts and transfers that have not reached their end.',
  scopes: { any: ['read', 'customers'] },
  params,
  reply: { status: 200, schema: T.Object({ data: T.Array(BalanceObject) }) },
  errors: ['customer_not_found'],
})

export const StatementLineObject = T.Object(
  {
    id: T.String({ description: 'Names this line, and no other: the customer, the asset and seq' }),
    asset: AssetName,
    seq: T.Integer({ minimum: 1, description: 'Counts the lines of this asset from 1, without a gap' }),
    amount: SignedUnits,
    balance_after: Units,
    decimals: T.Integer(),
    cause: T.Object({
      type: T.Enum(['payout', 'transfer', 'trade', 'deposit', 'reversal', 'return', 'adjustment'], {
        description:
          '`reversal` is money that a failed payout or transfer returned, with the id of that payout or transfer, or a credit that the operator took back (`adj_…`). `return` is money of a completed Pix payment that went back: `of` names the payment',
      }),
      id: T.String({ description: 'The object that moved the money; its prefix tells its type' }),
      of: T.Optional(
        T.String({ description: 'For a `return`: the payout or deposit of which the money went back' }),
      ),
    }),
    created_at: Timestamp,
  },
  {
    $id: 'StatementLine',
    examples: [
      {
        id: 'cus_01kc3v4x9zq8rj5m2t7w6y0ahb.BRL.2',
        asset: 'BRL',
        seq: 2,
        amount: '-1050',
        balance_after: '98950',
        decimals: 2,
        cause: { type: 'payout', id: 'po_01kc3v4x9zq8rj5m2t7w6y0ahb' },
        created_at: '2026-11-15T12:00:00.000Z',
      },
    ],
  },
)

export const renderStatementLine = (line: StatementLine, customer: Pick<Customer, 'id'>) => ({
  id: `${customer.id}.${line.asset}.${line.seq}`,
  asset: line.asset,
  seq: Number(line.seq),
  amount: line.amount.toString(),
  balance_after: line.balance_after.toString(),
  decimals: assets[line.asset].decimals,
  cause: causeOf(line),
  created_at: line.created_at.toISOString(),
})

export const getStatement = endpoint({
  name: 'customers.statement',
  route: 'GET /v1/customers/{customer_id}/statement',
  summary: 'A customer’s statement, newest first',
  description:
    'Every change of a balance, with the balance after it and what caused it. A payout or transfer that fails has a second line, with the cause `reversal`.',
  scopes: { any: ['read', 'customers'] },
  params,
  query: Fields({ ...pageQuery, ...timeQuery, asset: T.Optional(AssetName) }),
  reply: { status: 200, schema: Page(StatementLineObject) },
  errors: ['customer_not_found'],
})

export const customerEndpoints: readonly Endpoint[] = [
  createCustomer,
  listCustomers,
  getCustomer,
  updateCustomer,
  getBalances,
  getStatement,
]
