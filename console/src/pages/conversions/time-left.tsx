import { useEffect, useRef, useState } from 'react'

const TICK_MS = 200

/**
 * Milliseconds until something expires. The service sends the time left; from then on this page only measures elapsed time, so
 * a wrong clock does no harm.
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

/** Calls `onOut` once when the time runs out. */
export function useOnExpiry(left_ms: number, onOut: () => void): void {
  const had = useRef(left_ms > 0)
  useEffect(() => {
    if (left_ms > 0) had.current = true
    else if (had.current) {
      had.current = false
      onOut()
    }
  }, [left_ms, onOut])
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
