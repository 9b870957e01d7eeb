import { Type as T } from 'typebox'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { AssetName, Fields, Id, Page, pageQuery, Timestamp, timeQuery, Units } from '../../http/schema.ts'
import { tierNames } from '../../limits/tiers.ts'

const AccountObject = T.Object(
  {
    id: Id('partner'),
    name: T.String({ examples: ['Acme Pagamentos'] }),
    environment: T.Enum(['production', 'sandbox'], { examples: ['sandbox'] }),
    tier: T.Enum(tierNames),
    fees: T.Object(
      {
        pix: T.Object({ fee: Units, asset: T.Literal('BRL') }),
        conversion: T.Object({
          service_bps: T.Integer({ description: 'The service’s fee, in basis points', examples: [50] }),
          share_pct: T.Integer({
            description: 'How much of your own fee goes to the operator, in percent',
            examples: [0],
          }),
        }),
      },
      {
        description: 'What was agreed',
        examples: [{ pix: { fee: '0', asset: 'BRL' }, conversion: { service_bps: 50, share_pct: 0 } }],
      },
    ),
    third_party_payouts: T.Boolean({ description: 'Payouts may go to other documents than the customer’s' }),
    partner_fees: T.Array(
      T.Object({
        asset: AssetName,
        accrued: T.String({
          pattern: '^(0|[1-9][0-9]*)$',
          description: 'Earned by your fees on conversions and not yet paid out to you',
          examples: ['1000'],
        }),
        decimals: T.Integer({ examples: [2] }),
      }),
    ),
    created_at: Timestamp,
  },
  { $id: 'Account' },
)

/** Contract §3. */
export const getAccount = endpoint({
  name: 'account.get',
  route: 'GET /v1/account',
  summary: 'Your own terms, and the fees you have earned',
  scopes: { all: ['read'] },
  reply: { status: 200, schema: AccountObject },
})

export const FeePayoutObject = T.Object(
  {
    id: Id('fee_payout'),
    asset: AssetName,
    amount: Units,
    decimals: T.Integer({ examples: [2] }),
    customer_id: T.Optional({
      ...Id('customer'),
      description: 'Whose balance it was paid to; absent when it was paid outside',
    }),
    reference: T.String({ description: 'The operator’s reference', examples: ['fees-2026-10'] }),
    created_at: Timestamp,
  },
  { $id: 'FeePayout' },
)

export const listFeePayouts = endpoint({
  name: 'account.fee_payouts',
  route: 'GET /v1/account/fee_payouts',
  summary: 'The fees that were paid out to you, newest first',
  scopes: { all: ['read'] },
  query: Fields({ ...pageQuery, ...timeQuery }),
  reply: { status: 200, schema: Page(FeePayoutObject) },
})

export const accountEndpoints: readonly Endpoint[] = [getAccount, listFeePayouts]
