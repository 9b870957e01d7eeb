import { networkNames } from '../../src/core/networks.ts'
import { takeDue } from '../../src/db/due.ts'
import type { FreeSlots } from '../../src/db/slots.ts'
import type { World } from '../../src/world.ts'

/** So many free slots on each rail, with nothing under way. */
export const freeSlotsFor = (table: 'payouts' | 'transfers', free: number): FreeSlots => ({
  rails: (table === 'payouts' ? ['pix'] : networkNames).map((rail) => ({ rail, free })),
  running: [],
  per_partner: free + 100,
})

/** Takes the one payout or transfer that is due, whoever has looked at it before; undefined: none is. */
export async function takeOne<Row>(
  { db, lease_ms }: Pick<World, 'db' | 'lease_ms'>,
  table: 'payouts' | 'transfers',
  columns: string,
): Promise<Row | undefined> {
  for (const followed of [false, true]) {
    const due = { name: `test ${table} ${followed}`, table, columns, followed }
    const [row] = await takeDue<Row>(db, due, lease_ms, freeSlotsFor(table, 1))
    if (row) return row
  }
  return undefined
}
