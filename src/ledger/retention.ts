import type { ShouldContinue } from '../db/chore.ts'
import type { Db } from '../db/pool.ts'

/** A claim that expired a moment ago may be in use by a request under way, so claims are removed much later. */
const KEPT_AFTER_MS = 48 * 3600 * 1000
const STEP = 500

/**
 * Removes claims whose name is free again. Operators' claims never expire, and claims of open orders are not free yet: both
 * stay.
 */
export async function forgetClaims(
  db: Db,
  now: number,
  shouldContinue: ShouldContinue = () => true,
): Promise<void> {
  const older_than = new Date(now - KEPT_AFTER_MS)
  for (let gone = STEP; gone === STEP && shouldContinue(); ) {
    const { rows } = await db.query('SELECT forget_claims($1, $2) AS gone', [older_than, STEP])
    gone = rows[0].gone
  }
}

/** Deletes the ids of batches after an hour: the outcome of a batch is queried within seconds, if at all. */
export async function forgetCommits(db: Db, shouldContinue: ShouldContinue = () => true): Promise<void> {
  for (let gone = STEP; gone === STEP && shouldContinue(); ) {
    const answer = await db.query(
      `DELETE FROM commits WHERE id IN (SELECT id FROM commits
         WHERE committed_at < clock_timestamp() - interval '1 hour' ORDER BY committed_at LIMIT $1)`,
      [STEP],
    )
    gone = answer.rowCount ?? 0
  }
}
