import { Type as T } from 'typebox'
import { PRICE_PATTERN } from '../../core/price.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { Amount, AssetName, Fields, Id } from '../../http/schema.ts'
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
  payouts: [completePayout, failPayout],
  transfers: [confirmTransfer, failTransfer],
  quotes: [setPrice, expireQuote],
  deposits: [createDeposit],
  events: [createSampleEvent],
} as const satisfies Readonly<Record<string, readonly Endpoint[]>>
