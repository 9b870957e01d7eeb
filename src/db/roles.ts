import pg from 'pg'
import { databaseRoleOf, openClient, type Seat } from './pool.ts'
import { type Seats, schemaNames } from './seat.ts'
import { NoPrimary } from './server-state.ts'

/**
 * The roles that the service logs in as, one per schema. Each may only log in; its rights on tables are in grants.ts. The
 * functions here return SQL statements: where the owner may not run them, they are shown to an administrator.
 */

/** Attributes that each role must have, and their SQL. Only differences are changed: some changes need a superuser. */
const ATTRIBUTES = [
  ['rolcanlogin', true, 'LOGIN'],
  ['rolsuper', false, 'NOSUPERUSER'],
  ['rolcreatedb', false, 'NOCREATEDB'],
  ['rolcreaterole', false, 'NOCREATEROLE'],
  ['rolinherit', false, 'NOINHERIT'],
  ['rolreplication', false, 'NOREPLICATION'],
  ['rolbypassrls', false, 'NOBYPASSRLS'],
] as const

type MissingRoles = {
  readonly needed: readonly string[]
  /** Roles that are created with the password of the first key. */
  readonly made: readonly string[]
}

/** Statements that create missing roles. The owner is a member of each, so that it may end their sessions. */
export async function missingRoles(
  owner: pg.Client,
  url: string,
  seats: Seats | undefined,
): Promise<MissingRoles> {
  const needed: string[] = []
  const made: string[] = []
  for (const schema of schemaNames) {
    const role = databaseRoleOf(url, schema)
    const { rows } = await owner.query(
      `SELECT current_user AS user, r.oid IS NOT NULL AS exists,
              coalesce(pg_has_role(current_user, r.oid, 'MEMBER'), false) AS member
       FROM (SELECT) AS one LEFT JOIN pg_roles r ON r.rolname = $1`,
      [role],
    )
    const { user, exists, member } = rows[0]
    // No node is connected as a role that does not exist yet, so the role can be created with its password.
    const login = seats
      ? `LOGIN NOINHERIT PASSWORD '${seats(schema, '').login.verifier()}'`
      : 'NOLOGIN NOINHERIT'
    if (!exists) needed.push(`CREATE ROLE ${quoted(role)} ${login}`)
    if (!exists && seats) made.push(role)
    if (!member) needed.push(`GRANT ${quoted(role)} TO ${quoted(user)}`)
  }
  return { needed, made }
}

/** Statements that turn the roles into the logins of the service. */
type MissingLogins = {
  readonly needed: readonly string[]
  /** Roles whose password is derived from none of the keys that this node knows. */
  readonly strange: readonly string[]
}

/**
 * `made`: roles that were just created with their password. `renew`: all roles get the password of the first key, also those
 * that have the password of another known key.
 */
export async function missingLogins(
  owner: pg.Client,
  seats: Seats,
  { made, renew }: { made: readonly string[]; renew: boolean },
): Promise<MissingLogins> {
  const needed: string[] = []
  const strange: string[] = []
  for (const schema of schemaNames) {
    const seat = seats(schema, 'trilho migrate')
    const role = seat.login.user
    const columns = ATTRIBUTES.map(([column]) => column).join(', ')
    const { rows } = await owner.query(
      `SELECT ${columns},
              ARRAY(SELECT roleid::regrole::text FROM pg_auth_members WHERE member = r.oid) AS member_of
       FROM pg_roles r WHERE rolname = $1`,
      [role],
    )
    const changes: string[] = ATTRIBUTES.filter(([column, wanted]) => rows[0][column] !== wanted).map(
      ([, , word]) => word,
    )
    const known = rows[0].rolcanlogin && (made.includes(role) || (await comesIn(seat)))
    if (rows[0].rolcanlogin && !known) strange.push(role)
    if (!known || renew) changes.push(`PASSWORD '${seat.login.verifier()}'`)
    if (changes.length > 0) needed.push(`ALTER ROLE ${quoted(role)} ${changes.join(' ')}`)
    for (const other of rows[0].member_of) needed.push(`REVOKE ${other} FROM ${quoted(role)}`)
  }
  return { needed, strange }
}

/** Which of these roles have open connections. */
export async function rolesInUse(owner: pg.Client, roles: readonly string[]): Promise<string[]> {
  const { rows } = await owner.query(
    'SELECT DISTINCT usename::text AS role FROM pg_stat_activity WHERE usename = ANY ($1)',
    [roles],
  )
  return rows.map(({ role }) => role)
}

const REFUSED = ['28P01', '28000']

/** Whether the role accepts one of the passwords that this node knows. Logging in is the only check without special rights. */
async function comesIn(seat: Seat): Promise<boolean> {
  for (;;) {
    try {
      const client = await openClient(seat)
      await client.end()
      return true
    } catch (error) {
      // NoPrimary with this cause: the password was refused, and the next attempt uses another one.
      if (error instanceof NoPrimary && error.cause instanceof pg.DatabaseError) continue
      if (error instanceof pg.DatabaseError && REFUSED.includes(error.code ?? '')) return false
      throw error
    }
  }
}

export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`
}
