/**
 * One clock decides: the database's. A node's own clock is used only where nothing is decided (ids, log lines, windows
 * of a lone node), corrected by the offset that was last measured.
 */
export type Clock = { now(): number; adjust(offset_ms: number): void }

export function systemClock(): Clock {
  let offset = 0
  return {
    now: () => Date.now() + offset,
    adjust(offset_ms) {
      offset = offset_ms
    },
  }
}
