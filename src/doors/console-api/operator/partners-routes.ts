import type { Static } from 'typebox'
import { act } from '../../../control/operator/act.ts'
import type { Looks } from '../../../control/operator/looks.ts'
import { refuse } from '../../../core/errors.ts'
import type { Asset } from '../../../core/money.ts'
import { filterOf, listOf, pageOf } from '../../../http/page.ts'
import { balancesOf } from '../../../ledger/balances.ts'
import { LOOKUP_PER_MINUTE, limitsOfPartner, tiers } from '../../../limits/tiers.ts'
import { endpointLimits } from '../../../limits/window-limits.ts'
import { balancesSince } from '../../../money/daily/store.ts'
import {
  type MoneyLimitName,
  type MoneyLimits,
  moneyLimitNames,
  moneyLimitsOf,
  moneyLimitUsageOf,
} from '../../../money/money-limits/store.ts'
import { accruedFees } from '../../../money/treasury/store.ts'
import { renderBalance, renderCustomer } from '../../../parties/customers/contract.ts'
import { findCustomers } from '../../../parties/customers/customers.ts'
import { type Customer, customerById } from '../../../parties/customers/store.ts'
import { keyState, renderKey } from '../../../parties/keys/keys.ts'
import { listKeys, valuesInGrace } from '../../../parties/keys/store.ts'
import { findPartner, listPartners } from '../../../parties/partners/partners.ts'
import { type Partner, type PartnerChange, partnerById } from '../../../parties/partners/store.ts'
import { describeUser } from '../../../parties/team/people.ts'
import { selectUsers } from '../../../parties/team/store.ts'
import type { World } from '../../../world.ts'
import { endpoints } from '../../api/endpoints.ts'
import { onceFor } from '../act.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import {
  bookByOperator,
  changeCustomerByOperator,
  changePartnerByOperator,
  createPartnerByOperator,
  getCustomerForOperator,
  getPartnerForOperator,
  limitCustomerByOperator,
  limitPartnerByOperator,
  listCustomersForOperator,
  listPartnersForOperator,
  type MoneyLimitsObject,
  payFeesByOperator,
  reverseByOperator,
} from './partners-contract.ts'
import { renderActed } from './shared-schemas.ts'

const TWO_DAYS_MS = 2 * 24 * 3_600_000

export const partnersRoutes = (parts: ConsoleParts, looks: Looks): ConsoleHandler[] => [
  ...termsRoutes(parts),
  ...customersRoutes(parts, looks),
  ...moneyRoutes(parts),
]

const termsRoutes = ({ office, public_url }: ConsoleParts): ConsoleHandler[] => [
  answer(listPartnersForOperator, async () => ({
    data: (await listPartners(office.shared)).map(renderPartner),
  })),

  answer(createPartnerByOperator, async ({ actor, body }) => {
    const owner = { name: body.owner_name, email: body.owner_email }
    const details = { name: body.name, owner, once: onceFor(actor, body.form_id) }
    const acted = await act(office, actor, { name: 'create_partner', details })
    const token = 'done' in acted ? acted.done.invited?.token : undefined
    const link = token === undefined ? '' : `${public_url()}/console/invite/${token}`
    return { ...renderActed(acted), link }
  }),

  answer(getPartnerForOperator, async ({ world, params }) => {
    const partner = await findPartner(office.shared, params.partner_id)
    const { id } = partner
    const [limits, people, keys, balances, fees] = await Promise.all([
      moneyLimitsOf(world.db, id),
      selectUsers(office.shared.db, { partner_id: id }),
      listKeys(world.db, { partner_id: id }),
      heldBy(world, id),
      accruedFees(world.db, id),
    ])
    const old = await valuesInGrace(
      world.db,
      keys.map((key) => key.id),
    )
    const stateOf = (key: (typeof keys)[number]) =>
      keyState(key, {
        in_grace: old.some(({ api_key_id }) => api_key_id === key.id),
        now: world.clock.now(),
      })
    return {
      partner: renderPartner(partner),
      usual_limits: { ...tiers[partner.tier], lookup_per_minute: LOOKUP_PER_MINUTE },
      endpoint_limits: endpointLimits(limitsOfPartner(partner.tier, partner), endpoints),
      money_limits: renderMoneyLimits(limits),
      people: people.map(renderPerson),
      keys: keys.map((key) => ({
        ...renderKey(key, world.environment),
        scopes: [...key.scopes],
        ip_allowlist: [...key.ip_allowlist],
        state: stateOf(key),
      })),
      balances,
      fees: fees.map(({ asset, amount }) => ({ asset, amount: amount.toString() })),
    }
  }),

  answer(changePartnerByOperator, async ({ actor, params, body }) => {
    const details = { partner_id: params.partner_id, change: body as PartnerChange }
    return renderActed(await act(office, actor, { name: 'change_partner', details }))
  }),

  answer(limitPartnerByOperator, async ({ actor, world, params, body }) => {
    const { id: subject_id } = await findPartner(office.shared, params.partner_id)
    const details = { subject_id, change: figuresOf(body) }
    const { environment } = world
    return renderActed(await act(office, actor, { name: 'set_money_limits', environment, details }))
  }),
]

const customersRoutes = ({ office }: ConsoleParts, looks: Looks): ConsoleHandler[] => [
  answer(listCustomersForOperator, async ({ world, actor, params, query }) => {
    const { partner_id } = params
    const { limit = '50', status } = query
    const list = listOf(listCustomersForOperator, {
      world,
      actor: { partner_id },
      params,
      query: { ...query, limit },
    })
    const found = await findCustomers(
      { ...world, db: world.reads },
      { partner_id, ...filterOf(list, 'cus'), filters: { status } },
    )
    if (found.rows.length > 0)
      await looks.note(world, actor, { object_id: partner_id, partner_id, what: 'customers' })
    return pageOf(list, found, renderCustomer)
  }),

  answer(getCustomerForOperator, async ({ world, actor, params }) => {
    const customer = await customerOf(world, params.customer_id)
    const { id, partner_id } = customer
    const [partner, balances, own, usage] = await Promise.all([
      partnerById(world.db, partner_id),
      balancesOf(world.db, id),
      moneyLimitsOf(world.db, id),
      moneyLimitUsageOf(world.db, id),
    ])
    await looks.note(world, actor, { object_id: id, partner_id, what: 'customer' })
    const used = (name: 'payout_day' | 'payout_night' | 'transfer_day_usdt' | 'transfer_day_btc') =>
      usage?.[`${name}_used`]?.toString() ?? null
    return {
      customer: renderCustomer(customer),
      partner: { id: partner.id, name: partner.name },
      balances: balances.map(renderBalance),
      money_limits: renderMoneyLimits(own),
      in_force: renderMoneyLimits(usage),
      used: {
        payout_day: used('payout_day'),
        payout_night: used('payout_night'),
        transfer_day_usdt: used('transfer_day_usdt'),
        transfer_day_btc: used('transfer_day_btc'),
      },
    }
  }),

  answer(changeCustomerByOperator, async ({ actor, world, params, body }) => {
    const { id: customer_id } = await customerOf(world, params.customer_id)
    const { environment } = world
    if (body.status === undefined) {
      const details = { customer_id, allowed: body.third_party_payouts === true }
      const acted = await act(office, actor, { name: 'allow_third_party', environment, details })
      return renderActed(acted)
    }
    const name = body.status === 'blocked' ? 'block_customer' : 'unblock_customer'
    return renderActed(await act(office, actor, { name, environment, details: { customer_id } }))
  }),

  answer(limitCustomerByOperator, async ({ actor, world, params, body }) => {
    const { id: subject_id } = await customerOf(world, params.customer_id)
    const details = { subject_id, change: figuresOf(body) }
    const { environment } = world
    return renderActed(await act(office, actor, { name: 'set_money_limits', environment, details }))
  }),
]

const moneyRoutes = ({ office }: ConsoleParts): ConsoleHandler[] => [
  answer(bookByOperator, async ({ actor, world, params, body }) => {
    const { kind: name, ...booking } = body
    const { id: customer_id, partner_id } = await customerOf(world, params.customer_id)
    const details = { ...booking, customer_id, partner_id }
    const { environment } = world
    return renderActed(await act(office, actor, { name, environment, details }))
  }),

  answer(reverseByOperator, async ({ actor, world, params, body }) => {
    const details = { deposit_id: params.deposit_id, ...body }
    const { environment } = world
    return renderActed(await act(office, actor, { name: 'reverse_credit', environment, details }))
  }),

  answer(payFeesByOperator, async ({ actor, world, params, body }) => {
    const { id: partner_id } = await findPartner(office.shared, params.partner_id)
    const { customer_id = null, ...payment } = body
    if (customer_id !== null && (await customerOf(world, customer_id)).partner_id !== partner_id)
      refuse('customer_not_found', { param: 'customer_id' })
    const details = { ...payment, partner_id, customer_id }
    const { environment } = world
    return renderActed(await act(office, actor, { name: 'pay_fees', environment, details }))
  }),
]

/** From the latest daily sums. */
async function heldBy({ reads, clock }: World, partner_id: string) {
  const day = new Date(clock.now() - TWO_DAYS_MS).toISOString().slice(0, 10)
  const latest = new Map((await balancesSince(reads, { partner_id, day })).map((one) => [one.asset, one]))
  return [...latest.values()].map(({ asset, available, in_transit, customers }) => ({
    asset: asset as Asset,
    available: available.toString(),
    in_transit: in_transit.toString(),
    customers: customers.toString(),
  }))
}

async function customerOf(world: World, id: string): Promise<Customer> {
  return (await customerById(world.db, id)) ?? refuse('customer_not_found', { param: 'customer_id' })
}

const renderPartner = ({ created_at, ...partner }: Partner) => ({
  ...partner,
  created_at: created_at.toISOString(),
})

export const renderPerson = (user: Awaited<ReturnType<typeof selectUsers>>[number]) => {
  const { partner_id: _, ...person } = describeUser(user)
  return { ...person, second_factor: user.second_factor }
}

const renderMoneyLimits = (limits: Partial<MoneyLimits> | undefined) =>
  Object.fromEntries(moneyLimitNames.map((name) => [name, limits?.[name]?.toString() ?? null])) as Static<
    typeof MoneyLimitsObject
  >

/** Absent fields stay unchanged; null removes a limit. */
const figuresOf = (body: Partial<Record<MoneyLimitName, string | null>>): Partial<MoneyLimits> =>
  Object.fromEntries(Object.entries(body).map(([name, text]) => [name, text === null ? null : BigInt(text)]))
