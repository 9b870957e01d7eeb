import { type Check, IN_PRODUCTION } from '../../../ledger/audit.ts'
import { NETWORK } from './scene.ts'

/** SQL: the outpoint as it stands in the bytes of a transaction: the hash reversed, and the number in four bytes, lowest first. */
const bytesOf = (coin: string) => `CASE WHEN ${coin}.id ~ '^[0-9a-f]{64}:[0-9]{1,9}$' THEN
    (SELECT string_agg(substr(${coin}.id, place, 2), '' ORDER BY place DESC) FROM generate_series(1, 63, 2) AS place)
    || (SELECT string_agg(substr(lpad(to_hex(split_part(${coin}.id, ':', 2)::integer), 8, '0'), place, 2), '' ORDER BY place DESC)
        FROM generate_series(1, 7, 2) AS place) END`

/** SQL: the number of inputs of a transaction with witnesses; null for other bytes. */
const inputsOf = (transaction: string) =>
  `CASE WHEN ${transaction}.signed ~ '^[0-9a-f]{8}0001[0-9a-f]{2}' THEN ('x' || substr(${transaction}.signed, 13, 2))::bit(8)::integer END`

const tip = `(SELECT max(b.height) FROM blocks b WHERE b.network = c.network)`

/** SQL: what is wrong with one coin, by its own row, its blocks and the transactions that made and spent it. */
const isWrong = `(c.network <> '${NETWORK}' OR c.amount <= 0 OR c.id !~ '^[0-9a-f]{64}:[0-9]{1,9}$'
  OR NOT EXISTS (SELECT FROM wallets w WHERE w.id = c.wallet_id AND w.network = c.network)
  OR (c.block_height IS NULL) <> (c.block_hash IS NULL) OR (c.spent_by IS NULL) <> (c.spent_height IS NULL)
  OR c.block_height > ${tip} OR c.spent_height > ${tip} OR c.spent_height < c.block_height
  OR c.made_by IS DISTINCT FROM (SELECT x.transfer_id FROM transactions x
    WHERE x.network = c.network AND x.tx_hash = split_part(c.id, ':', 1) AND c.address_index IS NULL)
  OR EXISTS (SELECT FROM blocks b WHERE b.network = c.network AND b.height = c.block_height AND b.hash <> c.block_hash)
  OR (c.spent_by IS NOT NULL
    AND NOT EXISTS (SELECT FROM transactions x WHERE x.network = c.network AND x.tx_hash = c.spent_by AND x.transfer_id = c.reserved_by)
    AND NOT EXISTS (SELECT FROM foreign_spends f WHERE f.wallet_id = c.wallet_id AND f.txid = c.spent_by))
  OR EXISTS (SELECT FROM transactions x JOIN blocks b ON b.network = x.network AND b.height = x.block_height AND b.hash = x.block_hash
    WHERE x.network = c.network AND x.tx_hash = c.spent_by AND x.block_height <> c.spent_height)
  OR EXISTS (SELECT FROM coins o WHERE o.network = c.network AND o.wallet_id = c.wallet_id AND o.spent_by IS NULL AND o.address_index IS NULL
    AND (o.script = c.script) <> (c.address_index IS NULL)))`

/** SQL: the script that pays a bech32 address of a hash of a key. Its 32 characters of five bits are 20 bytes; six are the checksum. */
const scriptOf = (
  address: string,
) => `(SELECT '0014' || string_agg(to_hex(substr(bits, 4 * n - 3, 4)::bit(4)::integer), '' ORDER BY n)
  FROM (SELECT string_agg((strpos('qpzry9x8gf2tvdw0s3jn54khce6mua7l', substr(${address}, 4 + i, 1)) - 1)::bit(5)::text, '' ORDER BY i) AS bits
    FROM generate_series(1, 32) AS i) AS b CROSS JOIN generate_series(1, 40) AS n)`

/** SQL: what is wrong with a coin at a deposit address: its script, its deposit's amount or address, or, once reported, its state. */
const isWrongAtAddress = `(a.address IS NULL OR c.made_by IS NOT NULL OR c.script IS DISTINCT FROM ${scriptOf('a.address')}
  OR (d.id IS NOT NULL AND (d.amount <> c.amount OR d.address <> a.address))
  OR (c.is_reported AND CASE WHEN c.block_hash IS NULL THEN d.status = 'pending'
    ELSE (d.status = 'completed' OR (d.status = 'pending' AND d.below_minimum AND d.block_hash = c.block_hash)) IS NOT TRUE END))`

/** SQL: a transaction of the transfer that reserved the coin has spent it, and not a stranger's. */
const isOwnSpend =
  'EXISTS (SELECT FROM transactions x WHERE x.transfer_id = c.reserved_by AND x.tx_hash = c.spent_by)'

const facts = 'c.id AS coin, c.wallet_id, c.made_by, c.reserved_by, c.spent_by'

export const coinChecks: readonly Check[] = [
  {
    name: 'every transfer that spends coins has reserved them, and all its transactions spend exactly these',
    walk: 'causes',
    prefix: 'tr',
    sql: (
      within,
    ) => `SELECT coalesce(t.id, r.reserved_by) AS object_id, t.partner_id, t.wallet_id, t.nonce, r.coins
      FROM (SELECT t.id, t.partner_id, t.network, t.wallet_id, t.nonce FROM transfers t
        WHERE ${within('t.id')} AND t.network = '${NETWORK}' AND t.nonce IS NOT NULL) AS t
      FULL JOIN (SELECT c.reserved_by, count(*) AS coins, min(c.wallet_id) AS wallet_id, count(DISTINCT c.wallet_id) AS wallets,
          count(DISTINCT coalesce(c.spent_by, '')) AS spenders, bool_or(${isOwnSpend}) AS is_spent
        FROM coins c WHERE c.reserved_by IS NOT NULL AND ${within('c.reserved_by')} GROUP BY c.reserved_by) AS r ON r.reserved_by = t.id
      WHERE t.id IS NULL OR (r.reserved_by IS NULL AND t.wallet_id <> '${NETWORK}:simulated')
        OR (r.reserved_by IS NOT NULL AND (r.wallets > 1 OR r.wallet_id <> t.wallet_id OR (r.is_spent AND r.spenders > 1)
          OR EXISTS (SELECT FROM transactions x WHERE x.transfer_id = t.id AND (${inputsOf('x')} IS DISTINCT FROM r.coins
            OR EXISTS (SELECT FROM coins c WHERE c.reserved_by = t.id AND (strpos(x.signed, ${bytesOf('c')}) > 0) IS NOT TRUE)))))`,
  },
  {
    name: 'every coin is what the stored blocks and transactions say of it',
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT c.reserved_by AS object_id, ${facts} FROM coins c WHERE c.reserved_by IS NOT NULL AND ${within('c.reserved_by')} AND ${isWrong}
      UNION ALL SELECT c.id, ${facts} FROM coins c WHERE c.reserved_by IS NULL AND ${within(`'coins'`)} AND ${isWrong}`,
  },
  {
    name: 'every coin at a deposit address has its script, and the deposit that follows from it',
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT c.id AS object_id, ${facts}, c.address_index, d.id AS deposit_id, d.status FROM coins c
      LEFT JOIN deposit_addresses a ON a.network = c.network AND a.address_index = c.address_index
      LEFT JOIN deposits d ON d.rail = c.network AND d.tx_hash = split_part(c.id, ':', 1) AND d.output_index::text = split_part(c.id, ':', 2)
      WHERE ${within(`'coins'`)} AND CASE WHEN c.address_index IS NULL THEN NOT c.is_reported ELSE ${isWrongAtAddress} END`,
  },
  {
    // The sandbox plays its deposits, and has no coins.
    name: 'every deposit on bitcoin in production is an output that the service found in a block',
    walk: 'causes',
    prefix: 'dep',
    sql: (within) => `SELECT d.id AS object_id, d.partner_id, d.tx_hash, d.output_index FROM deposits d
      LEFT JOIN coins c ON c.id = d.tx_hash || ':' || d.output_index AND c.network = d.rail
      WHERE ${within('d.id')} AND d.rail = '${NETWORK}' AND ${IN_PRODUCTION}
        AND (c.address_index IS NULL OR (d.status = 'completed' AND d.amount <> c.amount))`,
  },
  {
    name: 'every stored block is the child of the one below it',
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT b.network || ' ' || b.height AS object_id, b.hash, b.parent_hash, below.hash AS below
      FROM blocks b LEFT JOIN blocks below ON below.network = b.network AND below.height = b.height - 1
      WHERE ${within(`'blocks'`)} AND (b.network <> '${NETWORK}' OR below.hash <> b.parent_hash
        OR (below.hash IS NULL AND EXISTS (SELECT FROM blocks o WHERE o.network = b.network AND o.height < b.height)))`,
  },
  {
    name: 'every foreign transaction that spends coins is none of the service',
    walk: 'causes',
    sql: (within) => `SELECT f.txid AS object_id, f.wallet_id, f.height FROM foreign_spends f
      WHERE ${within(`'coins'`)} AND (f.txid !~ '^[0-9a-f]{64}$' OR NOT EXISTS (SELECT FROM wallets w WHERE w.id = f.wallet_id)
        OR EXISTS (SELECT FROM coins c JOIN transactions x ON x.network = c.network AND x.tx_hash = c.spent_by AND x.transfer_id = c.reserved_by
          WHERE c.spent_by = f.txid AND c.wallet_id = f.wallet_id))`,
  },
]
