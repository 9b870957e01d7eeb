import { Type as T } from 'typebox'
import { assets } from '../../core/money.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { renderFailure } from '../../http/order-end.ts'
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
import type { Charge } from './store.ts'

/** Failure codes of charges with their messages for partners. */
export const chargeFailureMessages = {
  provider_error: 'The payment provider refused the charge.',
  provider_unreachable: 'The payment provider could not be reached before the charge expired.',
} as const

export type ChargeFailureCode = keyof typeof chargeFailureMessages
const failureCodes = Object.keys(chargeFailureMessages) as ChargeFailureCode[]

export const EXPIRES_IN = { least: 60, most: 2_592_000, usual: 3600 } as const

const Status = T.Enum(['pending', 'open', 'paid', 'expired', 'failed'], {
  examples: ['open'],
  description:
    'pending is being registered with the payment provider; open can be paid; paid and failed are final; expired becomes paid if a late payment completes the amount',
})

const CODE =
  '00020101021226710014br.gov.bcb.pix2549sandbox.test/pix/TRILHO01kc3v4x9zq8rj5m2t7w6y0ahb520400005303986540510.505802BR5914Trilho Sandbox6009SAO PAULO62070503***6304E92D'

const asked = {
  id: 'chg_01kc3v4x9zq8rj5m2t7w6y0ahb',
  customer_id: 'cus_01kc3v4x9zq8rj5m2t7w6y0ahb',
  amount: '1050',
  decimals: 2,
  status: 'open',
  amount_received: '0',
  pix_copia_e_cola: CODE,
  txid: 'TRILHO01kc3v4x9zq8rj5m2t7w6y0ahb',
  description: 'Order 1042',
  idempotency_key: 'order-1042',
  metadata: {},
  expires_at: '2026-11-15T13:00:00.000Z',
  created_at: '2026-11-15T12:00:00.000Z',
}

/** An example charge for each state. */
const examples = [
  asked,
  { ...asked, status: 'pending', pix_copia_e_cola: null },
  { ...asked, status: 'paid', amount_received: '1050', paid_at: '2026-11-15T12:10:00.000Z' },
  { ...asked, status: 'expired' },
  {
    ...asked,
    status: 'failed',
    pix_copia_e_cola: null,
    failure: {
      code: 'provider_error',
      message: chargeFailureMessages.provider_error,
      rail_code: 'valor_invalido',
    },
    failed_at: '2026-11-15T12:00:00.850Z',
  },
]

export const ChargeObject = T.Object(
  {
    id: Id('charge'),
    customer_id: Id('customer'),
    amount: Units,
    decimals: T.Literal(2),
    status: Status,
    amount_received: T.String({
      pattern: '^(0|[1-9][0-9]{0,18})$',
      description: 'The sum of the payments that were credited, in centavos; it may be above `amount`',
      examples: ['0'],
    }),
    pix_copia_e_cola: T.Union([T.String(), T.Null()], {
      description: 'The BR Code that the payer copies, or scans as a QR code; null until the charge is open',
      examples: [CODE],
    }),
    txid: T.String({
      pattern: '^[0-9A-Za-z]{26,35}$',
      description: 'The charge’s reference in the Pix network',
      examples: ['TRILHO01kc3v4x9zq8rj5m2t7w6y0ahb'],
    }),
    description: T.Optional(T.String()),
    failure: T.Optional(
      T.Object(
        {
          code: T.Enum(failureCodes),
          message: T.String(),
          rail_code: T.Optional(T.String({ description: 'As the payment provider said it' })),
        },
        {
          description: 'Why it failed',
          examples: [
            {
              code: 'provider_error',
              message: chargeFailureMessages.provider_error,
              rail_code: 'valor_invalido',
            },
          ],
        },
      ),
    ),
    idempotency_key: T.String(),
    metadata: OrderMetadata,
    expires_at: TimestampOf('Until when it can be paid', '2026-11-15T13:00:00.000Z'),
    created_at: Timestamp,
    paid_at: T.Optional(
      TimestampOf('When the payment was made that completed the amount', '2026-11-15T12:10:00.000Z'),
    ),
    failed_at: T.Optional(TimestampOf('When it failed', '2026-11-15T12:00:00.850Z')),
  },
  { $id: 'PixCharge', examples },
)

export function renderCharge(charge: Charge) {
  const failure = renderFailure(charge, chargeFailureMessages)
  return {
    id: charge.id,
    customer_id: charge.customer_id,
    amount: charge.amount.toString(),
    decimals: assets.BRL.decimals,
    status: charge.status,
    amount_received: charge.amount_received.toString(),
    pix_copia_e_cola: charge.br_code,
    txid: charge.txid,
    ...(charge.description === null ? {} : { description: charge.description }),
    ...(failure === null ? {} : { failure }),
    idempotency_key: charge.idempotency_key,
    metadata: charge.metadata,
    expires_at: charge.expires_at.toISOString(),
    created_at: charge.created_at.toISOString(),
    ...(charge.paid_at === null ? {} : { paid_at: charge.paid_at.toISOString() }),
    ...(charge.failed_at === null ? {} : { failed_at: charge.failed_at.toISOString() }),
  }
}

export const createCharge = endpoint({
  name: 'pix.charges.create',
  route: 'POST /v1/pix/charges',
  summary: 'Ask for a Pix payment',
  description:
    'Makes a charge and its BR Code, `pix_copia_e_cola`, which the payer copies or scans. Each payment is credited to the customer as a deposit, as much as was paid; the charge is `paid` once the amount is complete. The call waits a moment for the payment provider, so it usually returns `open`; otherwise `pending`, and an event tells the rest. With the same `idempotency_key` it is safe to repeat for 24 hours.',
  scopes: { all: ['customers'] },
  body: Fields({
    customer_id: Id('customer'),
    amount: Amount,
    expires_in_seconds: T.Optional(
      T.Integer({
        minimum: EXPIRES_IN.least,
        maximum: EXPIRES_IN.most,
        description: `For how long it can be paid. Default: ${EXPIRES_IN.usual}`,
        examples: [3600],
      }),
    ),
    description: T.Optional(Text(140, 'Visible to the payer', { examples: ['Order 1042'] })),
    idempotency_key: IdempotencyKey,
    metadata: T.Optional(Metadata),
  }),
  reply: { status: 201, schema: ChargeObject, state: 'open' },
  errors: [
    'invalid_amount',
    'amount_too_large',
    'customer_blocked',
    'customer_not_found',
    'idempotency_conflict',
    'rail_unavailable',
  ],
  example: {
    customer_id: 'cus_01kc3v4x9zq8rj5m2t7w6y0ahb',
    amount: '1050',
    description: 'Order 1042',
    idempotency_key: 'order-1042',
  },
})

export const listCharges = endpoint({
  name: 'pix.charges.list',
  route: 'GET /v1/pix/charges',
  summary: 'List charges, newest first',
  scopes: { any: ['read', 'customers'] },
  query: Fields({
    ...pageQuery,
    ...timeQuery,
    customer_id: T.Optional(Id('customer')),
    status: T.Optional(Status),
    idempotency_key: T.Optional(IdempotencyKeyFilter),
  }),
  reply: { status: 200, schema: Page(ChargeObject) },
})

export const getCharge = endpoint({
  name: 'pix.charges.get',
  route: 'GET /v1/pix/charges/{charge_id}',
  summary: 'Read a charge',
  scopes: { any: ['read', 'customers'] },
  params: T.Object({ charge_id: Id('charge') }),
  reply: { status: 200, schema: ChargeObject },
  errors: ['charge_not_found'],
})

export const chargeEndpoints: readonly Endpoint[] = [createCharge, listCharges, getCharge]
