import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { Db, SchemaName } from './pool.ts'

/**
 * What is SQL inside the database: functions and triggers, in `functions/`, a file per idea. They are stated at a start,
 * like the rights, so that a database that was upgraded has the same ones as a fresh one; migrations make tables only.
 * Nodes of the version before call them too, so what is called keeps its name, its arguments and its result
 * (decision 0056).
 */

/** One more with every change of a file: it tells a newer version's functions from an older one's. */
export const EDITION = 10

const folders: Readonly<Record<SchemaName, string>> = { shared: 'shared', live: 'world', sandbox: 'world' }

type Stated = { readonly edition: number; readonly digest: string; readonly found: string }

/** Whether a newer version has stated its functions: they hold for this one too. */
export async function haveNewerFunctions(db: Db, schema: SchemaName): Promise<boolean> {
  const stated = await readStated(db, schema)
  return stated !== undefined && stated.edition > EDITION
}

/**
 * Puts every function and trigger of a schema right, in the transaction of the caller. A trigger is made under a lock on
 * its table, so nothing is touched when all of them are there, as they were made; and no lock is waited for, lest payments
 * queue up behind it: whoever calls this tries again.
 */
export async function stateFunctions(db: Db, schema: SchemaName): Promise<void> {
  // Functions that act as their owner keep this path: a temporary table of the caller's never comes first.
  await db.query(`SET LOCAL search_path = ${schema}, pg_temp; SET LOCAL lock_timeout = '100ms'`)
  const { texts, digest } = await readFunctions(schema)
  const stated = await readStated(db, schema)
  if (stated?.edition === EDITION && stated.digest === digest && stated.found === (await find(db, schema)))
    return
  // In one round trip: requests wait for the locks, and a start may be far from the database.
  await db.query(
    `${texts.join('\n')}
     INSERT INTO ${schema}.functions (edition, digest, found) SELECT ${EDITION}, '${digest}', (${foundIn(schema)})
     ON CONFLICT (id) DO UPDATE
     SET edition = excluded.edition, digest = excluded.digest, found = excluded.found, stated_at = excluded.stated_at`,
  )
}

/** For a service that does not migrate: what keeps it from working with the functions that are there. */
export async function functionsFault(db: Db, schema: SchemaName): Promise<string | undefined> {
  const stated = await readStated(db, schema)
  if (!stated) return `Schema ${schema} has no functions`
  if (stated.edition > EDITION) return undefined
  if (stated.edition < EDITION) return `Schema ${schema} has the functions of an older version`
  const { digest } = await readFunctions(schema)
  return stated.digest === digest ? undefined : `Schema ${schema} has other functions than this version`
}

export async function readFunctions(schema: SchemaName): Promise<{ texts: string[]; digest: string }> {
  const place = new URL(`./functions/${folders[schema]}/`, import.meta.url)
  const names = (await readdir(place)).filter((name) => name.endsWith('.sql')).sort()
  const texts = await Promise.all(names.map((name) => readFile(new URL(name, place), 'utf8')))
  return { texts, digest: createHash('sha256').update(texts.join('\0')).digest('hex') }
}

async function readStated(db: Db, schema: SchemaName): Promise<Stated | undefined> {
  const { rows } = await db.query(`SELECT edition, digest, found FROM ${schema}.functions`)
  return rows[0]
}

/** A digest of every function and trigger as the database tells it; how it does so depends on the path. */
async function find(db: Db, schema: SchemaName): Promise<string> {
  const { rows } = await db.query(`SELECT (${foundIn(schema)}) AS found`)
  return rows[0].found
}

const foundIn = (schema: SchemaName) =>
  `SELECT encode(sha256(convert_to(definitions, 'UTF8')), 'hex') FROM (
     SELECT coalesce(string_agg(definition, E'\\n' ORDER BY definition COLLATE "C"), '') AS definitions FROM (
       SELECT pg_get_functiondef(oid) AS definition FROM pg_proc
       WHERE pronamespace = '${schema}'::regnamespace AND prokind = 'f'
       UNION ALL
       SELECT pg_get_triggerdef(t.oid) || ' ' || t.tgenabled::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
       WHERE c.relnamespace = '${schema}'::regnamespace AND NOT t.tgisinternal) AS there) AS whole`
