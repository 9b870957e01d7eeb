import type { Clock } from '../../../core/clock.ts'
import { takeStep } from '../../../db/chore.ts'
import { columnsOf } from '../../../db/columns.ts'
import { INCARNATION } from '../../../db/incarnation.ts'
import type { Db } from '../../../db/pool.ts'
import type { OutgoingBlock } from '../../../rails/chain/tron.ts'
import { recordException } from '../../../records/exceptions/store.ts'

/** How far the solidified blocks were read for what leaves a wallet (decision 0071). */
export type WalletScan = {
  readonly wallet_id: string
  readonly height: bigint
  readonly hash: string
  readonly block_at: Date
  readonly quiet_until: Date | null
  /** The incarnation of the database that began to read, or that began the newest quiet time. */
  readonly read_in: string
  /** Another incarnation is a restored backup or a promoted standby: it may lack commits, also of the last seconds only. */
  readonly is_same_incarnation: boolean
}

export async function walletScanOf(db: Db, wallet_id: string): Promise<WalletScan | undefined> {
  const { rows } = await db.query({
    name: 'wallet scan',
    text: `SELECT ${columnsOf('wallet_scans')}, read_in = ${INCARNATION} AS is_same_incarnation FROM wallet_scans WHERE wallet_id = $1`,
    values: [wallet_id],
  })
  return rows[0]
}

type ReadBlock = Pick<OutgoingBlock, 'height' | 'hash' | 'at_ms'>

/**
 * The first position of a wallet. A position that another node stored first stays. A database that has paid on Tron may be an older copy
 * of one that paid from this wallet already: then the wallet begins with a quiet time.
 */
export async function beginWalletScan(
  db: Db,
  wallet_id: string,
  { block, quiet_until }: { readonly block: ReadBlock; readonly quiet_until: Date },
): Promise<void> {
  await db.query({
    name: 'begin wallet scan',
    text: `INSERT INTO wallet_scans (wallet_id, height, hash, block_at, quiet_until, read_in)
      SELECT $1, $2, $3, $4, CASE WHEN EXISTS (SELECT FROM wallet_scans) OR EXISTS (SELECT FROM transactions WHERE network = 'tron') THEN $5::timestamptz END,
        ${INCARNATION}
      ON CONFLICT DO NOTHING`,
    values: [wallet_id, block.height, block.hash, new Date(block.at_ms), quiet_until],
  })
}

/** Stored before the gap is read: a crash does not lift it. */
export async function keepQuiet(db: Db, wallet_id: string, until: Date): Promise<void> {
  await db.query({
    name: 'wallet scan: keep quiet',
    text: `UPDATE wallet_scans SET quiet_until = greatest(quiet_until, $2), read_in = ${INCARNATION} WHERE wallet_id = $1`,
    values: [wallet_id, until],
  })
}

/**
 * Stores which transactions of the blocks this database did not sign, together with the position behind them. Returns them. Undefined if
 * another node has moved the position meanwhile.
 */
export function storeOutgoing(
  db: Db,
  clock: Clock,
  { wallet_id, from, blocks }: { wallet_id: string; from: bigint; blocks: readonly OutgoingBlock[] },
): Promise<readonly string[] | undefined> {
  const last = blocks.at(-1)!
  const found = blocks.flatMap(({ outgoing, height }) => outgoing.map((txid) => ({ txid, height })))
  return takeStep(db, async (tx) => {
    const { rows: moved } = await tx.query({
      name: 'move wallet scan',
      text: `UPDATE wallet_scans SET height = $3, hash = $4, block_at = $5 WHERE wallet_id = $1 AND height = $2 RETURNING 1`,
      values: [wallet_id, from, last.height, last.hash, new Date(last.at_ms)],
    })
    if (moved.length === 0) return undefined
    if (found.length === 0) return []
    const hashes = found.map(({ txid }) => txid)
    await recordSecondPayments(tx, clock, hashes)
    const { rows } = await tx.query<{ txid: string }>({
      name: 'store foreign outgoing',
      text: `INSERT INTO foreign_spends (wallet_id, txid, height, seen_at)
        SELECT $1, f.txid, f.height, clock_timestamp() FROM unnest($2::text[], $3::bigint[]) AS f (txid, height)
        WHERE NOT EXISTS (SELECT FROM transactions x WHERE x.network = 'tron' AND x.tx_hash = f.txid)
        ON CONFLICT DO NOTHING RETURNING txid`,
      values: [wallet_id, hashes, found.map(({ height }) => height)],
    })
    return rows.map(({ txid }) => txid)
  })
}

/** A payment of a transfer that ended without it: the transfer was paid twice, or its money was given back. */
async function recordSecondPayments(tx: Db, clock: Clock, hashes: readonly string[]): Promise<void> {
  const { rows } = await tx.query<{ id: string; partner_id: string; status: string; tx_hash: string }>({
    name: 'payments of ended transfers',
    text: `SELECT t.id, t.partner_id, t.status, x.tx_hash FROM transactions x JOIN transfers t ON t.id = x.transfer_id
      WHERE x.network = 'tron' AND x.tx_hash = ANY ($1::text[]) AND x.block_height IS NULL AND (t.status = 'failed' OR (t.status = 'confirmed'
        AND EXISTS (SELECT FROM transactions o WHERE o.transfer_id = t.id AND o.block_height IS NOT NULL)))`,
    values: [hashes],
  })
  for (const { id, partner_id, status, tx_hash } of rows)
    await recordException(tx, clock, {
      ...{ kind: 'contradiction', rail: 'tron', object_id: id, partner_id },
      details: {
        booked: status,
        rail_says: { kind: 'mined', tx_hash },
        problem: 'another payment of the transfer was mined after the transfer had ended',
      },
    })
}
