import { type Db, openClient, type Seat } from '../db/pool.ts'

/** Connections that were lost without a word: still open at the server, each holds its locks there until it is ended. */
export type Ghosts = {
  add(backend: Backend): void
  release(): Promise<void>
}

/** The server's end of a connection: its number, on which server, and a moment at which it was open. */
export type Backend = { readonly pid: number; readonly server_started: string; readonly met_at: string }

export function openGhosts(seat: Seat): Ghosts {
  const ghosts = new Set<Backend>()
  return {
    add: (backend) => void ghosts.add(backend),
    async release() {
      if (ghosts.size === 0) return
      // A role may end what came in as itself.
      const client = await openClient(seat)
      try {
        for (const ghost of ghosts) {
          await endBackend(client, ghost)
          ghosts.delete(ghost)
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
 * Ends it, and with it the locks that it holds. It may be gone already, and its number somebody else's: of one that was
 * opened later, or of one at the server that has taken over.
 */
export async function endBackend(db: Db, { pid, server_started, met_at }: Backend): Promise<void> {
  await db.query(
    `SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity
     WHERE pid = $1 AND backend_start <= $3::timestamptz AND pg_postmaster_start_time() = $2::timestamptz`,
    [pid, server_started, met_at],
  )
}
