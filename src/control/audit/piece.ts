import { isCanceled } from '../../db/failure.ts'
import { type Db, type Pool, transaction } from '../../db/pool.ts'
import {
  auditPiece,
  type Check,
  endOfPiece,
  type Finding,
  ledgerChecks,
  orFailure,
  type WalkName,
  walks,
} from '../../ledger/audit.ts'
import {
  compareReplay,
  emptyReplay,
  packReplay,
  REPLAY_NAME,
  stepReplay,
  unpackReplay,
} from '../../money/treasury/replay.ts'
import type { PassPosition, Stage } from './progress.ts'

/** The stages of a pass over all books: walk by walk, and then a replay of the treasury's sums. */
export const stages: readonly Stage[] = [...(Object.keys(walks) as WalkName[]), 'positions']

/** The names of the checks that run in pieces. A check that needs all rows at once is not among them. */
export const pieceNames = (checks: readonly Check[]): string[] => [
  ...[...ledgerChecks, ...checks].filter((check) => 'walk' in check).map(({ name }) => name),
  REPLAY_NAME,
]

const LEAST_ROWS = 100
export const fewerRows = (rows: number): number => Math.max(LEAST_ROWS, Math.floor(rows / 2))

/** Reads in a short snapshot. `too_much` tells a timeout, after which the piece is tried again with fewer rows. */
export function inSnapshot<T>(
  db: Pool,
  most: number,
  read: (tx: Db, too_much: (error: unknown) => boolean) => Promise<T>,
): Promise<T> {
  return transaction(db, async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await tx.query(`SET LOCAL statement_timeout = '10s'; SET LOCAL enable_hashjoin = on`)
    return read(tx, (error) => most > LEAST_ROWS && isCanceled(error))
  })
}

type Piece = { readonly findings: readonly Finding[]; readonly next: PassPosition | undefined }

export function readPiece(
  db: Pool,
  place: PassPosition,
  { checks, most }: { readonly checks: readonly Check[]; readonly most: number },
): Promise<Piece> {
  const { stage } = place
  const following = stages[stages.indexOf(stage) + 1]
  const nextStage = following && { stage: following, position: null }
  return inSnapshot(db, most, async (tx, too_much) => {
    if (stage === 'positions') {
      const step = await orFailure(tx, REPLAY_NAME, () => replayStep(tx, place.position), too_much)
      if ('check' in step) return { findings: [step], next: nextStage }
      const { findings, position } = step
      return { findings, next: position === null ? nextStage : { stage, position } }
    }
    const after = place.position as unknown[] | null
    const upto = await endOfPiece(tx, stage, after, most)
    const findings = await auditPiece(tx, checks, stage, { after, upto }, too_much)
    const position = upto?.map((id) => (typeof id === 'bigint' ? id.toString() : id))
    return { findings, next: position ? { stage, position } : nextStage }
  })
}

/** Replays the next folds; after the last one, returns the differences to the stored sums. */
async function replayStep(
  tx: Db,
  position: unknown,
): Promise<{ findings: readonly Finding[]; position: unknown }> {
  const before = position === null ? emptyReplay : unpackReplay(position)
  const after = await stepReplay(tx, before)
  if (!after.done) return { findings: [], position: packReplay(after) }
  const wrong = await compareReplay(tx, after)
  const findings = wrong.length === 0 ? [] : [{ check: REPLAY_NAME, found: wrong.length, examples: wrong }]
  return { findings, position: null }
}
