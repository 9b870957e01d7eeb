import { existsSync, readFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { Stage } from './stage.ts'

/** A line of the simulated rails' journal: the id that an order came under, and the order as it came. */
type JournalLine = {
  readonly id: string
  readonly order: { readonly id?: string; readonly send_id?: string; readonly description?: string | null }
}

/** Until a rail is told of something there is no file. */
export const readJournal = (file: string): JournalLine[] =>
  (existsSync(file) ? readFileSync(file, 'utf8') : '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

let keys = 0

/** The description carries the key, so that the journal tells by itself which payout it was told of. */
export function payoutOrder(customer_id: string, pix_key: string, amount = '100') {
  const idempotency_key = `payout-${++keys}`
  return {
    customer_id,
    amount,
    counterparty: { type: 'pix_key', pix_key },
    description: idempotency_key,
    idempotency_key,
  }
}

export function transferOrder(customer_id: string, amount = '1000000') {
  return {
    customer_id,
    asset: 'USDT',
    network: 'polygon',
    amount,
    destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    idempotency_key: `transfer-${++keys}`,
  }
}

/** One payout or transfer, as the table has it. */
type Row = {
  readonly id: string
  readonly customer_id: string
  readonly status: string
  readonly gross: bigint
  readonly key: string
  /** What the rail knows it by: send_id or tx_hash. */
  readonly rail_id: string
}

async function readPayouts({ worlds }: Stage): Promise<Row[]> {
  const { rows } = await worlds.sandbox.db.query(
    `SELECT id, customer_id, status, amount + fee AS gross, idempotency_key AS key, send_id AS rail_id FROM payouts ORDER BY id`,
  )
  return rows
}

async function readTransfers({ worlds }: Stage): Promise<Row[]> {
  const { rows } = await worlds.sandbox.db.query(
    `SELECT id, customer_id, status, amount_net + fee AS gross, idempotency_key AS key, tx_hash AS rail_id FROM transfers ORDER BY id`,
  )
  return rows
}

/** Nothing is on its way any more. */
export async function allFinal({ worlds }: Stage): Promise<boolean> {
  const { rows } = await worlds.sandbox.db.query(
    `SELECT FROM payouts WHERE status IN ('pending', 'processing')
      UNION ALL SELECT FROM transfers WHERE status IN ('pending', 'processing') LIMIT 1`,
  )
  return rows.length === 0
}

const endings: Readonly<Record<string, string>> = {
  completed: 'completed',
  confirmed: 'completed',
  failed: 'returned',
}

/**
 * Once everything is final: the table, the ledger, the events and the rail's own journal must tell one story, in which
 * each order was debited once, reached the rail under one id, and ended once.
 */
export async function expectOnce(
  stage: Stage,
): Promise<{ payouts: Row[]; transfers: Row[]; told: JournalLine[] }> {
  const payouts = await readPayouts(stage)
  const transfers = await readTransfers(stage)
  const orders = [...payouts, ...transfers]
  expect(orders.filter(({ status }) => endings[status] === undefined)).toEqual([])
  expect(new Set(orders.map(({ key }) => key)).size).toBe(orders.length)

  const movements = await listOf(
    stage,
    `SELECT cause_id AS id, movement AS one FROM entries WHERE movement <> 'credited' GROUP BY cause_id, movement ORDER BY movement`,
  )
  expect(movements).toEqual(new Map(orders.map(({ id, status }) => [id, ['accepted', endings[status]!]])))

  const told_of = await listOf(
    stage,
    `SELECT object_id AS id, sequence || ' ' || type AS one FROM events WHERE object_id ~ '^(po|tr)_' ORDER BY sequence`,
  )
  const passed = ({ id, status }: Row) => {
    const kind = id.startsWith('po_') ? 'pix.payout' : 'onchain.transfer'
    return [`1 ${kind}.created`, `2 ${kind}.processing`, `3 ${kind}.${status}`]
  }
  expect(told_of).toEqual(new Map(orders.map((order) => [order.id, passed(order)])))

  const told = readJournal(stage.journal)
  const ids = new Map<string, Set<string>>()
  for (const { id, order } of told) {
    const name = order.send_id === undefined ? order.id! : order.description!
    ids.set(name, (ids.get(name) ?? new Set()).add(id))
  }
  expect(ids).toEqual(
    new Map(orders.map(({ id, key, rail_id }) => [id.startsWith('po_') ? key : id, new Set([rail_id])])),
  )
  expect(new Set(told.map(({ id }) => id)).size).toBe(orders.length)

  expect((await stage.audit()).sandbox.findings).toEqual([])
  return { payouts, transfers, told }
}

async function listOf({ worlds }: Stage, sql: string): Promise<Map<string, string[]>> {
  const { rows } = await worlds.sandbox.db.query(sql)
  const lists = new Map<string, string[]>()
  for (const { id, one } of rows) lists.set(id, [...(lists.get(id) ?? []), one])
  return lists
}

/** What a customer has, and what of it is on its way. */
export async function balanceOf({ worlds }: Stage, customer_id: string, asset = 'BRL') {
  const { rows } = await worlds.sandbox.db.query(
    'SELECT balance, in_transit FROM balances WHERE customer_id = $1 AND asset = $2',
    [customer_id, asset],
  )
  return rows[0] as { balance: bigint; in_transit: bigint }
}

export const sum = (rows: readonly Row[]): bigint => rows.reduce((total, { gross }) => total + gross, 0n)
