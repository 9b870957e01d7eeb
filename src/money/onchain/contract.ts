import { Type as T } from 'typebox'
import { assets } from '../../core/money.ts'
import { type Network, networkNames, networks } from '../../core/networks.ts'
import { DryRun, dryRunQuery } from '../../http/dry-run.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { endedAt, renderFailure } from '../../http/order-end.ts'
import {
  Amount,
  Fields,
  Id,
  IdempotencyKey,
  IdempotencyKeyFilter,
  Metadata,
  OrderMetadata,
  Page,
  pageQuery,
  Timestamp,
  timeQuery,
  Units,
} from '../../http/schema.ts'
import { ADDRESS_PATTERN, TX_HASH_PATTERN } from './address.ts'
import type { Transfer } from './store.ts'

const CoinName = T.Enum(['USDT', 'BTC'])
const Status = T.Enum(['pending', 'processing', 'confirmed', 'failed'], {
  description: 'confirmed and failed are final',
})

/** Failure codes of transfers, with their messages for partners. */
export const transferFailureMessages = {
  refused_before_broadcast: 'The network’s node refused the transaction; nothing was sent.',
  reverted: 'The transaction was mined without effect; the recipient got nothing.',
  canceled: 'The operator canceled the transaction before it was mined; the recipient got nothing.',
  resolved_by_operator: 'The operator established that the transfer was not made.',
} as const

export type TransferFailureCode = keyof typeof transferFailureMessages
const failureCodes = Object.keys(transferFailureMessages) as TransferFailureCode[]

/** Interface §2.3. */
export const TransferObject = T.Object(
  {
    id: Id('transfer'),
    customer_id: Id('customer'),
    direction: T.Literal('outbound'),
    asset: CoinName,
    network: T.Enum(networkNames, { examples: ['polygon'] }),
    amount_gross: T.String({
      pattern: '^[1-9][0-9]{0,18}$',
      description: 'What leaves the balance: amount_net + fee',
      examples: ['26000000'],
    }),
    amount_net: T.String({
      pattern: '^[1-9][0-9]{0,17}$',
      description: 'What the recipient gets',
      examples: ['25000000'],
    }),
    fee: T.String({ pattern: '^(0|[1-9][0-9]{0,18})$', description: 'Network fee', examples: ['1000000'] }),
    decimals: T.Integer({ examples: [6] }),
    status: Status,
    destination_address: T.String({ examples: ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'] }),
    tx_hash: T.Union([T.String({ pattern: TX_HASH_PATTERN }), T.Null()], {
      description: 'Null until broadcast',
      examples: ['0x9b1e2c3d4f5061728394a5b6c7d8e9f00112233445566778899aabbccddeeff0'],
    }),
    failure: T.Union(
      [
        T.Object(
          {
            code: T.Enum(failureCodes),
            message: T.String(),
            rail_code: T.Optional(T.String({ description: 'As the network said it' })),
          },
          {
            examples: [
              { code: 'reverted', message: transferFailureMessages.reverted, rail_code: 'reverted' },
            ],
          },
        ),
        T.Null(),
      ],
      { description: 'Why it failed; null otherwise' },
    ),
    idempotency_key: T.String(),
    metadata: OrderMetadata,
    created_at: Timestamp,
    completed_at: T.Optional({ ...Timestamp, description: 'When it was confirmed' }),
    failed_at: T.Optional({ ...Timestamp, description: 'When it failed, and the money was given back' }),
  },
  { $id: 'OnchainTransfer' },
)

export const renderTransfer = (transfer: Transfer) => ({
  id: transfer.id,
  customer_id: transfer.customer_id,
  direction: 'outbound' as const,
  asset: transfer.asset,
  network: transfer.network,
  amount_gross: (transfer.amount_net + transfer.fee).toString(),
  amount_net: transfer.amount_net.toString(),
  fee: transfer.fee.toString(),
  decimals: assets[transfer.asset].decimals,
  status: transfer.status,
  destination_address: transfer.destination_address,
  // A pending transfer may be signed, but it is not broadcast yet.
  tx_hash: transfer.status === 'pending' ? null : transfer.tx_hash,
  failure: renderFailure(transfer, transferFailureMessages),
  idempotency_key: transfer.idempotency_key,
  metadata: transfer.metadata,
  created_at: transfer.created_at.toISOString(),
  ...endedAt(transfer),
})

/** Interface §4.2. */
export const createTransfer = endpoint({
  name: 'onchain.transfers.create',
  route: 'POST /v1/onchain/transfers',
  summary: 'Send USDT or BTC to an address',
  description:
    'Debits the amount and the network’s fee, and sends the amount. `amount` is what the recipient gets. A transfer to a wrong address cannot be undone: the address is checked for its network before anything moves. With the same `idempotency_key` it is safe to repeat for 24 hours. `?dry_run=true` runs every check and moves nothing.',
  scopes: { all: ['transfers'] },
  query: dryRunQuery,
  body: Fields({
    customer_id: Id('customer'),
    asset: CoinName,
    network: T.String({
      maxLength: 40,
      'x-held': { enum: networkNames },
      description: 'polygon, arbitrum, optimism, tron or ethereum for USDT; bitcoin for BTC',
      examples: ['polygon'],
    }),
    amount: Amount,
    destination_address: T.String({
      maxLength: 200,
      'x-error': 'invalid_address',
      'x-held': { pattern: ADDRESS_PATTERN, maxLength: 62 },
      description: 'Where it goes',
      examples: ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    }),
    idempotency_key: IdempotencyKey,
    metadata: T.Optional(Metadata),
  }),
  reply: { status: 201, schema: TransferObject },
  dry_run: DryRun('OnchainTransferDryRun', {}),
  errors: [
    'invalid_amount',
    'unsupported_network',
    'invalid_address',
    'customer_blocked',
    'customer_not_found',
    'idempotency_conflict',
    'limit_exceeded',
    'insufficient_balance',
    'amount_too_large',
    'rail_unavailable',
  ],
  limit_per_minute: 30,
  example: {
    customer_id: 'cus_01kc3v4x9zq8rj5m2t7w6y0ahb',
    asset: 'USDT',
    network: 'polygon',
    amount: '25000000',
    destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    idempotency_key: 'withdrawal-77',
  },
})

export const listTransfers = endpoint({
  name: 'onchain.transfers.list',
  route: 'GET /v1/onchain/transfers',
  summary: 'List transfers, newest first',
  scopes: { any: ['read', 'transfers'] },
  query: Fields({
    ...pageQuery,
    ...timeQuery,
    customer_id: T.Optional(Id('customer')),
    status: T.Optional(Status),
    asset: T.Optional(CoinName),
    network: T.Optional(T.Enum(networkNames)),
    idempotency_key: T.Optional(IdempotencyKeyFilter),
    tx_hash: T.Optional(
      T.String({
        pattern: '^[0-9A-Za-z:_]{1,128}$',
        description: 'The transaction’s hash, as the transfer shows it once it is broadcast',
        examples: ['0x9fc76417374aa880d4449a1f7f31ec597f00b1f6f3dd2d66f4c9c6c445836d8b'],
      }),
    ),
  }),
  reply: { status: 200, schema: Page(TransferObject) },
})

const params = T.Object({ transfer_id: Id('transfer') })

export const getTransfer = endpoint({
  name: 'onchain.transfers.get',
  route: 'GET /v1/onchain/transfers/{transfer_id}',
  summary: 'Read a transfer',
  scopes: { any: ['read', 'transfers'] },
  params,
  reply: { status: 200, schema: TransferObject },
  errors: ['transfer_not_found'],
})

export const renderFee = (network: Network, fee: bigint) => {
  const { asset } = networks[network]
  return { network, asset, fee: fee.toString(), decimals: assets[asset].decimals }
}

export const getFees = endpoint({
  name: 'onchain.fees.list',
  route: 'GET /v1/onchain/fees',
  summary: 'What a transfer costs right now, per network',
  description:
    'The fee that the create call returns is final for that transfer. A network that is not available is left out.',
  scopes: { any: ['read', 'transfers'] },
  reply: {
    status: 200,
    schema: T.Object({
      data: T.Array(
        T.Object(
          { network: T.Enum(networkNames), asset: CoinName, fee: Units, decimals: T.Integer() },
          { $id: 'NetworkFee' },
        ),
      ),
    }),
  },
})

export const transferEndpoints: readonly Endpoint[] = [createTransfer, listTransfers, getTransfer, getFees]
