import type { Asset } from '../core/money.ts'
import type { Db } from '../db/pool.ts'
import type { Check } from '../ledger/audit.ts'
import { insertInto, rowSource, updateOf } from '../ledger/command.ts'
import type { Network } from './address.ts'

export type TransferStatus = 'pending' | 'processing' | 'confirmed' | 'failed'

export type Transfer = {
  readonly id: string
  readonly partner_id: string
  readonly customer_id: string
  readonly api_key_id: string
  readonly idempotency_key: string
  readonly asset: Extract<Asset, 'USDT' | 'BTC'>
  readonly network: Network
  readonly amount_net: bigint
  readonly fee: bigint
  readonly status: TransferStatus
  readonly destination_address: string
  readonly tx_hash: string | null
  readonly signed_transaction: string | null
  readonly failure_code: string | null
  readonly rail_code: string | null
  readonly attempts: number
  readonly next_attempt_at: Date
  readonly sequence: number
  readonly created_at: Date
  readonly completed_at: Date | null
}

export const isFinal = ({ status }: Pick<Transfer, 'status'>): boolean =>
  status === 'confirmed' || status === 'failed'

export const transferColumns = `id, partner_id, customer_id, api_key_id, idempotency_key, asset, network, amount_net, fee, status,
  destination_address, tx_hash, signed_transaction, failure_code, rail_code, attempts, next_attempt_at, sequence, created_at,
  completed_at`

export const insertTransfers = insertInto('transfers', {
  id: 'text',
  partner_id: 'text',
  customer_id: 'text',
  api_key_id: 'text',
  idempotency_key: 'text',
  asset: 'text',
  network: 'text',
  amount_net: 'bigint',
  fee: 'bigint',
  status: 'text',
  destination_address: 'text',
  attempts: 'integer',
  next_attempt_at: 'timestamptz',
  sequence: 'integer',
  created_at: 'timestamptz',
})

export const transferRows = rowSource<Transfer>(
  'transfers',
  `SELECT ${transferColumns} FROM transfers WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE`,
)

export const updateTransfers = updateOf(transferRows, 'transfers', {
  id: 'text',
  status: 'text',
  tx_hash: 'text',
  signed_transaction: 'text',
  failure_code: 'text',
  rail_code: 'text',
  sequence: 'integer',
  completed_at: 'timestamptz',
})

export async function selectTransfer(
  db: Db,
  where: { id: string; partner_id: string },
): Promise<Transfer | undefined> {
  const { rows } = await db.query({
    name: 'select transfer',
    text: `SELECT ${transferColumns} FROM transfers WHERE id = $1 AND partner_id = $2`,
    values: [where.id, where.partner_id],
  })
  return rows[0]
}

export async function transferById(db: Db, id: string): Promise<Transfer | undefined> {
  const { rows } = await db.query(`SELECT ${transferColumns} FROM transfers WHERE id = $1`, [id])
  return rows[0]
}

export const transferChecks: readonly Check[] = [
  {
    name: 'every transfer is debited once and in full, and ends in exactly one place',
    sql: `SELECT t.id AS transfer_id, t.status, e.accepted, e.completed, e.returned
      FROM transfers t FULL JOIN (
        SELECT cause_id,
          sum(amount) FILTER (WHERE movement = 'accepted' AND account = 'customer') AS accepted,
          sum(amount) FILTER (WHERE movement = 'completed' AND account LIKE 'in\\_transit:%') AS completed,
          sum(amount) FILTER (WHERE movement = 'returned' AND account = 'customer') AS returned
        FROM entries WHERE cause_id LIKE 'tr\\_%' GROUP BY cause_id) e ON e.cause_id = t.id
      WHERE t.id IS NULL OR e.accepted IS DISTINCT FROM -(t.amount_net + t.fee)
        OR e.completed IS DISTINCT FROM (CASE WHEN t.status = 'confirmed' THEN -(t.amount_net + t.fee) END)
        OR e.returned IS DISTINCT FROM (CASE WHEN t.status = 'failed' THEN t.amount_net + t.fee END)`,
  },
]
