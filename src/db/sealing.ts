import type { Environment } from '../core/environment.ts'
import type { Sealed, Sealer } from '../core/seal.ts'
import type { Db } from './pool.ts'

/**
 * Under which key secrets are sealed. The database says so, in one row, and not each node's settings: while a new key takes
 * over, nodes that know both go on sealing under the old one until the row names the new one (decision 0042).
 */
export type Sealing = { readonly key_id: string; readonly check_value: Buffer }

/** Where sealed values are: in one world, or in what both have in common. */
export type Place = Environment | 'shared'

/** A column of sealed values, each in the row of what it belongs to. */
export type SealedColumn = {
  /** What a person calls it: "webhook secret". */
  readonly object: string
  readonly places: readonly Place[]
  readonly table: string
  readonly column: string
  /** Where the row says under which key. */
  readonly key_column: string
  /** Which rows count. */
  readonly where: string
  /** Forgets what does not count any more. */
  readonly forget?: (schema: string) => string
  /** What the value in the row of this id is sealed for. */
  of(place: Place, id: string): string
}

/** Held together by whoever seals, alone by whoever names another key. */
const SEALING_LOCK = 7_415_303

/** What the check value is sealed for, and what it says: only whether it opens is of interest. */
export const CHECK_OF = 'the check value of this database'

export async function readSealing(db: Db): Promise<Sealing | undefined> {
  const { rows } = await db.query('SELECT key_id, check_value FROM shared.sealing')
  return rows[0]
}

/** Nothing happens when the row is there: whoever came first has decided. */
export async function insertSealing(db: Db, sealer: Sealer, key_id: string): Promise<void> {
  const { value } = sealer.seal(Buffer.from(CHECK_OF), CHECK_OF, key_id)
  await db.query('INSERT INTO shared.sealing (key_id, check_value) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    key_id,
    value,
  ])
}

/** In a transaction: when it commits, everything that was sealed before is committed, and whoever seals later reads the new name. */
export async function nameKey(tx: Db, sealer: Sealer, key_id: string): Promise<void> {
  const { value } = sealer.seal(Buffer.from(CHECK_OF), CHECK_OF, key_id)
  await tx.query("SET LOCAL lock_timeout = '10s'; SET LOCAL statement_timeout = '15s'")
  await tx.query('SELECT pg_advisory_xact_lock($1)', [SEALING_LOCK])
  await tx.query(
    'UPDATE shared.sealing SET key_id = $1, check_value = $2, since = clock_timestamp() WHERE key_id <> $1',
    [key_id, value],
  )
}

/** In the transaction that stores it. */
export async function sealInForce(tx: Db, sealer: Sealer, secret: Buffer, of: string): Promise<Sealed> {
  await tx.query('SELECT pg_advisory_xact_lock_shared($1)', [SEALING_LOCK])
  const sealing = await readSealing(tx)
  return sealer.seal(secret, of, sealing?.key_id)
}
