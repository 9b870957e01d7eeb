import type { Db } from '../../db/pool.ts'
import { insertInto, type Write, writeTo } from '../../ledger/command.ts'

/** The outcome that an operator established for an open payout or transfer, with the evidence. */
export type Resolution = {
  readonly outcome: 'completed' | 'confirmed' | 'failed'
  readonly evidence: string
  readonly proposal_id: string | null
  readonly resolved_by: string
}

const insertResolutions = insertInto('resolutions', {
  resource_id: 'text',
  outcome: 'text',
  evidence: 'text',
  proposal_id: 'text?',
  resolved_by: 'text',
  resolved_at: 'timestamptz',
})

/** The resolution of a payout or transfer, if an operator ended it. */
export async function resolutionOf(
  db: Db,
  resource_id: string,
): Promise<{ outcome: Resolution['outcome']; resolved_at: Date } | undefined> {
  const { rows } = await db.query({
    name: 'resolution of resource',
    text: 'SELECT outcome, resolved_at FROM resolutions WHERE resource_id = $1',
    values: [resource_id],
  })
  return rows[0]
}

const insertFollowUps = insertInto('follow_ups', {
  resource_id: 'text',
  kind: 'text',
  asked: 'integer',
  ask_at: 'timestamptz',
})

type FollowedKind = 'payout' | 'transfer'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Delays between the status queries after a resolution: about a day in all, then they end. */
const ASK_AFTER_MS = [30 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 16 * HOUR]

/** Schedules queries about an order that has ended, in the transaction that books the end. */
export function followUpWrite(
  resource: { readonly kind: FollowedKind; readonly id: string },
  now: Date,
): Write {
  const ask_at = new Date(now.getTime() + ASK_AFTER_MS[0]!)
  return writeTo(insertFollowUps, { resource_id: resource.id, kind: resource.kind, asked: 0, ask_at })
}

/** Part of the transaction that books the end. `ask`: whether the rail can be queried about the order. */
export function resolutionWrites(
  resource: { readonly kind: FollowedKind; readonly id: string; readonly ask: boolean },
  resolution: Resolution,
  now: Date,
): Write[] {
  return [
    writeTo(insertResolutions, { ...resolution, resource_id: resource.id, resolved_at: now }),
    ...(resource.ask ? [followUpWrite(resource, now)] : []),
  ]
}

export type FollowUp = { readonly resource_id: string; readonly asked: number }

/** Whether no query follows after this one. */
export const isLastFollowUp = ({ asked }: FollowUp): boolean => asked >= ASK_AFTER_MS.length

/**
 * Takes the follow-ups that are due and schedules the next query. A query that is lost with its node is not repeated;
 * the next one follows.
 */
export async function takeFollowUps(db: Db, kind: FollowedKind, limit: number): Promise<FollowUp[]> {
  const { rows } = await db.query({
    name: 'take follow-ups',
    text: `UPDATE follow_ups SET asked = asked + 1,
        ask_at = clock_timestamp() + make_interval(secs => ($2::float8[])[asked + 2] / 1000)
      WHERE resource_id IN (SELECT resource_id FROM follow_ups WHERE kind = $1 AND ask_at <= now()
        ORDER BY ask_at LIMIT $3 FOR UPDATE SKIP LOCKED) RETURNING resource_id, asked`,
    values: [kind, ASK_AFTER_MS, limit],
  })
  return rows
}

/** The chain does not show the booked outcome: the next query is due after `after_ms`, and then the schedule begins again. */
export async function askAgain(db: Db, resource_id: string, after_ms: number): Promise<void> {
  await db.query({
    name: 'ask again',
    text: `UPDATE follow_ups SET asked = 0, ask_at = clock_timestamp() + make_interval(secs => $2::float8 / 1000)
      WHERE resource_id = $1`,
    values: [resource_id, after_ms],
  })
}

/** The rail gave a final answer, so no more queries are needed. */
export async function endFollowUp(db: Db, resource_id: string): Promise<void> {
  await db.query('UPDATE follow_ups SET ask_at = NULL WHERE resource_id = $1', [resource_id])
}

type StoredResolution = Resolution & { readonly resource_id: string; readonly resolved_at: Date }

export async function newestResolutions(db: Db, limit: number): Promise<StoredResolution[]> {
  const { rows } = await db.query(
    `SELECT resource_id, outcome, evidence, proposal_id, resolved_by, resolved_at FROM resolutions
     ORDER BY resolved_at DESC, resource_id LIMIT $1`,
    [limit],
  )
  return rows
}
