import { Type as T } from 'typebox'
import { assets } from '../../core/money.ts'
import { isNetwork, networkNames, networks } from '../../core/networks.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { AssetName, Fields, Id, Page, pageQuery, Timestamp, timeQuery, Units } from '../../http/schema.ts'
import type { DepositAddress } from './addresses-store.ts'
import type { Deposit } from './store.ts'

const Status = T.Enum(['completed', 'pending', 'dropped'], {
  description:
    'completed is final: the balance has it. pending was seen on its network, and waits for confirmations; dropped was removed from the chain before that, and becomes pending again if it comes back',
})
const NetworkName = T.Enum(networkNames, { examples: ['polygon'] })
const ADDRESS = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94'

/** Test money. */
const credited = {
  id: 'dep_01kc3v4x9zq8rj5m2t7w6y0ahb',
  customer_id: 'cus_01kc3v4x9zq8rj5m2t7w6y0ahb',
  asset: 'BRL',
  amount: '100000',
  decimals: 2,
  status: 'completed',
  created_at: '2026-11-15T12:00:00.000Z',
  completed_at: '2026-11-15T12:00:00.000Z',
}

/** A payment of a charge. */
export const paidByPix = {
  ...credited,
  amount: '1050',
  end_to_end_id: 'E00000000202611151200a1b2c3d4e5f',
  charge_id: 'chg_01kc3v4x9zq8rj5m2t7w6y0ahb',
}

/** On a network, before it is credited. */
const seen = {
  id: 'dep_01kc3v4x9zq8rj5m2t7w6y0ahb',
  customer_id: 'cus_01kc3v4x9zq8rj5m2t7w6y0ahb',
  asset: 'USDT',
  amount: '25000000',
  decimals: 6,
  network: 'polygon',
  address: ADDRESS,
  tx_hash: '0x9b1e2c3d4f5061728394a5b6c7d8e9f00112233445566778899aabbccddeeff0',
  output_index: 0,
  confirmations: { seen: 1, needed: 32 },
  created_at: '2026-11-15T12:00:00.000Z',
}

export const DepositObject = T.Object(
  {
    id: Id('deposit'),
    customer_id: Id('customer'),
    asset: AssetName,
    amount: Units,
    decimals: T.Integer(),
    status: Status,
    // The fields of a deposit on a network, which other deposits do not have.
    network: T.Optional({ ...NetworkName, description: 'The network on which it came in' }),
    address: T.Optional(T.String({ description: 'The deposit address that was paid', examples: [ADDRESS] })),
    tx_hash: T.Optional(
      T.String({
        description: 'The transaction that paid it',
        examples: ['0x9b1e2c3d4f5061728394a5b6c7d8e9f00112233445566778899aabbccddeeff0'],
      }),
    ),
    output_index: T.Optional(
      T.Integer({
        minimum: 0,
        description:
          'Which output of the transaction, or which of its log entries; with tx_hash it names one deposit',
        examples: [0],
      }),
    ),
    confirmations: T.Optional(
      T.Object(
        {
          seen: T.Integer({
            minimum: 0,
            description: 'Blocks with and above the transaction, when it was last looked at',
          }),
          needed: T.Integer({ minimum: 1, description: 'It is credited when so many were seen' }),
        },
        { examples: [{ seen: 32, needed: 32 }] },
      ),
    ),
    below_minimum: T.Optional(
      T.Boolean({
        description: 'There, and true, when it is below the minimum of its network: then it stays pending',
        examples: [true],
      }),
    ),
    // The fields of a Pix payment, which other deposits do not have.
    end_to_end_id: T.Optional(
      T.String({
        description: 'The id of the payment in the Pix network',
        examples: ['E00000000202611151200a1b2c3d4e5f'],
      }),
    ),
    charge_id: T.Optional({ ...Id('charge'), description: 'The charge that was paid' }),
    amount_returned: T.Optional({
      ...Units,
      description: 'The amount that was returned to the payer and debited again; absent if nothing was',
      examples: ['450'],
    }),
    created_at: Timestamp,
    // Older events do not have this field.
    completed_at: T.Optional({ ...Timestamp, description: 'When the balance got it' }),
  },
  {
    $id: 'Deposit',
    examples: [credited, { ...seen, status: 'pending' }, { ...seen, status: 'dropped' }, paidByPix],
  },
)

export const renderDeposit = (deposit: Deposit) => ({
  id: deposit.id,
  customer_id: deposit.customer_id,
  asset: deposit.asset,
  amount: deposit.amount.toString(),
  decimals: assets[deposit.asset].decimals,
  status: deposit.status,
  ...renderSeen(deposit),
  ...(deposit.end_to_end_id === null ? {} : { end_to_end_id: deposit.end_to_end_id }),
  ...(deposit.charge_id === null ? {} : { charge_id: deposit.charge_id }),
  ...(deposit.amount_returned === 0n ? {} : { amount_returned: deposit.amount_returned.toString() }),
  created_at: deposit.created_at.toISOString(),
  ...(deposit.status === 'completed'
    ? { completed_at: (deposit.completed_at ?? deposit.created_at).toISOString() }
    : {}),
})

function renderSeen({ rail, address, tx_hash, output_index, depth, below_minimum }: Deposit) {
  if (!isNetwork(rail) || address === null || tx_hash === null || output_index === null) return {}
  const confirmations = { seen: depth, needed: networks[rail].confirmations }
  return {
    network: rail,
    address,
    tx_hash,
    output_index,
    confirmations,
    ...(below_minimum ? { below_minimum } : {}),
  }
}

export const DepositAddressObject = T.Object(
  {
    id: Id('deposit_address'),
    customer_id: Id('customer'),
    network: NetworkName,
    asset: T.Enum(['USDT', 'BTC'], { description: 'What may be sent to it; anything else is lost' }),
    address: T.String({ examples: [ADDRESS] }),
    minimum_amount: T.String({
      pattern: '^[1-9][0-9]{0,17}$',
      description: 'A smaller deposit is not credited by itself: whole number of the smallest unit',
      examples: ['1000000'],
    }),
    decimals: T.Integer({ examples: [6] }),
    confirmations_needed: T.Integer({
      minimum: 1,
      description: 'Blocks with and above a transaction before it is credited',
      examples: [32],
    }),
    created_at: Timestamp,
  },
  { $id: 'DepositAddress' },
)

export const renderDepositAddress = ({ id, customer_id, network, address, created_at }: DepositAddress) => {
  const { asset, deposit_least, confirmations } = networks[network]
  return {
    id,
    customer_id,
    network,
    asset,
    address,
    minimum_amount: deposit_least.toString(),
    decimals: assets[asset].decimals,
    confirmations_needed: confirmations,
    created_at: created_at.toISOString(),
  }
}

export const listDeposits = endpoint({
  name: 'deposits.list',
  route: 'GET /v1/deposits',
  summary: 'List deposits, newest first',
  description:
    'All money that came in: payments of charges by Pix, on a network to a deposit address, what the operator credited, and test money of the sandbox. Deposits on a network are listed as soon as they are seen; the balance has those that are `completed`.',
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

const customerParams = T.Object({ customer_id: Id('customer') })

export const createDepositAddress = endpoint({
  name: 'deposit_addresses.create',
  route: 'POST /v1/customers/{customer_id}/deposit_addresses',
  summary: 'Get the deposit address of a customer on a network',
  description:
    'What arrives at the address is credited to the customer, once its transaction has enough confirmations. A customer has one address per network, which never changes: the first call makes it, and every later one returns the same. The EVM networks share an address, but the customer must have asked for the network on which the money comes. On a network that the operator has not opened for deposits this call answers `rail_unavailable`.',
  scopes: { all: ['customers'] },
  params: customerParams,
  body: Fields({
    network: T.String({
      maxLength: 40,
      'x-held': { enum: networkNames },
      description: networkNames.join(', '),
      examples: ['polygon'],
    }),
  }),
  reply: {
    status: 201,
    schema: DepositAddressObject,
    location: '/v1/customers/{customer_id}/deposit_addresses',
  },
  repeat: 'idempotent',
  errors: ['unsupported_network', 'customer_not_found', 'customer_blocked', 'rail_unavailable'],
  example: { network: 'polygon' },
})

export const listDepositAddresses = endpoint({
  name: 'deposit_addresses.list',
  route: 'GET /v1/customers/{customer_id}/deposit_addresses',
  summary: 'The deposit addresses of a customer',
  description: 'At most one per network, oldest first.',
  scopes: { any: ['read', 'customers'] },
  params: customerParams,
  reply: { status: 200, schema: T.Object({ data: T.Array(DepositAddressObject) }) },
  errors: ['customer_not_found'],
})

export const depositEndpoints: readonly Endpoint[] = [
  createDepositAddress,
  listDepositAddresses,
  listDeposits,
  getDeposit,
]
