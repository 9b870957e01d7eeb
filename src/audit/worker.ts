import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { openLoop } from '../core/loop.ts'
import { isCanceled } from '../db/failure.ts'
import { type Db, type Pool, transaction } from '../db/pool.ts'
import { recordException } from '../exceptions/store.ts'
import {
  auditPiece,
  type Check,
  endOfPiece,
  type Finding,
  orFailure,
  type SearchCheck,
  search,
  type WalkName,
  walks,
} from '../ledger/audit.ts'
import {
  compareReplay,
  packReplay,
  REPLAY_NAME,
  startReplay,
  stepReplay,
  unpackReplay,
} from '../treasury/replay.ts'
import type { World } from '../world.ts'
import {
  beginPass,
  endPass,
  giveTurn,
  type Place,
  type Progress,
  readProgress,
  type Stage,
  savePlace,
  takeTurn,
} from './progress.ts'

import { namesOf, proveByPass } from './proofs.ts'

/**
 * The audit that runs by itself, in one node at a time: piece by piece through all the books, each piece in a short
 * snapshot of its own, so that it holds nothing up; then from the beginning again. What it finds becomes an exception.
 */
export type AuditWorker = { stop(): Promise<void> }

export type AuditWorkerOptions = {
  readonly checks: readonly Check[]
  /** What is looked at whole, at the end of a pass. */
  readonly at_end?: readonly SearchCheck[]
  readonly log: Logger
  /** A pass begins so long after the one before it began, or when that one has ended. */
  readonly every_ms: number
  /** How much of the time it may be at work, in percent. */
  readonly share_pct: number
  /** How many rows of a table a piece may have. */
  readonly most?: number
}

const stages: readonly Stage[] = [...(Object.keys(walks) as WalkName[]), 'positions']
const PIECE_ROWS = 4000
const LEAST_ROWS = 100
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

  async function take(): Promise<void> {
    rest_ms = await turn(world, node, { ...options, most })
    most = Math.min(full, most * 2)
  }

  function giveWay(error: unknown): void {
    // Perhaps it was too much at once.
    most = Math.max(LEAST_ROWS, Math.floor(most / 2))
    log.warn({ err: error, environment: world.environment }, 'audit: a piece could not be read')
    rest_ms = Math.min(LOOK_MS, every_ms)
  }

  if (every_ms === 0) return { stop: () => Promise.resolve() }
  const first_ms = Math.min(FIRST_MS, every_ms)
  const loop = openLoop(take, { poll_ms: () => rest_ms, first_ms, onError: giveWay })
  return {
    async stop() {
      await loop.stop()
      await giveTurn(db, node).catch(() => {})
    },
  }
}

/** One piece, if it is this node's turn and a pass is due. Returns how long to rest. */
async function turn(world: World, node: string, options: AuditWorkerOptions): Promise<number> {
  const { db } = world
  const look_ms = Math.min(LOOK_MS, options.every_ms)
  const seen = await readProgress(db)
  if (seen.leased && seen.node !== node) return look_ms
  const due_in = dueIn(seen, options.every_ms)
  if (due_in > 0) return Math.min(look_ms, due_in)
  const taken = await takeTurn(db, node, LEASE_MS)
  if (!taken) return look_ms
  if (taken.started_at === null) await beginPass(db, node, stages[0]!)
  const place: Place = { stage: taken.stage ?? stages[0]!, position: taken.position }
  const started = performance.now()
  const { findings, next } = await readPiece(db, place, options)
  await report(world, options.log, findings)
  const found = findings.reduce((sum, finding) => sum + finding.found, 0)
  if (next) await savePlace(db, node, next, found)
  else await finish(world, node, found + (await lookAtEnd(world, options)), options)
  const took = performance.now() - started
  return (took * (100 - options.share_pct)) / options.share_pct
}

/** The pass is over, and what it proved is kept. */
async function finish(
  { db }: World,
  node: string,
  found: number,
  { checks, at_end = [] }: AuditWorkerOptions,
): Promise<void> {
  const ended = await endPass(db, node, found)
  if (ended) await proveByPass(db, ended, namesOf([...checks, ...at_end]))
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

type Piece = { readonly findings: readonly Finding[]; readonly next: Place | undefined }

function readPiece(
  db: Pool,
  place: Place,
  { checks, most = PIECE_ROWS }: AuditWorkerOptions,
): Promise<Piece> {
  const { stage } = place
  const following = stages[stages.indexOf(stage) + 1]
  const nextStage = following && { stage: following, position: null }
  return transaction(db, async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await tx.query(`SET LOCAL statement_timeout = '10s'; SET LOCAL enable_hashjoin = on`)
    // What takes too long is tried again with less, until there is no less.
    const too_much = (error: unknown) => most > LEAST_ROWS && isCanceled(error)
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

/** The next folds; at their end what is not as they say. */
async function replayStep(
  tx: Db,
  position: unknown,
): Promise<{ findings: readonly Finding[]; position: unknown }> {
  const before = position === null ? await startReplay(tx) : unpackReplay(position)
  const after = await stepReplay(tx, before)
  if (!after.done) return { findings: [], position: packReplay(after) }
  const wrong = await compareReplay(tx, after)
  const findings = wrong.length === 0 ? [] : [{ check: REPLAY_NAME, found: wrong.length, examples: wrong }]
  return { findings, position: null }
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
