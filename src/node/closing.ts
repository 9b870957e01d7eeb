import type { Logger } from 'pino'

/**
 * Records how to close each part that was opened, and closes the parts in reverse order, after a stop and after a start that
 * failed half-way.
 */
export type Closing = {
  /** These parts are closed together, after all parts that are added later. A slow stop logs the names it waits for. */
  add(parts: Readonly<Record<string, () => Promise<unknown>>>): void
  closeAll(): Promise<void>
}

/** How often a stop logs what it waits for. */
const REPORT_MS = 2000

export function openClosing(log: Logger, tell_ms = REPORT_MS): Closing {
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
      const telling = setInterval(
        () => log.info({ awaited: [...awaited] }, `stopping: waiting for ${[...awaited].join(', ')}`),
        tell_ms,
      )
      for (const step of steps.splice(0).reverse())
        await Promise.all(Object.entries(step).map(([name, part]) => close(name, part)))
      clearInterval(telling)
    },
  }
}
