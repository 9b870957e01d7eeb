import { Type as T } from 'typebox'
import { DOCUMENT_PATTERN, MASKED_PATTERN, maskDocument } from '../../core/document.ts'
import { assets } from '../../core/money.ts'
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
  Text,
  Timestamp,
  TimestampOf,
  timeQuery,
  Units,
} from '../../http/schema.ts'
import { failureCodes, payoutFailureMessages } from './failures.ts'
import { PIX_KEY_MAX, PIX_KEY_PATTERN } from './key.ts'
import type { Counterparty, Payout } from './store.ts'

const PixKeyText = T.String({
  maxLength: 100,
  'x-error': 'invalid_pix_key',
  'x-held': { minLength: 1, maxLength: PIX_KEY_MAX, pattern: PIX_KEY_PATTERN },
  description: 'CPF, CNPJ, e-mail, phone (+55…) or random key',
  examples: ['529.982.247-25'],
})

const bankFields = {
  ispb: T.String({
    pattern: '^[0-9A-Z]{8}$',
    'x-must-be': 'eight digits or capital letters',
    description: 'The bank’s ISPB, eight characters',
    examples: ['00000000'],
  }),
  branch: T.String({
    pattern: '^[0-9]{1,4}$',
    'x-must-be': '1 to 4 digits, without the check digit',
    description: 'Branch, without its check digit',
    examples: ['0001'],
  }),
  account_number: T.String({
    pattern: '^[0-9]{1,20}$',
    'x-must-be': '1 to 20 digits, the check digit included',
    description: 'Account with its check digit, digits only',
    examples: ['1234567'],
  }),
  account_type: T.Enum(['checking', 'savings', 'payment', 'salary']),
}

const ToPixKey = Fields(
  {
    type: T.Literal('pix_key'),
    pix_key: PixKeyText,
    document: T.Optional(
      T.String({
        maxLength: 18,
        description:
          'The holder’s CPF or CNPJ: another holder’s key is refused. Default: whoever the directory names; where it cannot be asked, the customer’s own document, so a payout to somebody else needs it',
        examples: ['529.982.247-25'],
      }),
    ),
  },
  { $id: 'ToPixKey' },
)
const ToBankAccount = Fields(
  {
    type: T.Literal('bank_account'),
    ...bankFields,
    name: Text(120, 'The holder’s name', { examples: ['Ana Souza'] }),
    document: T.String({
      maxLength: 18,
      'x-held': { pattern: DOCUMENT_PATTERN },
      description: 'The holder’s CPF or CNPJ',
      examples: ['529.982.247-25'],
    }),
  },
  { $id: 'ToBankAccount' },
)

export type CounterpartyRequest =
  | { type: 'pix_key'; pix_key: string; document?: string }
  | {
      type: 'bank_account'
      ispb: string
      branch: string
      account_number: string
      account_type: 'checking' | 'savings' | 'payment' | 'salary'
      name: string
      document: string
    }

/** `type` discriminates the two forms, so that a validation error refers to the right one. */
const CounterpartyRequest = T.Unsafe<CounterpartyRequest>({
  type: 'object',
  discriminator: { propertyName: 'type' },
  required: ['type'],
  oneOf: [ToPixKey, ToBankAccount],
  description: 'Where the money goes',
})

const CounterpartyObject = T.Object(
  {
    name: T.String({
      description: 'Empty if the payment provider names no holders, and it is not the customer',
      examples: ['Ana Souza'],
    }),
    document: T.String({ pattern: MASKED_PATTERN, description: 'Masked', examples: ['***.982.247-**'] }),
    pix_key: T.Union([T.String(), T.Null()], {
      description: 'Normalised; null for a bank account',
      examples: ['52998224725'],
    }),
    ispb: T.Optional(T.String()),
    branch: T.Optional(T.String()),
    account_number: T.Optional(T.String()),
    account_type: T.Optional(T.String()),
  },
  { examples: [{ name: 'Ana Souza', document: '***.982.247-**', pix_key: '52998224725' }] },
)

const Failure = T.Union(
  [
    T.Object(
      {
        code: T.Enum(failureCodes),
        message: T.String(),
        rail_code: T.Optional(T.String({ description: 'As the Pix network said it' })),
      },
      {
        examples: [
          {
            code: 'recipient_account_invalid',
            message: payoutFailureMessages.recipient_account_invalid,
            rail_code: 'AC03',
          },
        ],
      },
    ),
    T.Null(),
  ],
  { description: 'Why it failed; null otherwise' },
)

const Status = T.Enum(['pending', 'processing', 'completed', 'failed'], {
  examples: ['completed'],
  description: 'completed and failed are final',
})

/** Interface §2.4. */
export const PayoutObject = T.Object(
  {
    id: Id('payout'),
    customer_id: Id('customer'),
    direction: T.Literal('outbound'),
    amount: Units,
    fee: T.String({ pattern: '^(0|[1-9][0-9]{0,18})$', description: 'Fee in centavos', examples: ['0'] }),
    decimals: T.Literal(2),
    status: Status,
    counterparty: CounterpartyObject,
    description: T.Optional(T.String()),
    end_to_end_id: T.Union([T.String({ pattern: '^E[0-9A-Z]{8}[0-9]{12}[0-9A-Za-z]{11}$' }), T.Null()], {
      description: 'Id in the Pix network; null until completed',
      examples: ['E00000000202611151200a1b2c3d4e5f'],
    }),
    failure: Failure,
    idempotency_key: T.String(),
    metadata: OrderMetadata,
    amount_returned: T.Optional({
      ...Units,
      description: 'What came back of the payment after it was completed, in centavos; absent if nothing did',
      examples: ['450'],
    }),
    created_at: Timestamp,
    completed_at: T.Optional(TimestampOf('When it was paid', '2026-11-15T12:00:00.850Z')),
    failed_at: T.Optional(
      TimestampOf('When it failed, and the money was given back', '2026-11-15T12:00:00.850Z'),
    ),
  },
  { $id: 'PixPayout' },
)

export const renderCounterparty = (counterparty: Counterparty) => {
  const { name, document, type } = counterparty
  const shown = { name, document: maskDocument(document) }
  if (type === 'pix_key') return { ...shown, pix_key: counterparty.pix_key }
  const { ispb, branch, account_number, account_type } = counterparty
  return { ...shown, pix_key: null, ispb, branch, account_number, account_type }
}

export const renderPayout = (payout: Payout) => ({
  id: payout.id,
  customer_id: payout.customer_id,
  direction: 'outbound' as const,
  amount: payout.amount.toString(),
  fee: payout.fee.toString(),
  decimals: assets.BRL.decimals,
  status: payout.status,
  counterparty: renderCounterparty(payout.counterparty),
  ...(payout.description === null ? {} : { description: payout.description }),
  end_to_end_id: payout.end_to_end_id,
  failure: renderFailure(payout, payoutFailureMessages),
  idempotency_key: payout.idempotency_key,
  metadata: payout.metadata,
  ...(payout.amount_returned === 0n ? {} : { amount_returned: payout.amount_returned.toString() }),
  created_at: payout.created_at.toISOString(),
  ...endedAt(payout),
})

/** Interface §4.1. */
export const createPayout = endpoint({
  name: 'pix.payouts.create',
  route: 'POST /v1/pix/payouts',
  summary: 'Send a Pix payment',
  description:
    'Debits the customer’s BRL balance and pays a Pix key or a bank account that has the customer’s own document. The call waits a moment for the network, so it usually returns `completed`; otherwise `processing`, and an event tells the rest. With the same `idempotency_key` it is safe to repeat for 24 hours: every equal request gets the same response, and the money moves once. `?dry_run=true` runs every check and moves nothing.',
  scopes: { all: ['payouts'] },
  query: dryRunQuery,
  body: Fields({
    customer_id: Id('customer'),
    amount: Amount,
    counterparty: CounterpartyRequest,
    description: T.Optional(Text(140, 'Visible to the recipient', { examples: ['Invoice 1042'] })),
    idempotency_key: IdempotencyKey,
    metadata: T.Optional(Metadata),
  }),
  reply: { status: 201, schema: PayoutObject },
  looks_up: 'dry_run',
  dry_run: DryRun('PixPayoutDryRun', { counterparty: T.Optional(CounterpartyObject) }),
  errors: [
    'invalid_amount',
    'invalid_pix_key',
    'customer_blocked',
    'customer_not_found',
    'idempotency_conflict',
    'pix_key_not_found',
    'counterparty_not_allowed',
    'limit_exceeded',
    'insufficient_balance',
    'amount_too_large',
    'rail_unavailable',
  ],
  limit_per_minute: 60,
  example: {
    customer_id: 'cus_01kc3v4x9zq8rj5m2t7w6y0ahb',
    amount: '1050',
    counterparty: { type: 'pix_key', pix_key: '529.982.247-25' },
    description: 'Invoice 1042',
    idempotency_key: 'invoice-1042',
  },
})

export const listPayouts = endpoint({
  name: 'pix.payouts.list',
  route: 'GET /v1/pix/payouts',
  summary: 'List payouts, newest first',
  scopes: { any: ['read', 'payouts'] },
  query: Fields({
    ...pageQuery,
    ...timeQuery,
    customer_id: T.Optional(Id('customer')),
    status: T.Optional(Status),
    idempotency_key: T.Optional(IdempotencyKeyFilter),
    end_to_end_id: T.Optional(
      T.String({
        pattern: '^[0-9A-Za-z]{1,64}$',
        description: 'The payment’s id in the Pix network: letters and digits',
        examples: ['E00000000202611151200a1b2c3d4e5f'],
      }),
    ),
  }),
  reply: { status: 200, schema: Page(PayoutObject) },
})

const params = T.Object({ payout_id: Id('payout') })

export const getPayout = endpoint({
  name: 'pix.payouts.get',
  route: 'GET /v1/pix/payouts/{payout_id}',
  summary: 'Read a payout',
  scopes: { any: ['read', 'payouts'] },
  params,
  reply: { status: 200, schema: PayoutObject },
  errors: ['payout_not_found'],
})

const PixKeyObject = T.Object(
  {
    type: T.Enum(['cpf', 'cnpj', 'email', 'phone', 'random']),
    pix_key: T.String({ description: 'Normalised', examples: ['52998224725'] }),
    holder: T.Optional(
      T.Object(
        {
          name: T.String({ examples: ['Ana Souza'] }),
          document: T.String({
            pattern: MASKED_PATTERN,
            description: 'Masked',
            examples: ['***.982.247-**'],
          }),
        },
        {
          description:
            'Who holds the key. Absent where the payment provider lets nobody look keys up: it checks the holder when it pays',
        },
      ),
    ),
    payable: T.Optional(
      T.Boolean({
        description:
          'Whether the customer asked about may pay it; absent if this shows only when the payment is made',
      }),
    ),
  },
  { $id: 'PixKey' },
)

export const getPixKey = endpoint({
  name: 'pix.keys.get',
  route: 'GET /v1/pix/keys/{pix_key}',
  summary: 'Check a Pix key before paying it',
  description:
    'Asks the directory who holds a key, where the payment provider allows it, and whether `?customer_id=` may be paid out to it. Has a small limit of its own, shared with dry runs and refused payouts.',
  scopes: { all: ['payouts'] },
  params: T.Object({ pix_key: PixKeyText }),
  query: Fields({ customer_id: T.Optional(Id('customer')) }),
  reply: { status: 200, schema: PixKeyObject },
  looks_up: 'always',
  errors: ['invalid_pix_key', 'customer_not_found', 'pix_key_not_found', 'rail_unavailable'],
})

export const pixEndpoints: readonly Endpoint[] = [createPayout, listPayouts, getPayout, getPixKey]
