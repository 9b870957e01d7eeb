import type { Network } from '../../core/networks.ts'
import { columnsOf } from '../../db/columns.ts'
import type { Db } from '../../db/pool.ts'

/** How far the blocks of a network were read for payments to deposit addresses (decision 0060). */
export type DepositScan = {
  readonly network: Network
  /** The newest block that was read. */
  readonly height: bigint
  readonly hash: string
  /** The newest block that was read again when it was deep enough to be final. */
  readonly final_height: bigint
  readonly final_hash: string
  readonly head_height: bigint
  readonly at_head_at: Date
}

export async function scanOf(db: Db, network: Network): Promise<DepositScan | undefined> {
  const { rows } = await db.query({
    name: 'deposit scan',
    text: `SELECT ${columnsOf('deposit_scans')} FROM deposit_scans WHERE network = $1`,
    values: [network],
  })
  return rows[0]
}

type Position = { readonly height: bigint; readonly hash: string }

/** The first position on a network. A position that another node stored first stays. */
export async function beginScan(db: Db, network: Network, { height, hash }: Position): Promise<void> {
  await db.query({
    name: 'begin deposit scan',
    text: `INSERT INTO deposit_scans (network, height, hash, final_height, final_hash, head_height, at_head_at)
      VALUES ($1, $2, $3, $2, $3, $2, clock_timestamp()) ON CONFLICT DO NOTHING`,
    values: [network, height, hash],
  })
}

/** Every block is read twice, each time with a position of its own: when it is new, and when it is final. */
export type Pass = 'newest' | 'final'

const columnsOfPass = {
  newest: { height: 'height', hash: 'hash' },
  final: { height: 'final_height', hash: 'final_hash' },
} as const satisfies Record<Pass, unknown>

export const positionOf = (scan: DepositScan, pass: Pass): Position =>
  pass === 'newest'
    ? { height: scan.height, hash: scan.hash }
    : { height: scan.final_height, hash: scan.final_hash }

/** False if another node has moved the position meanwhile. */
export async function moveScan(
  db: Db,
  { network, pass, from, to }: { network: Network; pass: Pass; from: Position; to: Position },
): Promise<boolean> {
  const { height, hash } = columnsOfPass[pass]
  const { rows } = await db.query({
    name: `move deposit scan: ${pass}`,
    text: `UPDATE deposit_scans SET ${height} = $4, ${hash} = $5 WHERE network = $1 AND ${height} = $2 AND ${hash} = $3 RETURNING 1`,
    values: [network, from.height, from.hash, to.height, to.hash],
  })
  return rows.length > 0
}

/** Both positions have reached what could be read of the chain with this head. */
export async function noteAtHead(db: Db, network: Network, head_height: bigint): Promise<void> {
  await db.query({
    name: 'deposit scan at head',
    text: 'UPDATE deposit_scans SET head_height = $2, at_head_at = clock_timestamp() WHERE network = $1',
    values: [network, head_height],
  })
}

export type ScanFacts = {
  readonly network: Network
  readonly height: bigint
  readonly final_height: bigint
  readonly age_seconds: number
}

/** For the metrics. */
export async function scanFacts(db: Db): Promise<ScanFacts[]> {
  const { rows } = await db.query({
    name: 'deposit scan facts',
    text: `SELECT network, height, final_height,
        greatest(0, extract(epoch FROM clock_timestamp() - at_head_at))::float8 AS age_seconds
      FROM deposit_scans ORDER BY network`,
  })
  return rows
}
