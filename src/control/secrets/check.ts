import type { Sealer } from '../../core/seal.ts'
import { type KeySettings, openSealer, secretKeysOf } from '../../db/open.ts'
import { type Db, openPool, type SchemaName, schemas } from '../../db/pool.ts'
import {
  CHECK_OF,
  insertSealing,
  readSealing,
  type SealedColumn,
  type StoragePlace,
  storagePlaces,
} from '../../db/sealing.ts'
import type { Seats } from '../../db/seat.ts'
import { factorSeeds } from '../../parties/team/store.ts'
import { actsKeys } from '../../records/acts/store.ts'
import { webhookSecrets } from '../../webhooks/store.ts'

/** All sealed columns. A column that is not in this list is neither checked at start nor rotated. */
export const sealedColumns: readonly SealedColumn[] = [...webhookSecrets, ...factorSeeds, ...actsKeys]

/** A connection for each place: the owner's connection reaches all schemas, a role's only its own. */
export type Reached = { readonly [P in StoragePlace]: Db }

export const reachedBy = (owner: Db): Reached => ({ production: owner, sandbox: owner, shared: owner })

/** For a process that is not the owner: connects to each schema with its own role. */
export async function withReach<T>(seats: Seats, work: (reached: Reached) => Promise<T>): Promise<T> {
  const pools = {
    shared: openPool({ ...seats('shared', 'trilho start'), max: 1 }),
    production: openPool({ ...seats('live', 'trilho start'), max: 1 }),
    sandbox: openPool({ ...seats('sandbox', 'trilho start'), max: 1 }),
  }
  try {
    return await work(pools)
  } finally {
    await Promise.all(Object.values(pools).map((pool) => pool.end()))
  }
}

export const schemaOf = (place: StoragePlace): SchemaName => (place === 'shared' ? place : schemas[place])

export type SealedRow = { readonly id: string; readonly value: Buffer; readonly key_id: string | null }

const PART = 500

/** The sealed values of a column, in pages. `but`: rows with one of these key ids are left out. */
async function* sealedRows(
  db: Db,
  place: StoragePlace,
  column: SealedColumn,
  but: readonly string[] = [],
): AsyncGenerator<SealedRow[]> {
  let after = ''
  for (;;) {
    const { rows } = await db.query<SealedRow>(
      `SELECT id, ${column.column} AS value, ${column.key_column} AS key_id FROM ${schemaOf(place)}.${column.table}
       WHERE id > $1 AND ${column.where} AND (${column.key_column} IS NULL OR ${column.key_column} <> ALL ($2::text[]))
       ORDER BY id LIMIT $3`,
      [after, but, PART],
    )
    if (rows.length > 0) yield rows
    if (rows.length < PART) return
    after = rows.at(-1)!.id
  }
}

/** Values that cannot be opened: their number, the key id in their rows, and a few of their ids. */
type Unopened = {
  readonly environment: StoragePlace
  readonly object: string
  readonly key_id: string | null
  readonly count: number
  readonly ids: readonly string[]
}

const IDS_SHOWN = 3

export async function findUnopened(
  reached: Reached,
  sealer: Sealer,
  but: readonly string[] = [],
): Promise<Unopened[]> {
  const found = new Map<string, Unopened>()
  for await (const { place, column, row } of everySealed(reached, but)) {
    if (sealer.openerOf(row.value, column.of(place, row.id)) !== undefined) continue
    const { object } = column
    const name = `${place} ${object} ${row.key_id}`
    const { count, ids } = found.get(name) ?? { count: 0, ids: [] }
    const shown = ids.length < IDS_SHOWN ? [...ids, row.id] : ids
    found.set(name, { environment: place, object, key_id: row.key_id, count: count + 1, ids: shown })
  }
  return [...found.values()]
}

export async function* everySealed(reached: Reached, but: readonly string[] = []) {
  for (const place of storagePlaces) {
    for (const column of sealedColumns.filter((one) => one.places.includes(place))) {
      for await (const rows of sealedRows(reached[place], place, column, but))
        for (const row of rows) yield { place, column, row }
    }
  }
}

/** The database's secrets are sealed under another key than this process has. The message names objects, never contents. */
export class WrongSecretKey extends Error {
  override name = 'WrongSecretKey'
  readonly unopened: readonly Unopened[]

  constructor(known: readonly string[], in_force: string | undefined, unopened: readonly Unopened[]) {
    const [first, ...previous] = known
    const given = previous.length === 0 ? first : `${first}, with ${previous.join(', ')} before it`
    const lines = unopened.map(
      ({ environment, object, key_id, count, ids }) =>
        `  - ${count} ${object}${count === 1 ? '' : 's'} in ${environment}${key_id ? ` under the key ${key_id}` : ''}: ${ids.join(', ')}${count > ids.length ? ', …' : ''}\n`,
    )
    super(
      `SECRET_KEY is not the key that this database's secrets are sealed under.\n` +
        `Given is the key ${given}${in_force ? `; in force is the key ${in_force}` : ''}. ` +
        `${lines.length === 0 ? 'Nothing else is sealed yet.\n' : `Cannot be opened:\n${lines.join('')}`}` +
        'Give the right key as SECRET_KEY, or as SECRET_KEY_PREVIOUS beside a new one until `trilho secrets rotate` has ended. Nothing was changed.',
    )
    this.unopened = unopened
  }
}

/**
 * Refuses a wrong SECRET_KEY before anything depends on it. The first node on a database stores a check value under its key,
 * so the check also works where nothing else is sealed, and for nodes that start at once. Returns the id of the key in force.
 */
export async function checkSecretKey(reached: Reached, sealer: Sealer): Promise<string> {
  if (!(await readSealing(reached.shared))) await begin(reached, sealer)
  return (await assertSecretKey(reached, sealer))!
}

/** Like `checkSecretKey`, but stores no check value. Returns the id of the key in force, if there is one yet. */
export async function assertSecretKey(reached: Reached, sealer: Sealer): Promise<string | undefined> {
  const sealing = await readSealing(reached.shared)
  if (sealing && sealer.openerOf(sealing.check_value, CHECK_OF) === undefined)
    throw new WrongSecretKey(sealer.keyIds(), sealing.key_id, await findUnopened(reached, sealer))
  const unopened = await findUnopened(reached, sealer, sealer.keyIds())
  if (unopened.length > 0) throw new WrongSecretKey(sealer.keyIds(), sealing?.key_id, unopened)
  return sealing?.key_id
}

/** The check that a migration runs before it changes a password. */
export async function keyCheckOf(settings: KeySettings): Promise<(owner: Db) => Promise<void>> {
  const sealer = openSealer(settings, await secretKeysOf(settings))
  return async (owner) => void (await checkSecretKey(reachedBy(owner), sealer))
}

/** Stores the check value: under the key of the existing sealed values, or under SECRET_KEY when there are none. */
async function begin(reached: Reached, sealer: Sealer): Promise<void> {
  const unopened = await findUnopened(reached, sealer)
  if (unopened.length > 0) throw new WrongSecretKey(sealer.keyIds(), undefined, unopened)
  let key_id = sealer.keyIds()[0]!
  for await (const { place, column, row } of everySealed(reached)) {
    key_id = sealer.openerOf(row.value, column.of(place, row.id))!
    break
  }
  await insertSealing(reached.shared, sealer, key_id)
}

/** The number of objects per key, found by opening each value. */
type SealedCount = {
  readonly environment: StoragePlace
  readonly object: string
  /** The key that opens the values; when none does, the key id in their rows. */
  readonly key_id: string | null
  readonly opens: boolean
  readonly count: number
}

export async function countSealed(reached: Reached, sealer: Sealer): Promise<SealedCount[]> {
  const counts = new Map<string, SealedCount>()
  for await (const { place, column, row } of everySealed(reached)) {
    const opener = sealer.openerOf(row.value, column.of(place, row.id))
    const one = {
      environment: place,
      object: column.object,
      key_id: opener ?? row.key_id,
      opens: opener !== undefined,
    }
    const name = JSON.stringify(one)
    counts.set(name, { ...one, count: (counts.get(name)?.count ?? 0) + 1 })
  }
  return [...counts.values()]
}
