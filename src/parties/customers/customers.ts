import { isDeepStrictEqual } from 'node:util'
import { parseDocument } from '../../core/document.ts'
import { refuse } from '../../core/errors.ts'
import { isId } from '../../core/ids.ts'
import { findOwned, type OwnedId } from '../../core/owned.ts'
import { isUniqueViolation } from '../../db/failure.ts'
import { type Filters, type Newest, type NewestFilter, selectNewest } from '../../db/newest.ts'
import { type Db, transaction } from '../../db/pool.ts'
import { holdAccounts, openAccounts } from '../../ledger/balances.ts'
import type { Held } from '../../ledger/command.ts'
import { recordEvent } from '../../records/events/events.ts'
import type { World } from '../../world.ts'
import { renderCustomer } from './contract.ts'
import {
  type Customer,
  type CustomerChange,
  changeCustomer,
  countCustomerEvent,
  customerById,
  customerIdBy,
  customerList,
  customerRows,
  insertCustomer,
  lockCustomer,
  setStatus,
  setThirdPartyPayouts,
} from './store.ts'

/** A customer belongs to one partner and one environment, and holds one account per asset. */
type NewCustomer = {
  readonly partner_id: string
  readonly name: string
  readonly document: string
  readonly email?: string
  readonly external_id?: string
  readonly metadata?: Readonly<Record<string, string>>
}

export const addCustomer = (world: World, wanted: NewCustomer): Promise<Customer> =>
  orExisting(world, wanted, () => makeCustomer(world, wanted))

/** For callers that do more in the same transaction. Call it inside `orExisting`. */
export function makeCustomer(world: World, wanted: NewCustomer): Promise<Customer> {
  const document = readDocument(wanted.document)
  return transaction(world.db, async (tx) => {
    const customer = await insertCustomer(tx, {
      id: world.newId('customer'),
      partner_id: wanted.partner_id,
      name: wanted.name,
      document: document.value,
      document_type: document.type,
      email: wanted.email ?? null,
      external_id: wanted.external_id ?? null,
      metadata: wanted.metadata ?? {},
    })
    await openAccounts(tx, { customer_id: customer.id, partner_id: customer.partner_id })
    await recordEvent(tx, world, {
      partner_id: customer.partner_id,
      type: 'customer.created',
      object: renderCustomer(customer),
      sequence: 1,
    })
    return customer
  })
}

/** Turns a unique violation into a refusal that names the existing customer, once the failed transaction is over. */
export async function orExisting<Made>(
  world: World,
  { partner_id, document, external_id }: NewCustomer,
  make: () => Promise<Made>,
): Promise<Made> {
  try {
    return await make()
  } catch (error) {
    if (isUniqueViolation(error, 'customers_document'))
      return refuseExisting(world, partner_id, 'document', readDocument(document).value)
    if (isUniqueViolation(error, 'customers_external_id'))
      return refuseExisting(world, partner_id, 'external_id', external_id!)
    throw error
  }
}

/** Names the existing customer, so that the client can use it. */
async function refuseExisting(
  world: World,
  partner_id: string,
  param: 'document' | 'external_id',
  value: string,
): Promise<never> {
  const customer_id = await customerIdBy(world.db, { partner_id, column: param, value })
  return refuse('customer_exists', { param, ...(customer_id ? { details: { customer_id } } : {}) })
}

function readDocument(text: string) {
  return (
    parseDocument(text) ??
    refuse('invalid_request', {
      param: 'document',
      message: 'document must be a CPF or CNPJ with right check digits, bare or fully punctuated.',
    })
  )
}

export const findCustomer = (world: World, where: OwnedId): Promise<Customer> =>
  findOwned('customer', where, (id) => customerById(world.db, id))

export async function findCustomers(world: World, filter: NewestFilter): Promise<Newest<Customer>> {
  return selectNewest(world.db, customerList, { ...filter, filters: asStored(filter.filters) })
}

/** A document is stored without points and dashes. */
export const asStored = (filters: Filters): Filters =>
  filters.document === undefined ? filters : { ...filters, document: readDocument(filters.document).value }

export async function editCustomer(world: World, where: OwnedId, change: CustomerChange): Promise<Customer> {
  const customer = isId('customer', where.id)
    ? await transaction(world.db, (tx) =>
        andTell(tx, world, where.id, 'customer.updated', () => changeCustomer(tx, where, change)),
      )
    : undefined
  return customer ?? refuse('customer_not_found', { param: 'customer_id' })
}

/** Blocking locks the customer's accounts, so every later decision on them sees the new status. */
export async function blockCustomer(world: World, id: string, status: Customer['status']): Promise<Customer> {
  const type = status === 'blocked' ? 'customer.blocked' : 'customer.unblocked'
  const customer = await transaction(world.db, async (tx) => {
    await tx.query("SET LOCAL lock_timeout = '10s'; SET LOCAL statement_timeout = '15s'")
    await holdAccounts(tx, id)
    return andTell(tx, world, id, type, () => setStatus(tx, id, status))
  })
  if (!customer) refuse('customer_not_found', { message: `No customer ${id} in ${world.environment}.` })
  return customer
}

/** Set by the operator: payouts of this customer may go to people with another document. */
export async function allowThirdParties(world: World, id: string, allowed: boolean): Promise<void> {
  await transaction(world.db, (tx) =>
    andTell(tx, world, id, 'customer.updated', () => setThirdPartyPayouts(tx, id, allowed)),
  )
}

/** Changes a customer and records an event, unless the API's view of it is unchanged. */
async function andTell(
  tx: Db,
  world: World,
  id: string,
  type: 'customer.updated' | 'customer.blocked' | 'customer.unblocked',
  change: () => Promise<Customer | undefined>,
): Promise<Customer | undefined> {
  const before = await lockCustomer(tx, id)
  const after = before && (await change())
  if (!after || isDeepStrictEqual(renderCustomer(before), renderCustomer(after))) return after
  const { partner_id } = after
  const sequence = await countCustomerEvent(tx, id)
  await recordEvent(tx, world, { partner_id, type, object: renderCustomer(after), sequence })
  return after
}

/** The customer of a money command: belongs to this partner and is not blocked. */
export function activeCustomer(held: Held, where: OwnedId) {
  const customer = ownCustomer(held, where)
  if (customer.status === 'blocked') refuse('customer_blocked')
  return customer
}

/** A customer of this partner, blocked or not: a block must not prevent an operator's correction. */
export function ownCustomer(held: Held, where: OwnedId) {
  const customer = held.row(customerRows, where.id)
  if (customer?.partner_id !== where.partner_id) refuse('customer_not_found', { param: 'customer_id' })
  return customer
}
