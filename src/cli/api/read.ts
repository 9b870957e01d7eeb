import type { Call, Listing, Trilho } from '#sdk'
import type { IdKind } from '../../core/ids.ts'
import { argument, type Input, type Output } from '../command.ts'
import type { Noun } from '../commands/api/reading.ts'
import { assertIdOf } from './checks.ts'
import { openApiClient } from './client.ts'
import { printList, queryOf } from './list.ts'
import { amountCell, shown } from './show.ts'

/** The SDK calls that list and read a noun, and the columns of its table. */
type Reader = {
  readonly kind: IdKind
  readonly list: (trilho: Trilho, query: never) => Listing<any>
  readonly get: (trilho: Trilho, id: string) => Call<object>
  readonly row: (one: any) => Readonly<Record<string, unknown>>
}

const reader = <T>(one: {
  readonly kind: IdKind
  readonly list: (trilho: Trilho, query: never) => Listing<T>
  readonly get: (trilho: Trilho, id: string) => Call<object>
  readonly row: (one: T) => Readonly<Record<string, unknown>>
}): Reader => one

const readers: Readonly<Record<Noun, Reader>> = {
  customers: reader({
    kind: 'customer',
    list: (trilho, query) => trilho.customers.list(query),
    get: (trilho, id) => trilho.customers.get(id),
    row: ({ id, name, document, status, created_at }) => ({ id, name, document, status, created_at }),
  }),
  payouts: reader({
    kind: 'payout',
    list: (trilho, query) => trilho.pix.payouts.list(query),
    get: (trilho, id) => trilho.pix.payouts.get(id),
    row: ({ id, status, amount, decimals, customer_id, created_at }) => ({
      id,
      status,
      amount: amountCell(amount, decimals, 'BRL'),
      customer: customer_id,
      created_at,
    }),
  }),
  charges: reader({
    kind: 'charge',
    list: (trilho, query) => trilho.pix.charges.list(query),
    get: (trilho, id) => trilho.pix.charges.get(id),
    row: ({ id, status, amount, amount_received, decimals, customer_id, expires_at }) => ({
      id,
      status,
      amount: amountCell(amount, decimals, 'BRL'),
      received: amountCell(amount_received, decimals, 'BRL'),
      customer: customer_id,
      expires_at,
    }),
  }),
  transfers: reader({
    kind: 'transfer',
    list: (trilho, query) => trilho.onchain.transfers.list(query),
    get: (trilho, id) => trilho.onchain.transfers.get(id),
    row: ({ id, status, amount_gross, decimals, asset, network, customer_id, created_at }) => ({
      id,
      status,
      amount: amountCell(amount_gross, decimals, asset),
      network,
      customer: customer_id,
      created_at,
    }),
  }),
  quotes: reader({
    kind: 'quote',
    list: (trilho, query) => trilho.quotes.list(query),
    get: (trilho, id) => trilho.quotes.get(id),
    row: ({ id, status, expires_at, ...both }) => ({ id, status, ...conversion(both), expires_at }),
  }),
  trades: reader({
    kind: 'trade',
    list: (trilho, query) => trilho.trades.list(query),
    get: (trilho, id) => trilho.trades.get(id),
    row: ({ id, status, created_at, ...both }) => ({ id, status, ...conversion(both), created_at }),
  }),
  deposits: reader({
    kind: 'deposit',
    list: (trilho, query) => trilho.deposits.list(query),
    get: (trilho, id) => trilho.deposits.get(id),
    row: ({ id, status, amount, decimals, asset, network, customer_id, created_at }) => ({
      id,
      status,
      amount: amountCell(amount, decimals, asset),
      network,
      customer: customer_id,
      created_at,
    }),
  }),
  events: reader({
    kind: 'event',
    list: (trilho, query) => trilho.events.list(query),
    get: (trilho, id) => trilho.events.get(id),
    row: ({ id, type, data, created_at }) => ({ id, type, object: objectId(data), created_at }),
  }),
  webhooks: reader({
    kind: 'webhook_endpoint',
    list: (trilho, query) => trilho.webhookEndpoints.list(query),
    get: (trilho, id) => trilho.webhookEndpoints.get(id),
    row: ({ id, status, url, events }) => ({ id, status, url, events: events.join(',') }),
  }),
  requests: reader({
    kind: 'request',
    list: (trilho, query) => trilho.requests.list(query),
    get: (trilho, id) => trilho.requests.get(id),
    row: ({ id, status, error_code, method, route, duration_ms, created_at }) => ({
      id,
      status,
      code: error_code,
      request: `${method} ${route}`,
      ms: duration_ms,
      created_at,
    }),
  }),
}

type Conversion = {
  readonly from_asset: string
  readonly from_amount: string
  readonly from_decimals: number
  readonly to_asset: string
  readonly to_amount: string
  readonly to_decimals: number
  readonly customer_id: string
}

const conversion = (one: Conversion) => ({
  from: amountCell(one.from_amount, one.from_decimals, one.from_asset),
  to: amountCell(one.to_amount, one.to_decimals, one.to_asset),
  customer: one.customer_id,
})

const objectId = (data: unknown) => (data as { object?: { id?: string } }).object?.id

export async function list(noun: Noun, input: Input): Promise<Output> {
  const { trilho } = await openApiClient(input)
  const { list, row } = readers[noun]
  return printList(input, list(trilho, queryOf(input) as never), row)
}

export async function get(noun: Noun, one: string, input: Input): Promise<Output> {
  const id = assertIdOf(readers[noun].kind, argument(input, 0, one))
  const { trilho } = await openApiClient(input)
  return shown(await readers[noun].get(trilho, id))
}
