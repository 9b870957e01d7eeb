import { type Db, openClient, type Seat } from '../db/pool.ts'

/**
 * Connections that this node lost while the server still has them open. Each keeps its advisory lock at the server until
 * `release` terminates it.
 */
export type OrphanedConnections = {
  add(backend: Backend): void
  release(): Promise<void>
}

/** A server process: its pid, the start time of its server, and a time at which the process existed. */
type Backend = { readonly pid: number; readonly server_started: string; readonly met_at: string }

export function openOrphanedConnections(seat: Seat): OrphanedConnections {
  const orphaned = new Set<Backend>()
  return {
    add: (backend) => void orphaned.add(backend),
    async release() {
      if (orphaned.size === 0) return
      // The same seat: a role may terminate its own connections.
      const client = await openClient(seat)
      try {
        for (const backend of orphaned) {
          await endBackend(client, backend)
          orphaned.delete(backend)
        }
      } finally {
        client.end().catch(() => {})
      }
    },
  }
}

export async function findBackend(db: Db): Promise<Backend> {
  const { rows } = await db.query(
    `SELECT pg_backend_pid() AS pid, pg_postmaster_start_time()::text AS server_started,
            clock_timestamp()::text AS met_at`,
  )
  return rows[0]
}

/**
 * Terminates the server process, which releases its locks. The pid may have been reused, by a later connection or on a server
 * that took over, so start times are compared too.
 */
export async function endBackend(db: Db, { pid, server_started, met_at }: Backend): Promise<void> {
  await db.query(
    `SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity
     WHERE pid = $1 AND backend_start <= $3::timestamptz AND pg_postmaster_start_time() = $2::timestamptz`,
    [pid, server_started, met_at],
  )
}
