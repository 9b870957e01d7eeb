import { Type as T } from 'typebox'
import { assets } from '../core/money.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import {
  Amount,
  AssetName,
  Fields,
  Id,
  Page,
  pageQuery,
  Timestamp,
  timeQuery,
  Units,
} from '../http/schema.ts'
import type { Deposit } from './store.ts'

const Status = T.Enum(['completed'], { description: 'What is in the list has arrived' })

export const DepositObject = T.Object(
  {
    id: Id('deposit'),
    customer_id: Id('customer'),
    asset: AssetName,
    amount: Units,
    decimals: T.Integer(),
    status: Status,
    created_at: Timestamp,
  },
  { $id: 'Deposit' },
)

export const renderDeposit = (deposit: Deposit) => ({
  id: deposit.id,
  customer_id: deposit.customer_id,
  asset: deposit.asset,
  amount: deposit.amount.toString(),
  decimals: assets[deposit.asset].decimals,
  status: 'completed' as const,
  created_at: deposit.created_at.toISOString(),
})

export const listDeposits = endpoint({
  name: 'deposits.list',
  route: 'GET /v1/deposits',
  summary: 'List deposits, newest first',
  description: 'All money that came in: test money of the sandbox, and what the operator credited.',
  scopes: { any: ['read', 'customers'] },
  query: Fields({
    ...pageQuery,
    ...timeQuery,
    customer_id: T.Optional(Id('customer')),
    asset: T.Optional(AssetName),
    status: T.Optional(Status),
  }),
  reply: { status: 200, schema: Page(DepositObject) },
})

export const getDeposit = endpoint({
  name: 'deposits.get',
  route: 'GET /v1/deposits/{deposit_id}',
  summary: 'Read a deposit',
  scopes: { any: ['read', 'customers'] },
  params: T.Object({ deposit_id: Id('deposit') }),
  reply: { status: 200, schema: DepositObject },
  errors: ['deposit_not_found'],
})

/** Contract §14. */
export const createSandboxDeposit = endpoint({
  name: 'sandbox.deposits.create',
  route: 'POST /v1/sandbox/deposits',
  summary: 'Credit a test balance',
  description:
    'Test money, at once, as much as you like. Each call credits again: there is no idempotency key.',
  scopes: { all: ['customers'] },
  sandbox_only: true,
  body: Fields({ customer_id: Id('customer'), asset: AssetName, amount: Amount }),
  reply: { status: 201, schema: DepositObject },
  errors: ['invalid_amount', 'customer_blocked', 'customer_not_found', 'amount_too_large'],
  example: { customer_id: 'cus_01kc3v4x9zq8rj5m2t7w6y0ahb', asset: 'BRL', amount: '100000' },
})

export const depositEndpoints: readonly Endpoint[] = [listDeposits, getDeposit, createSandboxDeposit]
