import { Type as T } from 'typebox'
import { operatorRoles, partnerRoles } from '../../../core/actor.ts'
import {
  Amount,
  AssetName,
  Fields,
  Id,
  Page,
  pageQuery,
  Text,
  Timestamp,
  Units,
} from '../../../http/schema.ts'
import { tierNames } from '../../../limits/tiers.ts'
import { moneyLimitNames } from '../../../money/money-limits/store.ts'
import { BalanceObject, CustomerObject } from '../../../parties/customers/contract.ts'
import { ApiKeyObject } from '../../../parties/keys/contract.ts'
import { keyStates } from '../../../parties/keys/keys.ts'
import { type ConsoleEndpoint, consoleEndpoint, FormId } from '../endpoint.ts'
import { ActedObject, AmountOf, inWorld, Maybe, Sum } from './shared-schemas.ts'

const Count = (max: number) => T.Integer({ minimum: 0, maximum: max })
const Figure = Maybe(T.Integer({ minimum: 1, maximum: 100_000_000 }))

const terms = {
  tier: T.Enum(tierNames),
  pix_fee: Count(100_000),
  service_fee_bps: Count(1000),
  partner_fee_share_pct: Count(100),
  third_party_payouts: T.Boolean(),
  per_minute: Figure,
  per_day: Figure,
  endpoint_per_minute: Figure,
  lookup_per_minute: Figure,
}

const PartnerObject = T.Object({ id: Id('partner'), name: T.String(), ...terms, created_at: Timestamp })

const limitFields = <S extends Parameters<typeof T.Union>[0][number]>(schema: S) =>
  Object.fromEntries(moneyLimitNames.map((name) => [name, schema])) as Record<
    (typeof moneyLimitNames)[number],
    S
  >

/** At most as large as an amount; zero blocks everything. */
const Limit = T.String({ ...Units, pattern: '^(0|[1-9][0-9]{0,17})$' })

/** Null means no limit. */
export const MoneyLimitsObject = T.Object(limitFields(Maybe(Units)))

const someOf = <P extends Record<string, Parameters<typeof T.Optional>[0]>>(
  properties: P,
  options: Record<string, unknown> = {},
) =>
  Fields(
    Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, T.Optional(each)])) as {
      [Name in keyof P]: ReturnType<typeof T.Optional<P[Name]>>
    },
    { minProperties: 1, ...options },
  )

export const PersonObject = T.Object({
  id: Id('user'),
  email: T.String(),
  name: T.String(),
  role: T.Enum([...partnerRoles, ...operatorRoles]),
  second_factor: T.Boolean(),
})

const ofPartner = T.Object({ ...inWorld, partner_id: Id('partner') })
const ofCustomer = T.Object({ ...inWorld, customer_id: Id('customer') })
const base = '/console/api/operator/{environment}' as const

export const listPartnersForOperator = consoleEndpoint({
  name: 'console.operator.partners.list',
  route: `GET ${base}/partners`,
  summary: 'All partners with their terms',
  permit: 'operator.read',
  params: T.Object(inWorld),
  reply: { status: 200, schema: T.Object({ data: T.Array(PartnerObject) }) },
})

export const createPartnerByOperator = consoleEndpoint({
  name: 'console.operator.partners.create',
  route: `POST ${base}/partners`,
  summary: 'Make a partner and invite its first owner; the answer alone has the link',
  permit: 'operator.rule',
  params: T.Object(inWorld),
  body: Fields({
    form_id: FormId,
    name: Text(120, 'Name of the partner'),
    owner_name: Text(120, 'Name of its first owner'),
    owner_email: T.String({ minLength: 3, maxLength: 254, format: 'email', description: 'To sign in with' }),
  }),
  reply: { status: 201, schema: ActedObject },
  errors: ['user_exists', 'already_done'],
})

export const getPartnerForOperator = consoleEndpoint({
  name: 'console.operator.partners.get',
  route: `GET ${base}/partners/{partner_id}`,
  summary: 'One partner: its terms, limits, people, keys and what its customers hold',
  permit: 'operator.read',
  params: ofPartner,
  reply: {
    status: 200,
    schema: T.Object({
      partner: PartnerObject,
      usual_limits: T.Object(
        { per_minute: T.Integer(), per_day: T.Integer(), lookup_per_minute: T.Integer() },
        { description: 'What holds where the partner has no figure of its own' },
      ),
      endpoint_limits: T.Array(T.Object({ endpoint: T.String(), per_minute: T.Integer() })),
      money_limits: MoneyLimitsObject,
      people: T.Array(PersonObject),
      keys: T.Array(T.Object({ ...ApiKeyObject.properties, state: T.Enum([...keyStates]) })),
      balances: T.Array(
        T.Object({ asset: AssetName, available: Sum, in_transit: Sum, customers: T.String() }),
        { description: 'Of all its customers, as added up a moment ago; none before the first time' },
      ),
      fees: T.Array(AmountOf),
    }),
  },
  errors: ['object_not_found'],
})

export const changePartnerByOperator = consoleEndpoint({
  name: 'console.operator.partners.change',
  route: `PATCH ${base}/partners/{partner_id}`,
  summary: 'Change the terms of a partner, in both environments',
  permit: 'operator.rule',
  params: ofPartner,
  body: someOf(terms),
  reply: { status: 200, schema: ActedObject },
  errors: ['object_not_found'],
})

export const limitPartnerByOperator = consoleEndpoint({
  name: 'console.operator.partners.limit_money',
  route: `PATCH ${base}/partners/{partner_id}/money-limits`,
  summary: 'Say how much money may leave each customer of a partner',
  permit: 'operator.rule',
  params: ofPartner,
  body: someOf(limitFields(Maybe(Limit))),
  reply: { status: 200, schema: ActedObject },
  errors: ['object_not_found'],
})

export const payFeesByOperator = consoleEndpoint({
  name: 'console.operator.partners.pay_fees',
  route: `POST ${base}/partners/{partner_id}/fee-payouts`,
  summary: 'Pay a partner fees that it has earned',
  permit: 'operator.decide',
  params: ofPartner,
  body: Fields({
    asset: AssetName,
    amount: Amount,
    customer_id: T.Optional(Id('customer')),
    reason: Text(200, 'Why'),
    reference: Text(255, 'Unique: the same reference pays once'),
  }),
  reply: { status: 200, schema: ActedObject },
  errors: ['object_not_found', 'customer_not_found', 'insufficient_balance', 'second_person_needed'],
})

export const listCustomersForOperator = consoleEndpoint({
  name: 'console.operator.customers.list',
  route: `GET ${base}/partners/{partner_id}/customers`,
  summary: 'The customers of a partner, the newest first',
  permit: 'operator.read',
  params: ofPartner,
  query: Fields({ ...pageQuery, status: T.Optional(T.Enum(['active', 'blocked'])) }),
  reply: { status: 200, schema: Page(CustomerObject) },
})

export const getCustomerForOperator = consoleEndpoint({
  name: 'console.operator.customers.get',
  route: `GET ${base}/customers/{customer_id}`,
  summary: 'One customer: balances, its limits and what is used of them',
  permit: 'operator.read',
  params: ofCustomer,
  reply: {
    status: 200,
    schema: T.Object({
      customer: CustomerObject,
      partner: T.Object({ id: Id('partner'), name: T.String() }),
      balances: T.Array(BalanceObject),
      money_limits: MoneyLimitsObject,
      in_force: MoneyLimitsObject,
      used: T.Object({
        payout_day: Maybe(Units),
        payout_night: Maybe(Units),
        transfer_day_usdt: Maybe(Units),
        transfer_day_btc: Maybe(Units),
      }),
    }),
  },
  errors: ['customer_not_found'],
})

export const changeCustomerByOperator = consoleEndpoint({
  name: 'console.operator.customers.change',
  route: `PATCH ${base}/customers/{customer_id}`,
  summary: 'Block a customer, let it go again, or arrange that it may pay others',
  permit: 'operator.rule',
  params: ofCustomer,
  body: someOf(
    { status: T.Enum(['active', 'blocked']), third_party_payouts: T.Boolean() },
    { maxProperties: 1, description: 'One of them at a time: each is an act of its own' },
  ),
  reply: { status: 200, schema: ActedObject },
  errors: ['customer_not_found'],
})

export const limitCustomerByOperator = consoleEndpoint({
  name: 'console.operator.customers.limit_money',
  route: `PATCH ${base}/customers/{customer_id}/money-limits`,
  summary: 'Say how much money may leave a customer; what is not said follows its partner',
  permit: 'operator.rule',
  params: ofCustomer,
  body: someOf(limitFields(Maybe(Limit))),
  reply: { status: 200, schema: ActedObject },
  errors: ['customer_not_found'],
})

export const bookByOperator = consoleEndpoint({
  name: 'console.operator.customers.book',
  route: `POST ${base}/customers/{customer_id}/bookings`,
  summary: 'Credit or debit a customer',
  permit: 'operator.decide',
  params: ofCustomer,
  body: Fields({
    kind: T.Enum(['credit', 'debit']),
    asset: AssetName,
    amount: Amount,
    reason: Text(200, 'Why'),
    reference: Text(255, 'Unique: the same reference books once'),
  }),
  reply: { status: 200, schema: ActedObject },
  errors: ['customer_not_found', 'insufficient_balance', 'second_person_needed', 'idempotency_conflict'],
})

export const reverseByOperator = consoleEndpoint({
  name: 'console.operator.deposits.reverse',
  route: `POST ${base}/deposits/{deposit_id}/reversal`,
  summary: 'Take back a mistaken credit, whole and once',
  permit: 'operator.decide',
  params: T.Object({ ...inWorld, deposit_id: Id('deposit') }),
  body: Fields({
    reason: Text(200, 'Why'),
    reference: Text(255, 'Unique: of this correction'),
  }),
  reply: { status: 200, schema: ActedObject },
  errors: ['deposit_not_found', 'not_possible', 'insufficient_balance', 'second_person_needed'],
})

export const partnersEndpoints: readonly ConsoleEndpoint[] = [
  listPartnersForOperator,
  createPartnerByOperator,
  getPartnerForOperator,
  changePartnerByOperator,
  limitPartnerByOperator,
  payFeesByOperator,
  listCustomersForOperator,
  getCustomerForOperator,
  changeCustomerByOperator,
  limitCustomerByOperator,
  bookByOperator,
  reverseByOperator,
]
