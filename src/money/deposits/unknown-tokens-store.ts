import type { Network } from '../../core/networks.ts'
import { columnsOf } from '../../db/columns.ts'
import type { Db } from '../../db/pool.ts'
import type { TokenArrival } from '../../rails/chain/rail.ts'

/** Anybody can send any number of worthless tokens to an address: so many are kept of a network, the newest. */
export const UNKNOWN_TOKENS_KEPT = 2000

export type UnknownToken = TokenArrival & { readonly network: Network; readonly seen_at: Date }

/** A transfer that is stored already is not stored again. */
export async function storeUnknownTokens(
  db: Db,
  network: Network,
  found: readonly TokenArrival[],
): Promise<void> {
  if (found.length === 0) return
  await db.query({
    name: 'store unknown tokens',
    text: `INSERT INTO unknown_tokens (network, contract, tx_hash, log_index, address, amount, block_height, seen_at)
      SELECT $1, contract, tx_hash, log_index, address, amount, block_height, clock_timestamp()
      FROM unnest($2::text[], $3::text[], $4::integer[], $5::text[], $6::numeric[], $7::bigint[])
        AS f (contract, tx_hash, log_index, address, amount, block_height) ON CONFLICT DO NOTHING`,
    values: [
      network,
      found.map(({ contract }) => contract),
      found.map(({ tx_hash }) => tx_hash),
      found.map(({ log_index }) => log_index),
      found.map(({ address }) => address),
      found.map(({ amount }) => amount.toString()),
      found.map(({ block_height }) => block_height.toString()),
    ],
  })
  await db.query({
    name: 'forget unknown tokens',
    text: `DELETE FROM unknown_tokens WHERE network = $1 AND (block_height, tx_hash, log_index) < (
        SELECT block_height, tx_hash, log_index FROM unknown_tokens WHERE network = $1
        ORDER BY block_height DESC, tx_hash DESC, log_index DESC OFFSET $2 LIMIT 1)`,
    values: [network, UNKNOWN_TOKENS_KEPT - 1],
  })
}

/** Newest first. */
export async function newestUnknownTokens(
  db: Db,
  network: Network,
  most: number,
): Promise<readonly UnknownToken[]> {
  const { rows } = await db.query({
    name: 'newest unknown tokens',
    text: `SELECT ${columnsOf('unknown_tokens')} FROM unknown_tokens WHERE network = $1
      ORDER BY block_height DESC, tx_hash DESC, log_index DESC LIMIT $2`,
    values: [network, most],
  })
  return rows
}

export async function countUnknownTokens(db: Db, network: Network): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count unknown tokens',
    text: 'SELECT count(*)::integer AS count FROM unknown_tokens WHERE network = $1',
    values: [network],
  })
  return rows[0]!.count
}

/** The blocks after `height` up to `upto` were read for the addresses up to `after_index`. */
export type TokenScan = { readonly height: bigint; readonly upto: bigint; readonly after_index: number }

/** The stored position, or the first one, which is at this height. */
export async function tokenScanFrom(db: Db, network: Network, height: bigint): Promise<TokenScan> {
  await db.query({
    name: 'begin token scan',
    text: `INSERT INTO unknown_token_scans (network, height, upto, after_index) VALUES ($1, $2, $2, -1) ON CONFLICT DO NOTHING`,
    values: [network, height],
  })
  const { rows } = await db.query({
    name: 'token scan',
    text: `SELECT ${columnsOf('unknown_token_scans')} FROM unknown_token_scans WHERE network = $1`,
    values: [network],
  })
  return rows[0]
}

export async function storeTokenScan(
  db: Db,
  network: Network,
  { height, upto, after_index }: TokenScan,
): Promise<void> {
  await db.query({
    name: 'store token scan',
    text: 'UPDATE unknown_token_scans SET height = $2, upto = $3, after_index = $4 WHERE network = $1',
    values: [network, height, upto, after_index],
  })
}
