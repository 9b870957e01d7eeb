import type { Caller } from '../../http/shares.ts'
import { hashToken } from '../../parties/team/sessions.ts'

/**
 * The sessions that this node has seen, by the hash of their token. They decide on which share of the connections a
 * session is looked up, and which cookies are counted against their address. Whether a session is live is asked of
 * the database each time.
 */
export type KnownSessions = {
  /** Undefined if this node has not seen the token or the session has ended. */
  callerOf(token: string): Caller | undefined
  /** Whether the token is in the list of live sessions, which is read again at most every five seconds. */
  isLive(token: string): Promise<boolean>
  /** Adds a session that was found live. */
  note(token: string, caller: Caller): void
  /** Removes a session that has ended. */
  forget(token: string): void
}

/** A row of `selectLiveSessions`. */
type Listed = { readonly token_hash: Buffer; readonly user_id: string; readonly partner_id: string | null }

export const KNOWN_MAX = 20_000
const READ_MS = 5000

export function openKnownSessions(list: () => Promise<readonly Listed[]>): KnownSessions {
  const known = new Map<string, Caller>()
  let reading: Promise<void> | undefined
  let read_at = Number.NEGATIVE_INFINITY

  const nameOf = (token: string): string => hashToken(token).toString('base64')

  function note(name: string, caller: Caller): void {
    if (known.size >= KNOWN_MAX && !known.has(name)) known.clear()
    known.set(name, caller)
  }

  /** Concurrent callers share one query. If it fails, the list stays as it is. */
  async function read(): Promise<void> {
    read_at = performance.now()
    const listed = await list().catch(() => [])
    for (const { token_hash, user_id, partner_id } of listed)
      note(token_hash.toString('base64'), { user_id, partner_id })
    reading = undefined
  }

  return {
    callerOf: (token) => known.get(nameOf(token)),
    async isLive(token) {
      if (!reading && performance.now() - read_at >= READ_MS) reading = read()
      await reading
      return known.has(nameOf(token))
    },
    note: (token, caller) => note(nameOf(token), caller),
    forget: (token) => void known.delete(nameOf(token)),
  }
}
