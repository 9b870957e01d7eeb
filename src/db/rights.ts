import type pg from 'pg'
import { sharedFunctions, sharedGrants, worldFunctions, worldGrants, worldGrantsOnShared } from './grants.ts'
import { roleOf, type SchemaName } from './pool.ts'
import { quoted } from './roles.ts'
import { schemaNames } from './seat.ts'

/** Gives each role the rights of `grants.ts` and takes every other, in the transaction of the caller. */
export async function stateRights(client: pg.Client, url: string): Promise<void> {
  for (const schema of schemaNames) {
    for (const other of schemaNames) {
      const role = quoted(roleOf(url, other))
      await client.query(`REVOKE ALL ON ALL TABLES IN SCHEMA ${schema} FROM ${role}`)
      await client.query(`REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ${schema} FROM ${role}`)
      await client.query(`REVOKE ALL ON SCHEMA ${schema} FROM ${role}`)
    }
    // Everybody may call a function, unless told otherwise.
    await client.query(`REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ${schema} FROM PUBLIC`)
  }
  await allow(client, roleOf(url, 'shared'), 'shared', sharedGrants, sharedFunctions)
  for (const schema of ['live', 'sandbox'] as const) {
    await allow(client, roleOf(url, schema), schema, worldGrants, worldFunctions)
    await allow(client, roleOf(url, schema), 'shared', worldGrantsOnShared, [])
  }
  await closeSearchPaths(client)
  await closeDatabase(client, url)
}

async function allow(
  client: pg.Client,
  role: string,
  schema: SchemaName,
  grants: Record<string, string>,
  functions: readonly string[],
): Promise<void> {
  await client.query(`GRANT USAGE ON SCHEMA ${schema} TO ${quoted(role)}`)
  for (const [table, rights] of Object.entries(grants)) {
    await client.query(`GRANT ${rights} ON ${schema}.${table} TO ${quoted(role)}`)
  }
  for (const name of functions) {
    await client.query(`GRANT EXECUTE ON FUNCTION ${schema}.${name} TO ${quoted(role)}`)
  }
}

/**
 * A function that acts as the owner must find the owner's tables: a temporary table of the caller's comes first, unless the
 * place of temporary tables is named, last.
 */
async function closeSearchPaths(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `SELECT p.oid::regprocedure::text AS signature, n.nspname AS schema
     FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE p.prosecdef AND n.nspname = ANY ($1)
       AND NOT coalesce(format('search_path=%s, pg_temp', n.nspname) = ANY (p.proconfig), false)`,
    [schemaNames],
  )
  for (const { signature, schema } of rows)
    await client.query(`ALTER FUNCTION ${signature} SET search_path = ${schema}, pg_temp`)
}

/** Where the database is the owner's to close: only the roles of the service come in, and they make nothing in it. */
async function closeDatabase(client: pg.Client, url: string): Promise<void> {
  const { rows } = await client.query(
    `SELECT datname AS database, pg_has_role(current_user, datdba, 'USAGE') AS ours,
            (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS superuser,
            EXISTS (SELECT FROM pg_namespace n WHERE n.nspname = 'public'
                    AND pg_has_role(current_user, n.nspowner, 'USAGE')) AS public_ours
     FROM pg_database WHERE datname = current_database()`,
  )
  const database = quoted(rows[0].database)
  if (rows[0].ours) {
    await client.query(`REVOKE ALL ON DATABASE ${database} FROM PUBLIC`)
    for (const schema of schemaNames) {
      const role = quoted(roleOf(url, schema))
      await client.query(`REVOKE ALL ON DATABASE ${database} FROM ${role}`)
      await client.query(`GRANT CONNECT ON DATABASE ${database} TO ${role}`)
    }
  }
  if (rows[0].public_ours) await client.query('REVOKE ALL ON SCHEMA public FROM PUBLIC')
  // Large objects belong to no schema: everybody may make them, unless a superuser says otherwise.
  if (rows[0].superuser)
    await client.query(
      'REVOKE EXECUTE ON FUNCTION lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea) FROM PUBLIC',
    )
}
