import type { Logger } from 'pino'

/**
 * The opened parts of a node, such as pools, workers and the server, with a function to close each. A stop, and a start that
 * fails half-way, closes the parts in reverse order.
 */
export type Closing = {
  /** Adds parts by name. They are closed concurrently with each other, after all parts that are added later. */
  add(parts: Readonly<Record<string, () => Promise<unknown>>>): void
  /** Logs a part that fails to close and goes on. While it waits, logs the names of the parts that are not closed yet. */
  closeAll(): Promise<void>
}

/** How often a stop logs the parts that it waits for. */
const REPORT_MS = 2000

export function openClosing(log: Logger, report_ms = REPORT_MS): Closing {
  const steps: Readonly<Record<string, () => Promise<unknown>>>[] = []
  const awaited = new Set<string>()

  async function close(name: string, part: () => Promise<unknown>): Promise<void> {
    awaited.add(name)
    await part().catch((error: unknown) =>
      log.error({ err: error, part: name }, `stopping: ${name} failed to close`),
    )
    awaited.delete(name)
  }

  return {
    add: (parts) => void steps.push(parts),
    async closeAll() {
      const reporting = setInterval(
        () => log.info({ awaited: [...awaited] }, `stopping: waiting for ${[...awaited].join(', ')}`),
        report_ms,
      )
      for (const step of steps.splice(0).reverse())
        await Promise.all(Object.entries(step).map(([name, part]) => close(name, part)))
      clearInterval(reporting)
    },
  }
}
