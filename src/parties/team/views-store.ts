import { columnsOf } from '../../db/columns.ts'
import type { Db } from '../../db/pool.ts'

/** Filters of a list of the console that a person saved under a name. */
export type SavedView = {
  readonly id: string
  readonly user_id: string
  /** Empty for a list of no environment. */
  readonly environment: 'production' | 'sandbox' | ''
  readonly page: string
  readonly name: string
  /** JSON: the query of the page's address. */
  readonly filters: string
  readonly created_at: Date
}

export async function selectViews(db: Db, user_id: string): Promise<SavedView[]> {
  const { rows } = await db.query({
    name: 'saved views of a user',
    text: `SELECT ${columnsOf('saved_views')} FROM saved_views WHERE user_id = $1 ORDER BY name, id`,
    values: [user_id],
  })
  return rows
}

/** A view of that name is replaced: a form that arrives twice makes one view. */
export async function putView(tx: Db, view: Omit<SavedView, 'created_at'>): Promise<SavedView> {
  const { rows } = await tx.query(
    `INSERT INTO saved_views (id, user_id, environment, page, name, filters) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT ON CONSTRAINT saved_views_name DO UPDATE SET filters = excluded.filters
     RETURNING ${columnsOf('saved_views')}`,
    [view.id, view.user_id, view.environment, view.page, view.name, view.filters],
  )
  return rows[0]
}

export async function renameView(
  tx: Db,
  { id, user_id, name }: Pick<SavedView, 'id' | 'user_id' | 'name'>,
): Promise<SavedView | undefined> {
  const { rows } = await tx.query(
    `UPDATE saved_views SET name = $3 WHERE id = $1 AND user_id = $2 RETURNING ${columnsOf('saved_views')}`,
    [id, user_id, name],
  )
  return rows[0]
}

export async function deleteView(
  tx: Db,
  { id, user_id }: Pick<SavedView, 'id' | 'user_id'>,
): Promise<SavedView | undefined> {
  const { rows } = await tx.query(
    `DELETE FROM saved_views WHERE id = $1 AND user_id = $2 RETURNING ${columnsOf('saved_views')}`,
    [id, user_id],
  )
  return rows[0]
}

/** Called when a user is removed: filters may hold names and documents. */
export async function deleteViewsOf(tx: Db, user_id: string): Promise<void> {
  await tx.query('DELETE FROM saved_views WHERE user_id = $1', [user_id])
}
