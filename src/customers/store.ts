import { rowsById } from '../db/batched.ts'
import { columnsOf } from '../db/columns.ts'
import type { Db } from '../db/pool.ts'
import { rowSource } from '../ledger/command.ts'

export type Customer = {
  readonly id: string
  readonly partner_id: string
  readonly name: string
  readonly document: string
  readonly document_type: 'cpf' | 'cnpj'
  readonly email: string | null
  readonly external_id: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly status: 'active' | 'blocked'
  /** By arrangement with the operator. */
  readonly third_party_payouts: boolean
  readonly created_at: Date
}

export async function insertCustomer(
  db: Db,
  customer: Omit<Customer, 'status' | 'third_party_payouts' | 'created_at'>,
): Promise<Customer> {
  const { rows } = await db.query({
    name: 'insert customer',
    text: `INSERT INTO customers (id, partner_id, name, document, document_type, email, external_id, metadata, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp()) RETURNING ${columnsOf('customers')}`,
    values: [
      customer.id,
      customer.partner_id,
      customer.name,
      customer.document,
      customer.document_type,
      customer.email,
      customer.external_id,
      JSON.stringify(customer.metadata),
    ],
  })
  return rows[0]
}

export const customerById = rowsById<Customer>('customers')

export type CustomerChange = {
  readonly name?: string
  readonly email?: string | null
  readonly metadata?: Readonly<Record<string, string>>
}

export async function changeCustomer(
  db: Db,
  where: { partner_id: string; id: string },
  change: CustomerChange,
): Promise<Customer | undefined> {
  const { rows } = await db.query(
    `UPDATE customers SET name = coalesce($3, name), email = CASE WHEN $4 THEN $5 ELSE email END, metadata = coalesce($6, metadata)
     WHERE id = $1 AND partner_id = $2 RETURNING ${columnsOf('customers')}`,
    [
      where.id,
      where.partner_id,
      change.name ?? null,
      change.email !== undefined,
      change.email ?? null,
      change.metadata === undefined ? null : JSON.stringify(change.metadata),
    ],
  )
  return rows[0]
}

export async function setStatus(
  db: Db,
  id: string,
  status: Customer['status'],
): Promise<Customer | undefined> {
  const { rows } = await db.query(
    `UPDATE customers SET status = $2 WHERE id = $1 RETURNING ${columnsOf('customers')}`,
    [id, status],
  )
  return rows[0]
}

export async function setThirdPartyPayouts(db: Db, id: string, allowed: boolean): Promise<void> {
  await db.query('UPDATE customers SET third_party_payouts = $2 WHERE id = $1', [id, allowed])
}

/** Read by money commands once the customer's accounts are held. */
export const customerRows = rowSource<
  Pick<Customer, 'id' | 'partner_id' | 'document' | 'name' | 'status' | 'third_party_payouts'>
>(
  'customers',
  'SELECT id, partner_id, document, name, status, third_party_payouts FROM customers WHERE id = ANY($1::text[])',
)
