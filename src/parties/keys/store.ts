import type { Scope } from '../../core/actor.ts'
import { columnsOf } from '../../db/columns.ts'
import type { ListSource } from '../../db/newest.ts'
import type { Db } from '../../db/pool.ts'
import { rowSource } from '../../ledger/command.ts'
import { type CustomLimits, limitNames, type Tier } from '../../limits/tiers.ts'

export type ApiKey = CustomLimits & {
  readonly id: string
  readonly partner_id: string
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly ip_allowlist: readonly string[]
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  /** Sequence number of the last event about the key. */
  readonly sequence: number
  readonly created_at: Date
  /** The feature that created the key for itself and discarded its value; null for a key that a person holds. */
  readonly made_for: 'playground' | null
}

/** A key with what the gate needs: the presented value and the partner's terms. */
export type IdentifiedKey = ApiKey & {
  readonly last_four: string
  readonly valid_until: Date | null
  readonly tier: Tier
  readonly partner_limits: CustomLimits
  readonly pix_fee: number
  readonly third_party_payouts: boolean
  readonly service_fee_bps: number
  readonly partner_fee_share_pct: number
}

const identified = `SELECT ${columnsOf('api_keys', 'k')}, v.last_four, v.valid_until, p.tier, p.pix_fee, p.third_party_payouts, p.service_fee_bps,
      p.partner_fee_share_pct, json_build_object('per_minute', p.per_minute, 'per_day', p.per_day,
      'endpoint_per_minute', p.endpoint_per_minute, 'lookup_per_minute', p.lookup_per_minute) AS partner_limits`
const identifiedFrom =
  'FROM api_key_values v JOIN api_keys k ON k.id = v.api_key_id JOIN shared.partners p ON p.id = k.partner_id'

const IDENTIFY = { name: 'identify api key', text: `${identified} ${identifiedFrom} WHERE v.hash = $1` }

export async function findByHash(db: Db, hash: Buffer): Promise<IdentifiedKey | undefined> {
  const { rows } = await db.query({ ...IDENTIFY, values: [hash] })
  return rows[0]
}

/** The key that acts for a partner's users in the playground, with the hash of its value. */
export async function findPlaygroundKey(
  db: Db,
  partner_id: string,
): Promise<(IdentifiedKey & { readonly hash: Buffer }) | undefined> {
  const { rows } = await db.query({
    name: 'identify playground key',
    text: `${identified}, v.hash ${identifiedFrom}
      WHERE k.partner_id = $1 AND k.made_for = 'playground' AND k.revoked_at IS NULL`,
    values: [partner_id],
  })
  return rows[0]
}

/** Hashes of all valid values, newest first. */
export async function listValidHashes(db: Db, most: number): Promise<Buffer[]> {
  const { rows } = await db.query(
    `SELECT v.hash FROM api_key_values v JOIN api_keys k ON k.id = v.api_key_id
     WHERE k.revoked_at IS NULL AND (v.valid_until IS NULL OR v.valid_until > clock_timestamp())
       AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
     ORDER BY v.created_at DESC LIMIT $1`,
    [most],
  )
  return rows.map(({ hash }) => hash)
}

/** Keys of a partner that are neither revoked nor expired, without the key of the playground. The lock keeps the count exact until COMMIT. */
export async function lockAndCountKeys(tx: Db, partner_id: string): Promise<number> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`api keys ${partner_id}`])
  const { rows } = await tx.query(
    `SELECT count(*)::integer AS count FROM api_keys WHERE partner_id = $1 AND made_for IS NULL
       AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())`,
    [partner_id],
  )
  return rows[0].count
}

export async function insertKey(
  db: Db,
  key: Pick<ApiKey, 'id' | 'partner_id' | 'name' | 'scopes' | 'ip_allowlist' | 'expires_at' | 'made_for'>,
): Promise<ApiKey> {
  const { rows } = await db.query(
    `INSERT INTO api_keys (id, partner_id, name, scopes, ip_allowlist, expires_at, made_for)
     VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${columnsOf('api_keys')}`,
    [key.id, key.partner_id, key.name, key.scopes, key.ip_allowlist, key.expires_at, key.made_for],
  )
  return rows[0]
}

export async function insertValue(
  db: Db,
  value: { api_key_id: string; hash: Buffer; last_four: string },
): Promise<void> {
  await db.query('INSERT INTO api_key_values (hash, api_key_id, last_four) VALUES ($1, $2, $3)', [
    value.hash,
    value.api_key_id,
    value.last_four,
  ])
}

export type ListedKey = ApiKey & {
  readonly last_four: string
  readonly last_used_at: Date | null
  readonly last_used_address: string | null
}

/** Newest first. */
export async function listKeys(
  db: Db,
  where: { partner_id?: string; id?: string | readonly string[] },
): Promise<ListedKey[]> {
  const { rows } = await db.query(
    `SELECT ${columnsOf('api_keys', 'k')}, v.last_four, u.last_used_at, u.last_used_address FROM api_keys k
     CROSS JOIN LATERAL (SELECT last_four FROM api_key_values WHERE api_key_id = k.id ORDER BY created_at DESC LIMIT 1) v
     LEFT JOIN api_key_uses u ON u.api_key_id = k.id
     WHERE ($1::text IS NULL OR k.partner_id = $1) AND ($2::text[] IS NULL OR k.id = ANY($2)) ORDER BY k.created_at DESC, k.id DESC`,
    [where.partner_id ?? null, where.id === undefined ? null : [where.id].flat()],
  )
  return rows
}

/** One page of a partner's keys; `listKeys` reads their details. */
export const keyList: ListSource = {
  table: 'api_keys',
  columns: columnsOf('api_keys'),
  walks: [{ by: [] }],
}

export async function namesOfKeys(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await db.query({
    name: 'names of keys',
    text: 'SELECT id, name FROM api_keys WHERE id = ANY($1)',
    values: [ids],
  })
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** A value that a rotation replaced and that works until its grace period ends. */
export type OldValue = {
  readonly api_key_id: string
  readonly last_four: string
  readonly valid_until: Date
}

/** The latest `valid_until` first. */
export async function valuesInGrace(db: Db, keys: readonly string[]): Promise<OldValue[]> {
  const { rows } = await db.query({
    name: 'key values in grace',
    text: `SELECT api_key_id, last_four, valid_until FROM api_key_values
      WHERE api_key_id = ANY($1) AND valid_until > clock_timestamp() ORDER BY valid_until DESC`,
    values: [keys],
  })
  return rows
}

/** The replaced values of all unrevoked keys of a partner, with the name of the key. The latest `valid_until` first. */
export async function valuesInGraceOf(
  db: Db,
  partner_id: string,
): Promise<(OldValue & { readonly name: string })[]> {
  const { rows } = await db.query({
    name: 'key values in grace of a partner',
    text: `SELECT v.api_key_id, k.name, v.last_four, v.valid_until
      FROM api_keys k JOIN api_key_values v ON v.api_key_id = k.id
      WHERE k.partner_id = $1 AND k.revoked_at IS NULL AND v.valid_until > clock_timestamp() ORDER BY v.valid_until DESC`,
    values: [partner_id],
  })
  return rows
}

const WORKS = 'k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2)'

/** Whether the partner has a key that is neither revoked nor expired. */
export async function hasWorkingKey(
  db: Db,
  { partner_id, now }: { readonly partner_id: string; readonly now: Date },
): Promise<boolean> {
  const { rows } = await db.query({
    name: 'a working key of a partner',
    text: `SELECT EXISTS (SELECT FROM api_keys k WHERE k.partner_id = $1 AND ${WORKS}) AS found`,
    values: [partner_id, now],
  })
  return rows[0].found
}

/** The working keys of a partner that were used after `since`, the last used first. */
export async function keysInUse(
  db: Db,
  {
    partner_id,
    now,
    since,
    limit,
  }: { readonly partner_id: string; readonly now: Date; readonly since: Date; readonly limit: number },
): Promise<ApiKey[]> {
  const { rows } = await db.query({
    name: 'keys in use of a partner',
    text: `SELECT ${columnsOf('api_keys', 'k')} FROM api_keys k JOIN api_key_uses u ON u.api_key_id = k.id
      WHERE k.partner_id = $1 AND ${WORKS} AND u.last_used_at > $3
      ORDER BY u.last_used_at DESC, k.created_at DESC, k.id DESC LIMIT $4`,
    values: [partner_id, now, since, limit],
  })
  return rows
}

/** Waits for running operations under the key, longer than a request would. Then reads the key as they left it. */
export async function lockKeyAlone(db: Db, id: string): Promise<ListedKey | undefined> {
  await db.query("SET LOCAL lock_timeout = '10s'; SET LOCAL statement_timeout = '15s'")
  await db.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [id])
  return (await listKeys(db, { id }))[0]
}

export async function markRevoked(db: Db, id: string): Promise<ApiKey> {
  const { rows } = await db.query(
    `UPDATE api_keys SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE id = $1 RETURNING ${columnsOf('api_keys')}`,
    [id],
  )
  return rows[0]
}

/** The sequence number of the next event about a key. */
export async function countKeyEvent(db: Db, id: string): Promise<number> {
  const { rows } = await db.query(
    'UPDATE api_keys SET sequence = sequence + 1 WHERE id = $1 RETURNING sequence',
    [id],
  )
  return rows[0].sequence
}

/**
 * Ends the values that a rotation replaces after the grace period; an earlier end stays. Values that end earlier are not
 * written, so that a rotation costs the same however often the key was rotated.
 */
export async function endValues(db: Db, api_key_id: string, grace_seconds: number): Promise<void> {
  await db.query(
    `UPDATE api_key_values SET valid_until = least(valid_until, clock_timestamp() + make_interval(secs => $2))
     WHERE api_key_id = $1 AND (valid_until IS NULL OR valid_until > clock_timestamp() + make_interval(secs => $2))`,
    [api_key_id, grace_seconds],
  )
}

export type KeyChange = { readonly name?: string; readonly ip_allowlist?: readonly string[] }

export async function updateKey(db: Db, id: string, { name, ip_allowlist }: KeyChange): Promise<ApiKey> {
  const { rows } = await db.query(
    `UPDATE api_keys SET name = coalesce($2, name), ip_allowlist = coalesce($3, ip_allowlist)
     WHERE id = $1 RETURNING ${columnsOf('api_keys')}`,
    [id, name ?? null, ip_allowlist ?? null],
  )
  return rows[0]
}

/** Absent fields stay unchanged; null removes the key's own limit. */
export async function updateLimits(
  db: Db,
  id: string,
  limits: Partial<CustomLimits>,
): Promise<ApiKey | undefined> {
  const columns = limitNames.filter((name) => limits[name] !== undefined)
  const sets = columns.map((name, i) => `${name} = $${i + 2}`)
  const { rows } = await db.query(
    `UPDATE api_keys SET ${sets.join(', ')} WHERE id = $1 RETURNING ${columnsOf('api_keys')}`,
    [id, ...columns.map((name) => limits[name])],
  )
  return rows[0]
}

export async function noteUses(
  db: Db,
  uses: readonly { api_key_id: string; at: Date; address: string }[],
): Promise<void> {
  await db.query(
    `INSERT INTO api_key_uses (api_key_id, last_used_at, last_used_address)
     SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::text[]) ORDER BY 1
     ON CONFLICT (api_key_id) DO UPDATE SET last_used_at = excluded.last_used_at, last_used_address = excluded.last_used_address
     WHERE api_key_uses.last_used_at < excluded.last_used_at`,
    [uses.map((u) => u.api_key_id), uses.map((u) => u.at.toISOString()), uses.map((u) => u.address)],
  )
}

/** A value of a key, by its hash in hex, with the times that end it. */
export type KeyInForce = {
  readonly id: string
  readonly api_key_id: string
  readonly valid_until: Date | null
  readonly revoked_at: Date | null
  readonly expires_at: Date | null
  /** Setting of the key's partner. */
  readonly third_party_payouts: boolean
}

const IN_FORCE = `SELECT encode(v.hash, 'hex') AS id, v.api_key_id, v.valid_until, k.revoked_at, k.expires_at, p.third_party_payouts
  FROM unnest($1::text[]) AS used (hash) JOIN api_key_values v ON v.hash = decode(used.hash, 'hex') JOIN api_keys k ON k.id = v.api_key_id
  JOIN shared.partners p ON p.id = k.partner_id`

/** Read again by the money transaction, under the advisory lock that a revocation or rotation takes exclusively. */
export const keyInForce = rowSource<KeyInForce>('api keys', IN_FORCE)

/**
 * Locks and reads the key for a transaction that moves no money. Two statements, because the second one must see the changes
 * that the lock waited for.
 */
export async function lockKeyInForce(
  tx: Db,
  used: { key_id: string; key_hash: string },
): Promise<{ key: KeyInForce | undefined; now: Date }> {
  await tx.query({
    name: 'share api key',
    text: 'SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))',
    values: [used.key_id],
  })
  const { rows } = await tx.query({
    name: 'api key in force',
    text: `SELECT clock_timestamp()::timestamptz(3) AS now, k.id, k.api_key_id, k.valid_until, k.revoked_at, k.expires_at
      FROM (SELECT) AS one LEFT JOIN (${IN_FORCE}) AS k ON true`,
    values: [[used.key_hash]],
  })
  return { key: rows[0].id === null ? undefined : rows[0], now: rows[0].now }
}

/**
 * Keys that expire within `days`, in the order of their ids. A key with a lifetime below twice `days` counts only once half of
 * its lifetime is over.
 */
export async function expiringKeys(
  db: Db,
  { days, after, limit }: { readonly days: number; readonly after: string; readonly limit: number },
): Promise<
  (Pick<ApiKey, 'id' | 'partner_id'> & { readonly expires_at: Date; readonly last_four: string })[]
> {
  const { rows } = await db.query({
    name: 'expiring api keys',
    text: `SELECT k.id, k.partner_id, k.expires_at, v.last_four
      FROM (SELECT id, partner_id, expires_at FROM api_keys
        WHERE id > $2 AND revoked_at IS NULL AND made_for IS NULL AND expires_at > clock_timestamp()
          AND expires_at - least(make_interval(days => $1), (expires_at - created_at) / 2) < clock_timestamp()
        ORDER BY id LIMIT $3) AS k
      CROSS JOIN LATERAL (SELECT last_four FROM api_key_values WHERE api_key_id = k.id ORDER BY created_at DESC LIMIT 1) AS v
      ORDER BY k.id`,
    values: [days, after, limit],
  })
  return rows
}

/** Unrevoked keys, with the fields that their limits are computed from. */
export async function keysWithLimits(
  db: Db,
  ids: readonly string[],
): Promise<
  (CustomLimits &
    Pick<ApiKey, 'id' | 'partner_id'> & {
      readonly last_four: string
      readonly tier: Tier
      readonly partner_limits: CustomLimits
    })[]
> {
  const { rows } = await db.query({
    name: 'api keys with limits',
    text: `SELECT k.id, k.partner_id, ${limitNames.map((name) => `k.${name}`).join(', ')}, v.last_four, p.tier,
        json_build_object(${limitNames.map((name) => `'${name}', p.${name}`).join(', ')}) AS partner_limits
      FROM api_keys k JOIN shared.partners p ON p.id = k.partner_id
      CROSS JOIN LATERAL (SELECT last_four FROM api_key_values WHERE api_key_id = k.id ORDER BY created_at DESC LIMIT 1) AS v
      WHERE k.id = ANY($1::text[]) AND k.revoked_at IS NULL`,
    values: [ids],
  })
  return rows
}
