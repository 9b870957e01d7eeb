import { assetNames } from '../../core/money.ts'
import { rowsById } from '../../db/batched.ts'
import { columnsOf } from '../../db/columns.ts'
import { EVENTS_REMOVED_UNTIL } from '../../db/event-horizon.ts'
import type { ListSource } from '../../db/newest.ts'
import type { Db } from '../../db/pool.ts'
import type { Check } from '../../ledger/audit.ts'
import { rowSource } from '../../ledger/command.ts'
import { namePattern, wordPatterns } from './name-pattern.ts'

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
  /** Set by the operator. */
  readonly third_party_payouts: boolean
  /** Sequence number of the customer's last event. */
  readonly sequence: number
  readonly created_at: Date
}

export async function insertCustomer(
  db: Db,
  customer: Omit<Customer, 'status' | 'third_party_payouts' | 'sequence' | 'created_at'>,
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

/** By a column that is unique per partner. */
export async function customerIdBy(
  db: Db,
  where: { partner_id: string; column: 'document' | 'external_id'; value: string },
): Promise<string | undefined> {
  const { partner_id, column, value } = where
  const { rows } = await db.query({
    name: `customer by ${column}`,
    text: `SELECT id FROM customers WHERE partner_id = $1 AND ${column} = $2`,
    values: [partner_id, value],
  })
  return rows[0]?.id
}

/** Customers whose names begin with this text, case-insensitively, in the order of their names. */
export async function customersByName(
  db: Db,
  where: { partner_id: string; begins: string; limit: number },
): Promise<Customer[]> {
  const { partner_id, begins, limit } = where
  const { rows } = await db.query(
    `SELECT ${columnsOf('customers')} FROM customers WHERE partner_id = $1 AND lower(name) LIKE lower($2)
     ORDER BY lower(name) USING ~<~ LIMIT ${limit}`,
    [partner_id, `${begins.replaceAll(/[\\%_]/g, '\\$&')}%`],
  )
  return rows
}

/** Customers whose names are searched for words, newest first: about fifty milliseconds. */
const NAMES_READ_MAX = 50_000

/**
 * Customers whose name has, for each word of the text, a word that begins with it; among the newest `NAMES_READ_MAX`. An index
 * of words would cover all customers, but would double the cost of storing a customer (decision 0049).
 */
export async function customersByWords(
  db: Db,
  where: { partner_id: string; words: string; limit: number },
): Promise<Customer[]> {
  const { partner_id, words, limit } = where
  const values: unknown[] = [partner_id]
  const matches = wordPatterns(words).map((pattern) => `name ~ $${values.push(pattern)}`)
  if (matches.length === 0) return []
  const { rows } = await db.query(
    `SELECT ${columnsOf('customers')} FROM (SELECT ${columnsOf('customers')} FROM customers WHERE partner_id = $1
       ORDER BY created_at DESC, id DESC LIMIT ${NAMES_READ_MAX}) AS newest
     WHERE ${matches.join(' AND ')} ORDER BY created_at DESC, id DESC LIMIT ${limit}`,
    values,
  )
  return rows
}

export const customerList: ListSource = {
  table: 'customers',
  columns: columnsOf('customers'),
  walks: [{ by: ['document'] }, { by: ['external_id'] }, { by: ['status'] }, { by: [] }],
  conditions: { name: (name, param) => `name ~ ${param(namePattern(name))}` },
}

export type CustomerChange = {
  readonly name?: string
  readonly email?: string | null
  readonly metadata?: Readonly<Record<string, string>>
}

/** Locks the customer until the transaction ends, so that the events of its changes are in order. */
export async function lockCustomer(db: Db, id: string): Promise<Customer | undefined> {
  const { rows } = await db.query(
    `SELECT ${columnsOf('customers')} FROM customers WHERE id = $1 FOR NO KEY UPDATE`,
    [id],
  )
  return rows[0]
}

export async function countCustomerEvent(db: Db, id: string): Promise<number> {
  const { rows } = await db.query(
    'UPDATE customers SET sequence = sequence + 1 WHERE id = $1 RETURNING sequence',
    [id],
  )
  return rows[0].sequence
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

export async function setThirdPartyPayouts(
  db: Db,
  id: string,
  allowed: boolean,
): Promise<Customer | undefined> {
  const { rows } = await db.query(
    `UPDATE customers SET third_party_payouts = $2 WHERE id = $1 RETURNING ${columnsOf('customers')}`,
    [id, allowed],
  )
  return rows[0]
}

/** The fields of a customer that an order needs. */
export type OrderingCustomer = Pick<
  Customer,
  'id' | 'partner_id' | 'document' | 'name' | 'status' | 'third_party_payouts'
>

export const orderingColumns = 'id, partner_id, document, name, status, third_party_payouts'

/** Read by money commands after the customer's accounts are locked. */
export const customerRows = rowSource<OrderingCustomer>(
  'customers',
  `SELECT ${orderingColumns} FROM customers WHERE id = ANY($1::text[])`,
)

const allAssets = assetNames.map((name) => `'${name}'`).join(', ')

export const customerChecks: readonly Check[] = [
  {
    name: 'every customer has a partner and one account per asset, and every account has a customer',
    walk: 'customers',
    sql: (within) => `SELECT coalesce(c.id, b.customer_id) AS object_id, c.partner_id, b.partners, b.assets
      FROM (SELECT id, partner_id FROM customers WHERE ${within('id')}) AS c
      FULL JOIN (SELECT customer_id, array_agg(DISTINCT partner_id) AS partners, array_agg(asset ORDER BY asset COLLATE "C") AS assets
                 FROM balances WHERE ${within('customer_id')} GROUP BY customer_id) AS b ON b.customer_id = c.id
      LEFT JOIN shared.partners s ON s.id = c.partner_id
      WHERE s.id IS NULL OR b.partners IS DISTINCT FROM ARRAY[c.partner_id]
        OR b.assets IS DISTINCT FROM (SELECT array_agg(name ORDER BY name COLLATE "C") FROM unnest(ARRAY[${allAssets}]) AS name)`,
  },
  {
    // The event shows name, e-mail, status, third-party payouts and metadata. A trigger prevents changes of the document.
    name: 'every customer equals its last event',
    walk: 'customers',
    sql: (within) => `SELECT c.id AS object_id, c.partner_id, c.sequence, e.type FROM customers c
      LEFT JOIN events e ON e.object_id = c.id AND e.sequence = c.sequence
      WHERE ${within('c.id')} AND (EXISTS (SELECT FROM events n WHERE n.object_id = c.id AND n.sequence > c.sequence) OR CASE
        -- Where an earlier event is too young to be removed, so is this one.
        WHEN e.id IS NULL THEN EXISTS (SELECT FROM events n WHERE n.object_id = c.id AND n.created_at > ${EVENTS_REMOVED_UNTIL})
          OR c.created_at > ${EVENTS_REMOVED_UNTIL}
        ELSE NOT starts_with(e.type, 'customer.') OR e.partner_id <> c.partner_id OR e.data ->> 'name' IS DISTINCT FROM c.name
          OR e.data ->> 'email' IS DISTINCT FROM c.email OR e.data ->> 'status' IS DISTINCT FROM c.status
          OR coalesce((e.data ->> 'third_party_payouts')::boolean, c.third_party_payouts) <> c.third_party_payouts
          OR (e.data ->> 'metadata')::jsonb IS DISTINCT FROM c.metadata::jsonb END)`,
  },
]
