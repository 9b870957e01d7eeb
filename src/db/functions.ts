import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { Db, SchemaName } from './pool.ts'

/**
 * The functions and triggers inside the database, in `functions/`, one file per idea. Every start creates or replaces them,
 * like the rights, so that an upgraded database has the same ones as a new one; migrations make tables only. Nodes of the
 * previous release call the functions too, so a function keeps its name, its arguments and its result (decision 0031).
 */

/** Raised by one with every change of a file: tells the functions of a newer version from those of an older one. */
export const EDITION = 17

const folders: Readonly<Record<SchemaName, string>> = { shared: 'shared', live: 'world', sandbox: 'world' }

type Stated = { readonly edition: number; readonly digest: string; readonly found: string }

/** Whether a newer version has installed its functions: this version works with them. */
export async function haveNewerFunctions(db: Db, schema: SchemaName): Promise<boolean> {
  const stated = await readStated(db, schema)
  return stated !== undefined && stated.edition > EDITION
}

/**
 * Installs every function and trigger of a schema, in the transaction of the caller. Creating a trigger locks its table, so
 * nothing is written if the database has all of them unchanged. Payments queue up behind a statement that waits for a lock, so
 * the statement gives up after 100 ms and the caller tries again.
 */
export async function stateFunctions(db: Db, schema: SchemaName): Promise<void> {
  // SECURITY DEFINER functions keep this path: a temporary table of the caller must not shadow a table of the owner.
  await db.query(`SET LOCAL search_path = ${schema}, pg_temp; SET LOCAL lock_timeout = '100ms'`)
  const { texts, digest } = await readFunctions(schema)
  const stated = await readStated(db, schema)
  if (stated?.edition === EDITION && stated.digest === digest && stated.found === (await find(db, schema)))
    return
  // In one round trip: requests wait for these locks, and the network to the database may be slow.
  await db.query(
    `${texts.join('\n')}
     INSERT INTO ${schema}.functions (edition, digest, found) SELECT ${EDITION}, '${digest}', (${foundIn(schema)})
     ON CONFLICT (id) DO UPDATE
     SET edition = excluded.edition, digest = excluded.digest, found = excluded.found, stated_at = excluded.stated_at`,
  )
}

/** For a service that does not migrate: why it cannot work with the installed functions; undefined when it can. */
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

/** A digest of every function and trigger as the database prints them; the search path influences the text. */
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
