import type { ErrorCode } from './errors.ts'
import { refuse } from './errors.ts'
import { type IdKind, isId } from './ids.ts'

/** What a partner reads by its id: each of these has an error of its own. */
type OwnedKind = { [Kind in IdKind]: `${Kind}_not_found` extends ErrorCode ? Kind : never }[IdKind]

export type Where = { readonly id: string; readonly partner_id: string }

/**
 * Finds what a partner names by its id. What belongs to another partner does not exist; what has not the form of an id is
 * not looked for, for it may be text that the database does not take.
 */
export async function findOwned<Row extends { readonly partner_id: string }>(
  kind: OwnedKind,
  where: Where,
  select: (id: string) => Promise<Row | undefined>,
  param = `${kind}_id`,
): Promise<Row> {
  const row = isId(kind, where.id) ? await select(where.id) : undefined
  return row?.partner_id === where.partner_id ? row : refuse(`${kind}_not_found`, { param })
}
