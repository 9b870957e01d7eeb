import { Type as T } from 'typebox'
import { assets } from '../core/money.ts'
import { endpoint } from '../http/endpoint.ts'
import { Amount, AssetName, Fields, Id, Timestamp, Units } from '../http/schema.ts'
import type { Deposit } from './store.ts'

export const DepositObject = T.Object(
  {
    id: Id('deposit'),
    customer_id: Id('customer'),
    asset: AssetName,
    amount: Units,
    decimals: T.Integer(),
    status: T.Literal('completed'),
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
  errors: [
    'invalid_json',
    'invalid_amount',
    'insufficient_scope',
    'sandbox_only',
    'customer_blocked',
    'customer_not_found',
    'amount_too_large',
    'body_too_large',
    'unsupported_media_type',
  ],
  example: { customer_id: 'cus_01kc3v4x9zq8rj5m2t7w6y0ahb', asset: 'BRL', amount: '100000' },
})
