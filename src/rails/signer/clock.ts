type TimeSource = { now(): number }

/**
 * The time of the signer, for its hourly limits. It runs no faster than the monotonic clock: a clock of the machine that is set
 * forward while the process runs does not end the hour. It never runs back.
 */
export function openSignerClock(wall: TimeSource = Date, monotonic: TimeSource = performance) {
  const begun_wall = wall.now()
  const begun = monotonic.now()
  let newest_ms = 0
  const now = (): number => {
    const most = begun_wall + Math.floor(monotonic.now() - begun)
    newest_ms = Math.max(newest_ms, Math.min(wall.now(), most))
    return newest_ms
  }
  return {
    now,
    /** A line of the log has this time: the signer's time is not before it. */
    notBefore(ms: number): void {
      newest_ms = Math.max(newest_ms, ms)
    },
  }
}
