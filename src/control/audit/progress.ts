import type { Db } from '../../db/pool.ts'
import type { WalkName } from '../../ledger/audit.ts'

/** The progress of the background audit in one world, and the result of its last whole pass. */
export type Stage = WalkName | 'positions'

export type AuditProgress = {
  readonly node: string | null
  readonly leased: boolean
  /** Null between two passes. */
  readonly started_at: Date | null
  readonly stage: Stage | null
  /** Null at the beginning of a stage. */
  readonly position: unknown
  readonly findings: number
  /** Pieces of this pass so far, and of the last pass. */
  readonly pieces: number
  readonly last_pieces: number | null
  /** The position in the log of events up to which all changes are proved; null: the log was never followed. */
  readonly proved_upto: bigint | null
  /** The end of the log of events. */
  readonly log_end: bigint
  readonly last_started_at: Date | null
  readonly last_finished_at: Date | null
  readonly last_findings: number | null
  readonly now: Date
}

/** Raised by one when a check refuses what the version before writes, or vice versa; a migration then sets it too. */
export const AUDIT_EDITION = 2

const COLUMNS = `node, turn_until > clock_timestamp() AS leased, started_at, stage, position, findings, pieces, last_pieces,
  proved_upto, log_last() AS log_end, last_started_at, last_finished_at, last_findings, clock_timestamp() AS now`

export async function readProgress(db: Db): Promise<AuditProgress> {
  const { rows } = await db.query({
    name: 'audit progress',
    text: `SELECT ${COLUMNS} FROM audit_progress`,
  })
  return rows[0]
}

/**
 * Takes the lease of the audit, which one node has at a time; undefined while another node has it. When a node dies, its
 * lease ends. After a newer version has had the lease, an older one gets it no more: its checks could report the newer
 * version's rows as findings.
 */
export async function takeAuditLease(
  db: Db,
  node: string,
  lease_ms: number,
): Promise<AuditProgress | undefined> {
  const { rows } = await db.query({
    name: 'take audit turn',
    text: `UPDATE audit_progress SET node = $1, turn_until = clock_timestamp() + make_interval(secs => $2::float8 / 1000), edition = $3
      WHERE edition <= $3 AND (node = $1 OR turn_until <= clock_timestamp()) RETURNING ${COLUMNS}`,
    values: [node, lease_ms, AUDIT_EDITION],
  })
  return rows[0]
}

export type PassPosition = { readonly stage: Stage; readonly position: unknown }

export async function beginPass(db: Db, node: string, stage: Stage): Promise<void> {
  await db.query(
    `UPDATE audit_progress SET started_at = clock_timestamp(), stage = $2, position = NULL, findings = 0, pieces = 0 WHERE node = $1`,
    [node, stage],
  )
}

export async function savePosition(db: Db, node: string, place: PassPosition, found: number): Promise<void> {
  await db.query({
    name: 'save audit place',
    text: `UPDATE audit_progress SET stage = $2, position = $3, findings = findings + $4, pieces = pieces + 1 WHERE node = $1 AND started_at IS NOT NULL`,
    values: [node, place.stage, place.position === null ? null : JSON.stringify(place.position), found],
  })
}

export type EndedPass = { readonly started_at: Date; readonly finished_at: Date; readonly found: number }

/** Undefined when another node has the lease by now. */
export async function endPass(db: Db, node: string, found: number): Promise<EndedPass | undefined> {
  const { rows } = await db.query(
    `UPDATE audit_progress SET last_started_at = started_at, last_finished_at = clock_timestamp(), last_findings = findings + $2, last_pieces = pieces + 1,
       started_at = NULL, stage = NULL, position = NULL, findings = 0 WHERE node = $1 AND started_at IS NOT NULL
     RETURNING last_started_at AS started_at, last_finished_at AS finished_at, last_findings AS found`,
    [node, found],
  )
  return rows[0]
}

/** Saves the position in the log up to which all changes are proved. */
export async function saveProved(db: Db, node: string, position: bigint, found: number): Promise<void> {
  await db.query({
    name: 'save proved position',
    text: 'UPDATE audit_progress SET proved_upto = $2, findings = findings + $3 WHERE node = $1',
    values: [node, position, found],
  })
}

/** Gives the lease back, so that another node can go on at once. */
export async function releaseAuditLease(db: Db, node: string): Promise<void> {
  await db.query(`UPDATE audit_progress SET turn_until = '-infinity' WHERE node = $1`, [node])
}
