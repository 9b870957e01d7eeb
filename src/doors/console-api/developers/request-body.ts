import { isId } from '../../../core/ids.ts'
import type { StoredResponse } from '../../../ledger/command.ts'
import { readRecord } from '../../../ledger/once.ts'
import { renderTransfer } from '../../../money/onchain/contract.ts'
import { transferById } from '../../../money/onchain/store.ts'
import { TRANSFER_OPERATION } from '../../../money/onchain/transfers.ts'
import { renderPayout } from '../../../money/pix/contract.ts'
import { PAYOUT_OPERATION } from '../../../money/pix/settle.ts'
import { payoutById } from '../../../money/pix/store.ts'
import { renderQuote } from '../../../money/quotes/contract.ts'
import { quoteById } from '../../../money/quotes/store.ts'
import { renderCustomer } from '../../../parties/customers/contract.ts'
import { customerById } from '../../../parties/customers/store.ts'
import type { LoggedRequest } from '../../../records/requests/store.ts'
import type { World } from '../../../world.ts'

type RequestBody = Readonly<Record<string, unknown>> & { readonly idempotency_key?: string }

/**
 * Request bodies are not logged, so the body is rebuilt from the row that the request created. Null if it created
 * none.
 */
export async function rebuildRequestBody(world: World, request: LoggedRequest): Promise<RequestBody | null> {
  const { method, route, status, object_id: id, partner_id } = request
  if (method !== 'POST' || status >= 300 || id === null) return null
  const own = <Row extends { partner_id: string }>(row: Row | undefined) =>
    row?.partner_id === partner_id ? row : undefined
  switch (route) {
    case '/v1/pix/payouts': {
      const payout = isId('payout', id) ? own(await payoutById(world.db, id)) : undefined
      return payout ? pick(renderPayout(payout), payoutFields) : null
    }
    case '/v1/onchain/transfers': {
      const transfer = isId('transfer', id) ? own(await transferById(world.db, id)) : undefined
      if (!transfer) return null
      const { amount_net: amount, ...rest } = renderTransfer(transfer)
      return pick({ ...rest, amount }, transferFields)
    }
    case '/v1/quotes': {
      const quote = isId('quote', id) ? own(await quoteById(world.db, id)) : undefined
      return quote ? pick(renderQuote(quote, world.clock.now()), quoteFields) : null
    }
    case '/v1/customers': {
      const customer = isId('customer', id) ? own(await customerById(world.db, id)) : undefined
      return customer ? pick(renderCustomer(customer), customerFields) : null
    }
    default:
      return null
  }
}

const payoutFields = ['customer_id', 'amount', 'counterparty', 'description', 'idempotency_key', 'metadata']
const transferFields = [
  'customer_id',
  'asset',
  'network',
  'amount',
  'destination_address',
  'idempotency_key',
  'metadata',
]
const quoteFields = ['customer_id', 'from_asset', 'to_asset', 'from_amount', 'to_amount', 'metadata']
const customerFields = ['name', 'document', 'email', 'external_id', 'metadata']

const pick = (object: Readonly<Record<string, unknown>>, fields: readonly string[]): RequestBody =>
  Object.fromEntries(fields.filter((name) => object[name] !== undefined).map((name) => [name, object[name]]))

const operations: Readonly<Record<string, string>> = {
  '/v1/pix/payouts': PAYOUT_OPERATION,
  '/v1/onchain/transfers': TRANSFER_OPERATION,
}

/** The stored response that a retry with the same idempotency key would get. */
export async function storedResponseOf(
  world: World,
  { api_key_id, route, object_id }: LoggedRequest,
  said: RequestBody | null,
): Promise<StoredResponse | null> {
  const operation = operations[route ?? '']
  if (operation === undefined || said?.idempotency_key === undefined) return null
  const claim = { scope: api_key_id, operation, key: said.idempotency_key, fingerprint: '' }
  const record = await readRecord(world.db, claim)
  if (record?.resource_id !== object_id || !record.response) return null
  const { status, body } = record.response
  return { status, body }
}
