import { rowSource } from '../../ledger/command.ts'

/** How many transactions were signed for a transfer. */
export const madeRows = rowSource<{ readonly id: string; readonly made: number }>(
  'transactions made',
  `SELECT transfer_id AS id, count(*)::integer AS made FROM transactions WHERE transfer_id = ANY($1::text[]) GROUP BY transfer_id`,
)
