/**
 * Tells the milliseconds since the last call, to be asked once in each turn of `turn_ms`. A turn that took longer, because the event loop was
 * blocked or the machine stood still, counts as two at most: nobody else is late for it.
 */
export function openAwakeTime(turn_ms: number): () => number {
  let last = performance.now()
  return () => {
    const now = performance.now()
    const passed = Math.min(now - last, 2 * turn_ms)
    last = now
    return passed
  }
}
