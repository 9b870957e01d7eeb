import type { Logger } from 'pino'
import { openBell } from '../core/loop.ts'
import type { Quiet, Rest } from '../core/quiet.ts'

/**
 * Work that is rows of a table: taken with a lease, done, and taken again by anybody when the lease ends. Any number of
 * processes may run it. It looks again and again, the more slowly the longer there was nothing; at once when it is woken;
 * and, while there is more than it has slots for, whenever a slot becomes free.
 */
export type Worker = { wake(): void; stop(): Promise<void> }

export type WorkerOptions<Row> = {
  readonly name: string
  readonly log: Logger
  /** Between two looks, by how quiet it is in its world. */
  readonly rest: Rest
  readonly quiet: Quiet
  /** How many may be under way at once: what hangs takes slots from its own kind of work only. */
  readonly at_once: number
  /** Takes up to `limit` rows that are due. */
  readonly take: (limit: number) => Promise<Row[]>
  /** Does one of them. What it throws is logged; the lease brings the row back. */
  readonly work: (row: Row) => Promise<void>
  /** A stop waits so long for what is under way, and no longer. */
  readonly stop_ms: number
}

export function openWorker<Row>(options: WorkerOptions<Row>): Worker {
  const { name, log, rest, quiet, at_once, stop_ms } = options
  const running = new Set<Promise<void>>()
  const bell = openBell()
  let stopped = false
  /** There may be more than was taken the last time. */
  let hungry = false
  let found_at = 0

  const failed =
    <T>(instead: T) =>
    (error: unknown): T => {
      log.warn({ err: error, worker: name }, 'worker')
      return instead
    }

  function begin(row: Row): void {
    const job = options
      .work(row)
      .catch(failed(undefined))
      .finally(() => {
        running.delete(job)
        if (hungry) bell.ring()
      })
    running.add(job)
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      const free = at_once - running.size
      if (free > 0) {
        const rows = await options.take(free).catch(failed<Row[]>([]))
        for (const row of rows) begin(row)
        if (rows.length > 0) found_at = performance.now()
        hungry = rows.length === free
      }
      if (stopped || (hungry && running.size < at_once)) continue
      await bell.wait(quiet.rest(rest, found_at))
      // Slots that become free in one go are filled with one question.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  quiet.onStir(bell.ring)
  const ended = loop()
  return {
    wake: bell.ring,
    async stop() {
      stopped = true
      bell.ring()
      await Promise.race([ended.then(() => Promise.all(running)), sleep(stop_ms)])
    },
  }
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref())
