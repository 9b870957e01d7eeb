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

export const isFinal = ({ status }: Pick<Payout, 'status'>): boolean =>
  status === 'completed' || status === 'failed'

export const payoutColumns = `id, partner_id, customer_id, api_key_id, idempotency_key, amount, fee, status, counterparty,
  description, send_id, end_to_end_id, failure_code, rail_code, attempts, next_attempt_at, sequence, created_at, completed_at`

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
  `SELECT ${payoutColumns} FROM payouts WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE`,
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
    text: `SELECT ${payoutColumns} FROM payouts WHERE id = $1 AND partner_id = $2`,
    values: [where.id, where.partner_id],
  })
  return rows[0]
}

export async function payoutById(db: Db, id: string): Promise<Payout | undefined> {
  const { rows } = await db.query({
    name: 'payout by id',
    text: `SELECT ${payoutColumns} FROM payouts WHERE id = $1`,
    values: [id],
  })
  return rows[0]
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
