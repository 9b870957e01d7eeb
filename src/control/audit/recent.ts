import type { Db } from '../../db/pool.ts'
import { auditCauses, type Check, type Finding } from '../../ledger/audit.ts'

/**
 * Every change of a payout, transfer, trade or deposit writes an event in the same transaction. So following the log of
 * events finds every recent change, soon after it happened, however long the history is.
 */
type Recent = {
  readonly findings: readonly Finding[]
  /** All changes up to this position are proved. */
  readonly position: bigint
}

/** Checks everything about the objects of the next events in the log. */
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
