import type { Logger } from 'pino'

/**
 * Whatever is opened is noted with how to close it, and closed in reverse, so that a stop leaves nothing behind and a start
 * that fails half-way does neither.
 */
export type Closing = {
  /** Closed at once, after everything that is added later. The names are told while a stop waits for them. */
  add(parts: Readonly<Record<string, () => Promise<unknown>>>): void
  closeAll(): Promise<void>
}

/** After so long, and every so often, it is told what a stop waits for. */
const TELL_MS = 2000

export function openClosing(log: Logger, tell_ms = TELL_MS): Closing {
  const steps: Readonly<Record<string, () => Promise<unknown>>>[] = []
  const awaited = new Set<string>()

  async function close(name: string, part: () => Promise<unknown>): Promise<void> {
    awaited.add(name)
    await part().catch((error: unknown) => log.error({ err: error, part: name }, 'while stopping'))
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
