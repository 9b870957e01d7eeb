import type { ShouldContinue } from '../../db/chore.ts'
import type { Db } from '../../db/pool.ts'
import { insertInto } from '../../ledger/command.ts'

export type Form = { readonly user_id: string; readonly id: string; readonly object_id: string }

/** Of two concurrent copies of a form the second waits here and gets the object that the first one made. */
export async function formById(tx: Db, user_id: string, id: string): Promise<Form | undefined> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`form ${user_id} ${id}`])
  const { rows } = await tx.query('SELECT user_id, id, object_id FROM forms WHERE user_id = $1 AND id = $2', [
    user_id,
    id,
  ])
  return rows[0]
}

export async function insertForm(tx: Db, { user_id, id, object_id }: Form): Promise<void> {
  await tx.query('INSERT INTO forms (user_id, id, object_id) VALUES ($1, $2, $3)', [user_id, id, object_id])
}

/** For a command that moves money. */
export const insertForms = insertInto('forms', { user_id: 'text', id: 'text', object_id: 'text' })

const STEP = 1000

/** Deletes forms older than a day: their pages have been closed or reloaded. */
export async function forgetForms(db: Db, shouldContinue: ShouldContinue = () => true): Promise<void> {
  for (let gone = STEP; gone === STEP && shouldContinue(); ) {
    const { rowCount } = await db.query(
      `DELETE FROM forms WHERE (user_id, id) IN (SELECT user_id, id FROM forms
         WHERE created_at < clock_timestamp() - interval '1 day' LIMIT $1)`,
      [STEP],
    )
    gone = rowCount ?? 0
  }
}
