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

/**
 * Seals everything again under another key, while nodes that know both keys keep running. First the database names the new
 * key, so that nothing more is sealed under the old one; then each value is sealed again separately. After an interruption,
 * a second run finds the rest.
 */
export type Rotated = {
  readonly key_id: string
  /** The key that was in force before, if it differs. */
  readonly from_key_id: string | undefined
  readonly sealed_again: number
  /** The number of all sealed values; all open under the new key. */
  readonly sealed: number
}

/** Called in the transaction that names the key, to record who did it. */
export type NoteRotation = (tx: Db, named: { before: string; after: string }) => Promise<unknown>

const PASSES_MAX = 20

/** Advisory lock: exclusive for a rotation, shared for a backup, which must contain a single key. */
export const ROTATION_LOCK = 7_415_304
/** Long enough for the connection of a killed process to end. */
const LEAVING_MS = 5000

/** One rotation at a time: two could mix up their new keys. When a process is killed, its lock ends with its connection. */
export async function rotateAlone<T>(shared: Pool, work: () => Promise<T>): Promise<T> {
  const client = await shared.connect()
  const until = performance.now() + LEAVING_MS
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
    // Not given back to the pool: the lock ends with the connection.
    client.release(true)
  }
}

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
    // A value that another process changed between the read and the write is found by the next pass.
    if (changed === 0)
      return { key_id, from_key_id: before === key_id ? undefined : before, sealed_again, sealed }
  }
  throw new Error(
    'Somebody goes on sealing secrets under another key: a node that does not know the new one is still running. ' +
      'Restart it with SECRET_KEY and SECRET_KEY_PREVIOUS, then rotate again.',
  )
}

/** One pass over all values. Each is opened, whatever key id its row has. */
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
    const of = column.of(place, row.id)
    if (row.key_id === key_id && sealer.openerOf(row.value, of) === key_id) continue
    const { value } = sealer.seal(sealer.open(row.value, of), of, key_id)
    await replaceValue(reached[place], { place, column, row, value, key_id })
    changed++
    crashPoint('after_sealed_again')
  }
  return { changed, sealed }
}

/** Writes only if the row still has the value that was read. */
async function replaceValue(
  db: Db,
  one: { place: StoragePlace; column: SealedColumn; row: SealedRow; value: Buffer; key_id: string },
): Promise<void> {
  const { place, column, row, value, key_id } = one
  await db.query(
    `UPDATE ${schemaOf(place)}.${column.table} SET ${column.column} = $2, ${column.key_column} = $3
     WHERE id = $1 AND ${column.column} = $4`,
    [row.id, value, key_id, row.value],
  )
}
