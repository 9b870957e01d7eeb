import { setTimeout as sleep } from 'node:timers/promises'
import { crashPoint } from '../../core/crash-point.ts'
import type { Sealer } from '../../core/seal.ts'
import { type Db, type Pool, transaction } from '../../db/pool.ts'
import { nameKey, type SealedColumn, type StoragePlace } from '../../db/sealing.ts'
import {
  checkSecretKey,
  everySealed,
  type Reached,
  type SealedRow,
  schemaOf,
  sealedColumns,
} from './check.ts'

/** The result of a rotation. */
export type Rotated = {
  readonly key_id: string
  /** The key that was in force before, if it differs. */
  readonly from_key_id: string | undefined
  /** The number of values that were sealed under another key before. */
  readonly sealed_again: number
  /** The number of all sealed values; all open under the new key. */
  readonly sealed: number
}

/** Writes the line of the act log, in the transaction that stores the id of the new key. */
export type NoteRotation = (tx: Db, named: { before: string; after: string }) => Promise<unknown>

/** Passes over all values before the rotation gives up. */
const PASSES_MAX = 20

/** Advisory lock: exclusive for a rotation, shared for a backup, so that all values of a backup are sealed under one key. */
export const ROTATION_LOCK = 7_415_304
/** How long a rotation waits for the lock: PostgreSQL needs a moment to notice that a killed process is gone. */
const LOCK_WAIT_MS = 5000

/**
 * Runs `work` while no other rotation and no backup runs: two rotations with different new keys would overwrite each other's
 * values.
 */
export async function rotateAlone<T>(shared: Pool, work: () => Promise<T>): Promise<T> {
  const client = await shared.connect()
  const until = performance.now() + LOCK_WAIT_MS
  try {
    for (;;) {
      const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS won', [ROTATION_LOCK])
      if (rows[0].won) return await work()
      if (performance.now() > until)
        throw new Error(
          'Another rotation of the secrets, or a backup, is under way. Wait for its end, then look again.',
        )
      await sleep(100)
    }
  } finally {
    // Closes the connection instead of returning it to the pool: this releases the lock.
    client.release(true)
  }
}

/**
 * Seals every secret again under the key `key_id`, while nodes that know both keys keep running (decision 0033). First the
 * row of `shared.sealing` gets the new key id, so that nodes stop sealing under the old key; then each value is sealed again
 * and written separately. If a rotation is interrupted, a second one seals the remaining values.
 */
export async function rotateSecrets(
  reached: Reached & { readonly shared: Pool },
  sealer: Sealer,
  key_id: string,
  note: NoteRotation = async () => {},
): Promise<Rotated> {
  const before = await checkSecretKey(reached, sealer)
  await transaction(reached.shared, async (tx) => {
    if (before !== key_id) await nameKey(tx, sealer, key_id)
    await note(tx, { before, after: key_id })
  })
  crashPoint('after_key_named')
  let sealed_again = 0
  for (let pass = 0; pass < PASSES_MAX; pass++) {
    const { changed, sealed } = await sealAll(reached, sealer, key_id)
    sealed_again += changed
    // Only a pass without changes proves that all values are under the new key: during a pass another process may write a value.
    if (changed === 0)
      return { key_id, from_key_id: before === key_id ? undefined : before, sealed_again, sealed }
  }
  throw new Error(
    'Somebody goes on sealing secrets under another key: a node that does not know the new one is still running. ' +
      'Restart it with SECRET_KEY and SECRET_KEY_PREVIOUS, then rotate again.',
  )
}

/** One pass over all values. Opens each value to find its key: the key id in the row is only a label. */
async function sealAll(
  reached: Reached,
  sealer: Sealer,
  key_id: string,
): Promise<{ changed: number; sealed: number }> {
  let changed = 0
  let sealed = 0
  for (const { places, forget } of sealedColumns) {
    if (forget) for (const place of places) await reached[place].query(forget(schemaOf(place)))
  }
  for await (const { place, column, row } of everySealed(reached)) {
    sealed++
    const context = column.of(place, row.id)
    if (row.key_id === key_id && sealer.openerOf(row.value, context) === key_id) continue
    const { value } = sealer.seal(sealer.open(row.value, context), context, key_id)
    await replaceValue(reached[place], { place, column, row, value, key_id })
    changed++
    crashPoint('after_sealed_again')
  }
  return { changed, sealed }
}

/** Writes the value only if the row still has the value that was read; otherwise the next pass reads the row again. */
async function replaceValue(
  db: Db,
  update: { place: StoragePlace; column: SealedColumn; row: SealedRow; value: Buffer; key_id: string },
): Promise<void> {
  const { place, column, row, value, key_id } = update
  await db.query(
    `UPDATE ${schemaOf(place)}.${column.table} SET ${column.column} = $2, ${column.key_column} = $3
     WHERE id = $1 AND ${column.column} = $4`,
    [row.id, value, key_id, row.value],
  )
}
