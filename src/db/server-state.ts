import pg from 'pg'
import { UntrustedServer } from './tls.ts'

/** What a server says of itself, in one round trip. */
export type Said = {
  readonly in_recovery: boolean
  readonly read_only: boolean
  /** As whom the connection came in, and in which schema it found itself. */
  readonly user: string
  readonly schema: string
  /** Of the cluster; the same for a primary and its standbys. Undefined where it may not be asked. */
  readonly system: string | undefined
  /** Rises with every promotion. Undefined where it may not be asked. */
  readonly timeline: number | undefined
  /** When this very server was started. */
  readonly started: string
}

/** What has been seen of the cluster by this process. */
export type Seen = { system: string | undefined; timeline: number | undefined }

/** The server answers, but is not the one to work with; or none answers. Worth another try a little later. */
export class NoPrimary extends Error {
  override name = 'NoPrimary'
  readonly code = 'ENOPRIMARY'
}

/** Something between this process and the server drops what a connection needs. Waiting does not help. */
export class PoolerInTheWay extends Error {
  override name = 'PoolerInTheWay'
  constructor(what: string) {
    super(
      `${what}. A pooler such as pgbouncer seems to be in the way. The service sets its schema with the first ` +
        'packet of each connection, and uses prepared statements, LISTEN and advisory locks: let DATABASE_URL lead to ' +
        'PostgreSQL itself, or to a proxy that only forwards bytes (HAProxy in TCP mode).',
    )
  }
}

const BASICS = `pg_catalog.pg_is_in_recovery() AS in_recovery,
  pg_catalog.current_setting('transaction_read_only') = 'on' AS read_only,
  CASE WHEN current_user = session_user THEN current_user::text END AS user,
  pg_catalog.current_setting('search_path') AS schema, pg_catalog.pg_postmaster_start_time()::text AS started`

// The name of the file that is written now begins with the timeline, from the moment of the promotion on; what the
// control file says is as old as the last checkpoint. A standby has no such file.
const EVERYTHING = `SELECT ${BASICS},
  (SELECT system_identifier::text FROM pg_catalog.pg_control_system()) AS system,
  CASE WHEN pg_catalog.pg_is_in_recovery() THEN (SELECT timeline_id FROM pg_catalog.pg_control_checkpoint())
    ELSE ('x' || pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8))::bit(32)::integer
  END AS timeline`

/** Asks a server who it is. One that keeps its control data to itself is asked only what decides. */
export async function askServer(client: pg.Client): Promise<Said> {
  try {
    return (await client.query(EVERYTHING)).rows[0]
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || /^(08|53|57|58)/.test(error.code ?? '')) throw error
    return (await client.query(`SELECT ${BASICS}`)).rows[0]
  }
}

/** What keeps this server from being used; undefined when nothing does. */
export function faultOf(said: Said, seen: Seen): string | undefined {
  if (seen.system !== undefined && said.system !== undefined && said.system !== seen.system)
    return `is another cluster (system identifier ${said.system} instead of ${seen.system})`
  if (said.in_recovery) return 'is a standby'
  if (said.read_only) return 'is read-only'
  if (seen.timeline !== undefined && said.timeline !== undefined && said.timeline < seen.timeline)
    return `is a former primary (timeline ${said.timeline}; ${seen.timeline} has been seen)`
  return undefined
}

/** A connection as somebody else, or in another schema, would read and write past the walls between the worlds. */
export function checkSeat(said: Said, seat: { readonly user: string; readonly schema: string }): void {
  if (said.user !== seat.user || said.schema !== seat.schema)
    throw new PoolerInTheWay(`The connection did not come in as ${seat.user}, into the schema ${seat.schema}`)
}

/** What a server says that will say the same in a minute: wrong password, no such database, no such role. */
export function isFinal(error: unknown): boolean {
  if (error instanceof PoolerInTheWay || error instanceof UntrustedServer) return true
  return error instanceof pg.DatabaseError && !/^(08|25|40|53|55|57|58|XX)/.test(error.code ?? '')
}

/**
 * A server that refuses a connection, if only because it has none to spare, is there, and serves those that it has. One
 * that is starting or shutting down (57P) has let go of them, or is about to.
 */
export function isThere(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(08|57P)/.test(error.code ?? '')
}

/** The words with which poolers refuse a connection's settings. */
export function explainRefusal(error: unknown): unknown {
  const refused = error instanceof pg.DatabaseError && /unsupported startup parameter/.test(error.message)
  return refused ? new PoolerInTheWay(`The server refused the connection: ${error.message}`) : error
}
