import { environments } from '../core/environment.ts'
import type { Sealed, Sealer } from '../core/seal.ts'
import type { Db } from './pool.ts'

/**
 * The key that secrets are sealed under. One row in the database decides it, not the settings of each node: during a key
 * rotation, nodes that know both keys seal under the old one until the row names the new one (decision 0033).
 */
type Sealing = { readonly key_id: string; readonly check_value: Buffer }

/** Where sealed values are stored: in one of the worlds, or in the schema `shared`. */
export const storagePlaces = [...environments, 'shared'] as const
export type StoragePlace = (typeof storagePlaces)[number]

/** A column of sealed values. */
export type SealedColumn = {
  /** The name of the value for people, such as "webhook secret". */
  readonly object: string
  readonly places: readonly StoragePlace[]
  readonly table: string
  readonly column: string
  /** The column with the id of the key that the value is sealed under. */
  readonly key_column: string
  /** SQL condition: the rows whose value is still in use. */
  readonly where: string
  /** SQL that clears the values that are no longer in use. */
  readonly forget?: (schema: string) => string
  /** The context that the value of the row with this id is bound to. */
  of(place: StoragePlace, id: string): string
}

/** Advisory lock: shared for sealing, exclusive for naming another key. */
const SEALING_LOCK = 7_415_303

/** Both context and content of the check value: it only shows whether a key opens it. */
export const CHECK_OF = 'the check value of this database'

export async function readSealing(db: Db): Promise<Sealing | undefined> {
  const { rows } = await db.query('SELECT key_id, check_value FROM shared.sealing')
  return rows[0]
}

/** Does nothing when the row exists: the first node has decided. */
export async function insertSealing(db: Db, sealer: Sealer, key_id: string): Promise<void> {
  const { value } = sealer.seal(Buffer.from(CHECK_OF), CHECK_OF, key_id)
  await db.query('INSERT INTO shared.sealing (key_id, check_value) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    key_id,
    value,
  ])
}

/** Names another key. Once `tx` commits, all earlier sealings are committed, and later sealings read the new name. */
export async function nameKey(tx: Db, sealer: Sealer, key_id: string): Promise<void> {
  const { value } = sealer.seal(Buffer.from(CHECK_OF), CHECK_OF, key_id)
  await tx.query("SET LOCAL lock_timeout = '10s'; SET LOCAL statement_timeout = '15s'")
  await tx.query('SELECT pg_advisory_xact_lock($1)', [SEALING_LOCK])
  await tx.query(
    'UPDATE shared.sealing SET key_id = $1, check_value = $2, since = clock_timestamp() WHERE key_id <> $1',
    [key_id, value],
  )
}

/** Seals under the key that the database names. Call it in the transaction that stores the result. */
export async function sealInForce(tx: Db, sealer: Sealer, secret: Buffer, of: string): Promise<Sealed> {
  await tx.query('SELECT pg_advisory_xact_lock_shared($1)', [SEALING_LOCK])
  const sealing = await readSealing(tx)
  return sealer.seal(secret, of, sealing?.key_id)
}
