import type { Logger } from 'pino'

/**
 * Work that is rows of a table: taken with a lease, done, and taken again by anybody when the lease ends. Any number of
 * processes may run it. Looks at least once a second, and at once when it is woken.
 */
export type Worker = { wake(): void; stop(): Promise<void> }

export type WorkerOptions<Row> = {
  readonly name: string
  readonly log: Logger
  readonly poll_ms: number
  /** Takes up to `limit` rows that are due. */
  readonly take: (limit: number) => Promise<Row[]>
  /** Does one of them. What it throws is logged; the lease brings the row back. */
  readonly work: (row: Row) => Promise<void>
}

const AT_ONCE = 32

export function openWorker<Row>(options: WorkerOptions<Row>): Worker {
  const { name, log, poll_ms } = options
  const running = new Set<Promise<void>>()
  let stopped = false
  let woken: () => void = () => {}
  let asleep = false

  async function loop(): Promise<void> {
    while (!stopped) {
      const free = AT_ONCE - running.size
      const rows = free > 0 ? await options.take(free).catch(failed([])) : []
      for (const row of rows) {
        const job = options
          .work(row)
          .catch(failed(undefined))
          .finally(() => running.delete(job))
        running.add(job)
      }
      if (rows.length === free && free > 0) continue
      await sleep()
    }
    await Promise.all(running)
  }

  const failed =
    <T>(instead: T) =>
    (error: unknown): T => {
      log.warn({ err: error, worker: name }, 'worker')
      return instead
    }

  function sleep(): Promise<void> {
    return new Promise((resolve) => {
      asleep = true
      const timer = setTimeout(done, poll_ms)
      function done() {
        clearTimeout(timer)
        asleep = false
        resolve()
      }
      woken = done
    })
  }

  const ended = loop()
  return {
    wake() {
      if (asleep) woken()
    },
    async stop() {
      stopped = true
      if (asleep) woken()
      await ended
    },
  }
}
