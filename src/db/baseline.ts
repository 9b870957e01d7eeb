/** The first file of each folder of migrations: it defines the whole schema, and replaced the files of earlier builds. */
export const BASELINE = '0001-baseline.sql'

type Row = { readonly name: string }

/**
 * The lowest number of a new file, in both folders. The table `migrations` of an older database has the names of the
 * replaced files, so their numbers are not used again.
 */
export const LOWEST_NUMBER = '0055'

export const isReplaced = (name: string): boolean => name < LOWEST_NUMBER && name !== BASELINE

/** Whether an earlier build made the schema, and the release that introduced the baseline never started on it. */
export const isBeforeBaseline = (rows: readonly Row[]): boolean =>
  rows.some(({ name }) => isReplaced(name)) && !rows.some(({ name }) => name === BASELINE)
