import type { Db } from '../db/pool.ts'
import type { Check } from '../ledger/audit.ts'
import { insertInto, rowSource, updateOf } from '../ledger/command.ts'
import type { BankAccount } from '../rails/pix/rail.ts'

/** Where a payout goes: the holder as the directory, or the caller, named it. The document is whole here, and only here. */
export type Counterparty = { readonly name: string; readonly document: string } & (
  | { readonly type: 'pix_key'; readonly pix_key: string }
  | ({ readonly type: 'bank_account' } & BankAccount)
)

export type PayoutStatus = 'pending' | 'processing' | 'completed' | 'failed'

export type Payout = {
  readonly id: string
  readonly partner_id: string
  readonly customer_id: string
  readonly api_key_id: string
  readonly idempotency_key: string
  readonly amount: bigint
  readonly fee: bigint
  readonly status: PayoutStatus
  readonly counterparty: Counterparty
  readonly description: string | null
  readonly send_id: string
  readonly end_to_end_id: string | null
  readonly failure_code: string | null
  readonly rail_code: string | null
  readonly attempts: number
  readonly next_attempt_at: Date
  readonly sequence: number
  readonly created_at: Date
  readonly completed_at: Date | null
}

export const insertPayouts = insertInto('payouts', {
  id: 'text',
  partner_id: 'text',
  customer_id: 'text',
  api_key_id: 'text',
  idempotency_key: 'text',
  amount: 'bigint',
  fee: 'bigint',
  status: 'text',
  counterparty: 'json',
  description: 'text',
  send_id: 'text',
  attempts: 'integer',
  next_attempt_at: 'timestamptz',
  sequence: 'integer',
  created_at: 'timestamptz',
})

export const payoutRow = (payout: Payout) => ({
  ...payout,
  counterparty: JSON.stringify(payout.counterparty),
})

export const payoutRows = rowSource<Payout>(
  'payouts',
  'SELECT * FROM payouts WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE',
)

export const settlePayouts = updateOf(payoutRows, 'payouts', {
  id: 'text',
  status: 'text',
  end_to_end_id: 'text',
  failure_code: 'text',
  rail_code: 'text',
  sequence: 'integer',
  completed_at: 'timestamptz',
})

export async function selectPayout(
  db: Db,
  where: { id: string; partner_id: string },
): Promise<Payout | undefined> {
  const { rows } = await db.query({
    name: 'select payout',
    text: 'SELECT * FROM payouts WHERE id = $1 AND partner_id = $2',
    values: [where.id, where.partner_id],
  })
  return rows[0]
}

export async function payoutById(db: Db, id: string): Promise<Payout | undefined> {
  const { rows } = await db.query({
    name: 'payout by id',
    text: 'SELECT * FROM payouts WHERE id = $1',
    values: [id],
  })
  return rows[0]
}

/** On their way for longer than they should be: the operator's desk. */
export async function overduePayouts(db: Db, older_than_ms: number): Promise<Payout[]> {
  const { rows } = await db.query(
    `SELECT * FROM payouts WHERE status IN ('pending', 'processing')
       AND created_at < clock_timestamp() - make_interval(secs => $1::float8 / 1000) ORDER BY created_at LIMIT 100`,
    [older_than_ms],
  )
  return rows
}

export type PayoutFilter = {
  readonly partner_id: string
  readonly customer_id: string | null
  readonly status: string | null
  readonly after: Date | null
  readonly before: Date | null
  readonly position: { readonly at: Date; readonly id: string } | undefined
  readonly limit: number
}

export async function selectPayouts(db: Db, filter: PayoutFilter): Promise<Payout[]> {
  const { rows } = await db.query({
    name: 'select payouts',
    text: `SELECT * FROM payouts WHERE partner_id = $1 AND ($2::text IS NULL OR customer_id = $2) AND ($3::text IS NULL OR status = $3)
      AND ($4::timestamptz IS NULL OR created_at >= $4) AND ($5::timestamptz IS NULL OR created_at < $5)
      AND ($6::timestamptz IS NULL OR (created_at, id) < ($6, $7))
      ORDER BY created_at DESC, id DESC LIMIT $8`,
    values: [
      filter.partner_id,
      filter.customer_id,
      filter.status,
      filter.after,
      filter.before,
      filter.position?.at ?? null,
      filter.position?.id ?? null,
      filter.limit,
    ],
  })
  return rows
}

/** Takes what is due for itself until the lease ends. Whoever else looks meanwhile passes over it. */
export async function takeDue(db: Db, lease_ms: number, limit: number): Promise<Payout[]> {
  const { rows } = await db.query({
    name: 'take due payouts',
    text: `UPDATE payouts SET attempts = attempts + 1, next_attempt_at = clock_timestamp() + make_interval(secs => $1::float8 / 1000)
      WHERE id IN (SELECT id FROM payouts WHERE status IN ('pending', 'processing') AND next_attempt_at <= clock_timestamp()
        ORDER BY next_attempt_at LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING *`,
    values: [lease_ms, limit],
  })
  return rows
}

export async function retryLater(db: Db, id: string, delay_ms: number): Promise<void> {
  await db.query({
    name: 'retry payout later',
    text: `UPDATE payouts SET next_attempt_at = clock_timestamp() + make_interval(secs => $2::float8 / 1000)
      WHERE id = $1 AND status IN ('pending', 'processing')`,
    values: [id, delay_ms],
  })
}

export const payoutChecks: readonly Check[] = [
  {
    name: 'every payout is debited once and in full, and ends in exactly one place',
    sql: `SELECT p.id AS payout_id, p.status, e.accepted, e.completed, e.returned
      FROM payouts p FULL JOIN (
        SELECT cause_id,
          sum(amount) FILTER (WHERE movement = 'accepted' AND account = 'customer') AS accepted,
          sum(amount) FILTER (WHERE movement = 'completed' AND account = 'in_transit:pix') AS completed,
          sum(amount) FILTER (WHERE movement = 'returned' AND account = 'customer') AS returned
        FROM entries WHERE cause_id LIKE 'po\\_%' GROUP BY cause_id) e ON e.cause_id = p.id
      WHERE p.id IS NULL OR e.accepted IS DISTINCT FROM -(p.amount + p.fee)
        OR e.completed IS DISTINCT FROM (CASE WHEN p.status = 'completed' THEN -(p.amount + p.fee) END)
        OR e.returned IS DISTINCT FROM (CASE WHEN p.status = 'failed' THEN p.amount + p.fee END)`,
  },
]
