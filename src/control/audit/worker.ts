import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { openLoop } from '../../core/loop.ts'
import { transaction } from '../../db/pool.ts'
import { type Check, type Finding, orFailure, runSearchCheck, type SearchCheck } from '../../ledger/audit.ts'
import { recordException } from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { fewerRows, inSnapshot, pieceNames, readPiece, stages } from './piece.ts'
import {
  type AuditProgress,
  beginPass,
  endPass,
  type PassPosition,
  readProgress,
  releaseAuditLease,
  savePosition,
  saveProved,
  takeAuditLease,
} from './progress.ts'
import { proveByPass } from './proofs.ts'
import { proveRecent } from './recent.ts'

/**
 * The background audit, on one node at a time. It checks recent changes soon after they happen, along the log of events. In
 * addition it passes over all books piece by piece, each in a short snapshot that blocks nothing; slowly, because old rows
 * should not change; and then begins again. A finding becomes an exception.
 */
export type AuditWorker = { stop(): Promise<void> }

type AuditWorkerOptions = {
  readonly checks: readonly Check[]
  /** Checks that run as a whole, at the end of a pass. */
  readonly at_end?: readonly SearchCheck[]
  readonly log: Logger
  /** Time between the beginnings of two passes; a pass that takes longer delays the next one. */
  readonly every_ms: number
  /** The share of time that the audit may work, in percent. */
  readonly share_pct: number
  /** The most rows of a table in a piece. */
  readonly most?: number
  /** Delay before the first poll; `poll_ms` is the longest interval between two. */
  readonly first_ms?: number
  readonly poll_ms?: number
}

const PIECE_ROWS = 4000
/** Roughly how many entries belong to the object of one event. */
const ROWS_PER_EVENT = 4
const LEASE_MS = 60_000
const POLL_MS = 10_000
/** Leaves a server that has just started time for other work. */
const FIRST_MS = 20_000
/** The most exceptions per check and piece; the number of findings is always recorded. */
const EXCEPTIONS_AT_ONCE = 20

export function openAuditWorker(world: World, options: AuditWorkerOptions): AuditWorker {
  const { log, every_ms } = options
  const { db } = world
  const node = randomUUID()
  const full = options.most ?? PIECE_ROWS
  let most = full
  let rest_ms = 0
  let pace = unpaced

  async function take(): Promise<void> {
    const next = await checkOnce(world, node, { ...options, most }, pace)
    rest_ms = next.rest_ms
    pace = next.pace
    most = Math.min(full, most * 2)
  }

  function retryWithFewerRows(error: unknown): void {
    // The piece may have been too large.
    most = fewerRows(most)
    log.warn(
      { err: error, environment: world.environment },
      'audit: a piece could not be read; trying again with fewer rows',
    )
    rest_ms = Math.min(POLL_MS, every_ms)
  }

  if (every_ms === 0) return { stop: () => Promise.resolve() }
  const first_ms = options.first_ms ?? Math.min(FIRST_MS, every_ms)
  const loop = openLoop(take, { poll_ms: () => rest_ms, first_ms, onError: retryWithFewerRows })
  return {
    async stop() {
      await loop.stop()
      await releaseAuditLease(db, node).catch(() => {})
    },
  }
}

/** What this node remembers between two runs. */
type Pace = {
  /** When to read the next piece of the pass. */
  readonly piece_at: number
  /** The last piece was of the log: if both have more, the pass is next. */
  readonly was_recent: boolean
}
const unpaced: Pace = { piece_at: 0, was_recent: false }

type NextRun = { readonly rest_ms: number; readonly pace: Pace }

/** Checks one piece of the log or of the pass, if this node can get the lease and there is one. */
async function checkOnce(
  world: World,
  node: string,
  options: AuditWorkerOptions,
  pace: Pace,
): Promise<NextRun> {
  const { db } = world
  const poll_ms = options.poll_ms ?? Math.min(POLL_MS, options.every_ms)
  const seen = await readProgress(db)
  const rest = (ms: number): NextRun => ({ rest_ms: Math.min(poll_ms, ms), pace })
  if (seen.leased && seen.node !== node) return rest(poll_ms)
  const due_in = Math.max(dueIn(seen, options.every_ms), pace.piece_at - performance.now())
  const behind = seen.proved_upto === null || seen.proved_upto < seen.log_end
  if (due_in > 0 && !behind) return rest(due_in)
  const taken = await takeAuditLease(db, node, LEASE_MS)
  if (!taken) return rest(poll_ms)
  const recent = behind && (due_in > 0 || !pace.was_recent)
  const started = performance.now()
  if (recent) await followLog(world, node, taken, options)
  else await checkNextPiece(world, node, taken, options)
  const took = performance.now() - started
  const rest_ms = (took * (100 - options.share_pct)) / options.share_pct
  const piece_at = recent ? pace.piece_at : started + spread(taken, options)
  return { rest_ms, pace: { piece_at, was_recent: recent } }
}

/** Spreads the pieces of a pass over half of `every_ms`, judging by the number of pieces of the last pass. */
const spread = ({ last_pieces }: AuditProgress, { every_ms }: AuditWorkerOptions): number =>
  last_pieces === null ? 0 : every_ms / 2 / last_pieces

/** Checks the objects of the next events. The first time it starts at the end of the log: the pass covers the rest. */
async function followLog(
  world: World,
  node: string,
  { proved_upto, log_end }: AuditProgress,
  { checks, log, most = PIECE_ROWS }: AuditWorkerOptions,
): Promise<void> {
  if (proved_upto === null) return saveProved(world.db, node, log_end, 0)
  const { findings, position } = await inSnapshot(world.db, most, (tx, too_much) =>
    proveRecent(tx, checks, { after: proved_upto, most: Math.ceil(most / ROWS_PER_EVENT) }, too_much),
  )
  await report(world, log, findings)
  await saveProved(world.db, node, position, countOf(findings))
}

const countOf = (findings: readonly Finding[]): number =>
  findings.reduce((sum, finding) => sum + finding.found, 0)

/** Checks the next piece of the pass. */
async function checkNextPiece(
  world: World,
  node: string,
  taken: AuditProgress,
  options: AuditWorkerOptions,
): Promise<void> {
  const { db } = world
  if (taken.started_at === null) await beginPass(db, node, stages[0]!)
  const place: PassPosition = { stage: taken.stage ?? stages[0]!, position: taken.position }
  const { findings, next } = await readPiece(db, place, { most: PIECE_ROWS, ...options })
  await report(world, options.log, findings)
  const found = countOf(findings)
  if (next) await savePosition(db, node, next, found)
  else await finish(world, node, found + (await runEndChecks(world, options)), options)
}

/** Ends the pass and stores its proof. */
async function finish(
  { db }: World,
  node: string,
  found: number,
  { checks, at_end = [] }: AuditWorkerOptions,
): Promise<void> {
  const ended = await endPass(db, node, found)
  if (ended) await proveByPass(db, ended, [...pieceNames(checks), ...at_end.map(({ name }) => name)])
}

/** Runs the checks of `at_end`, each in its own snapshot. Returns the number of findings. */
async function runEndChecks(world: World, { at_end = [], log }: AuditWorkerOptions): Promise<number> {
  let found = 0
  for (const check of at_end) {
    const finding = await transaction(world.db, async (tx) => {
      await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
      // The check may query another schema meanwhile.
      await tx.query(`SET LOCAL idle_in_transaction_session_timeout = '5min'`)
      return orFailure(tx, check.name, () => runSearchCheck(tx, check))
    })
    if (finding) await report(world, log, [finding])
    found += finding?.found ?? 0
  }
  return found
}

function dueIn({ started_at, last_started_at, now }: AuditProgress, every_ms: number): number {
  if (started_at !== null || last_started_at === null) return 0
  return last_started_at.getTime() + every_ms - now.getTime()
}

async function report(world: World, log: Logger, findings: readonly Finding[]): Promise<void> {
  for (const { check, found, examples } of findings) {
    log.error(
      { environment: world.environment, check, found, example: examples[0] },
      'audit: a check found rows that must not exist; recording them as exceptions',
    )
    for (const { object_id, partner_id = null, ...row } of examples.slice(0, EXCEPTIONS_AT_ONCE)) {
      await recordException(world.db, world.clock, {
        kind: 'audit',
        rail: '',
        object_id: String(object_id),
        partner_id: partner_id as string | null,
        details: { check, found, ...row },
      })
    }
  }
}
