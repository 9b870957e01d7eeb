import type pg from 'pg'
import { sharedFunctions, sharedGrants, worldFunctions, worldGrants, worldGrantsOnShared } from './grants.ts'
import { databaseName, databaseRoleOf, type SchemaName } from './pool.ts'
import { quoted } from './roles.ts'
import { schemaNames } from './seat.ts'

/**
 * Grants each role the rights of `grants.ts` and revokes all others, in the transaction of the caller. Only differences are
 * written: each GRANT, also of a right that is there, makes every connection reload its catalogue cache.
 */
export async function stateRights(client: pg.Client, url: string): Promise<void> {
  for (const { kind, object, role, wanted, found } of await findDifferences(client, url)) {
    const on = `ON ${kind} ${object}`
    const whom = role === null ? 'PUBLIC' : quoted(role)
    if (found.some((right) => !wanted.includes(right))) await client.query(`REVOKE ALL ${on} FROM ${whom}`)
    if (wanted.length > 0) await client.query(`GRANT ${wanted.join(', ')} ${on} TO ${whom}`)
  }
  await closeSearchPaths(client)
}

/**
 * Grants the missing rights on tables, and revokes none. Committed before functions are replaced: the new body of a function may
 * read a new table, and nodes of the previous version call the function at once.
 */
export async function grantTables(client: pg.Client, url: string): Promise<void> {
  for (const { kind, object, role, wanted, found } of await findDifferences(client, url)) {
    if (kind !== 'TABLE' || role === null || wanted.every((right) => found.includes(right))) continue
    await client.query(`GRANT ${wanted.join(', ')} ON TABLE ${object} TO ${quoted(role)}`)
  }
}

type Kind = 'TABLE' | 'FUNCTION' | 'SCHEMA' | 'DATABASE'

/** `object` as SQL spells it. */
type Right = {
  readonly kind: Kind
  readonly object: string
  readonly role: string
  readonly privilege: string
}

function* wantedRights(url: string): Generator<Right> {
  const shared = databaseRoleOf(url, 'shared')
  yield* rightsIn('shared', shared, sharedGrants, sharedFunctions)
  for (const schema of ['live', 'sandbox'] as const) {
    const role = databaseRoleOf(url, schema)
    yield* rightsIn(schema, role, worldGrants, worldFunctions)
    yield* rightsIn('shared', role, worldGrantsOnShared, [])
  }
  const object = quoted(databaseName(url))
  for (const schema of schemaNames)
    yield { kind: 'DATABASE', object, role: databaseRoleOf(url, schema), privilege: 'CONNECT' }
}

function* rightsIn(
  schema: SchemaName,
  role: string,
  grants: Record<string, string>,
  functions: readonly string[],
): Generator<Right> {
  yield { kind: 'SCHEMA', object: schema, role, privilege: 'USAGE' }
  for (const [table, privileges] of Object.entries(grants))
    for (const privilege of privileges.split(', '))
      yield { kind: 'TABLE', object: `${schema}.${table}`, role, privilege }
  for (const name of functions)
    yield { kind: 'FUNCTION', object: `${schema}.${name}`, role, privilege: 'EXECUTE' }
}

type Difference = {
  readonly kind: Kind
  readonly object: string
  /** Null is PUBLIC. */
  readonly role: string | null
  readonly wanted: readonly string[]
  readonly found: readonly string[]
}

/**
 * By default PUBLIC may call functions, connect to a database and use its schema `public`. The last two are revoked where
 * the current user owns the database or the schema. Large objects belong to no schema, and PUBLIC may create them: that is
 * revoked where the current user is a superuser.
 */
const DIFFERENCES = `
  WITH us AS (
    SELECT rolsuper, datname, datdba, datacl, pg_database.oid AS database,
           pg_has_role(current_user, datdba, 'USAGE') AS ours
    FROM pg_database, pg_roles WHERE datname = current_database() AND rolname = current_user
  ), roles AS (
    SELECT oid, rolname::text FROM pg_roles WHERE rolname = ANY ($1)
  ), acls (kind, object, acl, of_all, note) AS (
    SELECT 'TABLE', oid, relacl, false, '' FROM pg_class
    WHERE relnamespace = ANY ($2::regnamespace[]) AND relkind IN ('r', 'p', 'v', 'm', 'f')
    UNION ALL
    SELECT 'TABLE', attrelid, attacl, false, ' on a column' FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = ANY ($2::regnamespace[]) AND attacl IS NOT NULL
    UNION ALL
    SELECT 'FUNCTION', oid, coalesce(proacl, acldefault('f', proowner)), true, '' FROM pg_proc
    WHERE pronamespace = ANY ($2::regnamespace[])
       OR oid = ANY ('{lo_creat(integer),lo_create(oid),"lo_from_bytea(oid,bytea)"}'::regprocedure[])
          AND (SELECT rolsuper FROM us)
    UNION ALL
    SELECT 'SCHEMA', oid, nspacl, nspname = 'public', '' FROM pg_namespace
    WHERE oid = ANY ($2::regnamespace[]) OR nspname = 'public' AND pg_has_role(current_user, nspowner, 'USAGE')
    UNION ALL
    SELECT 'DATABASE', database, coalesce(datacl, acldefault('d', datdba)), true, '' FROM us WHERE ours
  ), found AS (
    SELECT kind, object, grantee AS role, array_agg(privilege_type || note || CASE WHEN is_grantable THEN ' to pass on' ELSE '' END) AS rights
    FROM acls, aclexplode(acl) WHERE grantee IN (SELECT oid FROM roles) OR grantee = 0 AND of_all
    GROUP BY 1, 2, 3
  ), wanted AS (
    SELECT kind, named, CASE kind WHEN 'TABLE' THEN to_regclass(named)::oid WHEN 'FUNCTION' THEN to_regprocedure(named)::oid
                     WHEN 'SCHEMA' THEN to_regnamespace(named)::oid ELSE (SELECT database FROM us) END AS object,
           roles.oid AS role, array_agg(privilege) AS rights
    FROM unnest($3::text[], $4::text[], $5::text[], $6::text[]) AS given (kind, named, rolname, privilege)
      JOIN roles USING (rolname)
    WHERE kind <> 'DATABASE' OR (SELECT ours FROM us)
    GROUP BY 1, 2, 3, 4
  )
  SELECT kind, coalesce(named, CASE kind WHEN 'TABLE' THEN object::regclass::text WHEN 'FUNCTION' THEN object::regprocedure::text
                               WHEN 'SCHEMA' THEN object::regnamespace::text ELSE quote_ident(current_database()) END) AS object,
         (SELECT rolname FROM roles WHERE oid = role) AS role,
         coalesce(wanted.rights, '{}') AS wanted, coalesce(found.rights, '{}') AS found
  FROM wanted FULL JOIN found USING (kind, object, role)
  WHERE NOT coalesce(wanted.rights <@ found.rights AND wanted.rights @> found.rights, false)`

async function findDifferences(client: pg.Client, url: string): Promise<Difference[]> {
  const roles = schemaNames.map((schema) => databaseRoleOf(url, schema))
  const rights = [...wantedRights(url)]
  const column = (name: keyof Right) => rights.map((right) => right[name])
  const { rows } = await client.query(DIFFERENCES, [
    roles,
    schemaNames,
    column('kind'),
    column('object'),
    column('role'),
    column('privilege'),
  ])
  return rows
}

/**
 * A SECURITY DEFINER function must find the owner's tables: a temporary table of the caller would shadow them, unless the
 * search path names pg_temp last.
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
