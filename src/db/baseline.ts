import { createHash } from 'node:crypto'

/**
 * The first file of each folder of migrations: it defines the whole schema, and replaced every file of the previous
 * release. An empty database runs this file. A database of the previous release has the same tables already:
 * migrate.ts only records the file there, and drops what the file no longer has.
 */
export const BASELINE = '0001-baseline.sql'

export type Folder = 'shared' | 'world'
type Row = { readonly name: string; readonly checksum: string }

/**
 * The lowest number of a new file, in both folders. The table `migrations` of an older database has the names of the
 * replaced files, so their numbers are not used again.
 */
export const NEXT_NUMBER = '0055'

export const isReplaced = (name: string): boolean => name < NEXT_NUMBER && name !== BASELINE

export const hasReplacedFiles = (rows: readonly Pick<Row, 'name'>[]): boolean =>
  rows.some(({ name }) => isReplaced(name))

/** SHA-256 over the names and checksums of all replaced files, as a database of the previous release has them. */
const PREVIOUS_RELEASE: Readonly<Record<Folder, string>> = {
  shared: '6ac2f531ff1bffe0ba1f489468aba087925d88406e1ac3637dfab3d7b005967d',
  world: 'aecd6dc53cc9ad2c429cdf5b3d6de536903a9f946c890205347c94b997448b06',
}

/** Whether a schema has all replaced files. If it has only some, an earlier build made it, and the start is refused. */
export function isWholeRelease(folder: Folder, rows: readonly Row[]): boolean {
  const lines = rows.filter(({ name }) => isReplaced(name)).map(({ name, checksum }) => `${name} ${checksum}`)
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex') === PREVIOUS_RELEASE[folder]
}

/**
 * What changes in a database of the previous release when it gets the baseline. The dropped objects are used by no statement of
 * the previous release; only its function `log_start` reads `log_times`, and the functions are replaced first.
 */
export const ADOPTION: Readonly<Record<Folder, readonly string[]>> = {
  shared: [],
  world: [
    // Positions that builds before time-based ones counted from one. `log_times` translated a time into such a position; without
    // it a range of times finds these events through the index of late ones.
    'UPDATE events SET late = true WHERE position < 1000000000000 AND late IS NULL',
    'DROP VIEW IF EXISTS event_positions, fresh_events',
    'DROP TABLE IF EXISTS log_times',
    'ALTER TABLE audit_progress DROP COLUMN IF EXISTS leased_until',
  ],
}
