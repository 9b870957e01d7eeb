import { maskDocument, parseDocument } from '../../../core/document.ts'
import type { Environment } from '../../../core/environment.ts'
import { type IdKind, idPrefixes, isId } from '../../../core/ids.ts'
import { formatMoney, money } from '../../../core/money.ts'
import type { OwnedId } from '../../../core/owned.ts'
import { type Filters, findIds, type ListSource, selectNewest, TOTAL_ROWS_MAX } from '../../../db/newest.ts'
import type { Db } from '../../../db/pool.ts'
import { type Charge, chargeById, chargeList, receivedById } from '../../../money/charges/store.ts'
import { chargeIdOf } from '../../../money/charges/txid.ts'
import {
  type Deposit,
  depositById,
  depositList,
  depositsOfTransaction,
} from '../../../money/deposits/store.ts'
import { selectTransfer, type Transfer, transferList } from '../../../money/onchain/store.ts'
import { type Payout, payoutList, selectPayout } from '../../../money/pix/store.ts'
import { statusOf } from '../../../money/quotes/contract.ts'
import { quoteById, quoteList, tradeById, tradeList } from '../../../money/quotes/store.ts'
import {
  type Customer,
  customerById,
  customerList,
  customersByName,
  customersByWords,
} from '../../../parties/customers/store.ts'
import { keyList, listKeys } from '../../../parties/keys/store.ts'
import { findEventIds } from '../../../records/events/log-store.ts'
import { eventById } from '../../../records/events/store.ts'
import { requestById, requestList } from '../../../records/requests/store.ts'
import { endpointList, selectEndpoint } from '../../../webhooks/store.ts'
import type { World } from '../../../world.ts'
import type { foundKinds } from './contract.ts'
import { type IdPart, readIdPart, timeOfPart } from './id-part.ts'

/**
 * Search results: an id or a part of one, words of a customer's name, or any other name of an object (such as an
 * idempotency key or a hash) leads to the object's page. Each search reads a bounded number of index entries of the
 * partner in one environment.
 */
export type SearchResult = {
  kind: (typeof foundKinds)[number]
  id: string
  title: string
  detail: string
  path: string
}

const FOUND_MAX = 20
const OF_EACH = 5
/** A single letter begins a word of nearly every name. */
const WORD_LEAST = 2

type Finder = (look: {
  readonly db: Db
  readonly where: OwnedId
  readonly environment: Environment
  readonly now: number
}) => Promise<SearchResult | undefined>

/** The lookup for each kind of id. */
const finders = {
  customer: async ({ db, where, environment }) => {
    const customer = owned(await customerById(db, where.id), where)
    return customer && showCustomer(customer, environment)
  },
  deposit: async ({ db, where, environment }) => {
    const deposit = owned(await depositById(db, where.id), where)
    return deposit && showDeposit(deposit, environment)
  },
  charge: async ({ db, where, environment }) => {
    const charge = owned(await chargeById(db, where.id), where)
    return charge && showCharge(charge, environment)
  },
  payout: async ({ db, where, environment }) => {
    const payout = await selectPayout(db, where)
    return payout && showPayout(payout, environment)
  },
  transfer: async ({ db, where, environment }) => {
    const transfer = await selectTransfer(db, where)
    return transfer && showTransfer(transfer, environment)
  },
  quote: async ({ db, where, environment, now }) => {
    const quote = owned(await quoteById(db, where.id), where)
    if (!quote) return undefined
    const { id, from_asset, to_asset } = quote
    const title = `${from_asset} › ${to_asset}`
    return { kind: 'quote', id, title, detail: statusOf(quote, now), path: `/${environment}/quotes/${id}` }
  },
  trade: async ({ db, where, environment }) => {
    const trade = owned(await tradeById(db, where.id), where)
    if (!trade) return undefined
    const { id, from_asset, to_asset, status } = trade
    const title = `${from_asset} › ${to_asset}`
    return { kind: 'trade', id, title, detail: status, path: `/${environment}/trades/${id}` }
  },
  event: async ({ db, where, environment }) => {
    const event = await eventById(db, where)
    if (!event) return undefined
    const { id, type, object_id } = event
    const path = `/${environment}/developers/events/${id}`
    return { kind: 'event', id, title: type, detail: object_id, path }
  },
  webhook_endpoint: async ({ db, where, environment }) => {
    const endpoint = await selectEndpoint(db, where)
    if (!endpoint) return undefined
    const { id, url, status } = endpoint
    const path = `/${environment}/developers/webhooks/${id}`
    return { kind: 'webhook_endpoint', id, title: url, detail: status, path }
  },
  key: async ({ db, where, environment }) => {
    const key = (await listKeys(db, where))[0]
    if (!key) return undefined
    const { id, name, last_four } = key
    const path = `/${environment}/developers/keys/${id}`
    return { kind: 'key', id, title: name, detail: `…${last_four}`, path }
  },
  request: async ({ db, where, environment }) => {
    const request = await requestById(db, where)
    if (!request) return undefined
    const { id, method, route, status } = request
    const path = `/${environment}/developers/requests/${id}`
    return { kind: 'request', id, title: `${method} ${route ?? ''}`.trim(), detail: `${status}`, path }
  },
} satisfies Partial<Record<IdKind, Finder>>

const owned = <Row extends { readonly partner_id: string }>(row: Row | undefined, { partner_id }: OwnedId) =>
  row?.partner_id === partner_id ? row : undefined

const showCustomer = ({ id, name, document }: Customer, environment: Environment): SearchResult => ({
  kind: 'customer',
  id,
  title: name,
  detail: maskDocument(document),
  path: `/${environment}/customers/${id}`,
})

const showPayout = ({ id, counterparty, status }: Payout, environment: Environment): SearchResult => ({
  kind: 'payout',
  id,
  title: counterparty.name,
  detail: status,
  path: `/${environment}/payouts/${id}`,
})

const showDeposit = ({ id, asset, rail }: Deposit, environment: Environment): SearchResult => ({
  kind: 'deposit',
  id,
  title: asset,
  detail: rail,
  path: `/${environment}/deposits/${id}`,
})

const showCharge = ({ id, description, amount, status }: Charge, environment: Environment): SearchResult => ({
  kind: 'charge',
  id,
  title: description ?? formatMoney(money('BRL', amount)),
  detail: status,
  path: `/${environment}/charges/${id}`,
})

const showTransfer = (transfer: Transfer, environment: Environment): SearchResult => ({
  kind: 'transfer',
  id: transfer.id,
  title: `${transfer.asset} ${transfer.network}`,
  detail: transfer.status,
  path: `/${environment}/transfers/${transfer.id}`,
})

export async function searchPartner(world: World, partner_id: string, q: string): Promise<SearchResult[]> {
  const { environment } = world
  const db = world.reads
  const text = q.trim()
  if (text === '') return []
  const kind = (Object.keys(finders) as (keyof typeof finders)[]).find((each) => isId(each, text))
  if (kind) {
    const where = { id: text, partner_id }
    const found = await finders[kind]({ db, where, environment, now: world.clock.now() })
    return found ? [found] : []
  }
  const [by_part, customers, payouts, transfers, deposits, charges, paid] = await Promise.all([
    findByPart(world, partner_id, text),
    findCustomers(db, partner_id, text),
    newest<Payout>(db, payoutList, partner_id, [{ end_to_end_id: text }, { idempotency_key: text }]),
    newest<Transfer>(db, transferList, partner_id, [{ tx_hash: text }, { idempotency_key: text }]),
    depositsOfTransaction(db, { partner_id, tx_hash: text.toLowerCase(), limit: OF_EACH }),
    newest<Charge>(db, chargeList, partner_id, [{ idempotency_key: text }]),
    findPaid(db, partner_id, text),
  ])
  return [
    ...payouts.map((payout) => showPayout(payout, environment)),
    ...transfers.map((transfer) => showTransfer(transfer, environment)),
    ...[...charges, ...paid.charges].map((charge) => showCharge(charge, environment)),
    ...[...deposits, ...paid.deposits].map((deposit) => showDeposit(deposit, environment)),
    ...customers.map((customer) => showCustomer(customer, environment)),
    ...by_part,
  ]
    .filter((one, i, all) => all.findIndex(({ id }) => id === one.id) === i)
    .slice(0, FOUND_MAX)
}

/** By the names in the Pix network: a charge by its txid, a payment that came in by its end-to-end id. */
async function findPaid(
  db: Db,
  partner_id: string,
  text: string,
): Promise<{ charges: readonly Charge[]; deposits: readonly Deposit[] }> {
  const charge_id = chargeIdOf(text)
  const charge = charge_id === undefined ? undefined : await chargeById(db, charge_id)
  const deposit_id = (await receivedById(db, text))?.deposit_id
  const deposit = deposit_id ? await depositById(db, deposit_id) : undefined
  return {
    charges: charge?.partner_id === partner_id ? [charge] : [],
    deposits: deposit?.partner_id === partner_id ? [deposit] : [],
  }
}

/** The lists in which ids are found by a part of them, the likeliest first. */
const listsOfIds: Readonly<Partial<Record<keyof typeof finders, ListSource>>> = {
  payout: payoutList,
  transfer: transferList,
  customer: customerList,
  quote: quoteList(new Date(0)),
  trade: tradeList,
  deposit: depositList,
  charge: chargeList,
  key: keyList,
  webhook_endpoint: endpointList,
  request: requestList,
}

async function findByPart(world: World, partner_id: string, text: string): Promise<SearchResult[]> {
  const part = readIdPart(text)
  if (!part) return []
  const kinds = (Object.keys(finders) as (keyof typeof finders)[]).filter(
    (kind) => part.kind === undefined || part.kind === kind,
  )
  const { reads: db, environment } = world
  const found = await Promise.all(
    kinds.map(async (kind) => {
      const ids = await idsOf(db, kind, partner_id, part)
      const look = { db, environment, now: world.clock.now() }
      return Promise.all(ids.map((id) => finders[kind]({ ...look, where: { id, partner_id } })))
    }),
  )
  return found.flat().filter((one) => one !== undefined)
}

function idsOf(db: Db, kind: keyof typeof finders, partner_id: string, part: IdPart): Promise<string[]> {
  const begins = `${idPrefixes[kind]}_${part.begins}`
  const search = { partner_id, begins, ends: part.ends, ...timeOfPart(part), limit: OF_EACH }
  const source = listsOfIds[kind]
  return source ? findIds(db, source, search) : findEventIds(db, search, TOTAL_ROWS_MAX)
}

async function findCustomers(db: Db, partner_id: string, text: string): Promise<Customer[]> {
  const document = parseDocument(text)?.value
  const exact = [...(document ? [{ document }] : []), { external_id: text }]
  const [named, worded, known] = await Promise.all([
    customersByName(db, { partner_id, begins: text, limit: FOUND_MAX }),
    text.length < WORD_LEAST ? [] : customersByWords(db, { partner_id, words: text, limit: FOUND_MAX }),
    newest<Customer>(db, customerList, partner_id, exact),
  ])
  return onceEach([...known, ...named, ...worded])
}

/** The rows that match any of these filters, without duplicates. */
async function newest<Row extends { id: string; created_at: Date }>(
  db: Db,
  source: ListSource,
  partner_id: string,
  filters: readonly Filters[],
): Promise<Row[]> {
  const range = { after: undefined, before: undefined, position: undefined, limit: OF_EACH }
  const found = await Promise.all(
    filters.map((each) => selectNewest<Row>(db, source, { partner_id, filters: each, ...range })),
  )
  return onceEach(found.flatMap(({ rows }) => rows))
}

const onceEach = <Row extends { readonly id: string }>(rows: readonly Row[]): Row[] => [
  ...new Map(rows.map((row) => [row.id, row])).values(),
]
