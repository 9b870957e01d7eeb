import pg from 'pg'
import { UntrustedServer } from './tls.ts'

/** State of a server, as it reports it in one round trip. */
export type ServerState = {
  readonly in_recovery: boolean
  readonly read_only: boolean
  /** User and schema of the connection. */
  readonly user: string
  readonly schema: string
  /** System identifier: the same for a primary and its standbys. Undefined without the right to read it. */
  readonly system: string | undefined
  /** Rises with every promotion. Undefined without the right to read it. */
  readonly timeline: number | undefined
  /** Start time of the server process. */
  readonly started: string
}

/** What this process knows of the cluster: its identifier, and the highest timeline seen. */
export type KnownCluster = { system: string | undefined; timeline: number | undefined }

/** No host answers, or none is the primary. Another try may succeed a little later. */
export class NoPrimary extends Error {
  override name = 'NoPrimary'
  readonly code = 'ENOPRIMARY'
}

/** A connection pooler drops settings that a connection needs. Waiting does not help. */
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

// On a primary the name of the current WAL file begins with the timeline, from the moment of the promotion on; the control
// file is only as new as the last checkpoint. A standby writes no WAL file, so the control file must do.
const EVERYTHING = `SELECT ${BASICS},
  (SELECT system_identifier::text FROM pg_catalog.pg_control_system()) AS system,
  CASE WHEN pg_catalog.pg_is_in_recovery() THEN (SELECT timeline_id FROM pg_catalog.pg_control_checkpoint())
    ELSE ('x' || pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8))::bit(32)::integer
  END AS timeline`

/** Reads the state of a server. Without the right to read its control data, only the facts that decide are read. */
export async function askServer(client: pg.Client): Promise<ServerState> {
  try {
    return (await client.query(EVERYTHING)).rows[0]
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || /^(08|53|57|58)/.test(error.code ?? '')) throw error
    return (await client.query(`SELECT ${BASICS}`)).rows[0]
  }
}

/** Why this server must not be used; undefined when it may be. */
export function faultOf(said: ServerState, seen: KnownCluster): string | undefined {
  if (seen.system !== undefined && said.system !== undefined && said.system !== seen.system)
    return `is another cluster (system identifier ${said.system} instead of ${seen.system})`
  if (said.in_recovery) return 'is a standby'
  if (said.read_only) return 'is read-only'
  if (seen.timeline !== undefined && said.timeline !== undefined && said.timeline < seen.timeline)
    return `is a former primary (timeline ${said.timeline}; ${seen.timeline} has been seen)`
  return undefined
}

/** A connection as another user, or in another schema, could read and write the other world's tables. */
export function checkSeat(said: ServerState, seat: { readonly user: string; readonly schema: string }): void {
  if (said.user !== seat.user || said.schema !== seat.schema)
    throw new PoolerInTheWay(`The connection is not logged in as ${seat.user} with the schema ${seat.schema}`)
}

/** An error that a retry does not change: wrong password, no such database, no such role. */
export function isPermanent(error: unknown): boolean {
  if (error instanceof PoolerInTheWay || error instanceof UntrustedServer) return true
  return error instanceof pg.DatabaseError && !/^(08|25|40|53|55|57|58|XX)/.test(error.code ?? '')
}

/**
 * A server that refuses a connection, for example because all are in use, still serves its open connections. A server that
 * is starting or shutting down (57P) has closed them, or is about to.
 */
export function isThere(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(08|57P)/.test(error.code ?? '')
}

/** Recognizes the message with which poolers refuse the settings of a connection. */
export function explainRefusal(error: unknown): unknown {
  const refused = error instanceof pg.DatabaseError && /unsupported startup parameter/.test(error.message)
  return refused ? new PoolerInTheWay(`The server refused the connection: ${error.message}`) : error
}
