import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { openLoop } from '../core/loop.ts'
import { transaction } from '../db/pool.ts'
import { recordException } from '../exceptions/store.ts'
import { type Check, type Finding, orFailure, type SearchCheck, search } from '../ledger/audit.ts'
import type { World } from '../world.ts'
import { fewerRows, inSnapshot, pieceNames, readPiece, stages } from './piece.ts'
import {
  beginPass,
  endPass,
  giveTurn,
  type Place,
  type Progress,
  readProgress,
  savePlace,
  saveProved,
  takeTurn,
} from './progress.ts'
import { proveByPass } from './proofs.ts'
import { proveRecent } from './recent.ts'

/**
 * The audit that runs by itself, in one node at a time. What happens is proved soon after, along the log of events. Beside
 * that it goes piece by piece through all the books, each piece in a short snapshot of its own, so that it holds nothing up;
 * slowly, for nothing there should have changed; then from the beginning again. What it finds becomes an exception.
 */
export type AuditWorker = { stop(): Promise<void> }

export type AuditWorkerOptions = {
  readonly checks: readonly Check[]
  /** What is looked at whole, at the end of a pass. */
  readonly at_end?: readonly SearchCheck[]
  readonly log: Logger
  /** A pass over everything begins so long after the one before it began, or when that one has ended. */
  readonly every_ms: number
  /** How much of the time it may be at work, in percent. */
  readonly share_pct: number
  /** How many rows of a table a piece may have. */
  readonly most?: number
  /** Before the first look, and between two. */
  readonly first_ms?: number
  readonly look_ms?: number
}

const PIECE_ROWS = 4000
/** About so many entries belong to what one event tells of. */
const ROWS_PER_EVENT = 4
const LEASE_MS = 60_000
const LOOK_MS = 10_000
/** A server that has just started has other things to do. */
const FIRST_MS = 20_000
/** Of one check in one piece; the number of findings is always told. */
const EXCEPTIONS_AT_ONCE = 20

export function openAuditWorker(world: World, options: AuditWorkerOptions): AuditWorker {
  const { log, every_ms } = options
  const { db } = world
  const node = randomUUID()
  const full = options.most ?? PIECE_ROWS
  let most = full
  let rest_ms = 0
  let pace = free

  async function take(): Promise<void> {
    const next = await turn(world, node, { ...options, most }, pace)
    rest_ms = next.rest_ms
    pace = next.pace
    most = Math.min(full, most * 2)
  }

  function giveWay(error: unknown): void {
    // Perhaps it was too much at once.
    most = fewerRows(most)
    log.warn({ err: error, environment: world.environment }, 'audit: a piece could not be read')
    rest_ms = Math.min(LOOK_MS, every_ms)
  }

  if (every_ms === 0) return { stop: () => Promise.resolve() }
  const first_ms = options.first_ms ?? Math.min(FIRST_MS, every_ms)
  const loop = openLoop(take, { poll_ms: () => rest_ms, first_ms, onError: giveWay })
  return {
    async stop() {
      await loop.stop()
      await giveTurn(db, node).catch(() => {})
    },
  }
}

/** What this node remembers from one turn to the next. */
type Pace = {
  /** When the next piece of the pass is to be read. */
  readonly piece_at: number
  /** The last piece was of the log: if there is more of both, the pass is next. */
  readonly was_recent: boolean
}
const free: Pace = { piece_at: 0, was_recent: false }

type Turn = { readonly rest_ms: number; readonly pace: Pace }

/** One piece, of the log or of the pass, if it is this node's turn and there is one. */
async function turn(world: World, node: string, options: AuditWorkerOptions, pace: Pace): Promise<Turn> {
  const { db } = world
  const look_ms = options.look_ms ?? Math.min(LOOK_MS, options.every_ms)
  const seen = await readProgress(db)
  const rest = (ms: number): Turn => ({ rest_ms: Math.min(look_ms, ms), pace })
  if (seen.leased && seen.node !== node) return rest(look_ms)
  const due_in = Math.max(dueIn(seen, options.every_ms), pace.piece_at - performance.now())
  const behind = seen.proved_upto === null || seen.proved_upto < seen.log_end
  if (due_in > 0 && !behind) return rest(due_in)
  const taken = await takeTurn(db, node, LEASE_MS)
  if (!taken) return rest(look_ms)
  const recent = behind && (due_in > 0 || !pace.was_recent)
  const started = performance.now()
  if (recent) await followLog(world, node, taken, options)
  else await goOn(world, node, taken, options)
  const took = performance.now() - started
  const rest_ms = (took * (100 - options.share_pct)) / options.share_pct
  const piece_at = recent ? pace.piece_at : started + spread(taken, options)
  return { rest_ms, pace: { piece_at, was_recent: recent } }
}

/** A pass takes up to half of the time between two, if the last one is anything to go by. */
const spread = ({ last_pieces }: Progress, { every_ms }: AuditWorkerOptions): number =>
  last_pieces === null ? 0 : every_ms / 2 / last_pieces

/** What the log tells of next. Who has never followed it begins at its end: what was before is for the pass. */
async function followLog(
  world: World,
  node: string,
  { proved_upto, log_end }: Progress,
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

/** The next piece of the pass. */
async function goOn(world: World, node: string, taken: Progress, options: AuditWorkerOptions): Promise<void> {
  const { db } = world
  if (taken.started_at === null) await beginPass(db, node, stages[0]!)
  const place: Place = { stage: taken.stage ?? stages[0]!, position: taken.position }
  const { findings, next } = await readPiece(db, place, { most: PIECE_ROWS, ...options })
  await report(world, options.log, findings)
  const found = countOf(findings)
  if (next) await savePlace(db, node, next, found)
  else await finish(world, node, found + (await lookAtEnd(world, options)), options)
}

/** The pass is over, and what it proved is kept. */
async function finish(
  { db }: World,
  node: string,
  found: number,
  { checks, at_end = [] }: AuditWorkerOptions,
): Promise<void> {
  const ended = await endPass(db, node, found)
  if (ended) await proveByPass(db, ended, [...pieceNames(checks), ...at_end.map(({ name }) => name)])
}

/** Each in a snapshot of its own. Returns how much was found. */
async function lookAtEnd(world: World, { at_end = [], log }: AuditWorkerOptions): Promise<number> {
  let found = 0
  for (const check of at_end) {
    const finding = await transaction(world.db, async (tx) => {
      await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
      // What it looks at may be elsewhere.
      await tx.query(`SET LOCAL idle_in_transaction_session_timeout = '5min'`)
      return orFailure(tx, check.name, () => search(tx, check))
    })
    if (finding) await report(world, log, [finding])
    found += finding?.found ?? 0
  }
  return found
}

function dueIn({ started_at, last_started_at, now }: Progress, every_ms: number): number {
  if (started_at !== null || last_started_at === null) return 0
  return last_started_at.getTime() + every_ms - now.getTime()
}

async function report(world: World, log: Logger, findings: readonly Finding[]): Promise<void> {
  for (const { check, found, examples } of findings) {
    log.error(
      { environment: world.environment, check, found, example: examples[0] },
      'the audit found what must not exist',
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
