import { Type as T } from 'typebox'
import { networkNames } from '../../core/networks.ts'
import { PRICE_PATTERN } from '../../core/price.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { Amount, AssetName, Fields, Id, Units } from '../../http/schema.ts'
import { ChargeObject } from '../../money/charges/contract.ts'
import { DepositObject } from '../../money/deposits/contract.ts'
import { TransferObject } from '../../money/onchain/contract.ts'
import { PayoutObject } from '../../money/pix/contract.ts'
import { PriceObject, QuoteObject } from '../../money/quotes/contract.ts'
import { fedPairs } from '../../rails/prices/feed.ts'
import { EventObject } from '../../records/events/contract.ts'
import { eventTypes } from '../../records/events/types.ts'

/** Contract §14: what a partner may bring about in the sandbox, and nowhere else. */
export const createDeposit = endpoint({
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

export const receiveDeposit = endpoint({
  name: 'sandbox.deposits.receive',
  route: 'POST /v1/sandbox/onchain/deposits',
  summary: 'Let a deposit arrive on a network',
  description:
    'Pays a deposit address: name the `address`, or the customer and the `network`, on which it gets an address if it has none. The deposit is `pending` at once and, as in production, `completed` later: after `SANDBOX_CONFIRM_MS`, three seconds by default. The last four digits of the amount decide what else may happen: 9001 it is dropped by a reorganisation, 9002 its block vanishes after it was credited, 9003 it stays pending, 9004 it is dropped, comes back and is credited. Each call pays again.',
  scopes: { all: ['customers'] },
  sandbox_only: true,
  body: Fields({
    address: T.Optional(
      T.String({
        maxLength: 200,
        minLength: 1,
        description: 'A deposit address of one of your customers',
        examples: ['0x9858EfFD232B4033E47d90003D41EC34EcaEda94'],
      }),
    ),
    customer_id: T.Optional(Id('customer')),
    network: T.Optional(
      T.String({
        maxLength: 40,
        'x-held': { enum: networkNames },
        description: `${networkNames.join(', ')}; needed with customer_id, and for an address that is in use on several`,
        examples: ['polygon'],
      }),
    ),
    amount: Amount,
  }),
  reply: { status: 201, schema: DepositObject, state: 'pending' },
  errors: [
    'invalid_amount',
    'invalid_address',
    'unsupported_network',
    'customer_blocked',
    'customer_not_found',
  ],
  example: { customer_id: 'cus_01kc3v4x9zq8rj5m2t7w6y0ahb', network: 'polygon', amount: '25000000' },
})

const endOfPayout = (word: 'complete' | 'fail') =>
  ({
    route: `POST /v1/sandbox/pix/payouts/{payout_id}/${word}`,
    scopes: { all: ['payouts'] },
    sandbox_only: true,
    params: T.Object({ payout_id: Id('payout') }),
    reply: { status: 200, schema: PayoutObject, state: word === 'fail' ? 'failed' : 'completed' },
    repeat: 'idempotent',
    errors: ['payout_not_found', 'already_final'],
  }) as const

export const completePayout = endpoint({
  name: 'sandbox.payouts.complete',
  summary: 'Let a processing payout complete',
  ...endOfPayout('complete'),
})

export const failPayout = endpoint({
  name: 'sandbox.payouts.fail',
  summary: 'Let a processing payout fail',
  ...endOfPayout('fail'),
})

export const returnPayout = endpoint({
  name: 'sandbox.payouts.send_back',
  route: 'POST /v1/sandbox/pix/payouts/{payout_id}/return',
  summary: 'Let a completed payout come back',
  description:
    'The recipient’s bank sends the payment back: `amount`, or all that is left of it. The customer is credited, and the event `pix.payout.returned` tells it. The payout stays `completed`. Each call returns again, until nothing is left.',
  scopes: { all: ['payouts'] },
  sandbox_only: true,
  params: T.Object({ payout_id: Id('payout') }),
  body: Fields({ amount: T.Optional(Amount) }),
  body_optional: true,
  reply: { status: 200, schema: PayoutObject, state: 'completed' },
  errors: ['invalid_amount', 'payout_not_found'],
  example: { amount: '450' },
})

export const payByPix = endpoint({
  name: 'sandbox.payments.create',
  route: 'POST /v1/sandbox/pix/payments',
  summary: 'Let somebody pay by Pix',
  description:
    'Pays a charge: its whole amount, or `amount`. A smaller amount is a part, a second payment is credited too, and so is one after the charge has expired. Without `charge_id` it is a payment that names no charge: nothing is credited, and an operator must look at it. Each call pays again.',
  scopes: { all: ['customers'] },
  sandbox_only: true,
  body: Fields({
    charge_id: T.Optional({ ...Id('charge'), description: 'Default: the payment names no charge' }),
    amount: T.Optional({ ...Amount, description: 'Default: the amount of the charge' }),
  }),
  reply: {
    status: 201,
    schema: T.Object(
      {
        end_to_end_id: T.String({
          description: 'The id of the payment in the Pix network',
          examples: ['E00000000202611151200a1b2c3d4e5f'],
        }),
        charge_id: T.Union([Id('charge'), T.Null()], {
          description: 'The charge that was paid',
          examples: ['chg_01kc3v4x9zq8rj5m2t7w6y0ahb'],
        }),
        amount: Units,
        deposit_id: T.Union([Id('deposit'), T.Null()], {
          description: 'Its credit; null if nothing was credited',
          examples: ['dep_01kc3v4x9zq8rj5m2t7w6y0ahb'],
        }),
      },
      { $id: 'PixPayment' },
    ),
  },
  errors: ['invalid_amount', 'charge_not_found'],
  example: { charge_id: 'chg_01kc3v4x9zq8rj5m2t7w6y0ahb' },
})

export const returnPayment = endpoint({
  name: 'sandbox.payments.send_back',
  route: 'POST /v1/sandbox/pix/payments/{end_to_end_id}/return',
  summary: 'Let a received payment be given back',
  description:
    'The payment leaves the account of the service again: `amount`, or all that is left of it. The customer is debited if the balance covers it, and the event `deposit.returned` tells it. Otherwise the debit waits until it does: no balance becomes negative. Each call returns again, until nothing is left.',
  scopes: { all: ['customers'] },
  sandbox_only: true,
  params: T.Object({
    end_to_end_id: T.String({
      pattern: '^[0-9A-Za-z]{1,64}$',
      description: 'The id of the payment in the Pix network, of a deposit of one of your customers',
      examples: ['E00000000202611151200a1b2c3d4e5f'],
    }),
  }),
  body: Fields({ amount: T.Optional(Amount) }),
  body_optional: true,
  reply: { status: 200, schema: DepositObject, state: 'completed' },
  errors: ['invalid_amount', 'deposit_not_found'],
  example: { amount: '450' },
})

export const expireCharge = endpoint({
  name: 'sandbox.charges.expire',
  route: 'POST /v1/sandbox/pix/charges/{charge_id}/expire',
  summary: 'Let a charge expire now',
  scopes: { all: ['customers'] },
  sandbox_only: true,
  params: T.Object({ charge_id: Id('charge') }),
  reply: { status: 200, schema: ChargeObject, state: 'expired' },
  repeat: 'idempotent',
  errors: ['charge_not_found', 'already_final'],
})

const endOfTransfer = (word: 'confirm' | 'fail') =>
  ({
    route: `POST /v1/sandbox/onchain/transfers/{transfer_id}/${word}`,
    scopes: { all: ['transfers'] },
    sandbox_only: true,
    params: T.Object({ transfer_id: Id('transfer') }),
    reply: { status: 200, schema: TransferObject, state: word === 'fail' ? 'failed' : 'confirmed' },
    repeat: 'idempotent',
    errors: ['transfer_not_found', 'already_final'],
  }) as const

export const confirmTransfer = endpoint({
  name: 'sandbox.transfers.confirm',
  summary: 'Let a transfer be confirmed',
  ...endOfTransfer('confirm'),
})

export const failTransfer = endpoint({
  name: 'sandbox.transfers.fail',
  summary: 'Let a transfer fail',
  ...endOfTransfer('fail'),
})

export const setPrice = endpoint({
  name: 'sandbox.prices.set',
  route: 'POST /v1/sandbox/prices',
  summary: 'Move a sandbox price',
  description:
    'For all customers of your sandbox, until you set it again. BTC/BRL is the product of the two. With `age_seconds` the price is that old from the start: more than a few seconds make quotes fail with `price_unavailable`.',
  scopes: { all: ['quotes'] },
  sandbox_only: true,
  body: Fields({
    pair: T.Enum(fedPairs, { examples: ['USDT/BRL'] }),
    price: T.String({
      pattern: PRICE_PATTERN,
      'x-must-be': 'a decimal above zero with up to 8 digits before and 8 after the point, such as "5.40"',
      description: 'Above zero, up to 8 digits before and 8 after the point',
      examples: ['5.40'],
    }),
    age_seconds: T.Optional(T.Integer({ minimum: 0, maximum: 86_400, examples: [0] })),
  }),
  reply: { status: 200, schema: T.Object({ data: T.Array(PriceObject) }) },
  repeat: 'idempotent',
  example: { pair: 'USDT/BRL', price: '5.40' },
})

export const expireQuote = endpoint({
  name: 'sandbox.quotes.expire',
  route: 'POST /v1/sandbox/quotes/{quote_id}/expire',
  summary: 'Let a quote expire now',
  scopes: { all: ['quotes'] },
  sandbox_only: true,
  params: T.Object({ quote_id: Id('quote') }),
  reply: { status: 200, schema: QuoteObject, state: 'expired' },
  repeat: 'idempotent',
  errors: ['quote_not_found', 'already_final'],
})

export const createSampleEvent = endpoint({
  name: 'sandbox.events.create',
  route: 'POST /v1/sandbox/events/{kind}',
  summary: 'Make a sample event',
  description:
    'An event of any type, with a made-up object that cannot be read elsewhere. It goes into the log and to your endpoints like every other. `override` sets fields of the object; what comes of it must be an object that could be sent.',
  scopes: { all: ['webhooks'] },
  sandbox_only: true,
  params: T.Object({ kind: T.Enum(eventTypes, { examples: ['pix.payout.completed'] }) }),
  body: Fields({
    override: T.Optional(
      T.Record(T.String(), T.Unknown(), {
        description: 'Fields of the object, as GET shows them; not its id',
        examples: [{ amount: '1050' }],
      }),
    ),
  }),
  body_optional: true,
  reply: { status: 201, schema: EventObject },
  example: { override: { amount: '1050' } },
})

/** Grouped by subject: in the API each group follows the endpoints of its slice. */
export const sandboxEndpoints = {
  payouts: [completePayout, failPayout, returnPayout],
  charges: [payByPix, returnPayment, expireCharge],
  transfers: [confirmTransfer, failTransfer],
  quotes: [setPrice, expireQuote],
  deposits: [createDeposit, receiveDeposit],
  events: [createSampleEvent],
} as const satisfies Readonly<Record<string, readonly Endpoint[]>>
