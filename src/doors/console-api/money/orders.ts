import type { PersonActor } from '../../../core/actor.ts'
import {
  type Filters,
  type ListOrder,
  type ListSource,
  type NewestFilter,
  selectNewest,
} from '../../../db/newest.ts'
import type { Db } from '../../../db/pool.ts'
import { filterOf, pageOf } from '../../../http/page.ts'
import type { Claim } from '../../../ledger/command.ts'
import { readRecord } from '../../../ledger/once.ts'
import { renderCustomer } from '../../../parties/customers/contract.ts'
import { findCustomer } from '../../../parties/customers/customers.ts'
import { isHeld } from '../../../records/desk/holds.ts'
import { resolutionOf } from '../../../records/desk/resolutions.ts'
import { type RailStep, waitingAmong } from '../../../records/steps/store.ts'
import type { World } from '../../../world.ts'
import type { Column, CsvLanguage } from '../csv.ts'
import type { ConsoleEndpoint } from '../endpoint.ts'
import {
  consoleList,
  exportList,
  fullPage,
  listTotals,
  silentSince,
  statusFilters,
  withCustomers,
} from '../lists.ts'
import { apiRequestOf, eventsAbout, movementsOf } from '../object-page.ts'
import type { ConsoleParts } from '../parts.ts'
import { trackOf } from './track.ts'

/** The fields that payouts and transfers share. */
type Order = {
  readonly id: string
  readonly partner_id: string
  readonly customer_id: string
  readonly api_key_id: string
  readonly request_id: string | null
  readonly status: string
  readonly rail_code: string | null
  readonly created_at: Date
  readonly completed_at: Date | null
}

export type WithCustomer<Row> = Row & { readonly customer: { readonly id: string; readonly name: string } }

/** What differs between the lists of payouts and transfers. */
export type Orders<Row, Own> = {
  readonly noun: string
  /** Prefix of their ids. */
  readonly prefix: string
  readonly source: ListSource
  /** The filters that only this list has. */
  readonly filters: (query: Own) => Filters
  readonly columns: readonly Column<WithCustomer<Row>>[]
  /** The columns that totals are grouped by and added up. */
  readonly totals: Parameters<typeof listTotals>[3]
  readonly isLate: (row: Row, silent_since: Date) => boolean
  readonly countOpen: (
    db: Db,
    of: { partner_id: string; silent_since: Date },
  ) => Promise<{ open: number; silent: number }>
}

type OrderQuery = {
  readonly limit?: string
  readonly cursor?: string
  readonly created_after?: string
  readonly created_before?: string
  readonly order?: ListOrder
  readonly status?: string
  readonly failure_code?: string
  readonly customer_id?: string
  readonly idempotency_key?: string
  readonly amount_min?: string
  readonly amount_max?: string
  readonly api_key_id?: string
}

type OrdersCall<Own> = {
  readonly world: World
  readonly actor: PersonActor
  readonly params: unknown
  readonly query: OrderQuery & Own
}

/** A page of payouts or transfers, and the number of open ones. */
export async function listOrders<Row extends Order, Own, Item>(
  orders: Orders<Row, Own>,
  endpoint: ConsoleEndpoint,
  call: OrdersCall<Own>,
  render: (row: Row) => Item,
) {
  const { world, actor, query } = call
  const { partner_id } = actor
  const silent_since = silentSince(world)
  const list = consoleList(endpoint, call)
  const filters = filtersOf(orders, world, query)
  const [found, open] = await Promise.all([
    fullPage(readIn(world, orders), { partner_id, filters, ...filterOf(list, orders.prefix) }),
    orders.countOpen(world.reads, { partner_id, silent_since }),
  ])
  const rows = await withCustomers(world.reads, found.rows)
  const silent = await unanswered(world.reads, rows, (row) => orders.isLate(row, silent_since))
  const page = pageOf(list, { ...found, rows }, (row) => ({
    ...render(row),
    customer: row.customer,
    no_answer: silent.has(row.id),
  }))
  return { ...page, open: { count: open.open, no_answer: open.silent } }
}

/** Counts and sums of all payouts or transfers that the filters match. */
export const totalOrders = <Row extends Order, Own>(orders: Orders<Row, Own>, call: OrdersCall<Own>) =>
  listTotals(call, orders.source, filtersOf(orders, call.world, call.query), orders.totals)

type ExportCall<Own> = OrdersCall<Own & { readonly language?: CsvLanguage }> & {
  readonly gone: AbortSignal
}

/** Exports payouts or transfers as CSV. */
export const exportOrders = <Row extends Order, Own>(
  parts: ConsoleParts,
  orders: Orders<Row, Own>,
  endpoint: ConsoleEndpoint,
  call: ExportCall<Own>,
) =>
  exportList<Row, WithCustomer<Row>>(parts, call, {
    endpoint,
    noun: orders.noun,
    query: call.query,
    columns: orders.columns,
    read: readIn(call.world, orders),
    filters: filtersOf(orders, call.world, call.query),
    show: (rows) => withCustomers(call.world.reads, rows),
  })

const readIn =
  <Row extends Order, Own>(world: World, { source }: Orders<Row, Own>) =>
  (filter: NewestFilter) =>
    selectNewest<Row>(world.reads, source, filter)

const filtersOf = <Row, Own>(orders: Orders<Row, Own>, world: World, query: OrderQuery & Own): Filters => ({
  customer_id: query.customer_id,
  idempotency_key: query.idempotency_key,
  amount_min: query.amount_min,
  amount_max: query.amount_max,
  api_key_id: query.api_key_id,
  ...orders.filters(query),
  ...statusFilters(world, query),
})

/** The ids of late orders about which the rail did not say that it is still working on them. */
export async function unanswered<Row extends { id: string }>(
  db: Db,
  rows: readonly Row[],
  isLate: (row: Row) => boolean,
): Promise<ReadonlySet<string>> {
  const late = rows.filter(isLate).map(({ id }) => id)
  const waiting = await waitingAmong(db, late)
  return new Set(late.filter((id) => !waiting.has(id)))
}

type Said = {
  readonly route: string
  readonly body: unknown
  readonly claim: Claim
  /** The rail's id of a payment that succeeded. */
  readonly name: string | null
  readonly isLate: boolean
  /** Reads the exchanges with the rail. */
  readonly stepsIn: (db: Db) => Promise<RailStep[]>
}

/** The field `metadata` of the request that created an order, if the request had texts. */
export const sentMetadata = (metadata: Readonly<Record<string, string>>) =>
  Object.keys(metadata).length === 0 ? {} : { metadata }

export async function orderPage(world: World, order: Order, said: Said) {
  const { route, body, claim, name, isLate, stepsIn } = said
  const { id, partner_id, customer_id } = order
  const db = world.reads
  const record = await readRecord(db, claim)
  // After the record's retention the idempotency key may belong to another order.
  const answer = record?.resource_id === id ? record.response : null
  const [customer, silent, steps, movements, events, request, resolution, held] = await Promise.all([
    findCustomer({ ...world, db }, { id: customer_id, partner_id }),
    unanswered(db, [order], () => isLate),
    stepsIn(db),
    movementsOf(db, id),
    eventsAbout(db, order),
    apiRequestOf(db, order, { route, body, answer }),
    resolutionOf(db, id),
    isHeld(db, id),
  ])
  return {
    customer: renderCustomer(customer),
    no_answer: silent.has(id),
    track: trackOf(order, steps, name),
    movements,
    events,
    request,
    resolution: resolution
      ? { outcome: resolution.outcome, resolved_at: resolution.resolved_at.toISOString() }
      : null,
    held,
  }
}
