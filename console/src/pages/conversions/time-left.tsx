import { useEffect, useRef, useState } from 'react'

const TICK_MS = 200

/**
 * Milliseconds until a quote expires. The service sends `left_ms`; from `answered_at` on, the page only measures the time that has
 * passed, so it does not matter if the clock of this computer is wrong.
 */
export function useTimeLeft(left_ms: number, answered_at: number): number {
  const [now, setNow] = useState(() => Date.now())
  const until = answered_at + left_ms
  const open = until > now
  useEffect(() => {
    if (!open) return
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [open])
  return Math.max(0, until - now)
}

export const secondsOf = (left_ms: number): number => Math.ceil(left_ms / 1_000)

/** Calls `onExpired` once when the time runs out; never for a quote that had expired before the page opened. */
export function useOnExpiry(left_ms: number, onExpired: () => void): void {
  const had_time = useRef(left_ms > 0)
  useEffect(() => {
    if (left_ms > 0) had_time.current = true
    else if (had_time.current) {
      had_time.current = false
      onExpired()
    }
  }, [left_ms, onExpired])
}

const POLL_MS = 5_000

/** Polls while the page is visible: no hint announces a new quote or a finished delivery. */
export function usePollingWhileVisible(refetch: () => unknown, when: boolean, every_ms = POLL_MS): void {
  useEffect(() => {
    if (!when) return
    const timer = setInterval(() => document.hidden || refetch(), every_ms)
    return () => clearInterval(timer)
  }, [refetch, when, every_ms])
}
