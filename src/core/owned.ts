import type { ErrorCode } from './errors.ts'
import { refuse } from './errors.ts'
import { type IdKind, isId } from './ids.ts'

/** Kinds of objects that a partner reads by id: each has its own `…_not_found` error. */
type OwnedKind = { [Kind in IdKind]: `${Kind}_not_found` extends ErrorCode ? Kind : never }[IdKind]

export type OwnedId = { readonly id: string; readonly partner_id: string }

/**
 * Finds an object of a partner by its id. An object of another partner counts as not found. Text that does not have the form
 * of an id is not looked up, because the database may refuse it, for example a NUL.
 */
export async function findOwned<Row extends { readonly partner_id: string }>(
  kind: OwnedKind,
  where: OwnedId,
  select: (id: string) => Promise<Row | undefined>,
  param = `${kind}_id`,
): Promise<Row> {
  const row = isId(kind, where.id) ? await select(where.id) : undefined
  return row?.partner_id === where.partner_id ? row : refuse(`${kind}_not_found`, { param })
}
