/** Ends streamed replies whose session has ended. One query checks all sessions, and does not count as a use of them. */
export type SessionWatch = {
  /** Aborted soon after the session has ended. Watching stops when `gone` is aborted. */
  ended(session_id: string, gone: AbortSignal): AbortSignal
}

const CHECK_MS = 3000

export function openSessionWatch(
  /** Returns the ids of the sessions that are still live. */
  liveSessions: (session_ids: readonly string[]) => Promise<ReadonlySet<string>>,
  { check_ms = CHECK_MS } = {},
): SessionWatch {
  const watched = new Map<string, Set<AbortController>>()
  let waiting = false

  function checkLater(): void {
    if (waiting || watched.size === 0) return
    waiting = true
    setTimeout(() => void checkSessions(), check_ms).unref()
  }

  async function checkSessions(): Promise<void> {
    const asked = [...watched.keys()]
    // If the query fails, all sessions count as live.
    const going = await liveSessions(asked).catch(() => new Set(asked))
    for (const id of asked) {
      if (going.has(id)) continue
      for (const ending of watched.get(id) ?? []) ending.abort()
      watched.delete(id)
    }
    waiting = false
    checkLater()
  }

  return {
    ended(session_id, gone) {
      const ending = new AbortController()
      const watchers = watched.get(session_id) ?? new Set()
      watched.set(session_id, watchers.add(ending))
      const leave = () => {
        watchers.delete(ending)
        if (watchers.size === 0 && watched.get(session_id) === watchers) watched.delete(session_id)
      }
      gone.addEventListener('abort', leave, { once: true })
      if (gone.aborted) leave()
      checkLater()
      return ending.signal
    },
  }
}
