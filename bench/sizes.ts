import { rounded } from './slices.ts'
import type { Stage } from './stage.ts'

/** Bytes of tables and indexes on disk. Files grow by many pages at once, so only a large number of payouts gives a figure. */
type Grown = {
  /** Growth per payout, without the request log and the console's sums. */
  readonly payout: number
  readonly by_table: Readonly<Record<string, number>>
}

const LOGS = /^(requests|api_key_uses|daily|hourly|steps)/

export async function tableSizes(stage: Stage): Promise<Map<string, number>> {
  const rows = await stage.sql(
    `SELECT relname AS table, pg_total_relation_size(oid)::float AS size FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'sandbox'::regnamespace`,
  )
  return new Map(rows.map(({ table, size }) => [table, size]))
}

export function grownPerPayout(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  count: number,
): Grown {
  const grown = [...after]
    .map(([table, size]) => [table, rounded((size - (before.get(table) ?? 0)) / count, 1)] as const)
    .filter(([, size]) => size !== 0)
  const own = grown.filter(([table]) => !LOGS.test(table))
  return {
    payout: Math.round(own.reduce((sum, [, size]) => sum + size, 0)),
    by_table: Object.fromEntries(grown),
  }
}
