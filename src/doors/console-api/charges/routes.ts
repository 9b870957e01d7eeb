import { parseMoney } from '../../../core/money.ts'
import { type Filters, type NewestFilter, selectNewest } from '../../../db/newest.ts'
import { filterOf, pageOf } from '../../../http/page.ts'
import { readRecord } from '../../../ledger/once.ts'
import { findCharge } from '../../../money/charges/charges.ts'
import { renderCharge } from '../../../money/charges/contract.ts'
import { claimOfCharge } from '../../../money/charges/responses.ts'
import { type Charge, chargeList, paymentsOf } from '../../../money/charges/store.ts'
import { renderDeposit } from '../../../money/deposits/contract.ts'
import { depositsOfCharge } from '../../../money/deposits/store.ts'
import { renderCustomer } from '../../../parties/customers/contract.ts'
import { findCustomer } from '../../../parties/customers/customers.ts'
import type { ActEntry } from '../../../records/acts/line.ts'
import type { World } from '../../../world.ts'
import { expireCharge, payByPix } from '../../sandbox/pix-payments.ts'
import { actWithMoney } from '../act.ts'
import { type Column, decimalOf, metadataCell } from '../csv.ts'
import { answer, type ConsoleHandler } from '../endpoint.ts'
import { consoleList, exportList, fullPage, listTotals, withCustomers } from '../lists.ts'
import { apiRequestOf, eventsAbout } from '../object-page.ts'
import type { ConsoleParts } from '../parts.ts'
import { redeliverObject } from '../redeliver.ts'
import * as contract from './contract.ts'

type NamedCharge = Charge & { readonly customer: { readonly id: string; readonly name: string } }

export const chargesRoutes = (parts: ConsoleParts): ConsoleHandler[] => [
  ...chargeLists(parts),

  answer(contract.getChargeInConsole, async ({ world, actor, params }) =>
    chargePage(world, await findCharge({ ...world, db: world.reads }, actor, params.charge_id)),
  ),

  answer(contract.redeliverCharge, async ({ world, actor, params }) => {
    const { id } = await findCharge(world, actor, params.charge_id)
    return redeliverObject(parts, { world, actor }, id)
  }),

  // Sandbox only, like the next one: the user plays the payer.
  answer(contract.payChargeInConsole, async ({ world, actor, params, body }) => {
    const { charge_id } = params
    const amount = parseMoney('BRL', body.amount).units
    const entry: ActEntry = {
      action: 'pay_charge',
      object_id: charge_id,
      before: null,
      after: { amount: body.amount },
    }
    const pay = (here: typeof world) => payByPix(here, actor, { charge_id, amount })
    await actWithMoney(parts.office, actor, world, pay, { ...entry, form_id: body.form_id })
    return renderCharge(await findCharge(world, actor, charge_id))
  }),

  answer(contract.expireChargeInConsole, async ({ world, actor, params: { charge_id } }) => {
    const entry: ActEntry = { action: 'expire_charge', object_id: charge_id, before: null, after: null }
    const expire = (here: typeof world) => expireCharge(here, actor, charge_id)
    return renderCharge(await actWithMoney(parts.office, actor, world, expire, entry))
  }),
]

const chargeLists = (parts: ConsoleParts): ConsoleHandler[] => [
  answer(contract.listChargesInConsole, async (call) => {
    const { world, actor, query } = call
    const list = consoleList(contract.listChargesInConsole, call)
    const filter = { partner_id: actor.partner_id, filters: filtersOf(query), ...filterOf(list, 'chg') }
    const found = await fullPage(readIn(world), filter)
    const rows = await withCustomers(world.reads, found.rows)
    return pageOf(list, { ...found, rows }, (row) => ({ charge: renderCharge(row), customer: row.customer }))
  }),

  answer(contract.exportCharges, async (call) =>
    exportList<Charge, NamedCharge>(parts, call, {
      endpoint: contract.exportCharges,
      noun: 'charges',
      query: call.query,
      columns,
      read: readIn(call.world),
      filters: filtersOf(call.query),
      show: (rows) => withCustomers(call.world.reads, rows),
    }),
  ),

  answer(contract.totalCharges, (call) =>
    listTotals(call, chargeList, filtersOf(call.query), {
      group: ['status'],
      sums: ['amount'],
      as: ({ status, amount }) => ({ status: String(status), asset: 'BRL', amount: String(amount) }),
    }),
  ),
]

const readIn = (world: World) => (filter: NewestFilter) =>
  selectNewest<Charge>(world.reads, chargeList, filter)

type Query = {
  readonly customer_id?: string
  readonly status?: string
  readonly idempotency_key?: string
  readonly amount_min?: string
  readonly amount_max?: string
}

const filtersOf = ({ customer_id, status, idempotency_key, amount_min, amount_max }: Query): Filters => ({
  customer_id,
  status,
  idempotency_key,
  amount_min,
  amount_max,
})

const PAYMENTS_SHOWN = 50

async function chargePage(world: World, charge: Charge) {
  const { id, partner_id, customer_id } = charge
  const db = world.reads
  const record = await readRecord(db, claimOfCharge(charge))
  // After the record's retention the idempotency key may belong to another charge.
  const response = record?.resource_id === id ? record.response : null
  const [customer, received, deposits, events, request] = await Promise.all([
    findCustomer({ ...world, db }, { id: customer_id, partner_id }),
    paymentsOf(db, id, PAYMENTS_SHOWN),
    depositsOfCharge(db, id, PAYMENTS_SHOWN),
    eventsAbout(db, charge),
    apiRequestOf(db, charge, { route: 'POST /v1/pix/charges', body: requestOf(charge), answer: response }),
  ])
  const payments = received.map(({ end_to_end_id, amount, paid_at, payer_name }) => {
    const deposit = deposits.find((each) => each.end_to_end_id === end_to_end_id)
    return {
      end_to_end_id,
      amount: amount.toString(),
      paid_at: paid_at.toISOString(),
      payer_name,
      deposit: deposit ? renderDeposit(deposit) : null,
    }
  })
  return { charge: renderCharge(charge), customer: renderCustomer(customer), payments, events, request }
}

/** The body of the request, rebuilt from the charge's row. In the sandbox the row does not tell for how long the charge was to be open. */
const requestOf = ({ customer_id, amount, description, idempotency_key, metadata }: Charge) => ({
  customer_id,
  amount: amount.toString(),
  ...(description === null ? {} : { description }),
  idempotency_key,
  ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
})

const columns: readonly Column<NamedCharge>[] = [
  { name: 'id', cell: ({ id }) => id },
  { name: 'created_at', cell: ({ created_at }) => created_at.toISOString() },
  { name: 'expires_at', cell: ({ expires_at }) => expires_at.toISOString() },
  { name: 'status', cell: ({ status }) => status },
  { name: 'customer_id', cell: ({ customer_id }) => customer_id },
  { name: 'customer_name', cell: ({ customer }) => customer.name },
  { name: 'asset', cell: () => 'BRL' },
  { name: 'amount', cell: ({ amount }) => ({ number: amount.toString() }) },
  { name: 'amount_decimal', cell: ({ amount }) => decimalOf('BRL', amount) },
  { name: 'amount_received', cell: ({ amount_received }) => ({ number: amount_received.toString() }) },
  { name: 'amount_received_decimal', cell: ({ amount_received }) => decimalOf('BRL', amount_received) },
  { name: 'description', cell: ({ description }) => description },
  { name: 'txid', cell: ({ txid }) => txid },
  { name: 'idempotency_key', cell: ({ idempotency_key }) => idempotency_key },
  { name: 'failure_code', cell: ({ failure_code }) => failure_code },
  { name: 'rail_code', cell: ({ rail_code }) => rail_code },
  { name: 'paid_at', cell: ({ paid_at }) => paid_at?.toISOString() ?? null },
  { name: 'metadata', cell: ({ metadata }) => metadataCell(metadata) },
]
