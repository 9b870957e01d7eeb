import { type Asset, assetNames, parseMoney } from '../../../core/money.ts'
import type { OwnedId } from '../../../core/owned.ts'
import { type NewestFilter, selectNewest } from '../../../db/newest.ts'
import { filterOf, pageOf } from '../../../http/page.ts'
import { type Balance, balancesOf, balancesOfAll } from '../../../ledger/balances.ts'
import { addDepositAddress, listDepositAddresses } from '../../../money/deposits/addresses.ts'
import type { DepositAddress } from '../../../money/deposits/addresses-store.ts'
import { renderDeposit, renderDepositAddress } from '../../../money/deposits/contract.ts'
import { type Deposit, depositList } from '../../../money/deposits/store.ts'
import {
  type MoneyLimitUsage,
  moneyLimitNames,
  moneyLimitUsageOf,
} from '../../../money/money-limits/store.ts'
import { isLateTransfer, type Transfer, transferList } from '../../../money/onchain/store.ts'
import { isLatePayout, type Payout, payoutList } from '../../../money/pix/store.ts'
import { renderBalance, renderCustomer } from '../../../parties/customers/contract.ts'
import {
  asStored,
  editCustomer,
  findCustomer,
  findCustomers,
  makeCustomer,
  orExisting,
} from '../../../parties/customers/customers.ts'
import { type Customer, customerList } from '../../../parties/customers/store.ts'
import type { ActEntry } from '../../../records/acts/line.ts'
import type { World } from '../../../world.ts'
import { depositTestMoney } from '../../sandbox/deposits.ts'
import { actIn, actWithMoney } from '../act.ts'
import { type Column, decimalOf } from '../csv.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import { consoleList, exportList, fullPage, listTotals, silentSince } from '../lists.ts'
import type { ConsoleParts } from '../parts.ts'
import * as contract from './contract.ts'
import { unanswered } from './orders.ts'

type Holding = Customer & { readonly balances: readonly Balance[] }

export const customerRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  ...customerLists(parts),
  ...customerPages(parts),
]

const customerLists = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(contract.listCustomersInConsole, async (call) => {
    const { world, actor, query } = call
    const list = consoleList(contract.listCustomersInConsole, call)
    const found = await fullPage(readIn(world), {
      partner_id: actor.partner_id,
      filters: filtersOf(query),
      ...filterOf(list, 'cus'),
    })
    const rows = await withBalances(world, found.rows)
    return pageOf(list, { ...found, rows }, (row) => ({
      customer: renderCustomer(row),
      balances: row.balances.map(renderBalance),
    }))
  }),

  answer(contract.exportCustomers, async (call) =>
    exportList<Customer, Holding>(parts, call, {
      endpoint: contract.exportCustomers,
      noun: 'customers',
      query: call.query,
      columns,
      read: readIn(call.world),
      filters: filtersOf(call.query),
      show: (rows) => withBalances(call.world, rows),
    }),
  ),

  answer(contract.totalCustomers, async (call) =>
    listTotals(call, customerList, asStored(filtersOf(call.query)), {
      group: ['status'],
      as: ({ status }) => ({ status: String(status) }),
    }),
  ),
]

const customerPages = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(contract.createCustomerInConsole, async ({ world, actor, body }) => {
    const { form_id, ...fields } = body
    const wanted = { ...fields, partner_id: actor.partner_id }
    const make = () =>
      actIn(
        parts.office,
        actor,
        world,
        async (here) => {
          const customer = await makeCustomer(here, wanted)
          const { id, ...made } = renderCustomer(customer)
          const entry: ActEntry = { action: 'create_customer', object_id: id, before: null, after: made }
          return { result: customer, entry }
        },
        { form_id },
      )
    return renderCustomer(await orExisting(world, wanted, make))
  }),

  answer(contract.getCustomerInConsole, async ({ world, actor, params }) => {
    const reading = { ...world, db: world.reads }
    const where = { partner_id: actor.partner_id, id: params.customer_id }
    const customer = await findCustomer(reading, where)
    const [balances, usage, on_its_way, addresses, deposits] = await Promise.all([
      balancesOf(world.reads, customer.id),
      moneyLimitUsageOf(world.reads, customer.id),
      onItsWay(world, where),
      listDepositAddresses(reading, actor, customer.id),
      newestDeposits(world, where),
    ])
    return {
      customer: renderCustomer(customer),
      balances: balances.map(renderBalance),
      limits: usage ? limitsOf(usage) : [],
      on_its_way,
      deposit_addresses: addresses.map(renderDepositAddress),
      deposits: deposits.map(renderDeposit),
    }
  }),

  answer(contract.updateCustomerInConsole, async ({ world, actor, params, body }) => {
    const where = { partner_id: actor.partner_id, id: params.customer_id }
    const edit = async (here: World): Promise<{ result: Customer; entry: ActEntry }> => {
      const before = renderCustomer(await findCustomer(here, where))
      const result = await editCustomer(here, where, body)
      const after = renderCustomer(result)
      return { result, entry: { action: 'edit_customer', object_id: where.id, before, after } }
    }
    return renderCustomer(await actIn(parts.office, actor, world, edit, { object_id: where.id }))
  }),

  answer(contract.createDepositAddressInConsole, async ({ world, actor, params, body }) => {
    const { customer_id } = params
    const { network } = body
    const known = (await listDepositAddresses(world, actor, customer_id)).find(
      (made) => made.network === network,
    )
    if (known) return renderDepositAddress(known)
    const make = async (here: World): Promise<{ result: DepositAddress; entry: ActEntry }> => {
      const { address: result } = await addDepositAddress(here, actor, { customer_id, network })
      const after = { network, address: result.address }
      return {
        result,
        entry: { action: 'create_deposit_address', object_id: customer_id, before: null, after },
      }
    }
    return renderDepositAddress(await actIn(parts.office, actor, world, make, { object_id: customer_id }))
  }),

  answer(contract.depositInConsole, async ({ world, actor, params, body }) => {
    const { form_id, asset, amount } = body
    const { customer_id } = params
    const order = { customer_id, money: parseMoney(asset, amount) }
    const credit = (here: typeof world) => depositTestMoney(here, actor, order)
    const entry: ActEntry = {
      action: 'deposit',
      object_id: null,
      before: null,
      after: { customer_id, asset, amount },
    }
    const made = actWithMoney(parts.office, actor, world, credit, { ...entry, form_id })
    return renderDeposit(await made)
  }),
]

const readIn = (world: World) => (filter: NewestFilter) =>
  findCustomers({ ...world, db: world.reads }, filter)

type Query = {
  readonly status?: string
  readonly document?: string
  readonly external_id?: string
  readonly name?: string
}

const filtersOf = ({ status, document, external_id, name }: Query) => ({
  status,
  document,
  external_id,
  name,
})

async function withBalances(world: World, rows: readonly Customer[]): Promise<Holding[]> {
  const ids = rows.map(({ id }) => id)
  const balances = await balancesOfAll(world.reads, ids)
  return rows.map((row) => ({ ...row, balances: balances.get(row.id)! }))
}

const SHOWN_ON_ITS_WAY = 20

/** Open payouts and transfers of a customer, newest first. */
async function onItsWay(world: World, { partner_id, id: customer_id }: OwnedId) {
  const filter = {
    partner_id,
    filters: { customer_id, status: 'open' },
    after: undefined,
    before: undefined,
    position: undefined,
    limit: SHOWN_ON_ITS_WAY,
  }
  const [payouts, transfers] = await Promise.all([
    selectNewest<Payout>(world.reads, payoutList, filter),
    selectNewest<Transfer>(world.reads, transferList, filter),
  ])
  const since = silentSince(world)
  const found = await Promise.all([
    unanswered(world.reads, payouts.rows, (payout) => isLatePayout(payout, since)),
    unanswered(world.reads, transfers.rows, (transfer) => isLateTransfer(transfer, since)),
  ])
  const silent = new Set(found.flatMap((ids) => [...ids]))
  const shown = [
    ...payouts.rows.map((payout) => ({
      ...common(payout),
      kind: 'payout' as const,
      asset: 'BRL' as const,
      network: null,
      amount: (payout.amount + payout.fee).toString(),
      no_answer: silent.has(payout.id),
    })),
    ...transfers.rows.map((transfer) => ({
      ...common(transfer),
      kind: 'transfer' as const,
      asset: transfer.asset,
      network: transfer.network,
      amount: (transfer.amount_net + transfer.fee).toString(),
      no_answer: silent.has(transfer.id),
    })),
  ]
  return shown.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1)).slice(0, SHOWN_ON_ITS_WAY)
}

const common = ({ id, status, created_at }: Payout | Transfer) => ({
  id,
  status,
  created_at: created_at.toISOString(),
})

const SHOWN_DEPOSITS = 10

async function newestDeposits(
  world: World,
  { partner_id, id: customer_id }: OwnedId,
): Promise<readonly Deposit[]> {
  const whole = { after: undefined, before: undefined, position: undefined }
  const filter = { partner_id, filters: { customer_id }, ...whole, limit: SHOWN_DEPOSITS }
  return (await selectNewest<Deposit>(world.reads, depositList, filter)).rows
}

/** The limits that apply, with the amount used. */
const limitsOf = (usage: MoneyLimitUsage) =>
  moneyLimitNames.flatMap((name) => {
    const allowed = usage[name]
    if (allowed === null) return []
    const used = name in counted ? usage[counted[name as keyof typeof counted]] : null
    return [
      {
        name,
        asset: assetOf(name),
        allowed: allowed.toString(),
        used: used?.toString() ?? null,
        resets_at:
          used === null
            ? null
            : (name === 'payout_night' ? usage.night_ends_at : usage.day_ends_at).toISOString(),
      },
    ]
  })

const counted = {
  payout_day: 'payout_day_used',
  payout_night: 'payout_night_used',
  transfer_day_usdt: 'transfer_day_usdt_used',
  transfer_day_btc: 'transfer_day_btc_used',
} as const

const assetOf = (name: string): Asset =>
  name.endsWith('_usdt') ? 'USDT' : name.endsWith('_btc') ? 'BTC' : 'BRL'

const columns: readonly Column<Holding>[] = [
  { name: 'id', cell: ({ id }) => id },
  { name: 'created_at', cell: ({ created_at }) => created_at.toISOString() },
  { name: 'status', cell: ({ status }) => status },
  { name: 'name', cell: ({ name }) => name },
  { name: 'document', cell: (customer) => renderCustomer(customer).document },
  { name: 'email', cell: ({ email }) => email },
  { name: 'external_id', cell: ({ external_id }) => external_id },
  ...assetNames.flatMap((asset): Column<Holding>[] => [
    { name: `${asset}_available`, cell: (row) => ({ number: of(row, asset).balance.toString() }) },
    { name: `${asset}_available_decimal`, cell: (row) => decimalOf(asset, of(row, asset).balance) },
    { name: `${asset}_in_transit`, cell: (row) => ({ number: of(row, asset).in_transit.toString() }) },
    { name: `${asset}_in_transit_decimal`, cell: (row) => decimalOf(asset, of(row, asset).in_transit) },
  ]),
]

const of = ({ balances }: Holding, asset: Asset): Balance => balances.find((each) => each.asset === asset)!
