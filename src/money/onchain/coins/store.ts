import { type Network, networks } from '../../../core/networks.ts'
import { columnsOf } from '../../../db/columns.ts'
import type { Db } from '../../../db/pool.ts'
import { insertInto, rowSource, targetOf } from '../../../ledger/command.ts'
import type { FollowedBlock } from '../../../rails/chain/bitcoin/rail.ts'
import type { BlockEffects } from './block-effects.ts'

/**
 * The coins of a wallet and of the deposit addresses on a chain that the service follows (decisions 0058 and 0061), and the newest blocks of
 * that chain. Blocks and reservations take turns: both lock the row of the wallet.
 */
export type StoredCoin = {
  readonly id: string
  readonly network: Network
  readonly wallet_id: string
  readonly script: string
  readonly amount: bigint
  readonly is_coinbase: boolean
  readonly made_by: string | null
  readonly block_height: bigint | null
  readonly block_hash: string | null
  readonly reserved_by: string | null
  readonly spent_by: string | null
  readonly spent_height: bigint | null
  /** Of the deposit address that the output pays; null: the output pays the wallet itself. */
  readonly address_index: number | null
  readonly is_reported: boolean
}

/** Locked behind the wallets, by its name: whoever reserves coins has the wallet's row, and so reads what is true now. */
export const coinRows = {
  ...rowSource<StoredCoin>(
    'wallets: coins',
    `SELECT ${columnsOf('coins')} FROM coins WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE`,
  ),
  last: true,
} as const

export const reserveCoins = targetOf(
  'update coins: reserved',
  { id: 'text', reserved_by: 'text' },
  (rows) =>
    `UPDATE coins AS old SET reserved_by = new.reserved_by FROM ${rows} WHERE old.id = new.id RETURNING 1`,
  { counted: true, updates: coinRows },
)

export const insertCoins = insertInto('coins', {
  id: 'text',
  network: 'text',
  wallet_id: 'text',
  script: 'text',
  amount: 'bigint',
  is_coinbase: 'boolean',
  made_by: 'text?',
  reserved_by: 'text?',
})

/** Outputs that pay a miner can be spent after so many blocks. */
export const COINBASE_DEPTH = 100n

/** Transfers whose change another transfer spends: nothing else may be signed for them. */
export const spentFurtherRows = rowSource<{ readonly id: string }>(
  'coins spent further',
  `SELECT DISTINCT made_by AS id FROM coins WHERE made_by = ANY($1::text[]) AND reserved_by IS NOT NULL`,
)

export async function coinsOf(db: Db, transfer_id: string): Promise<StoredCoin[]> {
  const { rows } = await db.query({
    name: 'coins of transfer',
    text: `SELECT ${columnsOf('coins')} FROM coins WHERE reserved_by = $1 ORDER BY id`,
    values: [transfer_id],
  })
  return rows
}

/** Those of the coins that another transfer has by now, or that a stored block spends. */
export async function reservedOf(
  db: Db,
  coins: readonly Pick<StoredCoin, 'id'>[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>({
    name: 'coins reserved',
    text: 'SELECT id FROM coins WHERE id = ANY($1) AND (reserved_by IS NOT NULL OR spent_by IS NOT NULL)',
    values: [coins.map(({ id }) => id)],
  })
  return new Set(rows.map(({ id }) => id))
}

export async function isSpentFurther(db: Db, transfer_id: string): Promise<boolean> {
  const { rows } = await db.query({
    name: 'change spent further',
    text: 'SELECT FROM coins WHERE made_by = $1 AND reserved_by IS NOT NULL LIMIT 1',
    values: [transfer_id],
  })
  return rows.length > 0
}

type FreeBounds = {
  /** Outputs that pay miners only if they are in a block up to this height. */
  readonly coinbase_height: bigint
  /**
   * The newest final block. Newer coins are free only if they are change of a transfer with a single transaction: a stranger may take a
   * coin back in a reorganisation, and of several transactions another one may be mined. A transfer with a lost coin could never end.
   */
  readonly final_height: bigint
  /** Also coins at deposit addresses: the signer has their keys. */
  readonly has_deposits: boolean
  readonly limit: number
}

/** Mined, not spent and not reserved, the largest first. */
export async function freeCoins(
  db: Db,
  { wallet_id, network }: { readonly wallet_id: string; readonly network: Network },
  { coinbase_height, final_height, has_deposits, limit }: FreeBounds,
): Promise<StoredCoin[]> {
  const { rows } = await db.query({
    name: 'free coins',
    text: `SELECT ${columnsOf('coins')} FROM coins WHERE network = $1 AND wallet_id = $2 AND spent_by IS NULL AND reserved_by IS NULL
        AND block_height IS NOT NULL AND (NOT is_coinbase OR block_height <= $3)
        AND (block_height <= $4 OR 1 = (SELECT count(*) FROM transactions x WHERE x.transfer_id = coins.made_by))
        AND (address_index IS NULL OR $5) ORDER BY amount DESC, id LIMIT $6`,
    values: [network, wallet_id, coinbase_height, final_height, has_deposits, limit],
  })
  return rows
}

/** Coins of open transfers for which nothing is signed. */
export async function unsignedCoins(
  db: Db,
  { wallet_id, network }: { readonly wallet_id: string; readonly network: Network },
): Promise<readonly { readonly id: string; readonly is_mined: boolean }[]> {
  const { rows } = await db.query({
    name: 'unsigned coins',
    text: `SELECT c.id, c.block_height IS NOT NULL AS is_mined FROM open_transfers q JOIN coins c ON c.reserved_by = q.id
      WHERE q.network = $1 AND c.wallet_id = $2 AND c.spent_by IS NULL
        AND NOT EXISTS (SELECT FROM transactions x WHERE x.transfer_id = q.id) ORDER BY c.id`,
    values: [network, wallet_id],
  })
  return rows
}

/**
 * Whether a coin of the transfer can never be mined: a block up to this height spends what the coin is made from by another transaction,
 * of the transfer that was to make the coin, or of a stranger.
 */
export async function areCoinsGone(db: Db, transfer_id: string, height: bigint): Promise<boolean> {
  const { rows } = await db.query({
    name: 'coins gone',
    text: `WITH RECURSIVE needed AS (
        SELECT id, made_by FROM coins WHERE reserved_by = $1 AND block_height IS NULL AND made_by IS NOT NULL
        UNION SELECT c.id, c.made_by FROM needed n JOIN coins c ON c.reserved_by = n.made_by
          WHERE c.block_height IS NULL AND c.made_by IS NOT NULL)
      SELECT FROM needed n JOIN coins c ON c.reserved_by = n.made_by
        WHERE c.spent_by <> split_part(n.id, ':', 1) AND c.spent_height <= $2 LIMIT 1`,
    values: [transfer_id, height],
  })
  return rows.length > 0
}

/** What the coins of a wallet sum up to at a block of the followed chain, and those at deposit addresses. */
export async function sumCoinsAt(
  db: Db,
  { wallet_id, network }: { readonly wallet_id: string; readonly network: Network },
  height: bigint,
): Promise<{ readonly in_wallet: bigint; readonly at_addresses: bigint }> {
  const { rows } = await db.query({
    name: 'sum coins',
    text: `SELECT coalesce(sum(amount) FILTER (WHERE address_index IS NULL), 0) AS in_wallet,
        coalesce(sum(amount) FILTER (WHERE address_index IS NOT NULL), 0) AS at_addresses
      FROM coins WHERE network = $1 AND wallet_id = $2 AND block_height <= $3 AND (spent_by IS NULL OR spent_height > $3)`,
    values: [network, wallet_id, height],
  })
  return { in_wallet: BigInt(rows[0].in_wallet), at_addresses: BigInt(rows[0].at_addresses) }
}

export type StoredBlock = { readonly height: bigint; readonly hash: string; readonly parent_hash: string }

export async function tipOf(db: Db, network: Network): Promise<StoredBlock | undefined> {
  const { rows } = await db.query({
    name: 'tip of chain',
    text: 'SELECT height, hash, parent_hash FROM blocks WHERE network = $1 ORDER BY height DESC LIMIT 1',
    values: [network],
  })
  return rows[0]
}

export async function blockAtHeight(
  db: Db,
  network: Network,
  height: bigint,
): Promise<StoredBlock | undefined> {
  const { rows } = await db.query({
    name: 'block at height',
    text: 'SELECT height, hash, parent_hash FROM blocks WHERE network = $1 AND height = $2',
    values: [network, height],
  })
  return rows[0]
}

/** Whether a coin was made or spent in a block below this height. */
export async function areCoinsBelow(db: Db, network: Network, height: bigint): Promise<boolean> {
  const { rows } = await db.query({
    name: 'coins below',
    text: 'SELECT FROM coins WHERE network = $1 AND (block_height < $2 OR spent_height < $2) LIMIT 1',
    values: [network, height],
  })
  return rows.length > 0
}

/** Which of these outputs are coins that no block spends. */
export async function unspentAmong(
  db: Db,
  network: Network,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>({
    name: 'unspent coins',
    text: 'SELECT id FROM coins WHERE network = $1 AND id = ANY($2) AND spent_by IS NULL',
    values: [network, ids],
  })
  return new Set(rows.map(({ id }) => id))
}

export async function lockWallet(tx: Db, wallet_id: string): Promise<void> {
  await tx.query({
    name: 'lock wallet',
    text: 'SELECT FROM wallets WHERE id = $1 FOR NO KEY UPDATE',
    values: [wallet_id],
  })
}

/** How many blocks are kept: a reorganisation of more of them is left to people. */
const BLOCKS_KEPT = 2016n

export async function insertBlock(tx: Db, network: Network, block: FollowedBlock): Promise<void> {
  const { block_height, block_hash, parent_hash } = block
  await tx.query({
    name: 'insert block',
    text: 'INSERT INTO blocks (network, height, hash, parent_hash, is_searched) VALUES ($1, $2, $3, $4, true)',
    values: [network, block_height, block_hash, parent_hash],
  })
  await tx.query({
    name: 'forget blocks',
    text: 'DELETE FROM blocks WHERE network = $1 AND height <= $2',
    values: [network, block_height - BLOCKS_KEPT],
  })
}

type Placed = { readonly network: Network; readonly wallet_id: string }

/** Returns the transactions that spend coins and that this database did not sign. */
export async function storeEffects(
  tx: Db,
  { network, wallet_id }: Placed,
  { block_height, block_hash }: FollowedBlock,
  { made, spent }: BlockEffects,
): Promise<string[]> {
  if (made.length > 0)
    await tx.query({
      name: 'store made coins',
      // What a transfer of the service pays to a deposit address is no change of the transfer: it is a deposit like any other.
      text: `INSERT INTO coins (id, network, wallet_id, script, amount, is_coinbase, made_by, block_height, block_hash, address_index, is_reported)
        SELECT new.id, $1, $2, new.script, new.amount, new.is_coinbase, CASE WHEN new.address_index IS NULL THEN
            (SELECT x.transfer_id FROM transactions x WHERE x.network = $1 AND x.tx_hash = new.txid) END,
          $3, $4, new.address_index, new.address_index IS NULL
        FROM unnest($5::text[], $6::text[], $7::text[], $8::integer[], $9::bigint[], $10::boolean[])
          AS new (id, txid, script, address_index, amount, is_coinbase) ORDER BY new.id
        ON CONFLICT (id) DO UPDATE SET block_height = excluded.block_height, block_hash = excluded.block_hash, is_reported = excluded.is_reported`,
      values: [
        ...[network, wallet_id, block_height, block_hash],
        made.map(({ id }) => id),
        made.map(({ txid }) => txid),
        made.map(({ script }) => script),
        made.map(({ address_index }) => address_index),
        made.map(({ amount }) => amount),
        made.map(({ is_coinbase }) => is_coinbase),
      ],
    })
  if (spent.length === 0) return []
  await tx.query({
    name: 'store spent coins',
    text: `UPDATE coins AS old SET spent_by = new.spent_by, spent_height = $1
      FROM unnest($2::text[], $3::text[]) AS new (id, spent_by) WHERE old.id = new.id`,
    values: [block_height, spent.map(({ id }) => id), spent.map(({ spent_by }) => spent_by)],
  })
  const { rows } = await tx.query<{ txid: string }>({
    name: 'store foreign spends',
    text: `INSERT INTO foreign_spends (wallet_id, txid, height, seen_at)
      SELECT DISTINCT c.wallet_id, c.spent_by, $2::bigint, clock_timestamp() FROM coins c WHERE c.id = ANY($3)
        AND NOT EXISTS (SELECT FROM transactions x WHERE x.network = $1 AND x.tx_hash = c.spent_by AND x.transfer_id = c.reserved_by)
      ON CONFLICT DO NOTHING RETURNING txid`,
    values: [network, block_height, spent.map(({ id }) => id)],
  })
  return rows.map(({ txid }) => txid)
}

/** Takes the newest block back: what it made is in no block, and what it spent is unspent. */
export async function removeBlock(tx: Db, network: Network, height: bigint): Promise<void> {
  const values = [network, height]
  await tx.query({
    name: 'undo spent coins',
    text: 'UPDATE coins SET spent_by = NULL, spent_height = NULL WHERE network = $1 AND spent_height = $2',
    values,
  })
  await tx.query({
    name: 'undo made coins',
    text: `UPDATE coins SET block_height = NULL, block_hash = NULL, is_reported = address_index IS NULL
      WHERE network = $1 AND block_height = $2`,
    values,
  })
  await tx.query({
    name: 'remove block',
    text: 'DELETE FROM blocks WHERE network = $1 AND height = $2',
    values,
  })
}

/** Foreign transactions that operators have not accepted: each accepted one is a nonce in a gap of the wallet. */
export async function unacceptedSpends(
  db: Db,
  wallet_id: string,
  final_height = 0n,
): Promise<{ readonly all: bigint; readonly final: bigint }> {
  const { rows } = await db.query({
    name: 'unaccepted spends',
    text: `SELECT greatest(0, s.seen - g.accepted)::bigint AS "all", greatest(0, s.deep - g.accepted)::bigint AS final
      FROM (SELECT count(*) AS seen, count(*) FILTER (WHERE height <= $2) AS deep FROM foreign_spends WHERE wallet_id = $1) AS s,
        (SELECT coalesce(sum(next_nonce - first_nonce), 0) AS accepted FROM wallet_gaps WHERE wallet_id = $1) AS g`,
    values: [wallet_id, final_height],
  })
  return rows[0]
}

/**
 * Wallets with foreign transactions that operators have not accepted. A block is stored under the lock of the wallet, so a command that
 * has this lock reads what is true, also before the rail is paused.
 */
export const foreignRows = rowSource<{ readonly id: string }>(
  'foreign spends',
  `SELECT w.id FROM unnest($1::text[]) AS w (id)
    WHERE (SELECT count(*) FROM foreign_spends f WHERE f.wallet_id = w.id)
      > (SELECT coalesce(sum(g.next_nonce - g.first_nonce), 0) FROM wallet_gaps g WHERE g.wallet_id = w.id)`,
)

/** The wallet's next reservation, and how many of its transfers have reserved and not ended. */
export async function reservationsOf(
  db: Db,
  { wallet_id, network }: { readonly wallet_id: string; readonly network: Network },
): Promise<{ readonly next_nonce: bigint; readonly open: bigint }> {
  const { rows } = await db.query({
    name: 'reservations of wallet',
    text: `SELECT coalesce((SELECT next_nonce FROM wallets WHERE id = $1), 0)::bigint AS next_nonce,
      (SELECT count(*) FROM open_transfers q JOIN transfers t USING (id) WHERE q.network = $2 AND t.wallet_id = $1 AND t.nonce IS NOT NULL) AS open`,
    values: [wallet_id, network],
  })
  return rows[0]
}

/** A transfer that has reserved and not ended, what was signed for it, and whose unmined change it spends. */
export type OpenSpender = {
  readonly transfer_id: string
  readonly is_followed: boolean
  readonly made: number
  readonly purpose: string | null
  readonly signed: string | null
  readonly is_canceled: boolean
  readonly is_mined: boolean
  /** Another transfer spends its change. */
  readonly is_spent_further: boolean
  /** The sum of its coins. */
  readonly reserved: bigint
  /** Transfers that made its coins, where these are in no block. */
  readonly parents: readonly string[]
  /** A reorganisation removed a coin of it that somebody else paid. */
  readonly is_loose: boolean
}

export async function openSpenders(
  db: Db,
  { wallet_id, network }: { readonly wallet_id: string; readonly network: Network },
): Promise<OpenSpender[]> {
  const { rows } = await db.query({
    name: 'open spenders',
    text: `SELECT t.id AS transfer_id, q.followed AS is_followed, t.cancel_requested_at IS NOT NULL AS is_canceled,
        coalesce(x.made, 0)::integer AS made, n.purpose, n.signed, coalesce(c.reserved, 0)::bigint AS reserved,
        coalesce(c.is_mined, false) AS is_mined, coalesce(c.parents, '{}') AS parents, coalesce(c.is_loose, false) AS is_loose,
        EXISTS (SELECT FROM coins f WHERE f.made_by = t.id AND f.reserved_by IS NOT NULL) AS is_spent_further
      FROM open_transfers q JOIN transfers t USING (id)
      LEFT JOIN LATERAL (SELECT count(*) AS made FROM transactions WHERE transfer_id = t.id) AS x ON true
      LEFT JOIN LATERAL (SELECT purpose, signed FROM transactions WHERE transfer_id = t.id ORDER BY attempt DESC LIMIT 1) AS n ON true
      LEFT JOIN LATERAL (SELECT sum(amount) AS reserved, bool_or(spent_by IS NOT NULL) AS is_mined,
          bool_or(block_height IS NULL AND made_by IS NULL) AS is_loose,
          array_agg(DISTINCT made_by) FILTER (WHERE block_height IS NULL AND made_by IS NOT NULL) AS parents
        FROM coins WHERE reserved_by = t.id) AS c ON true
      WHERE q.network = $1 AND t.wallet_id = $2 AND t.nonce IS NOT NULL ORDER BY t.id`,
    values: [network, wallet_id],
  })
  return rows
}

/** A coin at a deposit address of which deposits do not know everything yet. */
export type UnreportedCoin = Pick<StoredCoin, 'id' | 'amount' | 'block_height' | 'block_hash'> & {
  readonly address: string
  /** Blocks on top of the coin, its own included; null in no block. */
  readonly depth: number | null
}

/**
 * Coins whose deposit does not show the block and the depth that the stored blocks give. None if the newest stored block is not `tip`. A
 * reward of a miner counts as not deep enough until it can be spent.
 */
export async function unreportedCoins(
  db: Db,
  {
    network,
    tip,
    after,
    limit,
  }: {
    readonly network: Network
    readonly tip: StoredBlock
    readonly after: string
    readonly limit: number
  },
): Promise<UnreportedCoin[]> {
  const { rows } = await db.query({
    name: 'unreported coins',
    text: `SELECT c.id, c.amount, c.block_height, c.block_hash, a.address, s.depth FROM coins c
      JOIN deposit_addresses a ON a.network = c.network AND a.address_index = c.address_index
      CROSS JOIN LATERAL (SELECT ($3::bigint - c.block_height + 1)::integer AS blocks) AS n
      CROSS JOIN LATERAL (SELECT CASE WHEN c.is_coinbase AND n.blocks < $4 THEN least(n.blocks, $5) ELSE n.blocks END AS depth) AS s
      LEFT JOIN deposits d ON d.rail = c.network AND d.tx_hash = split_part(c.id, ':', 1) AND d.output_index = split_part(c.id, ':', 2)::integer
      WHERE c.network = $1 AND NOT c.is_reported AND c.id > $6
        AND $2 = (SELECT b.hash FROM blocks b WHERE b.network = $1 ORDER BY b.height DESC LIMIT 1)
        AND (d.id IS NULL OR d.status <> 'pending' OR (d.block_hash, d.depth) IS DISTINCT FROM (c.block_hash, s.depth))
      ORDER BY c.id LIMIT $7`,
    values: [
      ...[network, tip.hash, tip.height, COINBASE_DEPTH],
      ...[networks[network].confirmations - 1, after, limit],
    ],
  })
  return rows
}

/** Marks the coin as reported, unless its block has changed since it was read. */
export async function markReported(
  db: Db,
  { id, block_hash }: Pick<StoredCoin, 'id' | 'block_hash'>,
): Promise<void> {
  await db.query({
    name: 'mark coin reported',
    text: 'UPDATE coins SET is_reported = true WHERE id = $1 AND block_hash IS NOT DISTINCT FROM $2',
    values: [id, block_hash],
  })
}
