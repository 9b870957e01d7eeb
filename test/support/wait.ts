import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { vi } from 'vitest'

/** How many times longer things take than on a quiet machine: 1 where no process waits for a core. */
export const slowness = (): number => Math.max(1, loadavg()[0]! / availableParallelism())

/** The least time that a condition gets: a deadline ends a run that hangs, and judges no speed. */
const PATIENCE_MS = 20_000

/** A busy machine asks less often. So many questions must get a no as well, however long they take. */
const LEAST_QUESTIONS = 50

/**
 * Asks again and again until the answer is yes. Fails when a question asked after that time still gets a no. The time is
 * that of a quiet machine, and at least 20 seconds. For a promise about time use `promptly`.
 */
export const until = (ask: () => Promise<boolean> | boolean, within_ms: number): Promise<void> =>
  promptly(ask, Math.max(within_ms, PATIENCE_MS))

/** Of one question no more than this counts as time: a machine that stands still for seconds is not a service that is late. */
const MOST_COUNTED_MS = 500

/** As `until`, where the time is what the service promises, as one second after which a revoked key is refused. */
export async function promptly(ask: () => Promise<boolean> | boolean, within_ms: number): Promise<void> {
  let waited = 0
  for (let questions = 1; ; questions++) {
    const began = performance.now()
    if (await ask()) return
    if (waited > within_ms * slowness() && questions > LEAST_QUESTIONS)
      throw new Error(`not within ${within_ms} ms`)
    await sleep(10)
    waited += Math.min(performance.now() - began, MOST_COUNTED_MS)
  }
}

/** A machine may stop for some seconds between two steps. */
const LEAST_ROOM_S = 10

/**
 * Waits for the next minute when less than this is left of the running one, so that a window does not end in a test. The
 * seconds are those of a quiet machine: on a busy one everything takes longer, so more room is needed.
 */
export async function roomInMinute(seconds: number): Promise<void> {
  const needed_ms = Math.min(Math.max(seconds, LEAST_ROOM_S) * slowness(), 50) * 1000
  const left_ms = 60_000 - (Date.now() % 60_000)
  if (left_ms < needed_ms) await sleep(left_ms + 20)
}

/** Waits for the next day in UTC when less than this is left of the running one, so that a window of a day does not end in a test. */
export async function roomInDay(seconds: number): Promise<void> {
  const left_ms = 86_400_000 - (Date.now() % 86_400_000)
  if (left_ms < seconds * 1000) await sleep(left_ms + 20)
}

/** Until it no longer throws. On a busy machine that takes a while; a test that waits fails by its own time. */
export const eventually = <T>(
  check: () => T | Promise<T>,
  options: { timeout?: number; interval?: number } = {},
): Promise<T> => vi.waitFor(check, { timeout: 60_000, interval: 50, ...options })
