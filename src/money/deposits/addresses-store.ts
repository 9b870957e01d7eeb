import { randomInt } from 'node:crypto'
import { type Network, networkNames, networks } from '../../core/networks.ts'
import { columnsOf } from '../../db/columns.ts'
import { INCARNATION } from '../../db/incarnation.ts'
import type { Db } from '../../db/pool.ts'
import type { Check } from '../../ledger/audit.ts'

export type DepositAddress = {
  readonly id: string
  readonly partner_id: string
  readonly customer_id: string
  readonly network: Network
  readonly address_index: number
  readonly address: string
  readonly created_at: Date
}

/** The addresses of a customer, at most one per network, oldest first. */
export async function addressesOf(db: Db, customer_id: string): Promise<DepositAddress[]> {
  const { rows } = await db.query({
    name: 'deposit addresses of customer',
    text: `SELECT ${columnsOf('deposit_addresses')} FROM deposit_addresses WHERE customer_id = $1 ORDER BY created_at, network`,
    values: [customer_id],
  })
  return rows
}

export async function addressRow(
  db: Db,
  { network, address }: Pick<DepositAddress, 'network' | 'address'>,
): Promise<DepositAddress | undefined> {
  const { rows } = await db.query({
    name: 'deposit address',
    text: `SELECT ${columnsOf('deposit_addresses')} FROM deposit_addresses WHERE network = $1 AND address = $2`,
    values: [network, address],
  })
  return rows[0]
}

/** Which of these texts are deposit addresses of a network, with their indexes. */
export async function addressIndexes(
  db: Db,
  network: Network,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (addresses.length === 0) return new Map()
  const { rows } = await db.query<Pick<DepositAddress, 'address' | 'address_index'>>({
    name: 'indexes of deposit addresses',
    text: 'SELECT address, address_index FROM deposit_addresses WHERE network = $1 AND address = ANY($2)',
    values: [network, addresses],
  })
  return new Map(rows.map(({ address, address_index }) => [address, address_index]))
}

/** Addresses with this text, of any network: the EVM networks of a customer share one. */
export async function addressesByText(db: Db, address: string): Promise<DepositAddress[]> {
  const { rows } = await db.query({
    name: 'deposit addresses by text',
    text: `SELECT ${columnsOf('deposit_addresses')} FROM deposit_addresses WHERE network = ANY($1) AND address = $2`,
    values: [networkNames, address],
  })
  return rows
}

/** Those of the texts that are deposit addresses of the network: on EVM networks in any case, and then in lower case. */
export async function ourAddresses(
  db: Db,
  network: Network,
  texts: readonly string[],
): Promise<ReadonlySet<string>> {
  if (texts.length === 0) return new Set()
  if (networks[network].kind !== 'evm') return new Set((await addressIndexes(db, network, texts)).keys())
  const { rows } = await db.query<{ address: string }>({
    name: 'deposit addresses among texts',
    text: 'SELECT lower(address) AS address FROM deposit_addresses WHERE network = $1 AND lower(address) = ANY($2)',
    values: [network, texts.map((text) => text.toLowerCase())],
  })
  return new Set(rows.map(({ address }) => address))
}

/** The next addresses of a network by index, in lower case. */
export async function addressesAfter(
  db: Db,
  network: Network,
  { after_index, most }: { readonly after_index: number; readonly most: number },
): Promise<readonly Pick<DepositAddress, 'address' | 'address_index'>[]> {
  const { rows } = await db.query({
    name: 'deposit addresses after index',
    text: `SELECT lower(address) AS address, address_index FROM deposit_addresses WHERE network = $1 AND address_index > $2
      ORDER BY address_index LIMIT $3`,
    values: [network, after_index, most],
  })
  return rows
}

/** The address that was handed out last on these networks. */
export async function newestAddress(db: Db, on: readonly Network[]): Promise<DepositAddress | undefined> {
  const { rows } = await db.query({
    name: 'newest deposit address',
    text: `SELECT ${columnsOf('deposit_addresses')} FROM deposit_addresses WHERE network = ANY($1)
      ORDER BY address_index DESC, network LIMIT 1`,
    values: [on],
  })
  return rows[0]
}

/** Milliseconds since the first address of the network was handed out; 0 if there is none. */
export async function ageOfOldestAddress(db: Db, network: Network): Promise<bigint> {
  const { rows } = await db.query<{ age_ms: bigint }>(
    `SELECT greatest(0, coalesce(extract(epoch FROM clock_timestamp() - min(created_at)) * 1000, 0))::bigint AS age_ms
     FROM deposit_addresses WHERE network = $1`,
    [network],
  )
  return rows[0]!.age_ms
}

/** Lets one transaction at a time hand out addresses, until it ends: no index is given twice. */
export async function lockAddresses(tx: Db): Promise<void> {
  await tx.query(
    `SELECT set_config('lock_timeout', '5s', true), pg_advisory_xact_lock(hashtextextended('deposit addresses ' || current_schema(), 0))`,
  )
}

/**
 * The index of the customer, or the one after the highest. There are no gaps, because wallets look for addresses only up to a gap of
 * twenty. But after a restore or a fail-over FORGOTTEN_MOST indexes are skipped: the lost part of the database may have handed them out,
 * and a second customer would get the money of the first. How many times they are skipped, up to SKIPS_MOST, is random: two restores of
 * one backup hand out different indexes. The highest index may have been given an address on a further network since: one row from before
 * is enough.
 */
export async function indexFor(tx: Db, customer_id: string): Promise<number> {
  const { rows } = await tx.query<{ address_index: number }>(
    `SELECT coalesce((SELECT address_index FROM deposit_addresses WHERE customer_id = $1 LIMIT 1),
       (SELECT address_index + CASE WHEN bool_or(made_in <> ${INCARNATION}) THEN ${FORGOTTEN_MOST} * $2::int ELSE 0 END + 1
        FROM deposit_addresses GROUP BY address_index ORDER BY address_index DESC LIMIT 1), 0) AS address_index`,
    [customer_id, randomInt(1, SKIPS_MOST + 1)],
  )
  return rows[0]!.address_index
}

/** More addresses than are handed out between a backup and its restore. */
const FORGOTTEN_MOST = 1000
/** There are 2³¹ indexes: room for thousands of fail-overs. */
const SKIPS_MOST = 1000

export async function insertAddress(
  tx: Db,
  made: Omit<DepositAddress, 'created_at'>,
): Promise<DepositAddress> {
  const { rows } = await tx.query({
    name: 'insert deposit address',
    text: `INSERT INTO deposit_addresses (id, partner_id, customer_id, network, address_index, address, created_at, made_in)
      VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp(), ${INCARNATION}) RETURNING ${columnsOf('deposit_addresses')}`,
    values: [made.id, made.partner_id, made.customer_id, made.network, made.address_index, made.address],
  })
  return rows[0]
}

const families = networkNames.map((name) => `('${name}', '${networks[name].kind}')`).join(', ')

export const addressChecks: readonly Check[] = [
  {
    // The database has no keys to derive addresses from, so addresses are compared: one index has one address per kind of network.
    name: 'every deposit address is of a customer of its partner, which has one index on all networks and shares it with nobody',
    walk: 'customers',
    sql: (
      within,
    ) => `SELECT a.customer_id AS object_id, a.partner_id, a.id AS address_id, a.network, a.address_index FROM deposit_addresses a
      LEFT JOIN customers c ON c.id = a.customer_id LEFT JOIN (VALUES ${families}) AS n (network, kind) ON n.network = a.network
      WHERE ${within('a.customer_id')} AND (c.partner_id IS DISTINCT FROM a.partner_id OR n.network IS NULL OR a.created_at < c.created_at
        OR a.address !~ CASE n.kind WHEN 'bitcoin' THEN '^bc1q[0-9a-z]{38}$' WHEN 'tron' THEN '^T[0-9A-Za-z]{33}$' ELSE '^0x[0-9A-Fa-f]{40}$' END
        OR EXISTS (SELECT FROM deposit_addresses o LEFT JOIN (VALUES ${families}) AS k (network, kind) ON k.network = o.network
          WHERE o.address_index = a.address_index AND o.id <> a.id
            AND (o.customer_id <> a.customer_id OR o.network = a.network OR (k.kind = n.kind) <> (o.address = a.address)))
        OR EXISTS (SELECT FROM deposit_addresses o WHERE o.customer_id = a.customer_id AND o.address_index <> a.address_index))`,
  },
]
