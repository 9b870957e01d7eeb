import type { Db } from '../../src/db/pool.ts'
import { auditPiece, endOfPiece, type Finding, type WalkName, walks } from '../../src/ledger/audit.ts'
import { REPLAY_NAME, replayCheck } from '../../src/money/treasury/replay.ts'
import { sliceChecks } from '../../src/node/worlds.ts'

/** What the background would find: every walk from its beginning to its end, in pieces of so many rows. */
export async function findInPieces(db: Db, most: number): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const walk of Object.keys(walks) as WalkName[]) {
    let after: unknown[] | null = null
    do {
      const upto: unknown[] | null = await endOfPiece(db, walk, after, most)
      findings.push(...(await auditPiece(db, sliceChecks, walk, { after, upto })))
      after = upto
    } while (after !== null)
  }
  const wrong = await replayCheck.find(db)
  if (wrong.length > 0) findings.push({ check: REPLAY_NAME, found: wrong.length, examples: wrong })
  return findings
}
