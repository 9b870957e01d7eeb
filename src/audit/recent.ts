import type { Db } from '../db/pool.ts'
import { auditCauses, type Check, type Finding } from '../ledger/audit.ts'

/**
 * Every change of a payout, a transfer, a trade, a deposit is told in the log of events, with the change itself. So whoever
 * follows the log comes by all that happened, soon after it did, and by nothing else, however long the history.
 */
export type Recent = {
  readonly findings: readonly Finding[]
  /** Up to here all is proved. */
  readonly position: bigint
}

/** The next events of the log, and everything about the objects that they tell of. */
export async function proveRecent(
  tx: Db,
  checks: readonly Check[],
  { after, most }: { readonly after: bigint; readonly most: number },
  too_much: (error: unknown) => boolean,
): Promise<Recent> {
  const { rows } = await tx.query({
    name: 'events to prove',
    text: 'SELECT place AS position, object_id FROM events_behind($1, $2)',
    values: [after, most],
  })
  if (rows.length === 0) return { findings: [], position: after }
  const causes = [...new Set<string>(rows.map(({ object_id }) => object_id))]
  return { findings: await auditCauses(tx, checks, causes, too_much), position: rows.at(-1).position }
}
