import { Type as T } from 'typebox'
import { assets } from '../../core/money.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { AssetName, Fields, Id, Page, pageQuery, Timestamp, timeQuery, Units } from '../../http/schema.ts'
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

export const depositEndpoints: readonly Endpoint[] = [listDeposits, getDeposit]
