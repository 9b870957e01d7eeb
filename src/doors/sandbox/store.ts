import { columnsOf } from '../../db/columns.ts'
import type { Db } from '../../db/pool.ts'
import { rowSource, updateOf } from '../../ledger/command.ts'
import { quoteRows } from '../../money/quotes/store.ts'
import { type FedPair, fedPairs } from '../../rails/prices/feed.ts'

export type SetPrice = { readonly id: string; readonly price: bigint; readonly observed_at: Date | null }

/** One row for each pair that the partner has set. */
export const setPriceId = (partner_id: string, pair: FedPair): string => `${partner_id} ${pair}`

export const setPriceRows = rowSource<SetPrice>(
  'sandbox prices',
  `SELECT ${columnsOf('sandbox_prices')} FROM sandbox_prices WHERE id = ANY($1::text[])`,
)

export async function setPricesOf(db: Db, partner_id: string): Promise<Map<string, SetPrice>> {
  const ids = fedPairs.map((pair) => setPriceId(partner_id, pair))
  const { rows } = await db.query({ name: 'set prices', text: setPriceRows.sql, values: [ids] })
  return new Map(rows.map((row: SetPrice) => [row.id, row]))
}

export async function savePrice(db: Db, { id, price, observed_at }: SetPrice): Promise<void> {
  await db.query(
    `INSERT INTO sandbox_prices (id, price, observed_at) VALUES ($1, $2, $3)
     ON CONFLICT (id) DO UPDATE SET price = excluded.price, observed_at = excluded.observed_at`,
    [id, price, observed_at],
  )
}

export const markExpired = updateOf(quoteRows, 'quotes', { id: 'text', expires_at: 'timestamptz' })
