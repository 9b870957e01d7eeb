import { createHash } from 'node:crypto'

/** The first file of each folder of migrations: the definition of the schema. */
export const BASELINE = '0001-baseline.sql'

export type Folder = 'shared' | 'world'
type Row = { readonly name: string; readonly checksum: string }

/**
 * The first number that a later file may have, in both folders. Lower numbers belonged to the files that the baseline
 * replaced: their names are stored in every database that was made before.
 */
export const NEXT_NUMBER = '0055'

export const isReplaced = (name: string): boolean => name < NEXT_NUMBER && name !== BASELINE

export const hasReplacedFiles = (rows: readonly Pick<Row, 'name'>[]): boolean =>
  rows.some(({ name }) => isReplaced(name))

/** Digests of the names and checksums of all replaced files, as the previous release recorded them. */
const PREVIOUS_RELEASE: Readonly<Record<Folder, string>> = {
  shared: '6ac2f531ff1bffe0ba1f489468aba087925d88406e1ac3637dfab3d7b005967d',
  world: 'aecd6dc53cc9ad2c429cdf5b3d6de536903a9f946c890205347c94b997448b06',
}

/** Whether all replaced files were applied to a schema. */
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
