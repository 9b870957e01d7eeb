import { takeDue } from '../../src/db/due.ts'
import type { World } from '../../src/world.ts'

/** Takes the one payout or transfer that is due, whoever has looked at it before; undefined: none is. */
export async function takeOne<Row>(
  { db, lease_ms }: Pick<World, 'db' | 'lease_ms'>,
  table: 'payouts' | 'transfers',
  columns: string,
): Promise<Row | undefined> {
  for (const followed of [false, true]) {
    const due = { name: `test ${table} ${followed}`, table, columns, followed }
    const [row] = await takeDue<Row>(db, due, lease_ms, 1)
    if (row) return row
  }
  return undefined
}
